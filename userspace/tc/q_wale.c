// SPDX-License-Identifier: GPL-2.0
/*
 * q_wale.c - the wale qdisc in tc
 *
 * The options, as words and as attributes, are those of lib/link_config.c,
 * which wale link uses too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/json.h"
#include "lib/link_config.h"
#include "lib/link_stats.h"
#include "tc_abi.h"

/* Looked up by name in the plugin. */
extern struct qdisc_util wale_qdisc_util;

static void explain(void)
{
	fprintf(stderr, "Usage: ... wale [OPTION]...\n"
			"\n"
			"One direction of a wide-area link.  OPTION is:\n");
	link_config_help(stderr, "");
	fprintf(stderr, "\n"
			"Such as: tc qdisc add dev eth0 root wale rate 10mbit "
			"delay 50ms limit 30kb loss 1%%\n"
			"The manual is tc-wale(8).\n");
}

static int refuse(const struct link_error *error)
{
	fputs("Error: wale: ", stderr);
	link_error_print(stderr, error);
	return -1;
}

static int parse_words(struct link_config *c, int argc, char **argv)
{
	struct link_error error;
	int taken, before = 0;

	for (; argc > 0; argc -= taken, argv += taken) {
		if (!strcmp(*argv, "help")) {
			explain();
			return -1;
		}
		taken = link_config_parse(c, argc, argv, &error);
		if (!taken)
			taken = link_config_unknown(argv, before, "", &error);
		if (taken < 0)
			return refuse(&error);
		before = taken;
	}
	return 0;
}

static int put(void *to, int type, const void *data, size_t length)
{
	return addattr_l(to, TC_REQUEST_MAX, type, data, length);
}

static int wale_parse_opt(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *request, const char *dev)
{
	struct link_config c = { .n_drop = 0 };
	struct rtattr *nest;
	int err;

	err = parse_words(&c, argc, argv);
	if (!err) {
		nest = addattr_nest(request, TC_REQUEST_MAX,
				    TCA_OPTIONS | NLA_F_NESTED);
		err = link_config_encode(&c, put, request);
		addattr_nest_end(request, nest);
		if (err == -ENOMEM)
			fputs("Error: wale: no memory for the options\n",
			      stderr);
		if (err == -EREMOTEIO)
			fprintf(stderr,
				"Error: wale: the kernel does not take the trace: %s\n",
				strerror(errno));
	}
	link_config_free(&c);
	return err;
}

/* lib/json.h on the writer of tc, which keeps an object open around options. */

static void tc_json_name(void *to, const char *name)
{
	jsonw_name(to, name);
}

static void tc_json_string(void *to, const char *value)
{
	jsonw_string(to, value);
}

static void tc_json_number(void *to, const char *text)
{
	jsonw_printf(to, "%s", text);
}

static void tc_json_open(void *to, char bracket)
{
	if (bracket == '{')
		jsonw_start_object(to);
	else
		jsonw_start_array(to);
}

static void tc_json_close(void *to, char bracket)
{
	if (bracket == '}')
		jsonw_end_object(to);
	else
		jsonw_end_array(to);
}

static const struct json_ops tc_json_ops = {
	.name = tc_json_name,
	.string = tc_json_string,
	.number = tc_json_number,
	.open = tc_json_open,
	.close = tc_json_close,
};

static struct json tc_json(void)
{
	return (struct json){ &tc_json_ops, get_json_writer() };
}

static int wale_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct json j = tc_json();
	struct link_config c;
	int err;

	if (!opt)
		return 0;
	err = link_config_decode(&c, RTA_DATA(opt), RTA_PAYLOAD(opt));
	if (err)
		fprintf(stderr, "wale: options cut short\n");
	else if (is_json_context())
		link_config_json(&j, &c);
	else
		link_config_print(f, &c);
	link_config_free(&c);
	return err ? -1 : 0;
}

static int wale_print_xstats(struct qdisc_util *qu, FILE *f,
			     struct rtattr *xstats)
{
	struct json j = tc_json();
	struct link_stats s;

	if (!xstats)
		return 0;
	link_stats_decode(&s, RTA_DATA(xstats), RTA_PAYLOAD(xstats));
	if (is_json_context()) {
		json_open(&j, "stats", '{');
		link_stats_json(&j, &s);
		json_close(&j, '}');
	} else {
		link_stats_print(f, &s, " ", _SL_);
	}
	return 0;
}

__attribute__((visibility("default"))) struct qdisc_util wale_qdisc_util = {
	.id = "wale",
	.parse_qopt = wale_parse_opt,
	.print_qopt = wale_print_opt,
	.print_xstats = wale_print_xstats,
};
