// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_json.c - strings of any bytes as JSON
 *
 * The input is strings, each with a NUL behind it.  Both writers must write one
 * object of them; read again, a string that was UTF-8 is what it was.
 */
#include "fuzz.h"
#include "json_check.h"
#include "lib/command.h"
#include "lib/json.h"
#include "lib/utf8.h"

static bool is_utf8(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (; length; s += n, length -= n) {
		n = utf8_length(s, length);
		if (!n)
			return false;
	}
	return true;
}

/* The object has each of the strings as a name and as its value. */
static void check_strings(const char *json, size_t length, const char *text,
			  size_t size)
{
	size_t room = 6 * (2 * size + 2), n;
	char *strings = malloc(room), *at = strings;

	must(strings);
	n = json_check_strings(json, length, strings, room);
	while (size && is_utf8(text, size)) {
		size_t step = strlen(text) + 1;

		must(!strcmp(at, text) && !strcmp(at + step, text));
		at += 2 * step;
		text += step;
		size = step < size ? size - step : 0;
	}
	must(at <= strings + n);
	free(strings);
}

static void write_lib(FILE *to, const char *text, size_t size)
{
	struct json_file file = { .file = to };
	struct json j = { &json_file_ops, &file };
	const char *end = text + size;

	json_open(&j, NULL, '{');
	for (; text < end; text += strlen(text) + 1)
		json_put_string(&j, text, text);
	json_close(&j, '}');
}

static void write_line(FILE *to, const char *text, size_t size)
{
	const char *end = text + size;
	struct json_line json;

	json_begin(&json, to);
	for (; text < end; text += strlen(text) + 1)
		json_text(&json, text, text);
	json_end(&json);
}

static void check_writer(void (*write)(FILE *to, const char *text, size_t size),
			 const char *text, size_t size)
{
	char *json = NULL;
	size_t length;
	FILE *file = open_memstream(&json, &length);

	must(file);
	write(file, text, size);
	fclose(file);
	check_strings(json, length, text, size);
	free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size);

	check_writer(write_lib, text, size);
	check_writer(write_line, text, size);
	free(text);
	return 0;
}
