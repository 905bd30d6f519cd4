// SPDX-License-Identifier: GPL-2.0
/*
 * json_check.c - what is written as JSON must be JSON
 */
#include "json_check.h"

#include <yajl/yajl_parse.h>

#include "fuzz.h"

struct strings {
	char *at;
	size_t room;
};

static int take_string(void *to, const unsigned char *string, size_t length)
{
	struct strings *s = to;

	must(length < s->room);
	memcpy(s->at, string, length);
	s->at[length] = '\0';
	s->at += length + 1;
	s->room -= length + 1;
	return 1;
}

/* Without callbacks for numbers, of which counters have 64 bits and no sign. */
static const yajl_callbacks callbacks = {
	.yajl_string = take_string,
	.yajl_map_key = take_string,
};

static void parse(const char *text, size_t length, const yajl_callbacks *calls,
		  void *to)
{
	yajl_handle parser = yajl_alloc(calls, NULL, to);

	must(parser && length && *text == '{');
	if (yajl_parse(parser, (const unsigned char *)text, length) !=
		    yajl_status_ok ||
	    yajl_complete_parse(parser) != yajl_status_ok) {
		fprintf(stderr, "not JSON: %.*s\n", (int)length, text);
		abort();
	}
	yajl_free(parser);
}

void json_check(const char *text, size_t length)
{
	parse(text, length, NULL, NULL);
}

size_t json_check_strings(const char *text, size_t length, char *strings,
			  size_t room)
{
	struct strings s = { strings, room };

	parse(text, length, &callbacks, &s);
	return s.at - strings;
}
