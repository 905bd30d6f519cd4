// SPDX-License-Identifier: GPL-2.0
/*
 * link_error.c - what is wrong with an option of a link, in one sentence
 */
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

void link_error_print(FILE *to, const struct link_error *error)
{
	switch (error->kind) {
	case LINK_ERROR_MISSING:
		fprintf(to, "\"%s\" is not complete: %s\n", error->word,
			error->text);
		break;
	case LINK_ERROR_DUPLICATE:
		if (strcmp(error->word, error->text))
			fprintf(to,
				"\"%s\" is given twice: \"%s\" is the second value\n",
				error->word, error->text);
		else
			fprintf(to,
				"\"%s\" is given twice, or after its opposite\n",
				error->word);
		break;
	case LINK_ERROR_INVALID:
		fprintf(to, "\"%s\" is wrong: %s\n", error->word, error->text);
		break;
	}
}
