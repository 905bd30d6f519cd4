// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_rate_attributes.c - what a kernel tells of paths and flows
 *
 * The input is the payload of a message of the family rate_feedback, as a newer
 * kernel could send it, or one that means harm.  It is read within its bounds and
 * shown as text and as JSON, whatever it is; a path that can be encoded is
 * decoded as the same.
 */
#include "fuzz.h"
#include "json_check.h"
#include "lib/json.h"
#include "lib/rate_path.h"
#include "tests/payload.h"

static void check_json(const struct rate_path *path,
		       const struct rate_flow *flow)
{
	char *text = NULL;
	size_t length;
	struct json_file file = { .file = open_memstream(&text, &length) };
	struct json j = { &json_file_ops, &file };

	must(file.file);
	json_open(&j, NULL, '{');
	json_open(&j, "path", '{');
	rate_path_json(&j, path);
	json_close(&j, '}');
	json_open(&j, "flow", '{');
	rate_flow_json(&j, flow);
	json_close(&j, '}');
	json_close(&j, '}');
	fclose(file.file);
	json_check(text, length);
	free(text);
}

static void check_text(const struct rate_path *path,
		       const struct rate_flow *flow)
{
	char *text = NULL, key[RATE_KEY_MAX];
	size_t length;
	FILE *file = open_memstream(&text, &length);

	must(file);
	rate_path_print(file, path);
	fprintf(file, " %s", rate_key_format(key, &flow->key));
	fclose(file);
	must(length == strlen(text));
	free(text);
}

static void check_again(const struct rate_path *path)
{
	static struct payload payload;
	struct rate_path back;

	payload.length = 0;
	must(!rate_path_encode(path, payload_put, &payload));
	rate_path_decode(&back, payload.data, payload.length);
	must(back.set == path->set && back.rate == path->rate);
	must(back.time == path->time && back.lag_time == path->lag_time);
	must(back.key.kind == path->key.kind);
	must(back.follow_ifindex == path->follow_ifindex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rate_path path;
	struct rate_flow flow;

	rate_path_decode(&path, data, size);
	rate_flow_decode(&flow, data, size);
	check_json(&path, &flow);
	check_text(&path, &flow);
	check_again(&path);
	return 0;
}
