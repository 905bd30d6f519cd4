// SPDX-License-Identifier: GPL-2.0
/*
 * watch_output.c - records as lines of CSV or of JSON
 */
#include <inttypes.h>
#include <string.h>

#include "lib/json.h"
#include "watch.h"

void watch_header(const struct watch_output *out)
{
	size_t i;

	if (out->json)
		return;
	if (out->kind)
		fputs("kind,", out->file);
	for (i = 0; i < out->n_columns; i++)
		fprintf(out->file, "%s%s", i ? "," : "", out->columns[i]);
	fputc('\n', out->file);
}

/* The kernel allows names of interfaces with quotes and commas in them. */
static void put_csv_text(FILE *file, const char *text)
{
	if (!strpbrk(text, "\",\r\n")) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void put_csv(FILE *file, const struct watch_value *v)
{
	switch (v->kind) {
	case WATCH_NONE:
		break;
	case WATCH_NUMBER:
		fprintf(file, "%" PRIu64, v->number);
		break;
	case WATCH_INFINITE:
		fputs("inf", file);
		break;
	case WATCH_TEXT:
		put_csv_text(file, v->text);
		break;
	}
}

static void put_json(FILE *file, const struct watch_value *v)
{
	switch (v->kind) {
	case WATCH_NONE:
		fputs("null", file);
		break;
	case WATCH_NUMBER:
		json_write_u64(file, v->number);
		break;
	case WATCH_INFINITE:
		json_write_string(file, "inf");
		break;
	case WATCH_TEXT:
		json_write_string(file, v->text);
		break;
	}
}

void watch_row(const struct watch_output *out, const struct watch_value *row)
{
	size_t i;

	if (out->json)
		fprintf(out->file, "{\"kind\": \"%s\"", out->kind);
	else if (out->kind)
		fprintf(out->file, "%s,", out->kind);

	for (i = 0; i < out->n_columns; i++) {
		if (out->json) {
			fprintf(out->file, ", \"%s\": ", out->columns[i]);
			put_json(out->file, &row[i]);
		} else {
			if (i)
				fputc(',', out->file);
			put_csv(out->file, &row[i]);
		}
	}
	fputs(out->json ? "}\n" : "\n", out->file);
}
