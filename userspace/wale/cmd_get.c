// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_get.c - "wale get": receive files from "wale serve", and measure
 *
 * One thread, one epoll, up to --parallel transfers at once (get_transfer.c).
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "get_transfer.h"

#define DEFAULT_TIMEOUT_S 60
#define TICKS 4 /* parts of the timeout */
#define PROGRESS_NS (NSEC_PER_SEC / 2)
#define BAR_WIDTH 24

/**
 * struct run - the process
 * @opt: command line
 * @transfers: all of them
 * @n: how many
 * @started: how many were started
 * @running: of these, not over
 * @failed: of these, over with an error
 * @epoll_fd: where everything waits
 * @signals: signalfd
 * @tick: timerfd of timeouts and progress
 * @tick_ns: its interval
 * @stop: a signal that came
 * @shown: there is a line of progress on the terminal
 * @shown_bytes: received when progress was last shown
 * @rate: smoothed bytes/s of the progress
 */
struct run {
	struct get_options opt;
	struct transfer *transfers;
	unsigned int n;
	unsigned int started;
	unsigned int running;
	unsigned int failed;
	int epoll_fd;
	struct get_watch signals;
	struct get_watch tick;
	uint64_t tick_ns;
	int stop;
	bool shown;
	uint64_t shown_bytes;
	double rate;
};

static void usage(FILE *out)
{
	fputs("Usage: wale get [OPTION]... HOST:NAME...\n"
	      "Receive files from 'wale serve', check their SHA-256, and tell how fast they came.\n"
	      "The time runs from connect to the last byte of data.  An IPv6 address goes in\n"
	      "brackets: [::1]:NAME.\n"
	      "\n"
	      "What to get:\n"
	      "  -c, --cc NAME           congestion control that the server is to use\n"
	      "  -n, --bytes N           only N bytes (units kb, mb, gb of 1024)\n"
	      "      --offset N          from byte N of the file\n"
	      "  -r, --repeat            at the end of the file go on at its start; needs\n"
	      "                          --bytes or --duration\n"
	      "  -d, --duration T        stop after T seconds of data (or 500ms ...)\n"
	      "Where to put it:\n"
	      "  -o, --out FILE          write to FILE when all is here and right; to a folder\n"
	      "                          with many names; '-' is standard output (as it comes).\n"
	      "      --discard           throw the data away after the check (the default)\n"
	      "      --sha256 HEX        digest that the data must have\n"
	      "      --no-sha256         don't compute and compare digests\n"
	      "How:\n"
	      "  -p, --port N            port of the server (default 7770)\n"
	      "  -4, -6                  only IPv4, only IPv6\n"
	      "  -P, --parallel N        transfers at once (default 1)\n"
	      "  -t, --timeout T         give up after T seconds without progress (default 60)\n"
	      "      --local-port N      port on this side; with many names N, N+1, ...\n"
	      "      --rcvbuf N          size of the receive buffer in bytes (SO_RCVBUF)\n"
	      "Output:\n"
	      "  -j, --json              one JSON object per transfer on standard output\n"
	      "      --progress, --no-progress   a progress bar on standard error (default: if\n"
	      "                          it is a terminal)\n"
	      "  -h, --help              this text\n"
	      "\n"
	      "Exit status: 0 all transfers were completed, 1 not, 2 wrong usage.\n"
	      "\n"
	      "Examples:\n"
	      "  wale get 192.0.2.1:big.bin --cc cubic --out big.bin\n"
	      "  wale get '[2001:db8::1]:big.bin' --cc reno --repeat --duration 60 --json\n"
	      "  wale get --parallel 2 --out folder server:a.bin server:b.bin\n",
	      out);
}

static int bad(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "wale get: %s '%s': expected %s\n", option, value,
		expected);
	return WALE_EXIT_USAGE;
}

/* Options without a letter. */
enum {
	OPT_OFFSET = 256,
	OPT_SHA256,
	OPT_NO_SHA256,
	OPT_LOCAL_PORT,
	OPT_RCVBUF,
	OPT_DISCARD,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
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
	{ "json", no_argument, NULL, 'j' },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "no-progress", no_argument, NULL, OPT_NO_PROGRESS },
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
			return bad(
				"--cc", optarg,
				"a name such as reno or cubic, of at most 15 characters");
		snprintf(req->cc, sizeof(req->cc), "%s", optarg);
		return 0;
	case 'n':
		if (!parse_bytes(optarg, &req->bytes))
			return bad("--bytes", optarg,
				   "a size such as 1000000 or 10mb");
		req->has_bytes = true;
		return 0;
	case OPT_OFFSET:
		if (!parse_bytes(optarg, &req->offset))
			return bad("--offset", optarg,
				   "a number of bytes such as 1000 or 1mb");
		return 0;
	case 'd':
		if (!parse_time_ns(optarg, &opt->duration_ns) ||
		    !opt->duration_ns)
			return bad("--duration", optarg,
				   "a time such as 10, 10s or 500ms");
		return 0;
	case OPT_SHA256:
		if (!wale_hex_valid(optarg, opt->expected))
			return bad("--sha256", optarg, "64 hex digits");
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
			return bad("--port", optarg,
				   "a number from 1 to 65535");
		return 0;
	case OPT_LOCAL_PORT:
		if (!parse_port(optarg, &opt->local_port) || !opt->local_port)
			return bad("--local-port", optarg,
				   "a number from 1 to 65535");
		return 0;
	case 'P':
		if (!parse_count(optarg, 1, 100000, &opt->parallel))
			return bad("--parallel", optarg,
				   "a number from 1 to 100000");
		return 0;
	case 't':
		if (!parse_time_ns(optarg, &opt->timeout_ns) ||
		    opt->timeout_ns < NSEC_PER_SEC / 100)
			return bad(
				"--timeout", optarg,
				"a time of at least 10ms, such as 60 or 500ms");
		return 0;
	case OPT_RCVBUF:
		if (!parse_bytes(optarg, &bytes) || !bytes ||
		    bytes > INT32_MAX / 2)
			return bad("--rcvbuf", optarg,
				   "a size from 1 byte to 1gb");
		opt->rcvbuf = (unsigned int)bytes;
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
		fputs("Try 'wale get --help'.\n", stderr);
		return WALE_EXIT_USAGE;
	default:
		err = parse_what(c, opt);
		return err < 0 ? parse_how(c, opt) : err;
	}
}

/* What single options cannot know. */
static int check_options(struct get_options *opt, int n_names)
{
	struct stat stat_out;

	if (!n_names) {
		fputs("wale get: expected what to get, as HOST:NAME; try 'wale get --help'\n",
		      stderr);
		return WALE_EXIT_USAGE;
	}
	if (opt->request.repeat && !opt->request.has_bytes && !opt->duration_ns)
		return bad(
			"--repeat", "",
			"--bytes or --duration with it, or it would never end");
	if (*opt->expected && n_names > 1)
		return bad("--sha256", opt->expected, "only one HOST:NAME");
	if (opt->local_port && opt->local_port + n_names - 1 > UINT16_MAX)
		return bad(
			"--local-port", "",
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
			return bad("--out", "-",
				   "only one HOST:NAME, and no --json");
		return 0;
	}
	opt->out_is_folder =
		!stat(opt->out, &stat_out) && S_ISDIR(stat_out.st_mode);
	if (n_names > 1 && !opt->out_is_folder)
		return bad("--out", opt->out,
			   "an existing folder for more than one HOST:NAME");
	return 0;
}

/* Split "HOST:NAME" or "[HOST]:NAME" of @t->source. */
static int parse_source(struct transfer *t)
{
	static const char expected[] =
		"HOST:NAME, with an IPv6 address in brackets as in [::1]:NAME";
	const char *host = t->source, *end, *name;
	struct wale_refusal why;

	if (*host == '[') {
		host++;
		end = strchr(host, ']');
		name = end && end[1] == ':' ? end + 2 : NULL;
	} else {
		end = strchr(host, ':');
		name = end ? end + 1 : NULL;
	}
	if (!name || end == host)
		return bad("argument", t->source, expected);
	if (!*name || strlen(name) > WALE_NAME_MAX || strchr(name, '\n')) {
		wale_name_valid(name, strlen(name), &why);
		fprintf(stderr, "wale get: '%s': %s\n", t->source, why.text);
		return WALE_EXIT_USAGE;
	}
	t->host = strndup(host, (size_t)(end - host));
	t->name = strdup(name);
	if (!t->host || !t->name) {
		fputs("wale get: out of memory\n", stderr);
		return WALE_EXIT_FAILED;
	}
	return 0;
}

/* Two transfers must not write one file. */
static int check_outputs(const struct run *run)
{
	if (!run->opt.out_is_folder)
		return 0;
	for (unsigned int i = 0; i < run->n; i++) {
		const char *a = strrchr(run->transfers[i].name, '/');

		a = a ? a + 1 : run->transfers[i].name;
		for (unsigned int j = 0; j < i; j++) {
			const char *b = strrchr(run->transfers[j].name, '/');

			b = b ? b + 1 : run->transfers[j].name;
			if (!strcmp(a, b))
				return bad(
					"--out", run->opt.out,
					"names that differ in their last component");
		}
	}
	return 0;
}

static int parse_command(int argc, char **argv, struct run *run)
{
	struct get_options *opt = &run->opt;
	int c, err;

	opt->progress = isatty(STDERR_FILENO);
	optind = 0;
	while ((c = getopt_long(argc, argv, "c:n:rd:o:p:46P:t:jh", long_options,
				NULL)) != -1) {
		err = parse_option(c, opt);
		if (err)
			return err;
	}
	err = check_options(opt, argc - optind);
	if (err)
		return err;
	run->n = (unsigned int)(argc - optind);
	run->transfers = calloc(run->n, sizeof(*run->transfers));
	if (!run->transfers) {
		fputs("wale get: out of memory\n", stderr);
		return WALE_EXIT_FAILED;
	}
	for (unsigned int i = 0; i < run->n; i++) {
		struct transfer *t = &run->transfers[i];

		t->opt = opt;
		t->source = argv[optind + (int)i];
		t->output.fd = -1;
		if (opt->local_port)
			t->local_port = (uint16_t)(opt->local_port + i);
		err = parse_source(t);
		if (err)
			return err;
	}
	return check_outputs(run);
}

static void clear_progress(struct run *run)
{
	if (run->shown)
		fputs("\r\033[K", stderr);
	run->shown = false;
}

static void report(struct run *run, struct transfer *t)
{
	run->running--;
	run->failed += !t->completed;
	clear_progress(run);
	transfer_report(t);
}

static void advance(struct run *run)
{
	while (run->running < run->opt.parallel && run->started < run->n &&
	       !run->stop) {
		struct transfer *t = &run->transfers[run->started++];

		run->running++;
		transfer_start(t, run->epoll_fd);
		if (t->state == GET_OVER)
			report(run, t);
	}
}

/* What is known of the running transfers, added up. */
static void add_up(const struct run *run, uint64_t *received, uint64_t *length)
{
	*received = 0;
	*length = 0;
	for (unsigned int i = 0; i < run->started; i++) {
		const struct transfer *t = &run->transfers[i];

		*received += t->received;
		if (t->length < WALE_BYTES_ENDLESS)
			*length += t->length;
	}
}

static void show_bar(double share)
{
	int done = (int)(share * BAR_WIDTH);

	fputs(" [", stderr);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < done ? '=' : i == done ? '>' : ' ', stderr);
	fprintf(stderr, "] %3.0f %%", share * 100);
}

static void show_progress(struct run *run)
{
	double interval = (double)run->tick_ns / 1e9, now;
	char bytes[HUMAN_MAX], rate[HUMAN_MAX];
	uint64_t received, length;

	add_up(run, &received, &length);
	now = (double)(received - run->shown_bytes) / interval;
	run->rate = run->rate > 0 ? run->rate * 0.7 + now * 0.3 : now;
	run->shown_bytes = received;

	clear_progress(run);
	run->shown = true;
	if (run->n == 1)
		fprintf(stderr, "%.30s", run->transfers[0].name);
	else
		fprintf(stderr, "%u of %u files", run->started - run->running,
			run->n);
	if (length)
		show_bar(received < length ? (double)received / (double)length
					   : 1);
	fprintf(stderr, " %s %s/s", human_bytes((double)received, bytes),
		human_bytes(run->rate, rate));
	if (length > received && run->rate > 0) {
		double eta = (double)(length - received) / run->rate;

		if (eta < 360000)
			fprintf(stderr, " ETA %02d:%02d:%02d", (int)eta / 3600,
				(int)eta / 60 % 60, (int)eta % 60);
	}
	fflush(stderr);
}

static void tick(struct run *run)
{
	unsigned int limit =
		(unsigned int)((run->opt.timeout_ns + run->tick_ns - 1) /
			       run->tick_ns);
	uint64_t times;

	if (read(run->tick.fd, &times, sizeof(times)) != sizeof(times))
		return;
	for (unsigned int i = 0; i < run->started; i++) {
		struct transfer *t = &run->transfers[i];

		if (t->state == GET_OVER)
			continue;
		transfer_tick(t, limit);
		if (t->state == GET_OVER)
			report(run, t);
	}
	if (run->opt.progress && run->running)
		show_progress(run);
}

static void read_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signals.fd, &info, sizeof(info)) == sizeof(info))
		run->stop = (int)info.ssi_signo;
}

static void dispatch(struct run *run, const struct get_watch *watch)
{
	struct transfer *t = watch->transfer;

	switch (watch->kind) {
	case GET_SIGNAL:
		read_signal(run);
		return;
	case GET_TICK:
		tick(run);
		return;
	case GET_SOCKET:
	case GET_DURATION:
		if (t->state == GET_OVER)
			return;
		if (watch->kind == GET_SOCKET)
			transfer_ready(t);
		else
			transfer_duration_over(t);
		if (t->state == GET_OVER)
			report(run, t);
		return;
	}
}

static bool add_watch(struct run *run, struct get_watch *watch)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };

	return !epoll_ctl(run->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event);
}

static bool open_loop(struct run *run)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	run->tick_ns = run->opt.timeout_ns / TICKS;
	if (run->opt.progress && run->tick_ns > PROGRESS_NS)
		run->tick_ns = PROGRESS_NS;
	run->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	run->signals = (struct get_watch){ GET_SIGNAL, signals_open(), NULL };
	run->tick = (struct get_watch){ GET_TICK, timer_create_fd(), NULL };
	return add_watch(run, &run->signals) && add_watch(run, &run->tick) &&
	       !timer_set_fd(run->tick.fd, run->tick_ns, run->tick_ns);
}

static void get_all(struct run *run)
{
	struct epoll_event events[64];

	advance(run);
	while (run->running && !run->stop) {
		int n = epoll_wait(run->epoll_fd, events,
				   sizeof(events) / sizeof(events[0]), -1);

		for (int i = 0; i < n; i++)
			dispatch(run, events[i].data.ptr);
		advance(run);
	}
	for (unsigned int i = 0; i < run->started; i++) {
		struct transfer *t = &run->transfers[i];

		if (t->state == GET_OVER)
			continue;
		transfer_fail(t, "interrupted by a signal");
		report(run, t);
	}
}

/* End as the signal would have ended the process. */
static void end_by_signal(int number)
{
	sigset_t set;

	fflush(NULL);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void free_all(struct run *run)
{
	for (unsigned int i = 0; i < run->n; i++) {
		free(run->transfers[i].host);
		free(run->transfers[i].name);
	}
	free(run->transfers);
	close(run->epoll_fd);
	close(run->signals.fd);
	close(run->tick.fd);
}

int cmd_get(int argc, char **argv)
{
	struct run run = {
		.opt = { .port = WALE_PORT,
			 .parallel = 1,
			 .timeout_ns = DEFAULT_TIMEOUT_S * NSEC_PER_SEC,
			 .request.sha256 = true },
		.epoll_fd = -1,
		.signals.fd = -1,
		.tick.fd = -1,
	};
	int status;

	status = parse_command(argc, argv, &run);
	if (!status && !open_loop(&run)) {
		fprintf(stderr, "wale get: cannot set up epoll: %s\n",
			strerror(errno));
		status = WALE_EXIT_FAILED;
	}
	if (!status) {
		get_all(&run);
		status = run.failed ? WALE_EXIT_FAILED : WALE_EXIT_OK;
	}
	free_all(&run);
	if (run.stop)
		end_by_signal(run.stop);
	return status < 0 ? WALE_EXIT_OK : status;
}
