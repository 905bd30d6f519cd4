// SPDX-License-Identifier: GPL-2.0
/*
 * link_trace.c - traces: the rate of a link, step by step, as text
 *
 * Inline, a trace is DURATION:RATE,DURATION:RATE,...; in a file, each line is
 * DURATION RATE, and what follows a # is a comment.  In a file, a duration has a
 * unit: a scenario, which may read the same file, would take seconds without one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "link_config.h"
#include "trace_lines.h"
#include "units.h"

static int trace_append(struct link_trace *trace, uint64_t duration_ns,
			uint64_t rate)
{
	struct wale_trace_step *steps = trace->steps;

	/* Room is doubled whenever the number of steps is a power of two. */
	if (!(trace->n_steps & (trace->n_steps - 1))) {
		size_t room = trace->n_steps ? 2 * trace->n_steps : 1;

		steps = realloc(steps, room * sizeof(*steps));
		if (!steps)
			return -ENOMEM;
		trace->steps = steps;
	}
	steps[trace->n_steps].duration_ns = duration_ns;
	steps[trace->n_steps].rate = rate;
	trace->n_steps++;
	return 0;
}

/* Where a step is: in a list, or in a file. */
struct place {
	const char *path; /* NULL: in a list */
	const char *word; /* the path or the list, as it was given */
	unsigned int number; /* of the step or line; 0: all of it */
};

static int __attribute__((format(printf, 3, 4)))
wrong(const struct place *at, struct link_error *error, const char *format, ...)
{
	char text[160], where[40] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (at->number)
		snprintf(where, sizeof(where),
			 at->path ? "%u: " : "step %u of the trace: ",
			 at->number);
	else if (at->path)
		strcpy(where, " ");
	return link_error_set(error,
			      at->path ? LINK_ERROR_FILE : LINK_ERROR_INVALID,
			      at->word, "%s%s", where, text);
}

static int parse_duration(const char *word, const struct place *at,
			  uint64_t *ns, struct link_error *error)
{
	int err = at->path ? units_parse_time_unit(word, ns)
			   : units_parse_time(word, ns);

	if (err == -EINVAL)
		return wrong(at, error,
			     "\"%.40s\": expected a time%s such as 10ms", word,
			     at->path ? " with a unit," : "");
	if (err || *ns < WALE_TRACE_STEP_MIN || *ns > WALE_TIME_MAX)
		return wrong(
			at, error,
			"\"%.40s\": out of range: expected a duration from 1us to 86400s",
			word);
	return 0;
}

static int parse_rate(const char *word, const struct place *at, uint64_t *rate,
		      struct link_error *error)
{
	char text[UNITS_WRONG_MAX];
	int err = units_parse_rate(word, rate);

	if (!err && *rate == WALE_RATE_UNLIMITED)
		err = -EINVAL;
	else if (!err && *rate > WALE_RATE_MAX)
		err = -ERANGE;
	return err ? wrong(at, error, "\"%.40s\": %s", word,
			   units_rate_wrong(
				   text, err, *rate,
				   "a rate from 0 to 8000tbit, such as 10mbit"))
		   : 0;
}

static int trace_step(struct link_trace *trace, const char *duration,
		      const char *rate, const struct place *at,
		      struct link_error *error)
{
	uint64_t ns, bytes_per_s;

	if (trace->n_steps == WALE_TRACE_FD_STEPS_MAX)
		return wrong(at, error, "more than %u steps",
			     WALE_TRACE_FD_STEPS_MAX);
	if (parse_duration(duration, at, &ns, error) ||
	    parse_rate(rate, at, &bytes_per_s, error))
		return -1;
	if (trace_append(trace, ns, bytes_per_s))
		return wrong(at, error, "no memory for the trace");
	return 0;
}

/* What no step is to blame for. */
static int check_whole(const struct link_trace *trace, struct place at,
		       struct link_error *error)
{
	uint64_t length = 0, peak = 0;
	uint32_t i;

	at.number = 0;
	if (!trace->n_steps)
		return wrong(&at, error, "the trace has no steps");
	for (i = 0; i < trace->n_steps; i++) {
		length += trace->steps[i].duration_ns;
		peak |= trace->steps[i].rate;
		if (length > WALE_TRACE_PERIOD_MAX)
			return wrong(&at, error,
				     "the trace is longer than 4000 days");
	}
	if (!peak)
		return wrong(
			&at, error,
			"the trace has no rate above 0: nothing would ever be sent");
	return 0;
}

int link_trace_parse(struct link_trace *trace, const char *text,
		     struct link_error *error)
{
	char *copy = strdup(text), *step, *rest = copy;
	struct place at = { .word = text };
	int err = 0;

	if (!copy)
		return wrong(&at, error, "no memory for the trace");
	while (!err && (step = strsep(&rest, ","))) {
		char *rate = strchr(step, ':');

		at.number++;
		if (!rate) {
			err = wrong(
				&at, error,
				"expected DURATION:RATE (trace file PATH reads a file)");
			break;
		}
		*rate++ = '\0';
		err = trace_step(trace, step, rate, &at, error);
	}
	free(copy);
	return err ? err : check_whole(trace, at, error);
}

struct reading {
	struct link_trace *trace;
	struct place at;
	struct link_error *error;
};

static int trace_line(void *to, const struct trace_line *line)
{
	struct reading *r = to;

	r->at.number = line->number;
	if (line->n_words != 2)
		return wrong(&r->at, r->error, "expected DURATION RATE");
	return trace_step(r->trace, line->word[0], line->word[1], &r->at,
			  r->error);
}

int link_trace_read(struct link_trace *trace, const char *path,
		    struct link_error *error)
{
	struct reading r = { trace, { .path = path, .word = path }, error };
	FILE *file;
	int err;

	file = fopen(path, "re");
	if (!file)
		return wrong(&r.at, error, "cannot open the trace: %s",
			     strerror(errno));
	err = trace_lines_read(file, trace_line, &r);
	if (err == -EIO) {
		r.at.number = 0;
		err = wrong(&r.at, error, "cannot read the trace: %s",
			    strerror(errno));
	}
	fclose(file);
	return err ? err : check_whole(trace, r.at, error);
}

/* trace STEPS, trace file PATH */
int link_parse_trace(struct link_config *c, const struct link_option *o,
		     int argc, char **argv, struct link_error *error)
{
	c->link.set |= LINK_BIT(TCA_WALE_TRACE);
	if (strcmp(argv[1], "file"))
		return link_trace_parse(&c->trace, argv[1], error) ? -1 : 2;
	if (argc < 3)
		return link_error_set(error, LINK_ERROR_MISSING, argv[1],
				      "expected a path");
	return link_trace_read(&c->trace, argv[2], error) ? -1 : 3;
}

void link_print_trace(FILE *to, const struct link_config *c, int type)
{
	const struct link_trace *trace = &c->trace;
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
