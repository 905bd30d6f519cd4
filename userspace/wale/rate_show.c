// SPDX-License-Identifier: GPL-2.0
/*
 * rate_show.c - wale rate show: paths, and who listens to them
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "lib/units.h"
#include "rate.h"

#define MS UINT64_C(1000000)

struct shown {
	bool one; /* a key was given */
	bool want_flows;
	bool json;
	struct rate_key key;
	struct rate_paths paths;
	struct rate_flows flows;
};

/* Advice ages; nobody wants to see how many nanoseconds. */
static const char *format_age(char buf[2 * UNITS_MAX],
			      const struct rate_path *path)
{
	char limit[UNITS_MAX];
	size_t length;

	units_format_time(buf, path->age < MS ? 0 : path->age - path->age % MS);
	if (path->age_limit) {
		length = strlen(buf);
		snprintf(buf + length, 2 * UNITS_MAX - length, "/%s",
			 units_format_time(limit, path->age_limit));
	}
	return buf;
}

static void add_flag(char *buf, size_t size, const char *name,
		     const char *value)
{
	size_t length = strlen(buf);

	snprintf(buf + length, size - length, " %s%s%s", name,
		 *value ? "=" : "", value);
}

/* What is not as it mostly is. */
static void format_flags(char *buf, size_t size, const struct rate_path *path)
{
	char text[UNITS_MAX];

	*buf = '\0';
	if (path->publisher)
		add_flag(buf, size, "publisher", "");
	if (path->set & RATE_PATH_FOLLOW) {
		snprintf(text, sizeof(text), "if%u", path->follow_ifindex);
		add_flag(buf, size, "follow", text);
	}
	if (path->age_limit && path->age > path->age_limit)
		add_flag(buf, size, "stale", "");
	if (path->swing) {
		snprintf(text, sizeof(text), "%" PRIu32 "%%", path->swing);
		add_flag(buf, size, "swing", text);
	}
	if (path->meaning == RATE_FEEDBACK_MEANING_WEIGHT)
		add_flag(buf, size, "phi",
			 units_format_millionths(text, path->phi));
	if (path->rise != RATE_FEEDBACK_RISE_FAST)
		add_flag(buf, size, "rise", rate_rise_name(path->rise));
	if (path->pace)
		add_flag(buf, size, "pace", "");
	if (path->base_rtt)
		add_flag(buf, size, "base-rtt",
			 units_format_time(text, path->base_rtt));
	if (path->layer != RATE_FEEDBACK_LAYER_IP)
		add_flag(buf, size, "layer", rate_layer_name(path->layer));
}

static void print_path(const struct rate_path *path, int width)
{
	char key[RATE_KEY_MAX], rate[UNITS_MAX], lag[UNITS_MAX];
	char age[2 * UNITS_MAX], flags[256];
	bool known = path->set & RATE_PATH_RATE;

	format_flags(flags, sizeof(flags), path);
	printf("%-*s %-12s %-7s %5" PRIu32 " %9" PRIu32 " %-6s %7" PRIu32
	       " %-*s%s\n",
	       width, rate_key_format(key, &path->key),
	       known ? units_format_rate(rate, path->rate) : "-",
	       known ? rate_meaning_name(path->meaning) : "-", path->flows,
	       path->listeners, rate_lag_format(lag, path), path->beta,
	       *flags ? 12 : 0, format_age(age, path), flags);
}

static void print_paths(const struct rate_paths *paths)
{
	char key[RATE_KEY_MAX];
	int width = strlen("PATH");
	size_t i;

	for (i = 0; i < paths->n; i++) {
		int length = strlen(rate_key_format(key, &paths->path[i].key));

		width = length > width ? length : width;
	}
	printf("%-*s %-12s %-7s %5s %9s %-6s %7s %-12s %s\n", width, "PATH",
	       "RATE", "MEANING", "FLOWS", "LISTENERS", "LAG", "BETA", "AGE",
	       "FLAGS");
	for (i = 0; i < paths->n; i++)
		print_path(&paths->path[i], width);
}

static int compare_id(const void *a, const void *b)
{
	const struct rate_path *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The key of the path that the flow listens to; the paths are in order. */
static const char *path_of(char buf[RATE_KEY_MAX], const struct rate_flow *flow,
			   const struct rate_paths *paths)
{
	const struct rate_path wanted = { .id = flow->path }, *path = NULL;

	if (flow->has_path && paths->n)
		path = bsearch(&wanted, paths->path, paths->n, sizeof(*path),
			       compare_id);
	return path ? rate_key_format(buf, &path->key) : "-";
}

static int flow_width(const struct rate_flows *flows)
{
	char local[RATE_KEY_MAX], peer[RATE_KEY_MAX];
	int width = strlen("FLOW");
	size_t i;

	for (i = 0; i < flows->n; i++) {
		const struct rate_key *key = &flows->flow[i].key;
		int length = strlen(rate_key_local(local, key)) + 3 +
			     strlen(rate_key_peer(peer, key));

		width = length > width ? length : width;
	}
	return width;
}

static void print_flow(const struct rate_flow *flow,
		       const struct rate_paths *paths, int width)
{
	char local[RATE_KEY_MAX], peer[RATE_KEY_MAX], path[RATE_KEY_MAX];
	char ends[2 * RATE_KEY_MAX + 8], rate[UNITS_MAX], rtt[UNITS_MAX];

	snprintf(ends, sizeof(ends), "%s > %s",
		 rate_key_local(local, &flow->key),
		 rate_key_peer(peer, &flow->key));
	printf("%-*s %-10s %-10s %-12s %7" PRIu32 " %7" PRIu32 " %7" PRIu32
	       " %-10s %s\n",
	       width, ends, flow->congestion, rate_phase_name(flow->phase),
	       flow->rate_window ? units_format_rate(rate, flow->rate) : "-",
	       flow->rate_window, flow->cwnd, flow->in_flight,
	       flow->base_rtt ? units_format_time(rtt, flow->base_rtt) : "-",
	       path_of(path, flow, paths));
}

static void print_flows(const struct shown *shown)
{
	int width = flow_width(&shown->flows);
	size_t i;

	printf("%-*s %-10s %-10s %-12s %7s %7s %7s %-10s %s\n", width, "FLOW",
	       "CC", "PHASE", "SHARE", "W_RATE", "CWND", "FLIGHT", "BASE RTT",
	       "PATH");
	for (i = 0; i < shown->flows.n; i++)
		print_flow(&shown->flows.flow[i], &shown->paths, width);
}

static void print_json(const struct shown *shown)
{
	struct json_file file = { .file = stdout };
	struct json j = { &json_file_ops, &file };
	size_t i;

	json_open(&j, NULL, '{');
	json_open(&j, "paths", '[');
	for (i = 0; i < shown->paths.n; i++) {
		json_open(&j, NULL, '{');
		rate_path_json(&j, &shown->paths.path[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	if (shown->want_flows) {
		json_open(&j, "flows", '[');
		for (i = 0; i < shown->flows.n; i++) {
			json_open(&j, NULL, '{');
			rate_flow_json(&j, &shown->flows.flow[i]);
			json_close(&j, '}');
		}
		json_close(&j, ']');
	}
	json_close(&j, '}');
	putchar('\n');
}

static int parse(struct shown *shown, int argc, char **argv)
{
	int status, taken;

	for (; argc > 0; argc -= taken, argv += taken) {
		taken = 1;
		if (!strcmp(*argv, "--flows") || !strcmp(*argv, "-f")) {
			shown->want_flows = true;
		} else if (!strcmp(*argv, "--json") || !strcmp(*argv, "-j")) {
			shown->json = true;
		} else if (shown->one) {
			return rate_wrong("what is \"%s\"?", *argv);
		} else {
			status = rate_take_key(&shown->key, argc, argv, &taken);
			if (status)
				return status;
			shown->one = true;
		}
	}
	return WALE_EXIT_OK;
}

static int get_one(struct genl *g, struct shown *shown)
{
	struct rate_paths *paths = &shown->paths;

	paths->path = malloc(sizeof(*paths->path));
	if (!paths->path)
		return -ENOMEM;
	paths->room = 1;
	paths->n = 1;
	return rate_channel_get(g, &shown->key, paths->path);
}

/* What changes while it is shown may be missing: then it is said. */
static int get(struct genl *g, struct shown *shown)
{
	uint32_t *id = NULL;
	int err;

	if (shown->one) {
		err = get_one(g, shown);
		id = &shown->paths.path[0].id;
	} else {
		err = rate_channel_paths(g, &shown->paths);
		if (shown->paths.n)
			qsort(shown->paths.path, shown->paths.n,
			      sizeof(*shown->paths.path), compare_id);
	}
	if ((!err || err == -EINTR) && shown->want_flows) {
		int flows_err = rate_channel_flows(g, id, &shown->flows);

		err = err && !flows_err ? err : flows_err;
	}
	if (err == -EINTR)
		fputs("wale rate: show: much changes; some may be missing\n",
		      stderr);
	return err == -EINTR ? 0 : err;
}

int rate_show(struct genl *g, int argc, char **argv)
{
	struct shown shown = { .one = false };
	int status;

	status = parse(&shown, argc, argv);
	if (!status)
		status = rate_open(g, "show");
	if (!status && get(g, &shown)) {
		char buf[RATE_KEY_MAX], what[RATE_KEY_MAX + 16];

		snprintf(what, sizeof(what), "show %s",
			 shown.one ? rate_key_format(buf, &shown.key)
				   : "the paths");
		status = rate_cannot(what, g->rtnl.error);
	} else if (!status && shown.json) {
		print_json(&shown);
	} else if (!status) {
		print_paths(&shown.paths);
		if (shown.want_flows) {
			putchar('\n');
			print_flows(&shown);
		}
	}
	free(shown.paths.path);
	free(shown.flows.flow);
	return status;
}
