// SPDX-License-Identifier: GPL-2.0
/*
 * rate_monitor.c - wale rate monitor: what changes, one line for each event
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/units.h"
#include "rate.h"

struct monitor {
	bool flows;
	bool json;
	uint64_t now_ns; /* when the events at hand were received */
	uint64_t lost; /* how often events were lost */
};

static const char *event_name(int command)
{
	switch (command) {
	case RATE_FEEDBACK_CMD_PATH_NTF:
		return "set";
	case RATE_FEEDBACK_CMD_PATH_DEL_NTF:
		return "del";
	case RATE_FEEDBACK_CMD_FLOW_NTF:
		return "flow";
	case RATE_FEEDBACK_CMD_FLOW_DEL_NTF:
		return "flow-end";
	default:
		return NULL;
	}
}

static void begin_json(struct json *j, const struct monitor *m,
		       const char *event)
{
	json_open(j, NULL, '{');
	json_put_u64(j, "t_ns", m->now_ns);
	json_put_string(j, "event", event);
}

static void begin_text(const struct monitor *m, const char *event)
{
	printf("%" PRIu64 ".%09" PRIu64 " %s ", m->now_ns / RATE_SECOND,
	       m->now_ns % RATE_SECOND, event);
}

static void print_flow(const struct rate_flow *flow)
{
	char local[RATE_KEY_MAX], peer[RATE_KEY_MAX], dev[16];

	printf("%s %s", rate_key_local(local, &flow->key),
	       rate_key_peer(peer, &flow->key));
	if (flow->ifindex)
		printf(" dev %s", rate_device_name(dev, flow->ifindex));
	printf(" cc %s phase %s acked %" PRIu64, flow->congestion,
	       rate_phase_name(flow->phase), flow->bytes_acked);
}

static void on_event(const struct nlmsghdr *message, void *arg)
{
	struct json_file file = { .file = stdout };
	struct json j = { &json_file_ops, &file };
	const char *event = event_name(genl_command(message));
	const struct monitor *m = arg;
	struct rate_path path;
	struct rate_flow flow;
	const void *data;
	size_t length;
	bool is_flow;

	if (!event)
		return;
	is_flow = *event == 'f';
	data = genl_attributes(message, &length);
	if (is_flow)
		rate_flow_decode(&flow, data, length);
	else
		rate_path_decode(&path, data, length);

	if (m->json) {
		begin_json(&j, m, event);
		if (is_flow)
			rate_flow_json(&j, &flow);
		else
			rate_path_json(&j, &path);
		json_close(&j, '}');
	} else {
		begin_text(m, event);
		if (is_flow)
			print_flow(&flow);
		else
			rate_path_print(stdout, &path);
	}
	putchar('\n');
}

/* How many were lost nobody knows. */
static void report_lost(struct monitor *m)
{
	struct json_file file = { .file = stdout };
	struct json j = { &json_file_ops, &file };

	m->lost++;
	if (m->json) {
		begin_json(&j, m, "lost");
		json_put_u64(&j, "times", m->lost);
		json_close(&j, '}');
		putchar('\n');
	} else {
		begin_text(m, "lost");
		printf("times %" PRIu64 "\n", m->lost);
	}
}

static int monitor(struct monitor *m, struct rate_wait *wait)
{
	enum rate_wake wake;
	int err;

	for (;;) {
		wake = rate_wait(wait, RATE_FOREVER);
		if (wake == RATE_WAKE_FAILED)
			return rate_cannot("wait", strerror(errno));
		m->now_ns = rate_now();
		do {
			err = genl_events_receive(wait->events, on_event, m);
			if (err == -ENOBUFS)
				report_lost(m);
		} while (err == -ENOBUFS);
		if (err)
			return rate_cannot("receive events", strerror(-err));
		if (fflush(stdout) || ferror(stdout))
			return rate_cannot("write", strerror(errno));
		/* What had come before the signal was still printed. */
		if (wake == RATE_WAKE_SIGNAL)
			return WALE_EXIT_OK;
	}
}

static int parse(struct monitor *m, int argc, char **argv)
{
	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "--flows") || !strcmp(*argv, "-f"))
			m->flows = true;
		else if (!strcmp(*argv, "--json") || !strcmp(*argv, "-j"))
			m->json = true;
		else
			return rate_wrong("what is \"%s\"?", *argv);
	}
	return WALE_EXIT_OK;
}

int rate_monitor(struct genl *g, int argc, char **argv)
{
	struct monitor m = { .flows = false };
	struct rate_wait wait;
	int status, fd;

	status = parse(&m, argc, argv);
	if (!status)
		status = rate_open(g, "monitor");
	if (status)
		return status;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rate_channel_events(g, true, m.flows, &fd))
		return rate_cannot("monitor", g->rtnl.error);
	if (rate_wait_open(&wait, fd)) {
		status = rate_cannot("wait", strerror(errno));
	} else {
		status = monitor(&m, &wait);
		rate_wait_close(&wait);
	}
	close(fd);
	return status;
}
