// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_rate.c - wale rate: tells senders how fast they may send, and shows it
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "rate.h"

static const char synopsis[] =
	"Usage: wale rate set KEY [RATE | follow dev DEV [netns NAME|PID]] "
	"[OPTION]...\n"
	"       wale rate del KEY... | all\n"
	"       wale rate show [KEY] [--flows] [--json]\n"
	"       wale rate monitor [--flows] [--json]\n"
	"       wale rate play FILE KEY... [OPTION]... [--loop] [--delete] "
	"[--quiet]\n"
	"       wale rate share DEV --capacity RATE [--interval TIME] "
	"[--OPTION]...\n"
	"                       [--json] [--quiet]\n";

static const char description[] =
	"\n"
	"Advises the listening senders of this network namespace (congestion "
	"control ratcp)\n"
	"how fast to send.  KEY, of which the most specific one counts:\n"
	"  flow LOCAL:PORT PEER:PORT    one connection; IPv6 as in [::1]:7770\n"
	"  dst PREFIX                   everything to these destinations\n"
	"  dev DEV                      everything that leaves by this device\n"
	"\n"
	"RATE is in bytes or bits of IP packets per second, as in 10mbit; 0bit "
	"stops all but\n"
	"beta packets, unlimited means no advice.  OPTION:\n"
	"  share | link         RATE applies to each flow (default), or to the "
	"link and is\n"
	"                       divided by the flows active on it\n"
	"  weight               RATE is that of a flow at price 1, and the "
	"links mark\n"
	"                       packets to signal the price (REM; needs ECN)\n"
	"  phi PHI              links mark with probability 1 - PHI^-price "
	"(1.1)\n"
	"  lag now|rtt|TIME     the rate that senders read: the present one "
	"(default),\n"
	"                       that of one of their round trips ago (default "
	"with follow),\n"
	"                       or that of TIME ago\n"
	"  age TIME|none        a rate that is not renewed for this long no "
	"longer holds (none)\n"
	"  beta N               packets that each sender keeps in the buffer "
	"(1)\n"
	"  swing PERCENT        plus this share of the gap to the last minute's "
	"peak (0%)\n"
	"  rise fast|additive   when the rate rises, follow at once (default), "
	"or by a\n"
	"                       packet per window\n"
	"  pace | nopace        senders pace their packets\n"
	"  base-rtt TIME|measured\n"
	"                       round-trip time without queues (measured)\n"
	"  layer ip|ethernet|atm|payload\n"
	"                       which bytes the rate counts (ip)\n"
	"  time NS              since when, CLOCK_MONOTONIC (now)\n"
	"Without RATE, set changes the options of an existing path.\n"
	"\n"
	"play follows a file with lines DURATION RATE or at TIME RATE.  share "
	"gives the\n"
	"flows that leave by DEV their max-min shares, until SIGINT or "
	"SIGTERM; it updates\n"
	"them every 100ms (--interval), and its advice holds for 3s (--age).\n";

static const char examples[] =
	"\n"
	"Examples:\n"
	"  wale rate set dev eth0 10mbit link lag rtt\n"
	"  wale rate set dst 10.0.2.0/24 2mbit lag 200ms age 1s\n"
	"  wale rate set flow 10.0.1.1:7770 10.0.2.1:40000 1mbit beta 2\n"
	"  wale rate set dev a0 follow dev bottleneck netns router\n"
	"  wale rate show --flows\n"
	"  wale rate play day.txt dev eth0 age 5s --loop\n"
	"  wale rate share eth0 --capacity 10mbit\n"
	"  wale rate del all\n";

static void usage(FILE *to)
{
	fputs(synopsis, to);
	fputs(description, to);
	fputs(examples, to);
}

/* "cannot VERB KEY: what the kernel says" */
static int failed(const struct genl *g, const char *verb,
		  const struct rate_key *key)
{
	char buf[RATE_KEY_MAX], what[RATE_KEY_MAX + 16];

	snprintf(what, sizeof(what), "%s %s", verb, rate_key_format(buf, key));
	return rate_cannot(what, g->rtnl.error);
}

static int set(struct genl *g, int argc, char **argv)
{
	struct rate_path path = { .follow_netns_fd = -1 };
	int status, taken;

	status = rate_take_key(&path.key, argc, argv, &taken);
	if (!status)
		status = rate_take_options(&path, argc - taken, argv + taken);
	if (!status && !path.set)
		status = rate_wrong("set: a rate or an option was expected");
	if (!status)
		status = rate_open(g, "set");
	if (!status && rate_channel_set(g, &path))
		status = failed(g, "set", &path.key);
	rate_path_close(&path);
	return status;
}

static int del_all(struct genl *g)
{
	const struct rate_key key = { .kind = RATE_KEY_NONE };
	int status = rate_open(g, "delete");

	if (!status && rate_channel_del(g, &key))
		status = rate_cannot("delete all", g->rtnl.error);
	return status;
}

/* Nothing is deleted before all words were understood. */
static int del(struct genl *g, int argc, char **argv)
{
	struct rate_key key;
	int status, taken, at;

	if (argc == 1 && !strcmp(*argv, "all"))
		return del_all(g);
	at = 0;
	do {
		status = rate_take_key(&key, argc - at, argv + at, &taken);
		at += taken;
	} while (!status && at < argc);

	if (!status)
		status = rate_open(g, "delete");
	for (at = 0; !status && at < argc; at += taken) {
		status = rate_take_key(&key, argc - at, argv + at, &taken);
		if (!status && rate_channel_del(g, &key))
			status = failed(g, "delete", &key);
	}
	return status;
}

static const struct {
	const char *name;
	int (*run)(struct genl *g, int argc, char **argv);
} verbs[] = {
	{ "set", set },	       { "del", del },
	{ "show", rate_show }, { "monitor", rate_monitor },
	{ "play", rate_play }, { "share", rate_share },
};

static int run(const char *verb, int argc, char **argv)
{
	struct genl g = { .family = 0 };
	int status;
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i].name))
			continue;
		status = verbs[i].run(&g, argc, argv);
		genl_close(&g);
		return status;
	}
	return rate_wrong("no verb \"%s\"", verb);
}

int cmd_rate(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
			continue;
		usage(stdout);
		return WALE_EXIT_OK;
	}
	if (argc < 2)
		return run("show", 0, argv);
	return run(argv[1], argc - 2, argv + 2);
}
