// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_watch.c - wale watch: records links and TCP flows over time
 *
 * Samples are due at whole multiples of the interval on CLOCK_MONOTONIC, so
 * that those of several recorders fall together.  One timer keeps the time;
 * the clock itself is read at the start and at the end only.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "lib/command.h"
#include "lib/units.h"
#include "watch.h"

#define SECOND UINT64_C(1000000000)
#define BUFFER_BYTES (256 * 1024)

struct watch {
	uint64_t interval_ns;
	uint64_t duration_ns;
	uint64_t count;
	bool want_links;
	bool want_flows;
	bool json;
	const char *links_path;
	const char *flows_path;
	struct watch_links links;
	struct watch_flows flows;
};

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: wale watch [OPTION]...\n"
		"\n"
		"Records every wale link of this network namespace, and its TCP "
		"flows, over time.\n"
		"\n"
		"  -i, --interval TIME   time between samples (default 100ms)\n"
		"  -l, --link DEV        only the links on DEV; may be given "
		"more than once\n"
		"  -L, --no-links        no links\n"
		"  -f, --flows           also TCP flows\n"
		"  -n, --count N         end after N samples\n"
		"  -d, --duration TIME   end after TIME\n"
		"  -j, --json            JSON on stdout, an object per line, "
		"instead of CSV\n"
		"      --links-csv FILE  write links to FILE, as CSV\n"
		"      --flows-csv FILE  write flows to FILE, as CSV (implies "
		"--flows)\n"
		"  -h, --help            this text\n"
		"\n"
		"A TIME is a number with a unit, such as 10ms, or in seconds.\n"
		"SIGINT and SIGTERM end it, with a last sample.\n"
		"\n"
		"Examples:\n"
		"  wale watch --link eth0 --interval 10ms --duration 5s\n"
		"  wale watch --flows --json\n"
		"  wale watch -i 10ms --links-csv links.csv --flows-csv "
		"flows.csv\n");
}

static int wrong(const char *format, const char *word)
{
	fputs("wale watch: ", stderr);
	fprintf(stderr, format, word);
	fputs("; see 'wale watch --help'\n", stderr);
	return WALE_EXIT_USAGE;
}

static int add_device(struct watch_links *links, const char *name)
{
	int ifindex = if_nametoindex(name);
	int *only;

	if (!ifindex)
		return command_failed(name, "there is no such interface");
	only = realloc(links->only, (links->n_only + 1) * sizeof(*only));
	if (!only)
		return command_failed(name, strerror(ENOMEM));
	links->only = only;
	only[links->n_only++] = ifindex;
	return WALE_EXIT_OK;
}

/* A negative number ends the parsing well. */
static int parse_option(struct watch *w, int option, const char *value)
{
	switch (option) {
	case 'i':
		if (!parse_time_ns(value, &w->interval_ns) || !w->interval_ns)
			return wrong("\"%s\" is not an interval, such as 100ms",
				     value);
		break;
	case 'd':
		if (!parse_time_ns(value, &w->duration_ns) || !w->duration_ns)
			return wrong("\"%s\" is not a duration, such as 10s",
				     value);
		break;
	case 'n':
		if (units_parse_count(value, UINT64_MAX, &w->count) ||
		    !w->count)
			return wrong("\"%s\" is not a number of samples",
				     value);
		break;
	case 'l':
		return add_device(&w->links, value);
	case 'L':
		w->want_links = false;
		break;
	case 'f':
		w->want_flows = true;
		break;
	case 'j':
		w->json = true;
		break;
	case 1:
		w->links_path = value;
		break;
	case 2:
		w->flows_path = value;
		w->want_flows = true;
		break;
	case 'h':
		usage(stdout);
		return -1;
	default:
		return WALE_EXIT_USAGE; /* option_next() has said why */
	}
	return WALE_EXIT_OK;
}

/* Options that would do nothing are a mistake; what they were for is not known. */
static int check(const struct watch *w)
{
	if (!w->want_links && !w->want_flows)
		return wrong("%s", "nothing to watch");
	if (!w->want_links && (w->links.n_only || w->links_path))
		return wrong("%s cannot be had with --no-links",
			     w->links_path ? "--links-csv" : "--link");
	if (w->links_path && w->flows_path &&
	    !strcmp(w->links_path, w->flows_path))
		return wrong("links and flows cannot both go to \"%s\"",
			     w->links_path);
	if (w->json && (!w->want_links || w->links_path) &&
	    (!w->want_flows || w->flows_path))
		return wrong("%s is of standard output, and nothing goes there",
			     "--json");
	return WALE_EXIT_OK;
}

static int parse(struct watch *w, int argc, char **argv)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "link", required_argument, NULL, 'l' },
		{ "no-links", no_argument, NULL, 'L' },
		{ "flows", no_argument, NULL, 'f' },
		{ "count", required_argument, NULL, 'n' },
		{ "duration", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "links-csv", required_argument, NULL, 1 },
		{ "flows-csv", required_argument, NULL, 2 },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int option, status;

	optind = 0;
	while ((option = option_next("watch", argc, argv, ":i:l:Lfn:d:jh",
				     options)) >= 0) {
		status = parse_option(w, option, optarg);
		if (status)
			return status;
	}
	if (optind < argc)
		return wrong("what is \"%s\"?", argv[optind]);
	return check(w);
}

static int open_output(struct watch_output *out, const char *path)
{
	out->file = stdout;
	if (path) {
		out->file = fopen(path, "we");
		if (!out->file)
			return command_failed(path, strerror(errno));
	}
	if (isatty(fileno(out->file)))
		setvbuf(out->file, NULL, _IOLBF, 0);
	else
		setvbuf(out->file, NULL, _IOFBF, BUFFER_BYTES);
	return WALE_EXIT_OK;
}

static int open_links(struct watch *w, bool shared)
{
	struct watch_output *out = &w->links.out;

	out->columns = watch_link_columns();
	out->n_columns = WATCH_LINK_COLUMNS;
	out->json = w->json && !w->links_path;
	out->kind = shared || out->json ? "link" : NULL;
	if (rtnl_open(&w->links.rtnl, NETLINK_ROUTE))
		return command_failed("cannot open netlink",
				      w->links.rtnl.error);
	return open_output(out, w->links_path);
}

static int open_flows(struct watch *w, bool shared)
{
	struct watch_output *out = &w->flows.out;

	out->columns = watch_flow_columns;
	out->n_columns = WATCH_FLOW_COLUMNS;
	out->json = w->json && !w->flows_path;
	out->kind = shared || out->json ? "flow" : NULL;
	if (rtnl_open(&w->flows.rtnl, NETLINK_SOCK_DIAG))
		return command_failed("cannot open sock_diag",
				      w->flows.rtnl.error);
	return open_output(out, w->flows_path);
}

static int open_all(struct watch *w)
{
	bool shared = w->want_links && w->want_flows && !w->links_path &&
		      !w->flows_path;
	int status = WALE_EXIT_OK;

	if (w->want_links)
		status = open_links(w, shared);
	if (!status && w->want_flows)
		status = open_flows(w, shared);
	if (!status && w->want_links)
		watch_header(&w->links.out);
	if (!status && w->want_flows)
		watch_header(&w->flows.out);
	return status;
}

/* What was written must have arrived. */
static int close_output(struct watch_output *out, int status)
{
	int bad;

	if (!out->file)
		return status;
	bad = ferror(out->file);
	if (out->file == stdout)
		bad |= fflush(stdout);
	else
		bad |= fclose(out->file);
	out->file = NULL;
	if (bad && status == WALE_EXIT_OK)
		status = command_failed("cannot write", strerror(errno));
	return status;
}

static int close_all(struct watch *w, int status)
{
	status = close_output(&w->links.out, status);
	status = close_output(&w->flows.out, status);
	rtnl_close(&w->links.rtnl);
	rtnl_close(&w->flows.rtnl);
	free(w->links.only);
	free(w->links.devices);
	return status;
}

/* A dump that a change of the system interrupted is as good as it gets. */
static int sample(struct watch *w, uint64_t t_ns)
{
	int err = 0;

	if (w->want_links) {
		err = watch_links_sample(&w->links, t_ns);
		if (err && err != -EINTR)
			return command_failed("links", w->links.rtnl.error);
	}
	if (w->want_flows) {
		err = watch_flows_sample(&w->flows, t_ns);
		if (err && err != -EINTR)
			return command_failed("flows", w->flows.rtnl.error);
	}
	/* a full disk, or a reader that has gone: close_output() says so */
	if ((w->links.out.file && ferror(w->links.out.file)) ||
	    (w->flows.out.file && ferror(w->flows.out.file)))
		return -1;
	return WALE_EXIT_OK;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND,
				  .tv_nsec = ns % SECOND };
}

static int open_timer(uint64_t first_ns, uint64_t interval_ns)
{
	const struct itimerspec when = { .it_value = to_timespec(first_ns),
					 .it_interval =
						 to_timespec(interval_ns) };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd >= 0 && timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Deadlines that were missed are skipped, not made up for. */
static int record(struct watch *w, int timer, int signals, uint64_t first_ns)
{
	struct pollfd fds[] = { { .fd = timer, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	uint64_t last_ns = UINT64_MAX, due, samples = 0;
	uint64_t t_ns = first_ns - w->interval_ns;
	int status;

	if (w->duration_ns &&
	    __builtin_add_overflow(first_ns, w->duration_ns, &last_ns))
		last_ns = UINT64_MAX;

	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return command_failed("poll", strerror(errno));
		}
		if (fds[1].revents)
			return sample(w, monotonic_ns());
		if (!fds[0].revents)
			continue;
		if (read(timer, &due, sizeof(due)) != sizeof(due))
			return command_failed("timer", strerror(errno));
		t_ns += due * w->interval_ns;

		status = sample(w, t_ns);
		if (status)
			return status;
		if (++samples == w->count || t_ns >= last_ns)
			return WALE_EXIT_OK;
	}
}

static int run(struct watch *w)
{
	uint64_t now = monotonic_ns();
	uint64_t first = now + w->interval_ns - now % w->interval_ns;
	int signals = signals_open();
	int timer = open_timer(first, w->interval_ns);
	int status;

	if (signals < 0 || timer < 0)
		status = command_failed("cannot start", strerror(errno));
	else
		status = record(w, timer, signals, first);
	if (signals >= 0)
		close(signals);
	if (timer >= 0)
		close(timer);
	return status;
}

int cmd_watch(int argc, char **argv)
{
	struct watch w = { .interval_ns = SECOND / 10, .want_links = true };
	int status;

	status = parse(&w, argc, argv);
	if (!status)
		status = open_all(&w);
	if (!status)
		status = run(&w);
	return close_all(&w, status < 0 ? WALE_EXIT_OK : status);
}
