// SPDX-License-Identifier: GPL-2.0
/*
 * scone_error.c - what "wale scone" says when something is wrong
 */
#include <stdarg.h>
#include <stdio.h>

#include "cmd.h"
#include "scone.h"

int scone_wrong(const char *format, ...)
{
	va_list args;

	fputs("wale scone: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; see 'wale scone --help'\n", stderr);
	return WALE_EXIT_USAGE;
}

int scone_cannot(const char *what, const char *why)
{
	fprintf(stderr, "wale scone: cannot %s: %s\n", what, why);
	return WALE_EXIT_FAILED;
}
