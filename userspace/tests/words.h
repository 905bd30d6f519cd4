/* SPDX-License-Identifier: GPL-2.0 */
/*
 * words.h - a line as the words of a command
 */
#ifndef WALE_WORDS_H
#define WALE_WORDS_H

#include <stdio.h>
#include <string.h>

#define WORDS_MAX 64

struct words {
	char buf[1024];
	char *word[WORDS_MAX];
	int n;
};

static inline void split(struct words *w, const char *text)
{
	char *rest = w->buf, *word;

	snprintf(w->buf, sizeof(w->buf), "%s", text);
	w->n = 0;
	while ((word = strsep(&rest, " ")))
		if (*word && w->n < WORDS_MAX)
			w->word[w->n++] = word;
}

#endif /* WALE_WORDS_H */
