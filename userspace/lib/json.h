/* SPDX-License-Identifier: GPL-2.0 */
/*
 * json.h - writes JSON, to a file or through somebody else's writer
 */
#ifndef WALE_JSON_H
#define WALE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a writer must be able to do. */
struct json_ops {
	void (*name)(void *to, const char *name);
	void (*string)(void *to, const char *value);
	void (*number)(void *to, const char *text);
	void (*open)(void *to, char bracket); /* { or [ */
	void (*close)(void *to, char bracket); /* } or ] */
};

struct json {
	const struct json_ops *ops;
	void *to;
};

/* One that writes to a FILE. */
struct json_file {
	FILE *file;
	bool comma; /* is due before the next value */
};

extern const struct json_ops json_file_ops;

/* Quoted; a byte that is not of UTF-8 becomes U+FFFD. */
void json_write_string(FILE *file, const char *text);
/* All whole numbers of so many bits are doubles. */
#define JSON_EXACT_BITS 53

/*
 * A whole number; a string, if it is so large that a reader whose numbers are
 * doubles would round it.  json_put_u64() and json_put_s64() do the same.
 */
void json_write_u64(FILE *file, uint64_t value);

/* In an object, with a name; in an array, with NULL. */
void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);
void json_put_string(struct json *j, const char *name, const char *value);
void json_put_u64(struct json *j, const char *name, uint64_t value);
void json_put_s64(struct json *j, const char *name, int64_t value);
/* A number as @text writes it. */
void json_put_number(struct json *j, const char *name, const char *text);

#endif /* WALE_JSON_H */
