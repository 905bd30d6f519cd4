// SPDX-License-Identifier: GPL-2.0
/*
 * rate_trace.c - a rate as a function of time, as a file
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int add_step(struct rate_trace *trace, uint64_t rate,
		    const struct place *at, struct rate_error *error)
{
	const size_t n = trace->n_steps;
	char time[UNITS_MAX];

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
static int parse_rate(uint64_t *rate, const struct trace_header *header,
		      const struct trace_line *line, const struct place *at,
		      struct rate_error *error)
{
	char wrong[TRACE_WRONG_MAX];
	struct trace_step step;

	trace_step_begin(&step);
	if (trace_step_take_line(&step, header, line, wrong))
		return rate_error_set(error, "%s:%u: %s", at->name, at->line,
				      wrong);
	if (!step.given[TRACE_COLUMN_RATE])
		return rate_error_set(error,
				      "%s:%u: expected a rate in each step",
				      at->name, at->line);
	*rate = step.down ? 0 : step.value[TRACE_COLUMN_RATE];
	return 0;
}

/* DURATION RATE */
static int parse_duration(struct rate_trace *trace,
			  const struct trace_header *header,
			  const struct trace_line *line, const struct place *at,
			  struct rate_error *error)
{
	const char *duration = line->word[0];
	uint64_t ns, rate = 0;

	if (parse_rate(&rate, header, line, at, error) ||
	    parse_time(&ns, duration, at, error))
		return -1;
	if (!ns)
		return rate_error_set(error,
				      "%s:%u: \"%.40s\": expected a duration "
				      "above 0",
				      at->name, at->line, duration);
	if (add_step(trace, rate, at, error))
		return -1;
	trace->end_ns += ns;
	if (trace->end_ns > TRACE_NS_MAX)
		return rate_error_set(error, "%s:%u: the trace is too long",
				      at->name, at->line);
	return 0;
}

/* at TIME RATE, at TIME end */
static int parse_at(struct rate_trace *trace, const struct trace_line *line,
		    const struct place *at, struct rate_error *error)
{
	const char *time = line->word[1], *word = line->word[2];
	char wrong[UNITS_WRONG_MAX], buf[UNITS_MAX];
	uint64_t ns, rate;
	int err;

	if (parse_time(&ns, time, at, error))
		return -1;
	if (ns < trace->end_ns)
		return rate_error_set(error,
				      "%s:%u: %.40s is before %s, where the "
				      "trace is already",
				      at->name, at->line, time,
				      units_format_time(buf, trace->end_ns));
	trace->end_ns = ns;
	if (!strcmp(word, "end"))
		return 0;
	err = units_parse_rate(word, &rate);
	if (err)
		return rate_error_set(
			error, "%s:%u: \"%.40s\": %s", at->name, at->line, word,
			units_rate_wrong(
				wrong, err, rate,
				"a rate such as 10mbit, or unlimited"));
	return add_step(trace, rate, at, error);
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
	int header;

	r->at.line = line->number;
	header = trace_header_read(&r->header, line, wrong);
	if (header < 0)
		return rate_error_set(r->error, "%s:%u: %s", r->at.name,
				      r->at.line, wrong);
	if (header)
		return 0;
	if (line->n_words == 3 && !strcmp(word[0], "at"))
		return parse_at(r->trace, line, &r->at, r->error);
	if (line->n_words < 2 || !strcmp(word[0], "at"))
		return rate_error_set(
			r->error,
			"%s:%u: expected DURATION RATE or at TIME RATE",
			r->at.name, r->at.line);
	return parse_duration(r->trace, &r->header, line, &r->at, r->error);
}

int rate_trace_read_file(struct rate_trace *trace, FILE *file, const char *name,
			 struct rate_error *error)
{
	struct reading r = { .trace = trace,
			     .at = { .name = name },
			     .error = error,
			     .header = { .advice = true } };
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
