// SPDX-License-Identifier: GPL-2.0
/*
 * utf8.c - is this text?  RFC 3629: no longer forms, no surrogates
 */
#include "utf8.h"

#include <stdint.h>

size_t utf8_length(const unsigned char *s, size_t length)
{
	uint32_t min, code;
	size_t n;

	if (!length)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		n = 2;
		min = 0x80;
		code = s[0] & 0x1f;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3;
		min = 0x800;
		code = s[0] & 0x0f;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		n = 4;
		min = 0x10000;
		code = s[0] & 0x07;
	} else {
		return 0;
	}
	if (length < n)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < min || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

bool utf8_is_control(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}
