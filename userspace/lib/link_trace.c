// SPDX-License-Identifier: GPL-2.0
/*
 * link_trace.c - traces: how a link changes, step by step, as text
 *
 * Inline, a step is DURATION:VALUE,VALUE..., and a blank or a comma is between steps; in
 * a file, it is a line, and what follows a # is a comment.  In a file, a duration has a
 * unit: a scenario, which may read the same file, would take seconds without one.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "link_config.h"
#include "trace_lines.h"
#include "trace_step.h"
#include "units.h"

#define LIMITS (WALE_TRACE_LIMIT_PACKETS | WALE_TRACE_LIMIT_BYTES)

static unsigned int width(uint32_t columns)
{
	return 1 + __builtin_popcount(columns);
}

size_t link_trace_step_size(uint32_t columns)
{
	return width(columns) * sizeof(uint64_t);
}

static uint32_t column_bit(const struct trace_step *step, int column)
{
	static const uint32_t bits[TRACE_COLUMNS] = {
		WALE_TRACE_RATE, WALE_TRACE_DELAY, WALE_TRACE_LOSS,
		WALE_TRACE_LIMIT_PACKETS
	};

	return column == TRACE_COLUMN_LIMIT && step->in_bytes
		       ? WALE_TRACE_LIMIT_BYTES
		       : bits[column];
}

static uint32_t columns_of(const struct trace_step *step)
{
	uint32_t columns = 0;
	int i;

	for (i = 0; i < TRACE_COLUMNS; i++)
		if (step->value[i] != WALE_TRACE_SAME)
			columns |= column_bit(step, i);
	return columns;
}

static void unpack(struct trace_step *step, uint32_t columns,
		   const uint64_t *value)
{
	int i;

	trace_step_begin(step);
	step->duration_ns = *value++;
	step->in_bytes = columns & WALE_TRACE_LIMIT_BYTES;
	for (i = 0; i < TRACE_COLUMNS; i++)
		if (columns & column_bit(step, i))
			step->value[i] = *value++;
}

static void pack(uint64_t *value, uint32_t columns,
		 const struct trace_step *step)
{
	struct trace_step unit = { .in_bytes =
					   columns & WALE_TRACE_LIMIT_BYTES };
	int i;

	*value++ = step->duration_ns;
	for (i = 0; i < TRACE_COLUMNS; i++)
		if (columns & column_bit(&unit, i))
			*value++ = step->value[i];
}

void link_trace_step(const struct link_trace *trace, uint32_t number,
		     struct trace_step *step)
{
	unpack(step, trace->columns,
	       trace->values + (size_t)number * width(trace->columns));
}

/* Room for so many numbers. */
static int trace_grow(struct link_trace *trace, size_t values)
{
	size_t room = trace->room ? trace->room : 16;
	uint64_t *grown;

	if (values <= trace->room)
		return 0;
	while (room < values)
		room *= 2;
	grown = realloc(trace->values, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	trace->values = grown;
	trace->room = room;
	return 0;
}

/* More columns, in each step that is there: the last one first. */
static int trace_widen(struct link_trace *trace, uint32_t columns)
{
	const uint32_t before = trace->columns;
	struct trace_step step;
	uint32_t i;

	if (trace_grow(trace, (size_t)trace->n_steps * width(columns)))
		return -ENOMEM;
	for (i = trace->n_steps; i--;) {
		unpack(&step, before,
		       trace->values + (size_t)i * width(before));
		pack(trace->values + (size_t)i * width(columns), columns,
		     &step);
	}
	trace->columns = columns;
	return 0;
}

static int trace_append(struct link_trace *trace, const struct trace_step *step)
{
	const uint32_t columns = trace->columns | columns_of(step);

	if (columns != trace->columns && trace_widen(trace, columns))
		return -ENOMEM;
	if (trace_grow(trace, ((size_t)trace->n_steps + 1) * width(columns)))
		return -ENOMEM;
	pack(trace->values + (size_t)trace->n_steps * width(columns), columns,
	     step);
	trace->n_steps++;
	return 0;
}

void link_trace_free(struct link_trace *trace)
{
	free(trace->values);
	memset(trace, 0, sizeof(*trace));
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
	char text[TRACE_WRONG_MAX], where[40] = "";
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

/* A step whose values are there. */
static int take_step(struct link_trace *trace, struct trace_step *step,
		     const char *duration, const struct place *at,
		     struct link_error *error)
{
	const uint32_t limits = (trace->columns | columns_of(step)) & LIMITS;

	if (trace->n_steps == WALE_TRACE_FD_STEPS_MAX)
		return wrong(at, error, "more than %u steps",
			     WALE_TRACE_FD_STEPS_MAX);
	if (parse_duration(duration, at, &step->duration_ns, error))
		return -1;
	if (limits == LIMITS)
		return wrong(
			at, error,
			"the limits of a trace must be all in packets, or all in bytes");
	if (trace_append(trace, step))
		return wrong(at, error, "no memory for the trace");
	return 0;
}

/* What no step is to blame for. */
static int check_whole(const struct link_trace *trace, struct place at,
		       struct link_error *error)
{
	uint64_t length = 0;
	struct trace_step step;
	bool sends = false;
	uint32_t i;

	at.number = 0;
	if (!trace->n_steps)
		return wrong(&at, error, "the trace has no steps");
	if (!trace->columns)
		return wrong(&at, error, "the trace has no values");
	for (i = 0; i < trace->n_steps; i++) {
		link_trace_step(trace, i, &step);
		length += step.duration_ns;
		sends |= step.value[TRACE_COLUMN_RATE] &&
			 step.value[TRACE_COLUMN_RATE] != WALE_TRACE_DOWN;
		if (length > WALE_TRACE_PERIOD_MAX)
			return wrong(&at, error,
				     "the trace is longer than 4000 days");
	}
	if (!sends)
		return wrong(
			&at, error,
			"the trace has no rate above 0: nothing would ever be sent");
	return 0;
}

/* A step of a list, as far as it was read. */
struct inline_step {
	struct trace_step step;
	char *duration; /* NULL: there is none */
};

/* A word between blanks and commas: DURATION:VALUE begins a step, VALUE goes on. */
static int take_word(struct link_trace *trace, struct inline_step *s,
		     char *word, struct place *at, struct link_error *error)
{
	char *value = strchr(word, ':'), text[TRACE_WRONG_MAX];

	if (!value && !s->duration) {
		at->number = 1;
		return wrong(
			at, error,
			"expected DURATION:VALUE (trace file PATH reads a file)");
	}
	if (value) {
		if (s->duration &&
		    take_step(trace, &s->step, s->duration, at, error))
			return -1;
		at->number++;
		*value++ = '\0';
		s->duration = word;
		trace_step_begin(&s->step);
	} else {
		value = word;
	}
	return trace_step_take(&s->step, value, false, text)
		       ? wrong(at, error, "%s", text)
		       : 0;
}

static bool has_gap(const char *text)
{
	const size_t length = strlen(text);

	return *text == ',' || (length && text[length - 1] == ',') ||
	       strstr(text, ",,");
}

int link_trace_parse(struct link_trace *trace, const char *text,
		     struct link_error *error)
{
	char *copy = strdup(text), *word, *rest = copy;
	struct inline_step s = { .duration = NULL };
	struct place at = { .word = text };
	int err = 0;

	if (!copy)
		return wrong(&at, error, "no memory for the trace");
	if (has_gap(text))
		err = wrong(
			&at, error,
			"expected a step or a value at each side of a comma");
	while (!err && (word = strsep(&rest, ", \t\n")))
		if (*word)
			err = take_word(trace, &s, word, &at, error);
	if (!err && s.duration)
		err = take_step(trace, &s.step, s.duration, &at, error);
	free(copy);
	return err ? err : check_whole(trace, at, error);
}

struct reading {
	struct link_trace *trace;
	struct place at;
	struct link_error *error;
	struct trace_header header;
};

static int trace_line(void *to, const struct trace_line *line)
{
	char text[TRACE_WRONG_MAX];
	struct reading *r = to;
	struct trace_step step;
	int header;

	r->at.number = line->number;
	header = trace_header_read(&r->header, line, text);
	if (header < 0)
		return wrong(&r->at, r->error, "%s", text);
	if (header)
		return 0;
	if (line->n_words < 2)
		return wrong(&r->at, r->error,
			     "expected DURATION RATE, or other values");
	trace_step_begin(&step);
	if (trace_step_take_line(&step, &r->header, line, text))
		return wrong(&r->at, r->error, "%s", text);
	return take_step(r->trace, &step, line->word[0], &r->at, r->error);
}

int link_trace_read(struct link_trace *trace, const char *path,
		    struct link_error *error)
{
	struct reading r = { .trace = trace,
			     .at = { .path = path, .word = path },
			     .error = error };
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

/* Are these the words of more steps, as a shell passes them without quotes? */
static bool goes_on(const char *word)
{
	return isdigit((unsigned char)*word) && strchr(word, ':');
}

/* Several words as one; NULL: no memory. */
static char *joined(int argc, char **argv)
{
	size_t length = 1;
	char *text;
	int i;

	for (i = 0; i < argc; i++)
		length += strlen(argv[i]) + 1;
	text = calloc(1, length);
	for (i = 0; text && i < argc; i++)
		sprintf(text + strlen(text), "%s%s", i ? " " : "", argv[i]);
	return text;
}

static int parse_steps(struct link_config *c, int argc, char **argv,
		       struct link_error *error)
{
	int taken = 1, err;
	char *text;

	while (taken < argc && goes_on(argv[taken]))
		taken++;
	if (taken == 1)
		return link_trace_parse(&c->trace, argv[0], error) ? -1 : 1;
	text = joined(taken, argv);
	if (!text)
		return link_error_set(error, LINK_ERROR_INVALID, argv[0],
				      "no memory for the trace");
	err = link_trace_parse(&c->trace, text, error);
	error->word = argv[0];
	free(text);
	return err ? -1 : taken;
}

/* trace STEPS, trace file PATH, trace off */
int link_parse_trace(struct link_config *c, const struct link_option *o,
		     int argc, char **argv, struct link_error *error)
{
	int taken;

	c->link.set |= LINK_BIT(TCA_WALE_TRACE);
	if (!strcmp(argv[1], "off"))
		return 2;
	if (!strcmp(argv[1], "file")) {
		if (argc < 3)
			return link_error_set(error, LINK_ERROR_MISSING,
					      argv[1], "expected a path");
		return link_trace_read(&c->trace, argv[2], error) ? -1 : 3;
	}
	taken = parse_steps(c, argc - 1, argv + 1, error);
	return taken < 0 ? -1 : 1 + taken;
}

static const char *format_value(char buf[UNITS_MAX],
				const struct trace_step *step, int column)
{
	const uint64_t value = step->value[column];

	switch (column) {
	case TRACE_COLUMN_RATE:
		return value == WALE_TRACE_DOWN ? "down"
						: units_format_rate(buf, value);
	case TRACE_COLUMN_DELAY:
		return units_format_time(buf, value);
	case TRACE_COLUMN_LOSS:
		return units_format_percent(buf, value);
	default:
		if (step->in_bytes)
			return units_format_size(buf, value);
		snprintf(buf, UNITS_MAX, "%" PRIu64 "p", value);
		return buf;
	}
}

static void print_step(FILE *to, const struct trace_step *step)
{
	char buf[UNITS_MAX];
	char between = ':';
	int i;

	fputs(units_format_time(buf, step->duration_ns), to);
	for (i = 0; i < TRACE_COLUMNS; i++) {
		if (step->value[i] == WALE_TRACE_SAME)
			continue;
		fprintf(to, "%c%s", between, format_value(buf, step, i));
		between = ',';
	}
	if (between == ':')
		fputs(":-", to);
}

void link_print_trace(FILE *to, const struct link_config *c, int type)
{
	const struct link_trace *trace = &c->trace;
	struct trace_step step;
	uint32_t i;

	if (!trace->n_steps) {
		fputs("trace off ", to);
		return;
	}
	if (!trace->values) {
		fprintf(to, "trace (%" PRIu32 " steps) ", trace->n_steps);
		return;
	}
	fputs("trace ", to);
	for (i = 0; i < trace->n_steps; i++) {
		link_trace_step(trace, i, &step);
		if (i)
			fputc(',', to);
		print_step(to, &step);
	}
	fputc(' ', to);
}

static void json_value(struct json *j, const struct trace_step *step,
		       int column)
{
	const uint64_t value = step->value[column];
	char buf[UNITS_MAX];

	if (value == WALE_TRACE_SAME)
		return;
	switch (column) {
	case TRACE_COLUMN_RATE:
		if (value == WALE_TRACE_DOWN)
			json_put_string(j, "rate", "down");
		else
			json_put_u64(j, "rate", value);
		break;
	case TRACE_COLUMN_DELAY:
		json_put_u64(j, "delay_ns", value);
		break;
	case TRACE_COLUMN_LOSS:
		json_put_number(j, "loss",
				units_format_probability(buf, value));
		break;
	default:
		json_put_u64(j,
			     step->in_bytes ? "limit_bytes" : "limit_packets",
			     value);
	}
}

/* What is not given, is not there. */
void link_trace_json(struct json *j, const struct link_trace *trace)
{
	struct trace_step step;
	uint32_t i;
	int column;

	json_open(j, "trace", '[');
	for (i = 0; i < trace->n_steps; i++) {
		link_trace_step(trace, i, &step);
		json_open(j, NULL, '{');
		json_put_u64(j, "duration_ns", step.duration_ns);
		for (column = 0; column < TRACE_COLUMNS; column++)
			json_value(j, &step, column);
		json_close(j, '}');
	}
	json_close(j, ']');
}
