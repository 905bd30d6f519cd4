// SPDX-License-Identifier: GPL-2.0
/*
 * rate_play.c - wale rate play: a trace of rates, step by step
 *
 * All steps are due at times that follow from the start and the trace alone,
 * and each carries the time it was due: a step that is late by some microseconds
 * is still exact in the path's history, and lateness does not add up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/command.h"
#include "lib/rate_trace.h"
#include "lib/units.h"
#include "rate.h"

/* Advice that may grow old is renewed so often before it does. */
#define RENEWALS 3
#define RENEWAL_MIN_NS (1000 * 1000) /* not more often, whatever the age */
/* Not more lines of progress than that. */
#define PROGRESS_NS (RATE_SECOND / 10)

struct play {
	struct rate_trace trace;
	struct rate_path path; /* what is set, for each key */
	struct rate_key *keys;
	size_t n_keys;
	bool loop;
	bool delete;
	bool quiet;
	bool progress;
	uint64_t start_ns; /* of this pass through the trace */
	uint64_t shown_ns; /* progress was, last */
};

/* The words that are of play alone are taken out; what is left is counted. */
static int take_own_words(struct play *p, int argc, char **argv)
{
	int i, left = 0;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--loop"))
			p->loop = true;
		else if (!strcmp(argv[i], "--delete"))
			p->delete = true;
		else if (!strcmp(argv[i], "--quiet"))
			p->quiet = true;
		else
			argv[left++] = argv[i];
	}
	return left;
}

static bool is_key(const char *word)
{
	return !strcmp(word, "dev") || !strcmp(word, "dst") ||
	       !strcmp(word, "flow");
}

static int take_keys(struct play *p, int *argc, char ***argv)
{
	struct rate_key *keys;
	int status, taken;

	do {
		keys = realloc(p->keys, (p->n_keys + 1) * sizeof(*keys));
		if (!keys)
			return rate_cannot("play", strerror(ENOMEM));
		p->keys = keys;
		status = rate_take_key(&keys[p->n_keys], *argc, *argv, &taken);
		if (status)
			return status;
		p->n_keys++;
		*argc -= taken;
		*argv += taken;
	} while (*argc > 0 && is_key(**argv));
	return WALE_EXIT_OK;
}

/* A trace that is to be played again must take time, also its last step. */
static bool can_loop(const struct rate_trace *trace)
{
	return trace->end_ns > trace->steps[trace->n_steps - 1].offset_ns;
}

static int parse(struct play *p, int argc, char **argv)
{
	const unsigned int own =
		RATE_PATH_RATE | RATE_PATH_TIME | RATE_PATH_FOLLOW;
	struct rate_error error;
	const char *file;
	int status;

	argc = take_own_words(p, argc, argv);
	if (argc < 1)
		return rate_wrong("play: a file was expected");
	file = *argv++;
	argc--;
	status = take_keys(p, &argc, &argv);
	if (!status)
		status = rate_take_options(&p->path, argc, argv);
	if (status)
		return status;
	if (p->path.set & own)
		return rate_wrong("play: rate, time and follow come from the "
				  "trace");
	if (rate_trace_read(&p->trace, file, &error)) {
		fprintf(stderr, "wale rate: play: %s\n", error.text);
		return WALE_EXIT_FAILED;
	}
	if (p->loop && !can_loop(&p->trace))
		return rate_wrong("play --loop: the last step takes no time; "
				  "expected a line such as \"at 60s end\"");
	return WALE_EXIT_OK;
}

static void show_progress(struct play *p, size_t step)
{
	char at[UNITS_MAX], end[UNITS_MAX], rate[UNITS_MAX];
	uint64_t now = rate_now();

	if (!p->progress || (p->shown_ns && now - p->shown_ns < PROGRESS_NS))
		return;
	p->shown_ns = now;
	fprintf(stderr, "\r%s of %s  step %zu of %zu  %s\033[K",
		units_format_time(at, p->trace.steps[step].offset_ns),
		units_format_time(end, p->trace.end_ns), step + 1,
		p->trace.n_steps,
		units_format_rate(rate, p->trace.steps[step].rate));
}

static int set_all(struct genl *g, struct play *p)
{
	char buf[RATE_KEY_MAX], what[RATE_KEY_MAX + 16];
	size_t i;

	for (i = 0; i < p->n_keys; i++) {
		p->path.key = p->keys[i];
		if (!rate_channel_set(g, &p->path))
			continue;
		snprintf(what, sizeof(what), "set %s",
			 rate_key_format(buf, &p->path.key));
		return rate_cannot(what, g->rtnl.error);
	}
	return WALE_EXIT_OK;
}

/* The advice of the step that is played stays young, however long it takes. */
static uint64_t renew_at(const struct play *p, uint64_t when_ns)
{
	uint64_t next;

	if (!p->path.age_limit)
		return when_ns;
	next = rate_now() + p->path.age_limit / RENEWALS;
	if (p->path.age_limit / RENEWALS < RENEWAL_MIN_NS)
		next = rate_now() + RENEWAL_MIN_NS;
	return next < when_ns ? next : when_ns;
}

/*
 * Waits until it is time for the next step.  A negative number: it is;
 * otherwise an exit status, which is 0 after a signal.
 */
static int wait_until(struct genl *g, struct play *p, struct rate_wait *wait,
		      uint64_t when_ns)
{
	int status;

	for (;;) {
		switch (rate_wait(wait, renew_at(p, when_ns))) {
		case RATE_WAKE_SIGNAL:
			return WALE_EXIT_OK;
		case RATE_WAKE_TIME:
			break;
		default:
			return rate_cannot("wait", strerror(errno));
		}
		if (rate_now() >= when_ns)
			return -1;
		/* The same rate still, from the same time on. */
		p->path.set &= ~RATE_PATH_TIME;
		status = p->path.set & RATE_PATH_RATE ? set_all(g, p) : 0;
		if (status)
			return status;
	}
}

/* Once through the trace; as wait_until(). */
static int play_once(struct genl *g, struct play *p, struct rate_wait *wait)
{
	int status;
	size_t i;

	for (i = 0; i < p->trace.n_steps; i++) {
		const struct rate_trace_step *step = &p->trace.steps[i];
		uint64_t due = p->start_ns + step->offset_ns;

		status = wait_until(g, p, wait, due);
		if (status >= 0)
			return status;
		p->path.rate = step->rate;
		p->path.time = due;
		p->path.set |= RATE_PATH_RATE | RATE_PATH_TIME;
		status = set_all(g, p);
		if (status)
			return status;
		show_progress(p, i);
	}
	return wait_until(g, p, wait, p->start_ns + p->trace.end_ns);
}

static int play(struct genl *g, struct play *p, struct rate_wait *wait)
{
	int status;

	p->start_ns = rate_now();
	do {
		status = play_once(g, p, wait);
		p->start_ns += p->trace.end_ns;
	} while (status < 0 && p->loop);
	if (p->progress)
		fputc('\n', stderr);
	return status < 0 ? WALE_EXIT_OK : status;
}

/* Those that are not there (any more) are none to speak of. */
static void delete_all(struct genl *g, const struct play *p)
{
	size_t i;

	for (i = 0; i < p->n_keys; i++)
		rate_channel_del(g, &p->keys[i]);
}

int rate_play(struct genl *g, int argc, char **argv)
{
	struct play p = { .path = { .follow_netns_fd = -1 } };
	struct rate_wait wait;
	int status;

	status = parse(&p, argc, argv);
	if (!status)
		status = rate_open(g, "play");
	if (!status && rate_wait_open(&wait, -1)) {
		status = rate_cannot("wait", strerror(errno));
	} else if (!status) {
		p.progress = !p.quiet && stderr_shows_progress();
		status = play(g, &p, &wait);
		rate_wait_close(&wait);
		if (p.delete)
			delete_all(g, &p);
	}
	rate_path_close(&p.path);
	rate_trace_free(&p.trace);
	free(p.keys);
	return status;
}
