// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_get.c - "wale get": receive files from "wale serve", and measure
 *
 * One thread, one epoll, up to --parallel transfers at once (get_transfer.c), or
 * as many as arrive (get_arrivals.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "get_progress.h"
#include "get_transfer.h"
#include "transfer.h"

#define TICKS 4 /* parts of the timeout */
#define PROGRESS_NS (NSEC_PER_SEC / 2)

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
 * @arrival: timerfd of the next session
 * @arrived_ns: sessions up to this time of the process may start
 * @stop: a signal that came
 * @progress: on the terminal
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
	struct get_watch arrival;
	uint64_t arrived_ns;
	int stop;
	struct get_progress progress;
};

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
		return option_bad("argument", t->source, expected);
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
				return option_bad(
					"--out", run->opt.out,
					"names that differ in their last component");
		}
	}
	return 0;
}

/* When each session arrives, and how much it gets. */
static void draw_sessions(struct run *run)
{
	const struct get_arrivals *arrivals = &run->opt.arrivals;
	uint64_t at_ns = 0;

	for (unsigned int i = 0; i < run->n; i++) {
		struct transfer *t = &run->transfers[i];

		at_ns += arrivals_interval_ns(arrivals, i);
		t->session = i + 1;
		t->arrival_ns = at_ns;
		t->request.bytes = arrivals_bytes(arrivals, i);
	}
}

/* One for each of the @sources, or one for each session from the first. */
static int make_transfers(struct run *run, char **sources)
{
	const struct get_options *opt = &run->opt;
	int err;

	run->transfers = calloc(run->n, sizeof(*run->transfers));
	if (!run->transfers) {
		run->n = 0;
		fputs("wale get: out of memory\n", stderr);
		return WALE_EXIT_FAILED;
	}
	for (unsigned int i = 0; i < run->n; i++) {
		struct transfer *t = &run->transfers[i];

		t->opt = opt;
		t->source = sources[opt->arrivals.interval_ns ? 0 : i];
		t->output.fd = -1;
		if (opt->local_port)
			t->local_port = (uint16_t)(opt->local_port + i);
		err = parse_source(t);
		if (err)
			return err;
		t->request = opt->request;
		t->request.name = t->name;
	}
	if (opt->arrivals.interval_ns)
		draw_sessions(run);
	return 0;
}

static int parse_command(int argc, char **argv, struct run *run)
{
	int err = get_options_parse(argc, argv, &run->opt);

	if (err)
		return err;
	run->n = get_options_transfers(&run->opt, argc - optind);
	err = make_transfers(run, argv + optind);
	return err ? err : check_outputs(run);
}

static void report(struct run *run, struct transfer *t)
{
	run->running--;
	run->failed += !t->completed;
	progress_clear(&run->progress);
	transfer_report(t);
}

/* Have the timer fire when the next session arrives, if there is one. */
static void await_arrival(struct run *run)
{
	const struct transfer *next = &run->transfers[run->started];

	if (run->started < run->n)
		timer_set_fd_at(run->arrival.fd,
				next->epoch_ns + next->arrival_ns);
}

/* May the next transfer, which there is, start? */
static bool may_start(const struct run *run)
{
	if (run->opt.arrivals.interval_ns)
		return run->transfers[run->started].arrival_ns <=
		       run->arrived_ns;
	return run->running < run->opt.parallel;
}

static void advance(struct run *run)
{
	while (run->started < run->n && !run->stop && may_start(run)) {
		struct transfer *t = &run->transfers[run->started++];

		run->running++;
		transfer_start(t, run->epoll_fd);
		if (t->state == GET_OVER)
			report(run, t);
	}
}

/* What is known of the transfers, added up. */
static void add_up(const struct run *run, uint64_t *received, uint64_t *length)
{
	*received = 0;
	*length = 0;
	for (unsigned int i = 0; i < run->n; i++) {
		const struct transfer *t = &run->transfers[i];
		uint64_t bytes = t->length ? t->length : t->request.bytes;

		*received += t->received;
		if (bytes < WALE_BYTES_ENDLESS)
			*length += bytes;
	}
}

static void show_progress(struct run *run)
{
	unsigned int over = run->started - run->running;
	uint64_t received, length;
	char what[64];

	add_up(run, &received, &length);
	if (run->opt.arrivals.interval_ns)
		snprintf(what, sizeof(what), "%u of %u sessions, %u active",
			 over, run->n, run->running);
	else if (run->n == 1)
		snprintf(what, sizeof(what), "%.30s", run->transfers[0].name);
	else
		snprintf(what, sizeof(what), "%u of %u files", over, run->n);
	progress_show(&run->progress, what, received, length,
		      (double)run->tick_ns / 1e9);
}

/* Is there anything to wait for? */
static bool goes_on(const struct run *run)
{
	return !run->stop && (run->running || run->started < run->n);
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
	if (run->opt.progress && goes_on(run))
		show_progress(run);
}

static void read_signal(struct run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signals.fd, &info, sizeof(info)) == sizeof(info))
		run->stop = (int)info.ssi_signo;
}

/* The timer fired: whoever arrived until now starts. */
static void take_arrivals(struct run *run)
{
	uint64_t times;

	if (read(run->arrival.fd, &times, sizeof(times)) != sizeof(times))
		return;
	run->arrived_ns = clock_ns() - run->transfers[0].epoch_ns;
	advance(run);
	await_arrival(run);
}

static void dispatch(struct run *run, const struct get_watch *watch,
		     uint32_t events)
{
	struct transfer *t = watch->transfer;

	switch (watch->kind) {
	case GET_SIGNAL:
		read_signal(run);
		return;
	case GET_TICK:
		tick(run);
		return;
	case GET_ARRIVAL:
		take_arrivals(run);
		return;
	case GET_SOCKET:
	case GET_DURATION:
		if (t->state == GET_OVER)
			return;
		if (watch->kind == GET_SOCKET)
			transfer_ready(t, events);
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
	run->arrival =
		(struct get_watch){ GET_ARRIVAL, timer_create_fd(), NULL };
	return add_watch(run, &run->signals) && add_watch(run, &run->tick) &&
	       add_watch(run, &run->arrival) &&
	       !timer_set_fd(run->tick.fd, run->tick_ns, run->tick_ns);
}

/* The process of arrivals begins now. */
static bool begin_arrivals(struct run *run)
{
	struct transfer *first = &run->transfers[0];
	uint64_t epoch_ns;

	if (!transfer_resolve(first)) {
		fprintf(stderr, "wale get: %s\n", first->error);
		return false;
	}
	epoch_ns = clock_ns();
	for (unsigned int i = 0; i < run->n; i++) {
		run->transfers[i].addresses = first->addresses;
		run->transfers[i].epoch_ns = epoch_ns;
	}
	await_arrival(run);
	return true;
}

static void get_all(struct run *run)
{
	struct epoll_event events[64];

	advance(run);
	while (goes_on(run)) {
		int n = epoll_wait(run->epoll_fd, events,
				   sizeof(events) / sizeof(events[0]), -1);

		for (int i = 0; i < n; i++)
			dispatch(run, events[i].data.ptr, events[i].events);
		advance(run);
	}
	for (unsigned int i = 0; i < run->started; i++) {
		struct transfer *t = &run->transfers[i];

		if (t->state == GET_OVER)
			continue;
		transfer_fail(t, "interrupted by a signal");
		report(run, t);
	}
	progress_clear(&run->progress);
	if (run->opt.arrivals.interval_ns && !run->opt.json)
		sessions_report(run->transfers, run->n);
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
	struct transfer *first = run->transfers;

	for (unsigned int i = 0; i < run->n; i++) {
		struct transfer *t = &run->transfers[i];

		if (t->addresses && (t == first || !t->session))
			freeaddrinfo(t->addresses);
		free(t->host);
		free(t->name);
	}
	free(run->transfers);
	close(run->epoll_fd);
	close(run->signals.fd);
	close(run->tick.fd);
	close(run->arrival.fd);
}

int cmd_get(int argc, char **argv)
{
	struct run run = {
		.epoll_fd = -1,
		.signals.fd = -1,
		.tick.fd = -1,
		.arrival.fd = -1,
	};
	int status;

	status = parse_command(argc, argv, &run);
	if (!status && !open_loop(&run)) {
		fprintf(stderr, "wale get: cannot set up epoll: %s\n",
			strerror(errno));
		status = WALE_EXIT_FAILED;
	}
	if (!status && run.opt.arrivals.interval_ns && !begin_arrivals(&run))
		status = WALE_EXIT_FAILED;
	if (!status) {
		get_all(&run);
		status = run.failed ? WALE_EXIT_FAILED : WALE_EXIT_OK;
	}
	free_all(&run);
	if (run.stop)
		end_by_signal(run.stop);
	return status < 0 ? WALE_EXIT_OK : status;
}
