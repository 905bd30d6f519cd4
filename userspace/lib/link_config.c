// SPDX-License-Identifier: GPL-2.0
/*
 * link_config.c - the configuration of one direction of a link
 */
#include <ctype.h>
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

int link_parse_rate(const char *word, uint64_t *rate, const char *expected,
		    struct link_error *error)
{
	char wrong[UNITS_WRONG_MAX];
	int err = units_parse_rate(word, rate);

	return err ? link_error_set(
			     error, LINK_ERROR_INVALID, word, "%s",
			     units_rate_wrong(wrong, err, *rate, expected))
		   : 0;
}

static int parse_rate(struct link_config *c, const char *word,
		      struct link_error *error)
{
	return link_parse_rate(
		word, &c->rate,
		"a rate from 8bit to 8000tbit, such as 10mbit, or unlimited",
		error);
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
	int err = units_parse_seed(word, &c->seed);

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

/* loop, hold, stop */
static int parse_trace_end(struct link_config *c, int argc, char **argv,
			   struct link_error *error)
{
	return parse_name(argv[0], trace_end_names, ARRAY_SIZE(trace_end_names),
			  &c->trace_end, "loop, hold or stop", error)
		       ? -1
		       : 1;
}

/* As netem has it, whose users may type it. */
static const char no_jitter[] = "jitter is an option of its own";
static const char no_correlation[] = "there are no correlations";

static const struct option {
	const char *syntax; /* the name comes first */
	const char *help;
	uint64_t bit;
	/* One of these; parse() takes one word. */
	int (*parse)(struct link_config *c, const char *word,
		     struct link_error *error);
	int (*parse_words)(struct link_config *c, int argc, char **argv,
			   struct link_error *error);
	const char *second; /* why there is no second value */
} options[] = {
	{ "rate RATE", "such as 10mbit, or unlimited", LINK_RATE,
	  .parse = parse_rate },
	{ "delay TIME", "propagation delay, such as 50ms", LINK_DELAY,
	  .parse = parse_delay, .second = no_jitter },
	{ "jitter TIME [distribution uniform|NAME|PATH] [reordering|noreordering]",
	  NULL, LINK_JITTER, .parse_words = link_parse_jitter,
	  .second = no_correlation },
	{ "limit SIZE|PACKETS|N cells", "the buffer: 30kb, 20p, 1000 cells",
	  LINK_LIMIT, .parse_words = link_parse_limit },
	{ "policy tail|epd|seldrop|fba|random_tail|rem", "how it is shared",
	  LINK_POLICY, .parse_words = link_parse_policy },
	{ "threshold R", "epd, seldrop, fba: 90% (of the limit), 900 cells ...",
	  LINK_THRESHOLD, .parse_words = link_parse_threshold },
	{ "z Z", "seldrop, fba: such as 0.8", LINK_Z,
	  .parse_words = link_parse_z },
	{ "last N", "random_tail: victims are of the last N", LINK_LAST,
	  .parse_words = link_parse_last },
	{ "mark", "epd, seldrop, fba, rem: mark (ECN) what can be", LINK_MARK,
	  .parse_words = link_parse_mark },
	{ "nomark", "refuse it", LINK_MARK, .parse_words = link_parse_mark },
	{ "rem [interval TIME] [gamma G] [alpha A] [target SIZE] [phi PHI]",
	  "its price", LINK_REM, .parse_words = link_parse_rem },
	{ "flows N", "how many are told apart, as classes", LINK_FLOWS,
	  .parse_words = link_parse_flows },
	{ "input_rate RATE", "of each flow's input link, with cells",
	  LINK_INPUT_RATE, .parse_words = link_parse_input_rate },
	{ "loss PERCENT", "random loss, such as 1%; or in bursts:", LINK_LOSSES,
	  .parse_words = link_parse_loss, .second = no_correlation },
	{ "loss gemodel P [R [1-H [1-K]]]", "Gilbert-Elliott", LINK_LOSSES,
	  .parse_words = link_parse_loss },
	{ "loss state P13 [P31 [P32 [P23 [P14]]]]", "4 states", LINK_LOSSES,
	  .parse_words = link_parse_loss },
	{ "ecn", "mark (ECN) instead of losing, where possible", LINK_ECN,
	  .parse_words = link_parse_ecn },
	{ "noecn", "lose it", LINK_ECN, .parse_words = link_parse_ecn },
	{ "drop off|[flow F] packets 10,20-25 ...",
	  "lose these, counted from 1", LINK_DROP,
	  .parse_words = link_parse_drop },
	{ "slot off|MIN [MAX] [packets N] [bytes N]", "packets leave in slots",
	  LINK_SLOT, .parse_words = link_parse_slot },
	{ "reorder PERCENT [gap N]",
	  "of packets skip the delay, one of N at most", LINK_REORDER,
	  .parse_words = link_parse_reorder, .second = no_correlation },
	{ "duplicate PERCENT", "of packets leave twice", LINK_DUPLICATE,
	  .parse_words = link_parse_duplicate, .second = no_correlation },
	{ "corrupt PERCENT", "of packets have a bit turned", LINK_CORRUPT,
	  .parse_words = link_parse_corrupt, .second = no_correlation },
	{ "overhead raw|ethernet|atm", "what a packet takes on the wire",
	  LINK_OVERHEAD, .parse = parse_overhead },
	{ "drops remote|local", "is the sender told of a full buffer?",
	  LINK_DROPS, .parse = parse_drops },
	{ "gso split|keep", "is a GSO packet split into those of the wire?",
	  LINK_GSO, .parse = parse_gso },
	{ "seed N", "of every random draw", LINK_SEED, .parse = parse_seed },
	{ "slack TIME", "that packets may leave late: fewer timers", LINK_SLACK,
	  .parse = parse_slack },
	{ "trace STEPS|file PATH", "STEPS: DURATION:RATE[,DURATION:RATE...]",
	  LINK_TRACE, .parse_words = parse_trace },
	{ "loop", "after its last step a trace begins again", LINK_TRACE_END,
	  .parse_words = parse_trace_end },
	{ "hold", "it keeps the rate of that step", LINK_TRACE_END,
	  .parse_words = parse_trace_end },
	{ "stop", "nothing leaves any more", LINK_TRACE_END,
	  .parse_words = parse_trace_end },
	{ "start at TIME",
	  "of trace or sessions: 2026-11-22T10:00:00Z, @SECONDS, +5s",
	  LINK_START, .parse_words = link_parse_start },
	{ "sessions off|arrival PROB mean M max N step TIME", NULL,
	  LINK_SESSIONS, .parse_words = parse_sessions },
	{ "feedback [idle TIME]", "senders that listen are told the rate",
	  LINK_FEEDBACK, .parse_words = parse_feedback },
	{ "nofeedback", "nobody is told", LINK_FEEDBACK,
	  .parse_words = parse_nofeedback },
};

/* Takes no value, or none that it needs. */
static bool is_bare(const struct option *o)
{
	return o->bit & (LINK_FEEDBACK | LINK_MARK | LINK_ECN | LINK_TRACE_END);
}

/* Of one option that is written in several ways, the first. */
static const struct option *option_named(const char *name)
{
	const size_t length = strlen(name);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (strcspn(options[i].syntax, " ") == length &&
		    !strncmp(options[i].syntax, name, length))
			return &options[i];
	return NULL;
}

/* Is a number followed by its unit? */
static bool is_unit(const char *number, const char *unit)
{
	char both[64];
	uint64_t value;

	snprintf(both, sizeof(both), "%s%s", number, unit);
	return isalpha((unsigned char)*unit) &&
	       strlen(both) < sizeof(both) - 1 &&
	       (!units_parse_rate(both, &value) ||
		!units_parse_time(both, &value) ||
		!units_parse_size(both, &value));
}

static int unit_apart(char **argv, struct link_error *error)
{
	return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
			      ": write %s%s", argv[-1], argv[0]);
}

int link_config_parse(struct link_config *c, int argc, char **argv,
		      struct link_error *error)
{
	const struct option *o = option_named(argv[0]);
	int taken = 2;

	if (!o)
		return 0;
	if (argc < 2 && !is_bare(o))
		return link_error_set(error, LINK_ERROR_MISSING, argv[0],
				      "expected %s", o->syntax);
	if (c->set & o->bit & ~LINK_DROP) /* one for each flow */
		return link_error_set(error, LINK_ERROR_DUPLICATE, argv[0],
				      "%s", argv[is_bare(o) ? 0 : 1]);

	if (o->parse_words)
		taken = o->parse_words(c, argc, argv, error);
	else if (o->parse(c, argv[1], error))
		taken = -1;
	if (taken < 0 && argc > 2 && is_unit(argv[1], argv[2]))
		return unit_apart(argv + 2, error);
	if (!(o->bit & (LINK_LIMIT | LINK_THRESHOLD | LINK_LOSSES)))
		c->set |= o->bit;
	return taken;
}

/* Is it a lower-case word of a syntax, behind the name? */
static bool is_part(const char *word, const char *syntax)
{
	static const char between[] = " |[],";
	const size_t length = strlen(word);

	if (*word < 'a' || *word > 'z')
		return false;
	while (*(syntax += strcspn(syntax, between))) {
		syntax += strspn(syntax, between);
		if (strcspn(syntax, between) == length &&
		    !strncmp(syntax, word, length))
			return true;
	}
	return false;
}

/* The only option of which the word is a part, or NULL. */
static const struct option *option_with_part(const char *word)
{
	const struct option *only = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!is_part(word, options[i].syntax))
			continue;
		if (only)
			return NULL;
		only = &options[i];
	}
	return only;
}

/* The option of which these are the words, in the way that it is written. */
static const struct option *option_written(char **argv, int n)
{
	const struct option *first = option_named(argv[0]), *o;

	for (o = first;
	     n > 1 && o < options + ARRAY_SIZE(options) && o->bit == first->bit;
	     o++)
		if (is_part(argv[1], o->syntax))
			return o;
	return first;
}

/* Of a word behind an option, of which it is no part. */
static int unknown_behind(char **argv, int before, const char *dashes,
			  struct link_error *error)
{
	const struct option *o = option_written(argv - before, before);
	const char *why = before == 2 ? o->second : NULL;

	if (before > 1 && is_unit(argv[-1], argv[0]))
		return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
				      ": write %s%s", argv[-1], argv[0]);
	return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
			      ", nor part of the one before it: %s%s%s%s%s",
			      dashes, o->syntax, why ? " (" : "",
			      why ? why : "", why ? ")" : "");
}

int link_config_unknown(char **argv, int before, const char *dashes,
			struct link_error *error)
{
	const size_t length = strlen(dashes);
	const bool dashed = !strncmp(argv[0], dashes, length);
	const char *name = argv[0] + (dashed ? length : 0);
	const struct option *o;

	o = option_named(name);
	if (o)
		return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
				      " without dashes: write %s%s", dashes,
				      o->syntax);
	o = option_with_part(name);
	if (o)
		return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
				      " by itself: it is part of %s%s", dashes,
				      o->syntax);
	if (before && !(length && dashed))
		return unknown_behind(argv, before, dashes, error);
	return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
			      ": %shelp lists them", dashes);
}

void link_config_help(FILE *to, const char *dashes)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].help)
			fprintf(to, "  %s%-18s   %s\n", dashes,
				options[i].syntax, options[i].help);
		else
			fprintf(to, "  %s%s\n", dashes, options[i].syntax);
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
