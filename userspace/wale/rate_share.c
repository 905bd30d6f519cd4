// SPDX-License-Identifier: GPL-2.0
/*
 * rate_share.c - wale rate share: a controller for one link
 *
 * It looks at all flows every interval, and at once when a flow begins or ends;
 * an event does no more than make it look.  So nothing is lost with an event
 * that is.  Shares that fall are told before those that rise, so that they never
 * add up to more than the capacity.
 *
 * The advice is for a limited time and renewed while the controller lives: if it
 * is killed, its flows soon are plain Reno.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/units.h"
#include "rate.h"
#include "rate_control.h"

/* Advice is renewed so often before it grows too old. */
#define RENEWALS 3
/* Events make it look no more than so often in an interval. */
#define LOOKS 10

struct share {
	struct genl *g;
	struct control control;
	struct rate_path path; /* what is set for each flow, but its share */
	struct rate_flows dump;
	const char *dev;
	uint64_t interval_ns;
	uint64_t now_ns;
	bool json;
	bool quiet;
	bool look; /* there was a reason to */
};

/* Output: a line for each change. */

static void print_event(const struct share *s, const char *event,
			const struct control_flow *f, bool rate)
{
	char local[RATE_KEY_MAX], peer[RATE_KEY_MAX], buf[UNITS_MAX];

	if (s->quiet || s->json)
		return;
	printf("%" PRIu64 ".%09" PRIu64 " %s %s %s", s->now_ns / RATE_SECOND,
	       s->now_ns % RATE_SECOND, event, rate_key_local(local, &f->key),
	       rate_key_peer(peer, &f->key));
	if (rate)
		printf(" %s%s", units_format_rate(buf, f->next),
		       f->limited ? " limited" : "");
	putchar('\n');
}

static void json_event(const struct share *s, const char *event,
		       const struct control_flow *f, bool rate)
{
	struct json_file file = { .file = stdout };
	struct json j = { &json_file_ops, &file };

	if (s->quiet || !s->json)
		return;
	json_open(&j, NULL, '{');
	json_put_u64(&j, "t_ns", s->now_ns);
	json_put_string(&j, "event", event);
	rate_key_json(&j, &f->key);
	if (rate) {
		json_put_u64(&j, "rate", f->next);
		json_put_number(&j, "limited", f->limited ? "true" : "false");
	}
	json_close(&j, '}');
	putchar('\n');
}

static void report(const struct share *s, const char *event,
		   const struct control_flow *f, bool rate)
{
	print_event(s, event, f, rate);
	json_event(s, event, f, rate);
}

/* Making it so. */

static int set_flow(struct share *s, struct control_flow *f)
{
	char buf[RATE_KEY_MAX], what[RATE_KEY_MAX + 16];

	s->path.key = f->key;
	s->path.rate = f->next;
	s->path.set |= RATE_PATH_RATE;
	if (rate_channel_set(s->g, &s->path)) {
		snprintf(what, sizeof(what), "set %s",
			 rate_key_format(buf, &f->key));
		return rate_cannot(what, s->g->rtnl.error);
	}
	if (!f->set || f->share != f->next)
		report(s, "share", f, true);
	f->set = true;
	f->share = f->next;
	f->set_ns = s->now_ns;
	return WALE_EXIT_OK;
}

/* How long a share need not be renewed, nor another's path be looked at again. */
static bool is_old(const struct share *s, const struct control_flow *f)
{
	uint64_t limit_ns = s->path.age_limit ?: 3 * RATE_SECOND;

	return s->now_ns - f->set_ns >= limit_ns / RENEWALS;
}

/*
 * A path that somebody else keeps for this flow stays his.  One that has grown
 * too old is of nobody: it is left of a controller that was killed.
 */
static bool is_foreign(struct share *s, const struct control_flow *f)
{
	struct rate_path path;
	int err = rate_channel_get(s->g, &f->key, &path);

	if (err) /* what cannot be looked at is not overwritten */
		return err != -ENOENT;
	return !path.age_limit || path.age <= path.age_limit;
}

static void look_for_foreign(struct share *s)
{
	size_t i;

	for (i = 0; i < s->control.n_flows; i++) {
		struct control_flow *f = &s->control.flows[i];
		bool was = f->foreign;

		if (f->gone || f->set || (was && !is_old(s, f)))
			continue;
		f->foreign = is_foreign(s, f);
		f->set_ns = s->now_ns;
		if (f->foreign && !was)
			report(s, "not-mine", f, false);
	}
}

static void end_gone(struct share *s)
{
	size_t i;

	for (i = 0; i < s->control.n_flows; i++) {
		struct control_flow *f = &s->control.flows[i];

		if (!f->gone)
			continue;
		/* Nobody listens any more; if it fails, age ends it. */
		if (f->set)
			rate_channel_del(s->g, &f->key);
		report(s, "end", f, false);
	}
	control_forget(&s->control);
}

static int apply(struct share *s)
{
	struct control_flow *f;
	int status = WALE_EXIT_OK;
	size_t i;

	for (i = 0; !status && i < s->control.n_flows; i++) {
		f = &s->control.flows[i];
		if (f->set && f->next < f->share)
			status = set_flow(s, f);
	}
	for (i = 0; !status && i < s->control.n_flows; i++) {
		f = &s->control.flows[i];
		if (!f->foreign &&
		    (!f->set || f->next > f->share || is_old(s, f)))
			status = set_flow(s, f);
	}
	return status;
}

/* One round of control. */
static int look(struct share *s)
{
	char name[IF_NAMESIZE];
	int err;

	s->look = false;
	if (!if_indextoname(s->control.ifindex, name))
		return rate_cannot("share", "the device is gone");
	err = rate_channel_flows(s->g, NULL, &s->dump);
	if (err && err != -EINTR)
		return rate_cannot("share", s->g->rtnl.error);
	s->now_ns = rate_now();
	if (control_update(&s->control, &s->dump, !err, s->now_ns))
		return rate_cannot("share", strerror(ENOMEM));
	end_gone(s);
	look_for_foreign(s);
	control_divide(&s->control);
	return apply(s);
}

/* A flow that leaves by another device is none of ours. */
static void on_event(const struct nlmsghdr *message, void *arg)
{
	struct share *s = arg;
	struct rate_flow flow;
	const void *data;
	size_t length;

	data = genl_attributes(message, &length);
	rate_flow_decode(&flow, data, length);
	if (!flow.ifindex || flow.ifindex == s->control.ifindex)
		s->look = true;
}

/* What was lost may have been of ours: 0, or an exit status. */
static int take_events(struct share *s, int events)
{
	int err;

	do {
		err = genl_events_receive(events, on_event, s);
		if (err == -ENOBUFS)
			s->look = true;
	} while (err == -ENOBUFS);
	return err ? rate_cannot("receive events", strerror(-err))
		   : WALE_EXIT_OK;
}

static int control(struct share *s, struct rate_wait *wait)
{
	uint64_t next = rate_now(), soon;
	int status = look(s);

	next += s->interval_ns;
	while (!status) {
		soon = s->now_ns + s->interval_ns / LOOKS;
		switch (rate_wait(wait, s->look && soon < next ? soon : next)) {
		case RATE_WAKE_SIGNAL:
			return WALE_EXIT_OK;
		case RATE_WAKE_FAILED:
			return rate_cannot("wait", strerror(errno));
		case RATE_WAKE_EVENTS:
			status = take_events(s, wait->events);
			/* The first event after a while need not wait. */
			if (status || !s->look || rate_now() < soon)
				continue;
			break;
		case RATE_WAKE_TIME:
			break;
		}
		status = look(s);
		if (!status && (fflush(stdout) || ferror(stdout)))
			status = rate_cannot("write", strerror(errno));
		/* Looks that were missed are not made up for. */
		while (next <= s->now_ns)
			next += s->interval_ns;
	}
	return status;
}

static void end(struct share *s)
{
	size_t i;

	for (i = 0; i < s->control.n_flows; i++)
		if (s->control.flows[i].set)
			rate_channel_del(s->g, &s->control.flows[i].key);
}

/*
 * Two controllers of one device would undo each other's work.  A name in the
 * abstract namespace of Unix sockets is of this network namespace, like the
 * device, and ends with its process, however that ends.
 */
static int take_device(const struct share *s, int *lock)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int length;

	length = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
			  "wale-rate-share-%u", s->control.ifindex);
	*lock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*lock < 0)
		return rate_cannot("share", strerror(errno));
	if (!bind(*lock, (struct sockaddr *)&name,
		  offsetof(struct sockaddr_un, sun_path) + 1 + length))
		return WALE_EXIT_OK;
	if (errno == EADDRINUSE)
		return rate_cannot("share",
				   "another controller shares this device");
	return rate_cannot("share", strerror(errno));
}

static int parse_time(uint64_t *ns, const char *name, const char *value)
{
	if (!value || units_parse_time(value, ns) || *ns < 1000000)
		return rate_wrong("%s: expected a time from 1ms on, such as "
				  "100ms",
				  name);
	return WALE_EXIT_OK;
}

static int parse_capacity(uint64_t *rate, const char *value)
{
	char wrong[UNITS_WRONG_MAX];
	int err = value ? units_parse_rate(value, rate) : -EINVAL;

	if (!err && (!*rate || *rate == RATE_UNLIMITED))
		err = -EINVAL;
	if (err)
		return rate_wrong("--capacity: %s",
				  units_rate_wrong(wrong, err,
						   value ? *rate : 0,
						   "a rate such as 10mbit"));
	return WALE_EXIT_OK;
}

/*
 * The options of share itself are taken out; *left is how many words remain,
 * which are the options of paths.
 */
static int take_own_words(struct share *s, int argc, char **argv, int *left)
{
	int i, status = WALE_EXIT_OK;

	*left = 0;
	for (i = 0; !status && i < argc; i++) {
		if (!strcmp(argv[i], "--json") || !strcmp(argv[i], "-j"))
			s->json = true;
		else if (!strcmp(argv[i], "--quiet") || !strcmp(argv[i], "-q"))
			s->quiet = true;
		else if (!strcmp(argv[i], "--capacity"))
			status =
				parse_capacity(&s->control.capacity, argv[++i]);
		else if (!strcmp(argv[i], "--interval"))
			status = parse_time(&s->interval_ns, "--interval",
					    argv[++i]);
		else
			argv[(*left)++] = argv[i];
	}
	return status;
}

static int check(struct share *s)
{
	const unsigned int own = RATE_PATH_VALUE | RATE_PATH_FOLLOW;

	if (s->path.set & own & ~RATE_PATH_LAYER)
		return rate_wrong("share: the rates are its own to set");
	if (!s->control.capacity)
		return rate_wrong("share: --capacity was expected");
	if (!(s->path.set & RATE_PATH_AGE_LIMIT))
		s->path.age_limit = 3 * RATE_SECOND;
	s->path.set |= RATE_PATH_AGE_LIMIT;
	if (s->path.age_limit && s->interval_ns > s->path.age_limit / RENEWALS)
		return rate_wrong("share: --interval is more than a third of "
				  "--age: advice would end in between");
	s->control.period_ns = s->interval_ns;
	return WALE_EXIT_OK;
}

static int parse(struct share *s, int argc, char **argv)
{
	int status, left;

	if (argc < 1 || **argv == '-')
		return rate_wrong("share: a device was expected");
	s->dev = *argv;
	status = take_own_words(s, argc - 1, argv + 1, &left);
	if (!status)
		status = rate_take_options(&s->path, left, argv + 1);
	if (!status)
		status = check(s);
	if (status)
		return status;
	s->control.ifindex = rate_device_index(s->dev);
	if (!s->control.ifindex)
		return rate_cannot("share", "there is no such device");
	return WALE_EXIT_OK;
}

static int run(struct share *s)
{
	struct rate_wait wait;
	int status, events;

	/* A reader that went away must not keep the paths from being deleted. */
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rate_channel_events(s->g, false, true, &events))
		return rate_cannot("share", s->g->rtnl.error);
	if (rate_wait_open(&wait, events)) {
		status = rate_cannot("wait", strerror(errno));
	} else {
		status = control(s, &wait);
		end(s);
		rate_wait_close(&wait);
	}
	close(events);
	return status;
}

int rate_share(struct genl *g, int argc, char **argv)
{
	struct share s = { .g = g,
			   .interval_ns = RATE_SECOND / 10,
			   .path = { .follow_netns_fd = -1 } };
	int status, lock = -1;

	status = parse(&s, argc, argv);
	if (!status)
		status = rate_open(g, "share");
	if (!status)
		status = take_device(&s, &lock);
	if (!status)
		status = run(&s);
	if (lock >= 0)
		close(lock);
	control_free(&s.control);
	free(s.dump.flow);
	rate_path_close(&s.path);
	return status;
}
