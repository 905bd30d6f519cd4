// SPDX-License-Identifier: GPL-2.0
/*
 * json.c - writes JSON, to a file or through somebody else's writer
 */
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

static void put_name(struct json *j, const char *name)
{
	if (name)
		j->ops->name(j->to, name);
}

void json_open(struct json *j, const char *name, char bracket)
{
	put_name(j, name);
	j->ops->open(j->to, bracket);
}

void json_close(struct json *j, char bracket)
{
	j->ops->close(j->to, bracket);
}

void json_put_string(struct json *j, const char *name, const char *value)
{
	put_name(j, name);
	j->ops->string(j->to, value);
}

void json_put_number(struct json *j, const char *name, const char *text)
{
	put_name(j, name);
	j->ops->number(j->to, text);
}

#define EXACT_MAX ((UINT64_C(1) << JSON_EXACT_BITS) - 1)

static void put_whole(struct json *j, const char *name, const char *text,
		      uint64_t magnitude)
{
	if (magnitude > EXACT_MAX)
		json_put_string(j, name, text);
	else
		json_put_number(j, name, text);
}

void json_put_u64(struct json *j, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	put_whole(j, name, text, value);
}

void json_put_s64(struct json *j, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_whole(j, name, text,
		  value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Writing to a file. */

void json_write_u64(FILE *file, uint64_t value)
{
	const char *quote = value > EXACT_MAX ? "\"" : "";

	fprintf(file, "%s%" PRIu64 "%s", quote, value, quote);
}

static void file_comma(struct json_file *f)
{
	if (f->comma)
		fputs(", ", f->file);
	f->comma = true;
}

void json_write_string(FILE *file, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text);

	fputc('"', file);
	while (left) {
		size_t n = utf8_length(s, left);

		if (!n)
			fputs("\\ufffd", file);
		else if (*s == '"' || *s == '\\')
			fprintf(file, "\\%c", *s);
		else if (utf8_is_control(s))
			fprintf(file, "\\u%04x", s[n - 1]);
		else
			fwrite(s, n, 1, file);
		s += n ? n : 1;
		left -= n ? n : 1;
	}
	fputc('"', file);
}

static void file_name(void *to, const char *name)
{
	struct json_file *f = to;

	file_comma(f);
	json_write_string(f->file, name);
	fputs(": ", f->file);
	f->comma = false;
}

static void file_string(void *to, const char *value)
{
	struct json_file *f = to;

	file_comma(f);
	json_write_string(f->file, value);
}

static void file_number(void *to, const char *text)
{
	struct json_file *f = to;

	file_comma(f);
	fputs(text, f->file);
}

static void file_open(void *to, char bracket)
{
	struct json_file *f = to;

	file_comma(f);
	fputc(bracket, f->file);
	f->comma = false;
}

static void file_close(void *to, char bracket)
{
	struct json_file *f = to;

	fputc(bracket, f->file);
	f->comma = true;
}

const struct json_ops json_file_ops = {
	.name = file_name,
	.string = file_string,
	.number = file_number,
	.open = file_open,
	.close = file_close,
};
