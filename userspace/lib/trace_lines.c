// SPDX-License-Identifier: GPL-2.0
/*
 * trace_lines.c - files of traces: see trace_lines.h
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_lines.h"

static void split(struct trace_line *line, char *text)
{
	static const char blanks[] = " \t\r\n\f\v";
	char *rest, *word;

	text[strcspn(text, "#")] = '\0';
	line->n_words = 0;
	for (word = strtok_r(text, blanks, &rest);
	     word && line->n_words < TRACE_WORDS_MAX;
	     word = strtok_r(NULL, blanks, &rest))
		line->word[line->n_words++] = word;
}

/* A zero would end the line for all that reads it: no word has a question mark. */
static void show_zeros(char *text, size_t length)
{
	char *zero;

	while ((zero = memchr(text, '\0', length)))
		*zero = '?';
}

/* The mark that some editors put before the first line in UTF-8. */
static char *skip_mark(char *text)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t length = sizeof(mark) - 1;

	return strncmp(text, mark, length) ? text : text + length;
}

int trace_lines_read(FILE *file, trace_line_fn *take, void *to)
{
	struct trace_line line = { .number = 0 };
	char *text = NULL;
	size_t room = 0;
	ssize_t length;
	int err = 0;

	errno = 0;
	while (!err && (length = getline(&text, &room, file)) >= 0) {
		show_zeros(text, (size_t)length);
		split(&line, line.number++ ? text : skip_mark(text));
		if (line.n_words)
			err = take(to, &line);
	}
	if (!err && ferror(file))
		err = -EIO;
	free(text);
	return err;
}
