// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_link_words.c - the options of a link, as "tc" and "wale link" take them
 *
 * The input is a command line: words with spaces between.  What is understood is
 * encoded as attributes and decoded again, printed and understood again, and is
 * the same each time.  What is refused has a reason.
 */
#include "fuzz.h"
#include "json_check.h"
#include "lib/json.h"
#include "lib/link_config.h"
#include "tests/payload.h"

#define WORDS_MAX 256

/* 0, or 1 if the words are refused; they are cut apart. */
static int parse(struct link_config *c, char *text)
{
	struct link_error error = { .kind = 0 };
	char *words[WORDS_MAX], *word;
	int n = 0, i = 0, taken = 0, before;

	memset(c, 0, sizeof(*c));
	while (n < WORDS_MAX && (word = strsep(&text, " \n")))
		if (!strcmp(word, "distribution"))
			return 1; /* a file */
		else if (*word)
			words[n++] = word;
	for (; i < n; i += taken) {
		before = taken;
		/* files are for fuzz_link_trace.c */
		if (!strcmp(words[i], "trace") && i + 1 < n &&
		    !strcmp(words[i + 1], "file"))
			return 1;
		taken = link_config_parse(c, n - i, words + i, &error);
		must(taken <= n - i);
		if (!taken)
			taken = link_config_unknown(words + i, before, "",
						    &error);
		if (taken > 0)
			continue;
		must(error.kind && error.word && *error.text);
		return 1;
	}
	return 0;
}

static char *printed(const struct link_config *c)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	must(file);
	link_config_print(file, c);
	fclose(file);
	return text;
}

static void check_json(const struct link_config *c)
{
	char *text = NULL;
	size_t length;
	struct json_file file = { .file = open_memstream(&text, &length) };
	struct json j = { &json_file_ops, &file };

	must(file.file);
	json_open(&j, NULL, '{');
	link_config_json(&j, c);
	json_close(&j, '}');
	fclose(file.file);
	json_check(text, length);
	free(text);
}

static bool same(const struct link_config *a, const struct link_config *b)
{
	return a->trace.n_steps == b->trace.n_steps && a->n_drop == b->n_drop &&
	       (!a->trace.n_steps ||
		(a->trace.columns == b->trace.columns &&
		 !memcmp(a->trace.values, b->trace.values,
			 a->trace.n_steps *
				 link_trace_step_size(a->trace.columns)))) &&
	       !memcmp(a->drop, b->drop, a->n_drop * sizeof(a->drop[0])) &&
	       !memcmp(&a->link, &b->link, sizeof(a->link)) &&
	       !memcmp(a->nest, b->nest, sizeof(a->nest));
}

/* What a kernel would have, which refuses half of the sessions' four words. */
static bool is_whole(const struct link_config *c)
{
	const unsigned int words =
		__builtin_popcountll(c->nest[LINK_NEST_SESSIONS].set);

	return !words || words == 4;
}

/* A kernel has a limit, in whose unit the threshold is shown. */
static bool is_amount_printed(const struct link_config *c)
{
	return link_is_set(&c->link, TCA_WALE_LIMIT_BYTES) ||
	       ((link_is_set(&c->link, TCA_WALE_LIMIT_PACKETS) ||
		 link_is_set(&c->link, TCA_WALE_LIMIT_CELLS)) &&
		c->link.value[TCA_WALE_THRESHOLD] <= UINT32_MAX);
}

/* Not printed: what a kernel does not have together, and what is off. */
static bool is_printed(const struct link_config *c, int type)
{
	const struct link_attribute *a = &link_options_set.attributes[type];
	const struct link_values *nest = &c->nest[a->index];

	if (!link_config_shows(c, type) ||
	    (type == TCA_WALE_THRESHOLD && !is_amount_printed(c)))
		return false;
	if (a->form == LINK_JITTER)
		return nest->value[TCA_WALE_JITTER_TIME64] ||
		       nest->value[TCA_WALE_JITTER_REORDERING];
	if (a->form == LINK_NEST)
		return nest->set;
	return a->behind || !a->unsaid_in_text ||
	       c->link.value[type] != a->usual;
}

static bool is_printed_whole(const struct link_config *c)
{
	int type;

	for (type = 1; type <= link_options_set.max; type++)
		if (link_is_set(&c->link, type) && !is_printed(c, type))
			return false;
	return true;
}

static void check_round_trip(struct link_config *c)
{
	static struct payload payload;
	struct link_config back, again;
	char *first, *second;

	payload.length = 0;
	must(!link_config_encode(c, payload_put, &payload));
	must(!link_config_decode(&back, payload.data, payload.length));
	must(same(c, &back));
	check_json(&back);

	first = printed(&back);
	if (is_whole(&back) && is_printed_whole(&back)) {
		char *words = strdup(first);

		must(words && !parse(&again, words));
		must(same(&back, &again));
		second = printed(&again);
		must(!strcmp(first, second));
		free(second);
		free(words);
		link_config_free(&again);
	}
	free(first);
	link_config_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size);
	struct link_config c;

	if (!parse(&c, text))
		check_round_trip(&c);
	link_config_free(&c);
	free(text);
	return 0;
}
