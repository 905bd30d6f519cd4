// SPDX-License-Identifier: GPL-2.0
/*
 * link_word.c - the words that options of a link had in earlier releases
 */
#include <string.h>

#include "link_config.h"

const char *link_word_now(const char *word)
{
	const struct link_former_word *a;

	for (a = link_former_words; a->word; a++)
		if (!strcmp(a->word, word))
			return a->now;
	return word;
}
