// SPDX-License-Identifier: GPL-2.0
/*
 * get_options.c - the command line of "wale get"
 */
#include "get_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/command.h"
#include "lib/json.h"
#include "lib/units.h"
#include "transfer.h"

#define DEFAULT_TIMEOUT_S 60

static void usage(FILE *out)
{
	fputs("Usage: wale get [OPTION]... HOST:NAME...\n"
	      "Receive files from 'wale serve', check their SHA-256, and report the throughput,\n"
	      "from connecting to the last byte of data.  Put an IPv6 address in brackets:\n"
	      "[::1]:NAME.\n"
	      "\n"
	      "What to get:\n"
	      "  -c, --cc NAME           congestion control for the server to use\n"
	      "  -n, --bytes N           only N bytes (with units kb, mb, gb of 1024)\n"
	      "      --offset N          from byte N of the file\n"
	      "  -r, --repeat            continue at the start after the end of the file; needs\n"
	      "                          --bytes or --duration\n"
	      "  -d, --duration T        stop after receiving for T, in seconds or such as 500ms\n"
	      "Sessions that arrive at random (a Poisson process):\n"
	      "      --arrivals RATE     arrivals per second, such as 0.625; each is a transfer\n"
	      "      --transfers N       total number of transfers\n"
	      "      --mean-size SIZE    mean of their sizes, which are exponential and at least\n"
	      "                          1 byte; a shorter file is repeated\n"
	      "      --seed N            seed of all times and sizes (default: random, and shown)\n"
	      "Where to put it:\n"
	      "  -o, --out FILE          write to FILE when it is complete and correct; for several\n"
	      "                          names, a folder; '-': standard output, as it arrives\n"
	      "      --discard           discard the data after the check (the default)\n"
	      "      --sha256 HEX        digest that the data must have\n"
	      "      --no-sha256         do not compute and compare digests\n"
	      "How:\n"
	      "  -p, --port N            port of the server (default 7770)\n"
	      "  -4, -6                  only IPv4, only IPv6\n"
	      "  -P, --parallel N        number of parallel transfers (default 1)\n"
	      "  -t, --timeout T         give up after T seconds without progress (default 60)\n"
	      "      --local-port N      local port; for several names N, N+1, ...\n"
	      "      --rcvbuf N          size of the receive buffer in bytes (SO_RCVBUF)\n"
	      "      --batch SIZE        take the data when SIZE is there (default: a small part\n"
	      "                          of the receive buffer)\n"
	      "Output:\n"
	      "  -j, --json              one JSON object per transfer on standard output\n"
	      "      --progress, --no-progress   progress bar on standard error (default: if it\n"
	      "                          is a terminal)\n"
	      "  -h, --help              this text\n"
	      "\n"
	      "Exit status: 0 all transfers completed, 1 not all, 2 wrong usage.\n"
	      "\n"
	      "Examples:\n"
	      "  wale get 192.0.2.1:big.bin --cc cubic --out big.bin\n"
	      "  wale get '[2001:db8::1]:big.bin' --cc reno --repeat --duration 60 --json\n"
	      "  wale get --parallel 2 --out folder server:a.bin server:b.bin\n"
	      "  wale get server:big.bin --arrivals 0.5 --transfers 100 --mean-size 200kb\n",
	      out);
}

/* Options without a letter. */
enum {
	OPT_OFFSET = 256,
	OPT_SHA256,
	OPT_NO_SHA256,
	OPT_LOCAL_PORT,
	OPT_RCVBUF,
	OPT_BATCH,
	OPT_DISCARD,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_ARRIVALS,
	OPT_TRANSFERS,
	OPT_MEAN_SIZE,
	OPT_SEED,
};

static const struct option long_options[] = {
	{ "cc", required_argument, NULL, 'c' },
	{ "bytes", required_argument, NULL, 'n' },
	{ "offset", required_argument, NULL, OPT_OFFSET },
	{ "repeat", no_argument, NULL, 'r' },
	{ "duration", required_argument, NULL, 'd' },
	{ "out", required_argument, NULL, 'o' },
	{ "discard", no_argument, NULL, OPT_DISCARD },
	{ "sha256", required_argument, NULL, OPT_SHA256 },
	{ "no-sha256", no_argument, NULL, OPT_NO_SHA256 },
	{ "port", required_argument, NULL, 'p' },
	{ "parallel", required_argument, NULL, 'P' },
	{ "timeout", required_argument, NULL, 't' },
	{ "local-port", required_argument, NULL, OPT_LOCAL_PORT },
	{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "json", no_argument, NULL, 'j' },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "no-progress", no_argument, NULL, OPT_NO_PROGRESS },
	{ "arrivals", required_argument, NULL, OPT_ARRIVALS },
	{ "transfers", required_argument, NULL, OPT_TRANSFERS },
	{ "mean-size", required_argument, NULL, OPT_MEAN_SIZE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Options of what to get. */
static int parse_what(int c, struct get_options *opt)
{
	struct wale_request *req = &opt->request;

	switch (c) {
	case 'c':
		if (!*optarg || strlen(optarg) > WALE_CC_MAX ||
		    strpbrk(optarg, " \t\r\n"))
			return option_bad(
				"--cc", optarg,
				"a name such as reno or cubic, of at most 15 characters");
		snprintf(req->cc, sizeof(req->cc), "%s", optarg);
		return 0;
	case 'n':
		if (!parse_bytes(optarg, &req->bytes))
			return option_bad("--bytes", optarg,
					  "a size such as 1000000 or 10mb");
		req->has_bytes = true;
		return 0;
	case OPT_OFFSET:
		if (!parse_bytes(optarg, &req->offset))
			return option_bad(
				"--offset", optarg,
				"a number of bytes such as 1000 or 1mb");
		return 0;
	case 'd':
		if (!parse_time_ns(optarg, &opt->duration_ns) ||
		    !opt->duration_ns)
			return option_bad("--duration", optarg,
					  "a time such as 10, 10s or 500ms");
		return 0;
	case OPT_SHA256:
		if (!wale_hex_valid(optarg, opt->expected))
			return option_bad("--sha256", optarg, "64 hex digits");
		return 0;
	default:
		return -1;
	}
}

/* Options of how to get it. */
static int parse_how(int c, struct get_options *opt)
{
	uint64_t bytes;

	switch (c) {
	case 'p':
		if (!parse_port(optarg, &opt->port) || !opt->port)
			return option_bad("--port", optarg,
					  "a number from 1 to 65535");
		return 0;
	case OPT_LOCAL_PORT:
		if (!parse_port(optarg, &opt->local_port) || !opt->local_port)
			return option_bad("--local-port", optarg,
					  "a number from 1 to 65535");
		return 0;
	case 'P':
		if (!parse_count(optarg, 1, 100000, &opt->parallel))
			return option_bad("--parallel", optarg,
					  "a number from 1 to 100000");
		return 0;
	case 't':
		if (!parse_time_ns(optarg, &opt->timeout_ns) ||
		    opt->timeout_ns < NSEC_PER_SEC / 100)
			return option_bad(
				"--timeout", optarg,
				"a time of at least 10ms, such as 60 or 500ms");
		return 0;
	case OPT_RCVBUF:
		if (!parse_bytes(optarg, &bytes) || !bytes ||
		    bytes > INT32_MAX / 2)
			return option_bad("--rcvbuf", optarg,
					  "a size from 1 byte to 1gb");
		opt->rcvbuf = (unsigned int)bytes;
		return 0;
	case OPT_BATCH:
		if (!parse_batch(optarg, &opt->batch))
			return option_bad("--batch", optarg, BATCH_EXPECTED);
		return 0;
	default:
		return -1;
	}
}

/* Options of sessions that arrive. */
static int parse_arrivals(int c, struct get_options *opt)
{
	struct get_arrivals *arrivals = &opt->arrivals;

	switch (c) {
	case OPT_ARRIVALS:
		if (!arrivals_parse_rate(optarg, &arrivals->interval_ns))
			return option_bad(
				"--arrivals", optarg,
				"a number per second from 0.001 to 1000000, such as 0.625");
		return 0;
	case OPT_TRANSFERS:
		if (!parse_count(optarg, 1, ARRIVALS_MAX, &arrivals->count))
			return option_bad("--transfers", optarg,
					  "a number from 1 to 100000");
		return 0;
	case OPT_MEAN_SIZE:
		if (!parse_bytes(optarg, &arrivals->mean_bytes) ||
		    !arrivals->mean_bytes ||
		    arrivals->mean_bytes > ARRIVALS_MEAN_BYTES_MAX)
			return option_bad(
				"--mean-size", optarg,
				"a size from 1 to 1024gb, such as 200kb");
		return 0;
	case OPT_SEED:
		if (units_parse_seed(optarg, &arrivals->seed))
			return option_bad(
				"--seed", optarg,
				"a number from 0 to 18446744073709551615");
		opt->has_seed = true;
		return 0;
	default:
		return -1;
	}
}

/* 0, an exit status, or -1 after --help. */
static int parse_option(int c, struct get_options *opt)
{
	int err;

	switch (c) {
	case 'r':
		opt->request.repeat = true;
		return 0;
	case 'o':
		opt->out = optarg;
		return 0;
	case OPT_DISCARD:
		opt->out = NULL;
		return 0;
	case OPT_NO_SHA256:
		opt->request.sha256 = false;
		return 0;
	case '4':
		opt->family = AF_INET;
		return 0;
	case '6':
		opt->family = AF_INET6;
		return 0;
	case 'j':
		opt->json = true;
		return 0;
	case OPT_PROGRESS:
	case OPT_NO_PROGRESS:
		opt->progress = c == OPT_PROGRESS;
		return 0;
	case 'h':
		usage(stdout);
		return -1;
	case '?':
		return WALE_EXIT_USAGE;
	default:
		err = parse_what(c, opt);
		if (err < 0)
			err = parse_arrivals(c, opt);
		return err < 0 ? parse_how(c, opt) : err;
	}
}

/* Sessions draw what other options would fix, and keep nothing. */
static int check_arrivals(struct get_options *opt, int n_names)
{
	const struct get_arrivals *arrivals = &opt->arrivals;

	if (!arrivals->interval_ns) {
		if (arrivals->count || arrivals->mean_bytes || opt->has_seed)
			return option_bad(
				"--transfers, --mean-size, --seed", NULL,
				"--arrivals with them: they are for sessions that arrive");
		return 0;
	}
	if (!arrivals->count || !arrivals->mean_bytes)
		return option_bad("--arrivals", NULL,
				  "--transfers and --mean-size with it");
	if (opt->parallel)
		return option_bad(
			"--arrivals", NULL,
			"no --parallel with it: all that arrived run at once");
	if (opt->request.has_bytes || opt->duration_ns || *opt->expected)
		return option_bad(
			"--arrivals", NULL,
			"no --bytes, --duration or --sha256 with it: sizes are drawn");
	if (opt->out)
		return option_bad(
			"--arrivals", NULL,
			"no --out with it: what comes is thrown away");
	if (n_names > 1)
		return option_bad("--arrivals", NULL, "only one HOST:NAME");
	opt->request.has_bytes = true;
	opt->request.repeat = true;
	return 0;
}

/* The default is drawn once, and such that JSON has it as a number. */
static int draw_seed(struct get_options *opt)
{
	uint64_t *seed = &opt->arrivals.seed;

	if (!opt->arrivals.interval_ns || opt->has_seed)
		return 0;
	if (getrandom(seed, sizeof(*seed), 0) != sizeof(*seed)) {
		fprintf(stderr, "wale get: cannot draw a seed: %s\n",
			strerror(errno));
		return WALE_EXIT_FAILED;
	}
	*seed >>= 64 - JSON_EXACT_BITS;
	return 0;
}

unsigned int get_options_transfers(const struct get_options *opt, int n_names)
{
	return opt->arrivals.interval_ns ? opt->arrivals.count
					 : (unsigned int)n_names;
}

/* What single options cannot know. */
static int check_options(struct get_options *opt, int n_names)
{
	struct stat stat_out;
	int err;

	if (!n_names) {
		fputs("wale get: expected what to get, as HOST:NAME; try 'wale get --help'\n",
		      stderr);
		return WALE_EXIT_USAGE;
	}
	err = check_arrivals(opt, n_names);
	if (err)
		return err;
	if (!opt->parallel)
		opt->parallel = 1;
	if (opt->request.repeat && !opt->request.has_bytes && !opt->duration_ns)
		return option_bad(
			"--repeat", NULL,
			"--bytes or --duration with it, or it would never end");
	if (*opt->expected && n_names > 1)
		return option_bad("--sha256", opt->expected,
				  "only one HOST:NAME");
	if (*opt->expected && opt->duration_ns)
		return option_bad(
			"--sha256", opt->expected,
			"no --duration with it, which ends before the data do");
	if (opt->local_port &&
	    opt->local_port + get_options_transfers(opt, n_names) - 1 >
		    UINT16_MAX)
		return option_bad(
			"--local-port", NULL,
			"a lower number, as each transfer takes the next port");
	if (opt->request.repeat && !opt->request.has_bytes)
		opt->request.sha256 = false; /* there is no end to have one */
	else
		opt->digest = opt->request.sha256;
	opt->digest |= *opt->expected != '\0';
	if (!opt->out)
		return 0;
	if (!strcmp(opt->out, "-")) {
		if (n_names > 1 || opt->json)
			return option_bad("--out", "-",
					  "only one HOST:NAME, and no --json");
		return 0;
	}
	opt->out_is_folder =
		!stat(opt->out, &stat_out) && S_ISDIR(stat_out.st_mode);
	if (n_names > 1 && !opt->out_is_folder)
		return option_bad(
			"--out", opt->out,
			"an existing folder for more than one HOST:NAME");
	return 0;
}

int get_options_parse(int argc, char **argv, struct get_options *opt)
{
	int c, err;

	*opt = (struct get_options){
		.port = WALE_PORT,
		.timeout_ns = DEFAULT_TIMEOUT_S * NSEC_PER_SEC,
		.request.sha256 = true,
		.progress = stderr_shows_progress(),
	};
	optind = 0;
	while ((c = option_next("get", argc, argv, ":c:n:rd:o:p:46P:t:jh",
				long_options)) != -1) {
		err = parse_option(c, opt);
		if (err)
			return err;
	}
	err = check_options(opt, argc - optind);
	return err ? err : draw_seed(opt);
}
