/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utf8.h - is this text?
 */
#ifndef WALE_UTF8_H
#define WALE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the UTF-8 sequence at @s (at most @length bytes), 0 if it is none. */
size_t utf8_length(const unsigned char *s, size_t length);

/* Is the sequence a control character (C0, DEL, C1): a command to a terminal? */
bool utf8_is_control(const unsigned char *s);

#endif /* WALE_UTF8_H */
