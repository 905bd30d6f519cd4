// SPDX-License-Identifier: GPL-2.0
/*
 * link_config.c - the configuration of one direction of a link
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "link_config.h"
#include "units.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const overhead_names[__WALE_OVERHEAD_MAX] = {
	[WALE_OVERHEAD_RAW] = "raw",
	[WALE_OVERHEAD_ETHERNET] = "ethernet",
	[WALE_OVERHEAD_ATM] = "atm",
};

static const char *const drops_names[__WALE_DROPS_MAX] = {
	[WALE_DROPS_REMOTE] = "remote",
	[WALE_DROPS_LOCAL] = "local",
};

static const char *const gso_names[__WALE_GSO_MAX] = {
	[WALE_GSO_SPLIT] = "split",
	[WALE_GSO_KEEP] = "keep",
};

static const char *const trace_end_names[__WALE_TRACE_END_MAX] = {
	[WALE_TRACE_LOOP] = "loop",
	[WALE_TRACE_HOLD] = "hold",
	[WALE_TRACE_STOP] = "stop",
};

const char *link_overhead_name(uint32_t overhead)
{
	return overhead < __WALE_OVERHEAD_MAX ? overhead_names[overhead] : NULL;
}

const char *link_drops_name(uint32_t drops)
{
	return drops < __WALE_DROPS_MAX ? drops_names[drops] : NULL;
}

const char *link_gso_name(uint32_t gso)
{
	return gso < __WALE_GSO_MAX ? gso_names[gso] : NULL;
}

const char *link_trace_end_name(uint32_t end)
{
	return end < __WALE_TRACE_END_MAX ? trace_end_names[end] : NULL;
}

void link_config_free(struct link_config *c)
{
	free(c->trace.steps);
	free(c->jitter.entries);
	c->trace.steps = NULL;
	c->jitter.entries = NULL;
	c->trace.n_steps = 0;
}

/* Words. */

int link_parse_failed(const char *word, int err, const char *expected,
		      struct link_error *error)
{
	return link_error_set(error, LINK_ERROR_INVALID, word,
			      err == -ERANGE ? "out of range: expected %s"
					     : "expected %s",
			      expected);
}

static int parse_name(const char *word, const char *const *names, uint32_t n,
		      uint32_t *value, const char *expected,
		      struct link_error *error)
{
	for (*value = 0; *value < n; (*value)++)
		if (!strcmp(word, names[*value]))
			return 0;
	return link_parse_failed(word, -EINVAL, expected, error);
}

static int parse_rate(struct link_config *c, const char *word,
		      struct link_error *error)
{
	int err = units_parse_rate(word, &c->rate);

	return err ? link_parse_failed(
			     word, err,
			     "a rate from 8bit to 8000tbit, such as 10mbit, or unlimited",
			     error)
		   : 0;
}

static int parse_delay(struct link_config *c, const char *word,
		       struct link_error *error)
{
	int err = units_parse_time(word, &c->delay_ns);

	return err ? link_parse_failed(word, err,
				       "a delay from 0 to 86400s, such as 50ms",
				       error)
		   : 0;
}

static int parse_slack(struct link_config *c, const char *word,
		       struct link_error *error)
{
	uint64_t slack_ns = 0;
	int err = units_parse_time(word, &slack_ns);

	if (!err && slack_ns > WALE_SLACK_MAX)
		err = -ERANGE;
	c->slack_ns = slack_ns;
	return err ? link_parse_failed(word, err,
				       "a time from 0 to 1s, such as 10us",
				       error)
		   : 0;
}

static int parse_overhead(struct link_config *c, const char *word,
			  struct link_error *error)
{
	return parse_name(word, overhead_names, ARRAY_SIZE(overhead_names),
			  &c->overhead, "an overhead: raw, ethernet or atm",
			  error);
}

static int parse_drops(struct link_config *c, const char *word,
		       struct link_error *error)
{
	return parse_name(word, drops_names, ARRAY_SIZE(drops_names), &c->drops,
			  "drops remote or drops local", error);
}

static int parse_gso(struct link_config *c, const char *word,
		     struct link_error *error)
{
	return parse_name(word, gso_names, ARRAY_SIZE(gso_names), &c->gso,
			  "gso split or gso keep", error);
}

static int parse_seed(struct link_config *c, const char *word,
		      struct link_error *error)
{
	int err = units_parse_count(word, UINT64_MAX, &c->seed);

	return err ? link_parse_failed(
			     word, err,
			     "a seed, a whole number from 0 to 18446744073709551615",
			     error)
		   : 0;
}

/* trace STEPS, trace file PATH */
static int parse_trace(struct link_config *c, int argc, char **argv,
		       struct link_error *error)
{
	int err;

	if (!strcmp(argv[1], "file")) {
		if (argc < 3)
			return link_error_set(error, LINK_ERROR_MISSING,
					      argv[1], "expected a path");
		err = link_trace_read(&c->trace, argv[2], error);
		return err ? -1 : 3;
	}
	err = link_trace_parse(&c->trace, argv[1], error);
	return err ? -1 : 2;
}

/* Returns 0, or 1 if the word is not a parameter of the sessions, or -1. */
static int parse_session(struct link_sessions *s, int argc, char **argv,
			 struct link_error *error)
{
	static const char *const names[] = { "arrival", "mean", "max", "step" };
	static const char *const expected[] = {
		"an arrival probability from 0 to 1, such as 0.2 or 20%",
		"a mean, a number from 0.001 to 1000000 times rate times step",
		"a max from 1 to 63", "a step from 1ms to 86400s, such as 50ms"
	};
	uint64_t number = 0;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(argv[0], names[i]))
			break;
	if (i == ARRAY_SIZE(names))
		return 1;
	if (argc < 2)
		return link_error_set(error, LINK_ERROR_MISSING, argv[0],
				      "expected %s", expected[i]);
	if (s->set & 1 << i)
		return link_error_set(error, LINK_ERROR_DUPLICATE, argv[0],
				      "%s", argv[1]);
	s->set |= 1 << i;

	switch (1 << i) {
	case SESSIONS_ARRIVAL:
		err = units_parse_probability(argv[1], &s->arrival);
		break;
	case SESSIONS_MEAN:
		err = units_parse_fixed32(argv[1], &s->mean);
		break;
	case SESSIONS_MAX:
		err = units_parse_count(argv[1], UINT32_MAX, &number);
		s->max = number;
		break;
	default:
		err = units_parse_time(argv[1], &s->step_ns);
		break;
	}
	return err ? link_parse_failed(argv[1], err, expected[i], error) : 0;
}

/* sessions off, sessions arrival PROB mean M max N step TIME */
static int parse_sessions(struct link_config *c, int argc, char **argv,
			  struct link_error *error)
{
	int taken = 1, err;

	if (!strcmp(argv[1], "off"))
		return 2;
	while (taken < argc) {
		err = parse_session(&c->sessions, argc - taken, argv + taken,
				    error);
		if (err < 0)
			return -1;
		if (err)
			break;
		taken += 2;
	}
	if (!c->sessions.set)
		return link_parse_failed(argv[1], -EINVAL,
					 "off, or arrival, mean, max and step",
					 error);
	return taken;
}

/* feedback, feedback idle TIME */
static int parse_feedback(struct link_config *c, int argc, char **argv,
			  struct link_error *error)
{
	static const char expected[] =
		"an idle time from 1ms to 3600s, such as 2s";
	int err;

	c->feedback_idle_ns = WALE_FEEDBACK_IDLE_DEFAULT;
	if (argc < 2 || strcmp(argv[1], "idle"))
		return 1;
	if (argc < 3)
		return link_error_set(error, LINK_ERROR_MISSING, argv[1],
				      "expected %s", expected);
	err = units_parse_time(argv[2], &c->feedback_idle_ns);
	if (!err && !c->feedback_idle_ns)
		err = -ERANGE;
	return err ? link_parse_failed(argv[2], err, expected, error) : 3;
}

static int parse_nofeedback(struct link_config *c, int argc, char **argv,
			    struct link_error *error)
{
	c->feedback_idle_ns = 0;
	return 1;
}

static const struct {
	const char *name;
	uint64_t bit;
	/* One of these; parse() takes one word. */
	int (*parse)(struct link_config *c, const char *word,
		     struct link_error *error);
	int (*parse_words)(struct link_config *c, int argc, char **argv,
			   struct link_error *error);
	const char *help;
} options[] = {
	{ "rate", LINK_RATE, parse_rate, NULL,
	  "rate RATE            such as 10mbit, or unlimited" },
	{ "delay", LINK_DELAY, parse_delay, NULL,
	  "delay TIME           propagation delay, such as 50ms" },
	{ "jitter", LINK_JITTER, NULL, link_parse_jitter,
	  "jitter TIME [distribution uniform|NAME|PATH] [reordering|noreordering]" },
	{ "limit", LINK_LIMIT, NULL, link_parse_limit,
	  "limit SIZE|PACKETS|N cells   the buffer: 30kb, 20p, 1000 cells" },
	{ "policy", LINK_POLICY, NULL, link_parse_policy,
	  "policy tail|epd|seldrop|fba|random_tail|rem   how it is shared" },
	{ "threshold", LINK_THRESHOLD, NULL, link_parse_threshold,
	  "threshold R          epd, seldrop, fba: 90% (of the limit), 900 cells ..." },
	{ "z", LINK_Z, NULL, link_parse_z,
	  "z Z                  seldrop, fba: such as 0.8" },
	{ "last", LINK_LAST, NULL, link_parse_last,
	  "last N               random_tail: victims are of the last N" },
	{ "mark", LINK_MARK, NULL, link_parse_mark,
	  "mark                 epd, seldrop, fba, rem: mark (ECN) what can be" },
	{ "nomark", LINK_MARK, NULL, link_parse_mark,
	  "nomark               refuse it" },
	{ "rem", LINK_REM, NULL, link_parse_rem,
	  "rem interval TIME gamma G alpha A target SIZE phi PHI   its price" },
	{ "flows", LINK_FLOWS, NULL, link_parse_flows,
	  "flows N              how many are told apart, as classes" },
	{ "input_rate", LINK_INPUT_RATE, NULL, link_parse_input_rate,
	  "input_rate RATE      of each flow's input link, with cells" },
	{ "loss", LINK_LOSSES, NULL, link_parse_loss,
	  "loss PERCENT         random loss, such as 1%; or in bursts:" },
	{ "ecn", LINK_ECN, NULL, link_parse_ecn,
	  "ecn                  mark (ECN) what can be in the place of losing it" },
	{ "noecn", LINK_ECN, NULL, link_parse_ecn,
	  "noecn                lose it" },
	{ "drop", LINK_DROP, NULL, link_parse_drop,
	  "drop off|[flow F] packets 10,20-25 ...   lose these, counted from 1" },
	{ "slot", LINK_SLOT, NULL, link_parse_slot,
	  "slot off|MIN [MAX] [packets N] [bytes N]   packets leave in slots" },
	{ "reorder", LINK_REORDER, NULL, link_parse_reorder,
	  "reorder PERCENT [gap N]   of packets skip the delay, one of N at most" },
	{ "duplicate", LINK_DUPLICATE, NULL, link_parse_duplicate,
	  "duplicate PERCENT    of packets leave twice" },
	{ "corrupt", LINK_CORRUPT, NULL, link_parse_corrupt,
	  "corrupt PERCENT      of packets have a bit turned" },
	{ "overhead", LINK_OVERHEAD, parse_overhead, NULL,
	  "overhead raw|ethernet|atm   what a packet takes on the wire" },
	{ "drops", LINK_DROPS, parse_drops, NULL,
	  "drops remote|local   is the sender told of a full buffer?" },
	{ "gso", LINK_GSO, parse_gso, NULL,
	  "gso split|keep       is a GSO packet split into those of the wire?" },
	{ "seed", LINK_SEED, parse_seed, NULL,
	  "seed N               of every random draw" },
	{ "slack", LINK_SLACK, parse_slack, NULL,
	  "slack TIME           that packets may leave late: fewer timers" },
	{ "trace", LINK_TRACE, NULL, parse_trace,
	  "trace STEPS|file PATH   STEPS: DURATION:RATE[,DURATION:RATE...]" },
	{ "start", LINK_START, NULL, link_parse_start,
	  "start at TIME        of trace or sessions: 2026-11-22T10:00:00Z, @SECONDS, +5s" },
	{ "sessions", LINK_SESSIONS, NULL, parse_sessions,
	  "sessions off|arrival PROB mean M max N step TIME" },
	{ "feedback", LINK_FEEDBACK, NULL, parse_feedback,
	  "feedback [idle TIME] senders that listen are told the rate" },
	{ "nofeedback", LINK_FEEDBACK, NULL, parse_nofeedback,
	  "nofeedback           nobody is told" },
};

int link_config_parse(struct link_config *c, int argc, char **argv,
		      struct link_error *error)
{
	const uint64_t bare = LINK_FEEDBACK | LINK_MARK | LINK_ECN;
	unsigned int i;
	uint32_t end;
	int taken = 2;

	for (end = 0; end < __WALE_TRACE_END_MAX; end++) {
		if (strcmp(argv[0], trace_end_names[end]))
			continue;
		if (c->set & LINK_TRACE_END)
			return link_error_set(error, LINK_ERROR_DUPLICATE,
					      trace_end_names[c->trace_end],
					      "%s", argv[0]);
		c->set |= LINK_TRACE_END;
		c->trace_end = end;
		return 1;
	}

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(argv[0], options[i].name))
			break;
	if (i == ARRAY_SIZE(options))
		return 0;
	if (argc < 2 && !(options[i].bit & bare))
		return link_error_set(error, LINK_ERROR_MISSING, argv[0],
				      "a value must follow");
	if (c->set & options[i].bit & ~LINK_DROP) /* one for each flow */
		return link_error_set(error, LINK_ERROR_DUPLICATE, argv[0],
				      "%s",
				      options[i].bit & bare ? argv[0] : argv[1]);

	if (options[i].parse_words)
		taken = options[i].parse_words(c, argc, argv, error);
	else if (options[i].parse(c, argv[1], error))
		taken = -1;
	if (!(options[i].bit & (LINK_LIMIT | LINK_THRESHOLD | LINK_LOSSES)))
		c->set |= options[i].bit;
	return taken;
}

void link_config_help(FILE *to, const char *dashes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		fprintf(to, "  %s%s\n", dashes, options[i].help);
		if (options[i].bit == LINK_LOSSES)
			fprintf(to, "  %s%s\n  %s%s\n", dashes,
				"loss gemodel P [R [1-H [1-K]]]   Gilbert-Elliott",
				dashes,
				"loss state P13 [P31 [P32 [P23 [P14]]]]   4 states");
		if (options[i].bit == LINK_TRACE)
			fprintf(to, "  %sloop | %shold | %sstop   %s\n", dashes,
				dashes, dashes,
				"after the last step of the trace");
	}
}

static void print_trace(FILE *to, const struct link_trace *trace)
{
	char duration[UNITS_MAX], rate[UNITS_MAX];
	uint32_t i;

	if (!trace->steps) {
		fprintf(to, "trace (%" PRIu32 " steps) ", trace->n_steps);
		return;
	}
	fputs("trace ", to);
	for (i = 0; i < trace->n_steps; i++)
		fprintf(to, "%s%s:%s", i ? "," : "",
			units_format_time(duration,
					  trace->steps[i].duration_ns),
			units_format_rate(rate, trace->steps[i].rate));
	fputc(' ', to);
}

static void print_sessions(FILE *to, const struct link_sessions *s)
{
	char arrival[UNITS_MAX], mean[UNITS_MAX], step[UNITS_MAX];

	fprintf(to, "sessions arrival %s mean %s max %" PRIu32 " step %s ",
		units_format_probability(arrival, s->arrival),
		units_format_fixed32(mean, s->mean), s->max,
		units_format_time(step, s->step_ns));
}

static void print_name(FILE *to, const char *option, const char *name)
{
	if (name)
		fprintf(to, "%s %s ", option, name);
}

void link_config_print(FILE *to, const struct link_config *c)
{
	char buf[UNITS_MAX];

	if (c->set & LINK_TRACE)
		print_trace(to, &c->trace);
	else if (c->set & LINK_RATE)
		fprintf(to, "rate %s ", units_format_rate(buf, c->rate));
	if (c->set & LINK_TRACE && c->set & LINK_TRACE_END &&
	    link_trace_end_name(c->trace_end))
		fprintf(to, "%s ", link_trace_end_name(c->trace_end));
	if (c->set & LINK_DELAY)
		fprintf(to, "delay %s ", units_format_time(buf, c->delay_ns));
	link_jitter_print(to, c);
	link_limit_print(to, c);
	link_policy_print(to, c);
	link_loss_print(to, c);
	link_drop_print(to, c);
	link_slot_print(to, c);
	link_impair_print(to, c);
	if (c->set & LINK_OVERHEAD)
		print_name(to, "overhead", link_overhead_name(c->overhead));
	if (c->set & LINK_DROPS)
		print_name(to, "drops", link_drops_name(c->drops));
	if (c->set & LINK_GSO)
		print_name(to, "gso", link_gso_name(c->gso));
	if (c->set & LINK_SEED)
		fprintf(to, "seed %" PRIu64 " ", c->seed);
	if (c->set & LINK_SLACK && c->slack_ns)
		fprintf(to, "slack %s ", units_format_time(buf, c->slack_ns));
	if (c->set & LINK_SESSIONS && c->sessions.set)
		print_sessions(to, &c->sessions);
	link_start_print(to, c);
	if (c->set & LINK_FEEDBACK && c->feedback_idle_ns)
		fprintf(to, "feedback idle %s ",
			units_format_time(buf, c->feedback_idle_ns));
}
