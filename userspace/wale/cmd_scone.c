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
	fputs("Usage: wale scone listen [dev DEV] [OPTION]... [--show] [--json] "
	      "[--quiet]\n"
	      "\n"
	      "An experiment.  Takes the rate advice (SCONE) of QUIC packets "
	      "that arrive at this\n"
	      "host, and publishes the lowest of the last 67 s as a path dst "
	      "PEER, for TCP with\n"
	      "the congestion control ratcp to the same peer.  The advice is "
	      "that of the other\n"
	      "direction, and anyone who can send packets in the peer's name "
	      "can give it.\n"
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
		return scone_wrong("expected listen");
	if (!strcmp(argv[1], "listen"))
		return scone_listen(argc - 2, argv + 2);
	return scone_wrong("expected listen, got \"%s\"", argv[1]);
}
