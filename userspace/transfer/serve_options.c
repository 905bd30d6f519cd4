// SPDX-License-Identifier: GPL-2.0
/*
 * serve_options.c - the command line of "wale serve": see serve_options.h
 */
#include "serve_options.h"

#include <getopt.h>
#include <stdio.h>

#include "lib/command.h"
#include "transfer.h"
#include "transfer_proto.h"

#define DEFAULT_TRANSFERS 8192
#define DEFAULT_IDLE_S 60

enum { OPT_BATCH = 256 };

static void usage(FILE *out)
{
	fputs("Usage: wale serve [OPTION]... DIR\n"
	      "Send the files below DIR to 'wale get', each with the congestion control named\n"
	      "in the request.\n"
	      "\n"
	      "  -l, --listen ADDR       address to listen on; may be given several times\n"
	      "                          (default: all of IPv6 and IPv4)\n"
	      "  -p, --port N            TCP port (default 7770; 0: any free one)\n"
	      "  -m, --max-transfers N   refuse more than N at once as busy (default 8192, less\n"
	      "                          if the limit of open files is lower)\n"
	      "  -a, --max-per-address N  the same for each IPv4 address or IPv6 /64 (default:\n"
	      "                          no separate limit)\n"
	      "  -t, --idle-timeout T    give up on a connection without a request, or a transfer\n"
	      "                          without progress, after T (default 60s)\n"
	      "  -u, --user NAME[:GROUP] run as this user, without any privilege, once the port\n"
	      "                          is open; must be started as root\n"
	      "      --batch SIZE        have room for SIZE in the send buffer from the start\n"
	      "                          (default: the kernel's, which grows)\n"
	      "  -1, --once N            end after N transfers\n"
	      "  -j, --json              one JSON object per transfer on standard output\n"
	      "  -q, --quiet             print only errors\n"
	      "  -h, --help              this text\n"
	      "\n"
	      "SIGTERM or SIGINT ends the server with a summary.\n"
	      "\n"
	      "Examples:\n"
	      "  wale serve /srv/files\n"
	      "  wale serve --user nobody --max-per-address 20 /srv/files\n"
	      "  wale serve --listen 192.0.2.1 --port 8000 --json --once 10 .\n",
	      out);
}

/* 0, an exit code, or -1 after --help. */
static int parse_option(int c, struct serve_options *opt)
{
	switch (c) {
	case 'l':
		if (opt->n_listen == SERVE_LISTENERS_MAX)
			return option_bad("--listen", optarg,
					  "at most 32 addresses");
		opt->listen[opt->n_listen++] = optarg;
		return 0;
	case 'p':
		if (!parse_port(optarg, &opt->port))
			return option_bad("--port", optarg,
					  "a number from 0 to 65535");
		return 0;
	case 'm':
		if (!parse_count(optarg, 1, 1000000, &opt->max_transfers))
			return option_bad("--max-transfers", optarg,
					  "a number from 1 to 1000000");
		return 0;
	case 't':
		if (!parse_time_ns(optarg, &opt->idle_timeout_ns) ||
		    opt->idle_timeout_ns < NSEC_PER_SEC / 100)
			return option_bad(
				"--idle-timeout", optarg,
				"a time of at least 10ms, such as 60s");
		return 0;
	case 'a':
		if (!parse_count(optarg, 1, 1000000, &opt->max_per_address))
			return option_bad("--max-per-address", optarg,
					  "a number from 1 to 1000000");
		return 0;
	case 'u':
		opt->user = optarg;
		return 0;
	case OPT_BATCH:
		if (!parse_batch(optarg, &opt->batch))
			return option_bad("--batch", optarg, BATCH_EXPECTED);
		return 0;
	case '1':
		if (!parse_count(optarg, 1, UINT32_MAX, &opt->once))
			return option_bad("--once", optarg, "a number from 1");
		return 0;
	case 'j':
		opt->json = true;
		return 0;
	case 'q':
		opt->quiet = true;
		return 0;
	case 'h':
		usage(stdout);
		return -1;
	default:
		return WALE_EXIT_USAGE;
	}
}

int serve_options_parse(int argc, char **argv, struct serve_options *opt)
{
	static const struct option longs[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "port", required_argument, NULL, 'p' },
		{ "max-transfers", required_argument, NULL, 'm' },
		{ "max-per-address", required_argument, NULL, 'a' },
		{ "user", required_argument, NULL, 'u' },
		{ "idle-timeout", required_argument, NULL, 't' },
		{ "batch", required_argument, NULL, OPT_BATCH },
		{ "once", required_argument, NULL, '1' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	*opt = (struct serve_options){
		.port = WALE_PORT,
		.max_transfers = DEFAULT_TRANSFERS,
		.idle_timeout_ns = DEFAULT_IDLE_S * NSEC_PER_SEC,
	};
	optind = 0;
	while ((c = option_next("serve", argc, argv, ":l:p:m:a:u:t:1:jqh",
				longs)) != -1) {
		err = parse_option(c, opt);
		if (err)
			return err;
	}
	if (argc - optind != 1) {
		fprintf(stderr,
			"wale serve: expected one folder to serve, got %d arguments; try 'wale serve --help'\n",
			argc - optind);
		return WALE_EXIT_USAGE;
	}
	opt->folder = argv[optind];
	return 0;
}
