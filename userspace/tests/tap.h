/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tap.h - test results in TAP
 */
#ifndef WALE_TAP_H
#define WALE_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failures;

/* One line for one check; @format says what is checked. */
__attribute__((format(printf, 2, 3))) static inline bool
ok(bool passed, const char *format, ...)
{
	va_list args;

	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	tap_failures += !passed;
	return passed;
}

/* Prints the plan; what main() returns. */
static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failures != 0;
}

#endif /* WALE_TAP_H */
