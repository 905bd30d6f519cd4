// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_link_attributes.c - what a kernel tells of a link
 *
 * The input is the payload of TCA_OPTIONS, and of TCA_STATS_APP, as a newer
 * kernel could send it, or one that means harm.  It is read within its bounds and
 * shown as text and as JSON, whatever it is.
 */
#include "fuzz.h"
#include "json_check.h"
#include "lib/json.h"
#include "lib/link_config.h"
#include "lib/link_stats.h"

static void check_json(const struct link_config *c, const struct link_stats *s)
{
	char *text = NULL;
	size_t length;
	struct json_file file = { .file = open_memstream(&text, &length) };
	struct json j = { &json_file_ops, &file };

	must(file.file);
	json_open(&j, NULL, '{');
	link_config_json(&j, c);
	json_open(&j, "stats", '{');
	link_stats_json(&j, s);
	json_close(&j, '}');
	json_close(&j, '}');
	fclose(file.file);
	json_check(text, length);
	free(text);
}

static void check_text(const struct link_config *c, const struct link_stats *s)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	must(file);
	link_config_print(file, c);
	link_stats_print(file, s, " ", "\n");
	fclose(file);
	must(length == strlen(text));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct link_config c;
	struct link_stats s;

	link_stats_decode(&s, data, size);
	if (!link_config_decode(&c, data, size)) {
		check_json(&c, &s);
		check_text(&c, &s);
	}
	link_config_free(&c);
	return 0;
}
