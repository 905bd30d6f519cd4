// SPDX-License-Identifier: GPL-2.0
/*
 * trace_step.c - the values of a step of a trace, as words: see trace_step.h
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace_step.h"
#include "units.h"

static const char *const column_names[TRACE_COLUMNS] = { "rate", "delay",
							 "loss", "limit" };

/* A word: what it is. */
struct value {
	enum trace_column column;
	uint64_t number;
	bool down;
	bool in_bytes;
};

/* Where words are. */
struct source {
	bool in_file;
	bool advice;
};

static int __attribute__((format(printf, 2, 3)))
wrong_with(char wrong[TRACE_WRONG_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(wrong, TRACE_WRONG_MAX, format, args);
	va_end(args);
	return -1;
}

void trace_step_begin(struct trace_step *step)
{
	int i;

	memset(step, 0, sizeof(*step));
	for (i = 0; i < TRACE_COLUMNS; i++)
		step->value[i] = WALE_TRACE_SAME;
}

static int take_rate(struct value *v, const char *word, int err, bool advice,
		     char wrong[TRACE_WRONG_MAX])
{
	char text[UNITS_WRONG_MAX];

	v->column = TRACE_COLUMN_RATE;
	if (!err && !advice && v->number == WALE_RATE_UNLIMITED)
		err = -EINVAL;
	else if (!err && !advice && v->number > WALE_RATE_MAX)
		err = -ERANGE;
	if (err)
		return wrong_with(
			wrong, "\"%.40s\": %s", word,
			units_rate_wrong(
				text, err, v->number,
				advice ? "a rate such as 10mbit, or unlimited"
				       : "a rate from 0 to 8000tbit, such as 10mbit"));
	return 0;
}

static int take_loss(struct value *v, const char *word,
		     char wrong[TRACE_WRONG_MAX])
{
	uint32_t share;

	v->column = TRACE_COLUMN_LOSS;
	if (units_parse_percent(word, &share))
		return wrong_with(
			wrong,
			"\"%.40s\": expected a loss from 0%% to 100%%, such as 0.1%%",
			word);
	v->number = share;
	return 0;
}

static int take_delay(struct value *v, const char *word, int err,
		      char wrong[TRACE_WRONG_MAX])
{
	v->column = TRACE_COLUMN_DELAY;
	if (err || v->number > WALE_TIME_MAX)
		return wrong_with(
			wrong,
			"\"%.40s\": out of range: expected a delay from 0ns to 86400s",
			word);
	return 0;
}

/* "100p" */
static bool is_packets(const char *word)
{
	const size_t digits = strspn(word, "0123456789");

	return digits && (word[digits] == 'p' || word[digits] == 'P') &&
	       !word[digits + 1];
}

static int take_packets(struct value *v, const char *word,
			char wrong[TRACE_WRONG_MAX])
{
	char digits[24];

	v->column = TRACE_COLUMN_LIMIT;
	v->number = 0;
	snprintf(digits, sizeof(digits), "%.*s", (int)strlen(word) - 1, word);
	if (strlen(word) >= sizeof(digits) ||
	    units_parse_count(digits, UINT32_MAX, &v->number) || !v->number)
		return wrong_with(
			wrong,
			"\"%.40s\": out of range: expected a limit from 1p to 4294967295p",
			word);
	return 0;
}

/* Is it another number of bytes to a scenario? */
static bool is_ambiguous(const char *size)
{
	return strpbrk(size, "kKmMgGtT") && !strpbrk(size, "iI");
}

static int take_size(struct value *v, const char *word, int err, bool in_file,
		     char wrong[TRACE_WRONG_MAX])
{
	v->column = TRACE_COLUMN_LIMIT;
	v->in_bytes = true;
	if (in_file && is_ambiguous(word))
		return wrong_with(
			wrong,
			"\"%.40s\": 1024 or 1000? expected a limit such as 30KiB or 30000B",
			word);
	if (err == -EDOM)
		return wrong_with(
			wrong, "\"%.40s\": not a whole number of bytes", word);
	if (err || !v->number || v->number > WALE_LIMIT_BYTES_MAX)
		return wrong_with(
			wrong,
			"\"%.40s\": out of range: expected a limit from 1B to 2^64 - 2 bytes",
			word);
	return 0;
}

static int read_value(struct value *v, const char *word,
		      const struct source *source, char wrong[TRACE_WRONG_MAX])
{
	const size_t length = strlen(word);
	int err;

	*v = (struct value){ .column = TRACE_COLUMN_RATE };
	if (!strcmp(word, "down")) {
		v->down = true;
		v->number = WALE_TRACE_DOWN;
		return 0;
	}
	if (length && word[length - 1] == '%')
		return take_loss(v, word, wrong);
	err = units_parse_rate(word, &v->number);
	if (err != -EINVAL)
		return take_rate(v, word, err, source->advice, wrong);
	err = units_parse_time(word, &v->number);
	if (err != -EINVAL)
		return take_delay(v, word, err, wrong);
	if (is_packets(word))
		return take_packets(v, word, wrong);
	err = units_parse_size(word, &v->number);
	if (err != -EINVAL)
		return take_size(v, word, err, source->in_file, wrong);
	return wrong_with(
		wrong,
		"\"%.40s\": expected a rate such as 8mbit, a delay such as 20ms, a loss such as 0.1%%, a limit such as 100p or 30KiB, or down",
		word);
}

/* @column: that it must be of, if not TRACE_COLUMNS */
static int take(struct trace_step *step, const char *word,
		const struct source *source, enum trace_column column,
		char wrong[TRACE_WRONG_MAX])
{
	struct value v;

	step->any = true;
	if (!strcmp(word, "-"))
		return 0;
	if (read_value(&v, word, source, wrong))
		return -1;
	if (column != TRACE_COLUMNS && column != v.column)
		return wrong_with(
			wrong, "\"%.40s\": a %s, where the first line has %s",
			word, column_names[v.column], column_names[column]);
	if (step->given[v.column])
		return wrong_with(wrong, "\"%.40s\": a second %s", word,
				  column_names[v.column]);
	step->value[v.column] = v.number;
	step->given[v.column] = true;
	if (v.column == TRACE_COLUMN_RATE)
		step->down = v.down;
	else if (v.column == TRACE_COLUMN_LIMIT)
		step->in_bytes = v.in_bytes;
	return 0;
}

int trace_step_take(struct trace_step *step, const char *word, bool in_file,
		    char wrong[TRACE_WRONG_MAX])
{
	const struct source source = { .in_file = in_file };

	return take(step, word, &source, TRACE_COLUMNS, wrong);
}

static enum trace_column column_named(const char *word)
{
	int i;

	for (i = 0; i < TRACE_COLUMNS && strcmp(word, column_names[i]); i++)
		;
	return i;
}

int trace_header_read(struct trace_header *header,
		      const struct trace_line *line,
		      char wrong[TRACE_WRONG_MAX])
{
	unsigned int i, j;

	if (header->passed)
		return 0;
	header->passed = true;
	if (strcmp(line->word[0], "duration"))
		return 0;
	if (line->n_words < 2)
		return wrong_with(
			wrong,
			"expected rate, delay, loss or limit behind duration");
	for (i = 1; i < line->n_words; i++) {
		const char *word = line->word[i];
		const enum trace_column column = column_named(word);

		if (column == TRACE_COLUMNS)
			return wrong_with(
				wrong,
				"\"%.40s\": expected rate, delay, loss or limit",
				word);
		for (j = 0; j < header->n; j++)
			if (header->column[j] == column)
				return wrong_with(wrong,
						  "\"%.40s\": a second time",
						  word);
		header->column[header->n++] = column;
	}
	return 1;
}

int trace_step_take_line(struct trace_step *step,
			 const struct trace_header *header,
			 const struct trace_line *line,
			 char wrong[TRACE_WRONG_MAX])
{
	const struct source source = { .in_file = true,
				       .advice = header->advice };
	unsigned int i;

	if (header->n && line->n_words != header->n + 1)
		return wrong_with(
			wrong,
			"expected %u words, as in the first line: - for what is not given",
			header->n + 1);
	for (i = 1; i < line->n_words; i++)
		if (take(step, line->word[i], &source,
			 header->n ? header->column[i - 1] : TRACE_COLUMNS,
			 wrong))
			return -1;
	return 0;
}
