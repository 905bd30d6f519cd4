// SPDX-License-Identifier: GPL-2.0
/*
 * rate_trace.c - a rate as a function of time, as a file
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rate_trace.h"
#include "trace_lines.h"
#include "trace_step.h"
#include "units.h"

/* 73 years: added to any time of the clock, it stays a number. */
#define TRACE_NS_MAX (UINT64_MAX / 8)

/* Where a step is, for those who must mend it. */
struct place {
	const char *name;
	unsigned int line;
};

static int append(struct rate_trace *trace, uint64_t rate)
{
	struct rate_trace_step *steps = trace->steps;
	size_t n = trace->n_steps;

	/* Room is doubled whenever the number of steps is a power of two. */
	if (!(n & (n - 1))) {
		steps = realloc(steps, (n ? 2 * n : 1) * sizeof(*steps));
		if (!steps)
			return -ENOMEM;
		trace->steps = steps;
	}
	steps[n].offset_ns = trace->end_ns;
	steps[n].rate = rate;
	trace->n_steps++;
	return 0;
}

static int parse_rate(struct rate_trace *trace, const char *word,
		      const struct place *at, struct rate_error *error)
{
	char wrong[UNITS_WRONG_MAX], time[UNITS_MAX];
	const size_t n = trace->n_steps;
	uint64_t rate;
	int err = units_parse_rate(word, &rate);

	if (err)
		return rate_error_set(
			error, "%s:%u: \"%.40s\": %s", at->name, at->line, word,
			units_rate_wrong(
				wrong, err, rate,
				"a rate such as 10mbit, or unlimited"));
	if (n && trace->steps[n - 1].offset_ns == trace->end_ns)
		return rate_error_set(error,
				      "%s:%u: the step before it begins at %s, "
				      "too: each must take time",
				      at->name, at->line,
				      units_format_time(time, trace->end_ns));
	if (append(trace, rate))
		return rate_error_set(error, "%s: no memory", at->name);
	return 0;
}

static int parse_time(uint64_t *ns, const char *word, const struct place *at,
		      struct rate_error *error)
{
	if (units_parse_time_unit(word, ns))
		return rate_error_set(error,
				      "%s:%u: \"%.40s\": expected a time with "
				      "a unit, such as 1.5s",
				      at->name, at->line, word);
	if (*ns > TRACE_NS_MAX)
		return rate_error_set(error, "%s:%u: %.40s is too long",
				      at->name, at->line, word);
	return 0;
}

/*
 * The rate of a step of a link's trace: what else the step has is checked, and left out.
 * A link that is down has a rate of zero.
 */
static const char *rate_of(const struct trace_header *header,
			   const struct trace_line *line,
			   const struct place *at, struct rate_error *error)
{
	char wrong[TRACE_WRONG_MAX];
	const char *rate = NULL;
	struct trace_step step;
	unsigned int i;

	trace_step_begin(&step);
	/* advice may be unlimited, and of any size */
	for (i = 1; !rate && i < line->n_words; i++)
		if (!strcasecmp(line->word[i], "unlimited") ||
		    (line->n_words == 2 && !header->n))
			rate = line->word[i];
	if (!rate && trace_step_take_line(&step, header, line, wrong)) {
		rate_error_set(error, "%s:%u: %s", at->name, at->line, wrong);
		return NULL;
	}
	for (i = 1; !rate && i < line->n_words; i++)
		if (trace_word_is_rate(line->word[i]))
			rate = line->word[i];
	if (!rate)
		rate_error_set(error, "%s:%u: expected a rate in each step",
			       at->name, at->line);
	return rate && !strcmp(rate, "down") ? "0" : rate;
}

/* DURATION RATE */
static int parse_duration(struct rate_trace *trace, const char *duration,
			  const char *rate, const struct place *at,
			  struct rate_error *error)
{
	uint64_t ns;

	if (parse_time(&ns, duration, at, error))
		return -1;
	if (!ns)
		return rate_error_set(error,
				      "%s:%u: \"%.40s\": expected a duration "
				      "above 0",
				      at->name, at->line, duration);
	if (parse_rate(trace, rate, at, error))
		return -1;
	trace->end_ns += ns;
	if (trace->end_ns > TRACE_NS_MAX)
		return rate_error_set(error, "%s:%u: the trace is too long",
				      at->name, at->line);
	return 0;
}

/* at TIME RATE, at TIME end */
static int parse_at(struct rate_trace *trace, const char *time,
		    const char *rate, const struct place *at,
		    struct rate_error *error)
{
	char buf[UNITS_MAX];
	uint64_t ns;

	if (parse_time(&ns, time, at, error))
		return -1;
	if (ns < trace->end_ns)
		return rate_error_set(error,
				      "%s:%u: %.40s is before %s, where the "
				      "trace is already",
				      at->name, at->line, time,
				      units_format_time(buf, trace->end_ns));
	trace->end_ns = ns;
	return strcmp(rate, "end") ? parse_rate(trace, rate, at, error) : 0;
}

struct reading {
	struct rate_trace *trace;
	struct place at;
	struct rate_error *error;
	struct trace_header header;
};

static int parse_line(void *to, const struct trace_line *line)
{
	struct reading *r = to;
	char *const *word = line->word;
	char wrong[TRACE_WRONG_MAX];
	const char *rate;
	int header;

	r->at.line = line->number;
	header = trace_header_read(&r->header, line, wrong);
	if (header < 0)
		return rate_error_set(r->error, "%s:%u: %s", r->at.name,
				      r->at.line, wrong);
	if (header)
		return 0;
	if (line->n_words == 3 && !strcmp(word[0], "at"))
		return parse_at(r->trace, word[1], word[2], &r->at, r->error);
	if (line->n_words < 2 || !strcmp(word[0], "at"))
		return rate_error_set(
			r->error,
			"%s:%u: expected DURATION RATE or at TIME RATE",
			r->at.name, r->at.line);
	rate = rate_of(&r->header, line, &r->at, r->error);
	return rate ? parse_duration(r->trace, word[0], rate, &r->at, r->error)
		    : -1;
}

int rate_trace_read_file(struct rate_trace *trace, FILE *file, const char *name,
			 struct rate_error *error)
{
	struct reading r = { .trace = trace,
			     .at = { .name = name },
			     .error = error };
	int err;

	memset(trace, 0, sizeof(*trace));
	err = trace_lines_read(file, parse_line, &r);
	if (err == -EIO)
		err = rate_error_set(error, "%s: cannot read the trace: %s",
				     name, strerror(errno));
	if (!err && !trace->n_steps)
		err = rate_error_set(error, "%s: the trace has no steps", name);
	return err;
}

int rate_trace_read(struct rate_trace *trace, const char *path,
		    struct rate_error *error)
{
	FILE *file;
	int err;

	memset(trace, 0, sizeof(*trace));
	if (!strcmp(path, "-"))
		return rate_trace_read_file(trace, stdin, "stdin", error);
	file = fopen(path, "re");
	if (!file)
		return rate_error_set(error,
				      "%.100s: cannot open the trace: %s", path,
				      strerror(errno));
	err = rate_trace_read_file(trace, file, path, error);
	fclose(file);
	return err;
}

void rate_trace_free(struct rate_trace *trace)
{
	free(trace->steps);
	memset(trace, 0, sizeof(*trace));
}
