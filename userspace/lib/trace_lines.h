/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace_lines.h - files of traces, of a link or of advice: lines of words, and what
 * follows a # is a comment
 */
#ifndef WALE_TRACE_LINES_H
#define WALE_TRACE_LINES_H

#include <stdio.h>

#define TRACE_WORDS_MAX 6 /* one more than any line has */

struct trace_line {
	unsigned int number; /* in the file, from 1 on */
	unsigned int n_words; /* at least 1 */
	char *word[TRACE_WORDS_MAX];
};

/* What to do with a line; 0, or -1 to stop. */
typedef int trace_line_fn(void *to, const struct trace_line *line);

/*
 * Gives each line that has words to @take.  0; -1 if that stopped it; -EIO, with errno, if
 * the file cannot be read.
 */
int trace_lines_read(FILE *file, trace_line_fn *take, void *to);

#endif /* WALE_TRACE_LINES_H */
