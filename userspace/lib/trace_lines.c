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

int trace_lines_read(FILE *file, trace_line_fn *take, void *to)
{
	struct trace_line line = { .number = 0 };
	char *text = NULL;
	size_t room = 0;
	int err = 0;

	errno = 0;
	while (!err && getline(&text, &room, file) >= 0) {
		line.number++;
		split(&line, text);
		if (line.n_words)
			err = take(to, &line);
	}
	if (!err && ferror(file))
		err = -EIO;
	free(text);
	return err;
}
