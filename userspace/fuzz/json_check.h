/* SPDX-License-Identifier: GPL-2.0 */
/*
 * json_check.h - what is written as JSON must be JSON
 */
#ifndef WALE_JSON_CHECK_H
#define WALE_JSON_CHECK_H

#include <stddef.h>

/* One object, in UTF-8, and nothing behind it. */
void json_check(const char *text, size_t length);

/* The strings in it, names too, one behind the other, each with its NUL. */
size_t json_check_strings(const char *text, size_t length, char *strings,
			  size_t room);

#endif /* WALE_JSON_CHECK_H */
