// SPDX-License-Identifier: GPL-2.0
/*
 * link_error.c - what is wrong with an option of a link, in one sentence
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "link_config.h"

int link_error_set(struct link_error *error, enum link_error_kind kind,
		   const char *word, const char *format, ...)
{
	va_list args;

	error->kind = kind;
	error->word = word;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -1;
}

int link_parse_failed(const char *word, int err, const char *expected,
		      struct link_error *error)
{
	return link_error_set(error, LINK_ERROR_INVALID, word,
			      err == -ERANGE ? "out of range: expected %s"
					     : "expected %s",
			      expected);
}

/* In quotes; of a long word, a list of steps perhaps, the beginning. */
static void print_word(FILE *to, const char *word)
{
	const int room = 100;

	if (strlen(word) <= (size_t)room)
		fprintf(to, "\"%s\"", word);
	else
		fprintf(to, "\"%.*s...\"", room, word);
}

void link_error_print(FILE *to, const struct link_error *error)
{
	if (error->kind != LINK_ERROR_FILE)
		print_word(to, error->word);
	switch (error->kind) {
	case LINK_ERROR_MISSING:
		fprintf(to, " is not complete: %s\n", error->text);
		break;
	case LINK_ERROR_DUPLICATE:
		if (!strcmp(error->word, error->text))
			fputs(" is given twice, or after its opposite\n", to);
		else
			fprintf(to,
				" is given twice: \"%s\" is the second value\n",
				error->text);
		break;
	case LINK_ERROR_UNKNOWN:
		fprintf(to, " is not an option%s\n", error->text);
		break;
	case LINK_ERROR_INVALID:
		fprintf(to, " is wrong: %s\n", error->text);
		break;
	case LINK_ERROR_FILE:
		fprintf(to, "%s:%s\n", error->word, error->text);
		break;
	}
}
