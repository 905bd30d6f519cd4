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

static bool same_rem(const struct link_rem *a, const struct link_rem *b)
{
	return a->set == b->set && a->interval_ns == b->interval_ns &&
	       a->target == b->target && a->gamma == b->gamma &&
	       a->alpha == b->alpha && a->phi == b->phi;
}

static bool same_buffer(const struct link_config *a,
			const struct link_config *b)
{
	return a->limit_cells == b->limit_cells &&
	       a->policy.kind == b->policy.kind &&
	       a->policy.threshold == b->policy.threshold &&
	       a->policy.share == b->policy.share &&
	       a->policy.z == b->policy.z && a->policy.last == b->policy.last &&
	       a->policy.mark == b->policy.mark && same_rem(&a->rem, &b->rem) &&
	       a->flows == b->flows && a->input_rate == b->input_rate;
}

static bool same_impairments(const struct link_config *a,
			     const struct link_config *b)
{
	return a->loss == b->loss && a->ecn == b->ecn &&
	       a->jitter.time_ns == b->jitter.time_ns &&
	       a->jitter.reordering == b->jitter.reordering &&
	       a->reorder == b->reorder && a->reorder_gap == b->reorder_gap &&
	       a->duplicate == b->duplicate && a->corrupt == b->corrupt &&
	       a->slot.min_ns == b->slot.min_ns &&
	       a->slot.max_ns == b->slot.max_ns &&
	       a->slot.packets == b->slot.packets &&
	       a->slot.bytes == b->slot.bytes && a->n_drop == b->n_drop &&
	       !memcmp(a->drop, b->drop, a->n_drop * sizeof(a->drop[0])) &&
	       !memcmp(a->loss_numbers, b->loss_numbers,
		       sizeof(a->loss_numbers));
}

static bool same(const struct link_config *a, const struct link_config *b)
{
	if (a->trace.n_steps != b->trace.n_steps ||
	    (a->trace.n_steps &&
	     memcmp(a->trace.steps, b->trace.steps,
		    a->trace.n_steps * sizeof(*a->trace.steps))))
		return false;
	return a->set == b->set && a->rate == b->rate &&
	       a->delay_ns == b->delay_ns &&
	       a->limit_packets == b->limit_packets &&
	       a->limit_bytes == b->limit_bytes && same_impairments(a, b) &&
	       a->overhead == b->overhead && a->drops == b->drops &&
	       a->seed == b->seed && a->trace_end == b->trace_end &&
	       a->start_ns == b->start_ns && a->slack_ns == b->slack_ns &&
	       a->gso == b->gso &&
	       !memcmp(&a->sessions, &b->sessions, sizeof(a->sessions)) &&
	       a->feedback_idle_ns == b->feedback_idle_ns && same_buffer(a, b);
}

/* What a kernel would have, which refuses half of the sessions' four words. */
static bool is_whole(const struct link_config *c)
{
	unsigned int all =
		SESSIONS_ARRIVAL | SESSIONS_MEAN | SESSIONS_MAX | SESSIONS_STEP;

	return !(c->set & LINK_SESSIONS) || c->sessions.set == all;
}

/* A kernel has a limit, in whose unit the threshold is shown. */
static bool is_amount_printed(const struct link_config *c)
{
	return c->set & LINK_LIMIT_BYTES ||
	       (c->set & LINK_LIMIT && c->policy.threshold <= UINT32_MAX);
}

/* Not printed: what a kernel does not have together, and what is off. */
static bool is_printed_whole(const struct link_config *c)
{
	if (c->set & LINK_TRACE ? c->set & LINK_RATE : c->set & LINK_TRACE_END)
		return false;
	if (c->set & LINK_THRESHOLD_NUMBER && !is_amount_printed(c))
		return false;
	if (c->set & LINK_POLICY && c->policy.kind == WALE_POLICY_TAIL)
		return false;
	if (c->set & LINK_SLACK && !c->slack_ns)
		return false;
	if (c->set & LINK_JITTER && !c->jitter.time_ns &&
	    !(c->jitter.set & LINK_JITTER_NAME) && !c->jitter.reordering)
		return false;
	if (c->set & LINK_INPUT_RATE && c->input_rate == WALE_RATE_UNLIMITED)
		return false;
	return !(c->set & LINK_FEEDBACK) || c->feedback_idle_ns;
}

static void check_round_trip(struct link_config *c)
{
	static struct payload payload;
	struct link_config back, again;
	char *first, *second;

	payload.length = 0;
	must(!link_config_encode(c, payload_put, &payload));
	must(!link_config_decode(&back, payload.data, payload.length));
	/* no sessions are an empty nest, which a kernel does not dump */
	if (!c->sessions.set)
		c->set &= ~LINK_SESSIONS;
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
