// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_scone.c - wale scone: rate advice in QUIC packets
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "scone.h"

static void usage(FILE *to)
{
	fputs("Usage: wale scone dev DEV [rate RATE | path [DEV] | share [DEV]] "
	      "[period TIME]\n"
	      "       wale scone show [dev DEV] [--json]\n"
	      "       wale scone del dev DEV\n"
	      "       wale scone listen [dev DEV] [OPTION]... [--show] [--json] "
	      "[--quiet]\n"
	      "\n"
	      "dev lowers the rate advice (SCONE) in QUIC packets that leave by "
	      "DEV, whatever its\n"
	      "qdisc is, to\n"
	      "\n"
	      "  rate RATE    this rate\n"
	      "  path [DEV]   the rate that DEV, or the device itself, has as a "
	      "path (wale rate);\n"
	      "               this is the default\n"
	      "  share [DEV]  the share of a flow of that\n"
	      "  period TIME  few packets of a flow are changed in such a time "
	      "(default 67s)\n"
	      "\n"
	      "Given again, it changes what is set.  show also prints what was "
	      "counted, del ends it.\n"
	      "\n"
	      "listen is an experiment.  It takes the advice of packets that "
	      "arrive at this host,\n"
	      "and publishes the lowest of the last 67 s as a path dst PEER, for "
	      "TCP with the\n"
	      "congestion control ratcp to the same peer.  The advice is that of "
	      "the other\n"
	      "direction, and anyone who can send packets in the peer's name can "
	      "give it.\n"
	      "\n"
	      "  dev DEV      only what arrives at DEV\n"
	      "  OPTION       as in wale rate set; without one: link lag rtt\n"
	      "  --show       print the advice, and publish nothing\n"
	      "  --json       print JSON, an object per line\n"
	      "  --quiet      print nothing but the summary\n"
	      "\n"
	      "SIGINT and SIGTERM end it; what it published is deleted.\n"
	      "\n"
	      "Examples:\n"
	      "  wale scone dev eth0 rate 20mbit\n"
	      "  wale scone listen --show\n"
	      "  wale scone listen dev eth0 share beta 2\n",
	      to);
}

int cmd_scone(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
			continue;
		usage(stdout);
		return WALE_EXIT_OK;
	}
	if (argc < 2)
		return scone_wrong("expected dev, show, del or listen");
	if (!strcmp(argv[1], "listen"))
		return scone_listen(argc - 2, argv + 2);
	if (!strcmp(argv[1], "dev"))
		return scone_device(argv[1], argc - 1, argv + 1);
	if (!strcmp(argv[1], "show") || !strcmp(argv[1], "del"))
		return scone_device(argv[1], argc - 2, argv + 2);
	return scone_wrong("expected dev, show, del or listen, got \"%s\"",
			   argv[1]);
}
