// SPDX-License-Identifier: GPL-2.0
/*
 * scone_device.c - wale scone dev, show, del: advice of a device, beside its qdisc
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/pkt_sched_wale.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "lib/json.h"
#include "lib/scone_packet.h"
#include "lib/units.h"
#include "link.h"
#include "rate.h"
#include "scone.h"
#include "scone_filter.h"

static int take_rate(struct scone_filter *f, const char *text)
{
	char why[UNITS_WRONG_MAX];
	int err;

	err = units_parse_rate(text, &f->rate);
	if (!err && (f->rate < WALE_SCONE_RATE_MIN || f->rate > WALE_RATE_MAX))
		err = -ERANGE;
	if (!err)
		return WALE_EXIT_OK;
	return scone_wrong("rate: \"%s\": %s", text,
			   units_rate_wrong(why, err, f->rate,
					    "a rate from 100kbit to 8000tbit"));
}

static int take_period(struct scone_filter *f, const char *text)
{
	if (!units_parse_time_unit(text, &f->period_ns) &&
	    f->period_ns >= WALE_SCONE_PERIOD_MIN &&
	    f->period_ns <= WALE_SCONE_PERIOD_MAX)
		return WALE_EXIT_OK;
	return scone_wrong("period: \"%s\": expected a time from 100ms to 600s",
			   text);
}

static int take_device(uint32_t *ifindex, const char *name)
{
	*ifindex = if_nametoindex(name);
	return *ifindex ? WALE_EXIT_OK
			: scone_wrong("there is no device \"%s\"", name);
}

/* Words with a value: rate, period; with one that may follow: path, share. */
static int take_word(struct scone_filter *f, int argc, char **argv, int *taken)
{
	const char *word = argv[0], *value = argc > 1 ? argv[1] : NULL;
	bool share = !strcmp(word, "share");

	*taken = 2;
	if (!strcmp(word, "rate") || !strcmp(word, "period")) {
		if (!value)
			return scone_wrong("%s: expected a %s", word,
					   *word == 'r' ? "rate" : "time");
		return *word == 'r' ? take_rate(f, value)
				    : take_period(f, value);
	}
	if (!share && strcmp(word, "path"))
		return scone_wrong(
			"expected rate, path, share or period, got \"%s\"",
			word);
	f->share = share;
	if (value && strcmp(value, "period"))
		return take_device(&f->device, value);
	*taken = 1;
	return WALE_EXIT_OK;
}

static int parse(struct scone_filter *f, int argc, char **argv)
{
	bool period = false, which = false, *given;
	int taken, status;

	f->period_ns = WALE_SCONE_PERIOD_DEFAULT;
	for (; argc > 0; argc -= taken, argv += taken) {
		status = take_word(f, argc, argv, &taken);
		if (status)
			return status;
		given = strcmp(*argv, "period") ? &which : &period;
		if (*given)
			return scone_wrong(
				given == &period
					? "period is given twice"
					: "one of rate, path and share was expected, and \"%s\" comes after another",
				*argv);
		*given = true;
	}
	return WALE_EXIT_OK;
}

/* The device of "dev DEV", and where the rest begins. */
static int take_dev(struct scone_filter *f, int argc, char **argv)
{
	uint32_t ifindex;
	int status;

	if (argc < 1 || strcmp(argv[0], "dev"))
		return scone_wrong("expected dev DEV%s%s%s",
				   argc ? ", got \"" : "", argc ? argv[0] : "",
				   argc ? "\"" : "");
	if (argc < 2)
		return scone_wrong("dev: expected a device");
	status = take_device(&ifindex, argv[1]);
	f->ifindex = (int)ifindex;
	return status;
}

static void warn(const char *iface, const struct scone_filter *f)
{
	struct link_tcx egress;

	link_tcx_look(f->ifindex, LINK_TCX_EGRESS, &egress);
	if (egress.others)
		fprintf(stderr,
			"wale scone: warning: %s: a tcx program at egress comes first: packets for which it has a verdict, such as TC_ACT_OK, get no advice\n",
			iface);
}

/* The channel is loaded if it is not there; a path needs it. */
static int load_channel(const struct scone_filter *f)
{
	struct genl genl;
	int status = WALE_EXIT_OK;

	if (f->rate)
		return status;
	if (rate_channel_open(&genl))
		status = scone_cannot("read paths", genl.rtnl.error);
	genl_close(&genl);
	return status;
}

static int scone_set(struct rtnl *r, int argc, char **argv)
{
	struct scone_filter f = { .rate = 0 };
	int status;

	status = take_dev(&f, argc, argv);
	if (!status)
		status = parse(&f, argc - 2, argv + 2);
	if (!status)
		status = load_channel(&f);
	if (status)
		return status;
	if (scone_filter_set(r, argv[1], &f))
		return scone_cannot("set it", r->error);
	warn(argv[1], &f);
	return WALE_EXIT_OK;
}

static int scone_del(struct rtnl *r, int argc, char **argv)
{
	struct scone_filter f = { .rate = 0 };
	int status;

	status = take_dev(&f, argc, argv);
	if (status)
		return status;
	if (argc > 2)
		return scone_wrong("del: what is \"%s\"?", argv[2]);
	if (scone_filter_look(r, f.ifindex, &f))
		return scone_cannot("look", r->error);
	if (!f.found)
		return scone_cannot("delete it",
				    "there is none at this device");
	return scone_filter_del(r, argv[1], &f)
		       ? scone_cannot("delete it", r->error)
		       : WALE_EXIT_OK;
}

static const char *path_name(const struct scone_filter *f, char buf[16])
{
	return rate_device_name(buf,
				f->device ? f->device : (uint32_t)f->ifindex);
}

static void print_json(struct json *j, const char *iface,
		       const struct scone_filter *f)
{
	char buf[16];

	json_open(j, NULL, '{');
	json_put_string(j, "dev", iface);
	if (f->rate)
		json_put_u64(j, "rate", f->rate);
	else
		json_put_string(j, f->share ? "share" : "path",
				path_name(f, buf));
	json_put_u64(j, "period_ns", f->period_ns);
	json_put_u64(j, "seen", f->seen);
	json_put_u64(j, "lowered", f->lowered);
	json_put_u64(j, "limited", f->limited);
	json_put_u64(j, "malformed", f->malformed);
	json_put_u64(j, "signal", f->signal);
	json_close(j, '}');
}

static void print_words(const char *iface, const struct scone_filter *f)
{
	char rate[UNITS_MAX], period[UNITS_MAX], told[UNITS_MAX], buf[16];

	printf("dev %s %s %s period %s\n", iface,
	       f->rate	  ? "rate"
	       : f->share ? "share"
			  : "path",
	       f->rate ? units_format_rate(rate, f->rate) : path_name(f, buf),
	       units_format_time(period, f->period_ns));
	printf("  seen %" PRIu64 " lowered %" PRIu64 " limited %" PRIu64
	       " malformed %" PRIu64 " told %s\n",
	       f->seen, f->lowered, f->limited, f->malformed,
	       f->signal == SCONE_UNKNOWN
		       ? "nothing"
		       : units_format_rate(told, scone_rate(f->signal)));
}

static int show_each(struct rtnl *r, const char *only, struct json *j)
{
	struct if_nameindex *all = if_nameindex(), *one;
	struct scone_filter f;
	int err = 0;

	if (!all) {
		err = -errno;
		snprintf(r->error, sizeof(r->error), "devices: %s",
			 strerror(-err));
		return err;
	}
	for (one = all; one->if_index && !err; one++) {
		if (only && strcmp(one->if_name, only))
			continue;
		err = scone_filter_look(r, (int)one->if_index, &f);
		if (err || !f.found)
			continue;
		if (j)
			print_json(j, one->if_name, &f);
		else
			print_words(one->if_name, &f);
	}
	if_freenameindex(all);
	return err;
}

static int scone_show(struct rtnl *r, int argc, char **argv)
{
	struct json_file file = { .file = stdout };
	struct json j = { &json_file_ops, &file };
	struct scone_filter f = { .ifindex = 0 };
	const char *only = NULL;
	bool json = false;
	int status, err;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "--json")) {
			json = true;
			continue;
		}
		status = take_dev(&f, argc, argv);
		if (status)
			return status;
		if (only)
			return scone_wrong(
				"show: dev is given twice: \"%s\" and \"%s\"",
				only, argv[1]);
		only = argv[1];
		argc--;
		argv++;
	}
	if (json)
		json_open(&j, NULL, '[');
	err = show_each(r, only, json ? &j : NULL);
	if (json) {
		json_close(&j, ']');
		putchar('\n');
	}
	return err ? scone_cannot("show it", r->error) : WALE_EXIT_OK;
}

int scone_device(const char *verb, int argc, char **argv)
{
	struct rtnl r;
	int status;

	if (rtnl_open(&r, NETLINK_ROUTE))
		return scone_cannot(verb, r.error);
	if (!strcmp(verb, "show"))
		status = scone_show(&r, argc, argv);
	else if (!strcmp(verb, "del"))
		status = scone_del(&r, argc, argv);
	else
		status = scone_set(&r, argc, argv);
	rtnl_close(&r);
	return status;
}
