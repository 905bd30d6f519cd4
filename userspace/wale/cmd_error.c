// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_error.c - what subcommands of wale say when something is wrong
 */
#include <stdarg.h>
#include <stdio.h>

#include "cmd.h"

int cmd_wrong(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "wale %s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see 'wale %s --help'\n", command);
	return WALE_EXIT_USAGE;
}

int cmd_cannot(const char *command, const char *what, const char *why)
{
	fprintf(stderr, "wale %s: cannot %s: %s\n", command, what, why);
	return WALE_EXIT_FAILED;
}
