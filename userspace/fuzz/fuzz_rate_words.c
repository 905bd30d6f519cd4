// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_rate_words.c - keys and options of a path, as "wale rate" takes them
 *
 * The input is a command line.  What is understood is encoded as attributes and
 * decoded again, printed and understood again, and is the same each time.  What
 * is refused has a reason.
 */
#include "fuzz.h"
#include "lib/rate_path.h"
#include "tests/payload.h"

#define WORDS_MAX 64

/* 0, or 1 if the words are refused; they are cut apart. */
static int parse(struct rate_path *path, char *text)
{
	struct rate_error error = { "" };
	char *words[WORDS_MAX], *word;
	int n = 0, i, taken = 1;

	memset(path, 0, sizeof(*path));
	path->follow_netns_fd = -1;
	while (n < WORDS_MAX && (word = strsep(&text, " \n"))) {
		if (!strcmp(word, "netns"))
			return 1; /* would leave this namespace */
		if (*word)
			words[n++] = word;
	}
	i = rate_key_parse(&path->key, n, words, &error);
	must(i <= n);
	for (; i >= 0 && i < n && taken > 0; i += taken) {
		taken = rate_path_parse(path, n - i, words + i, &error);
		must(taken <= n - i);
	}
	if (i < 0 || taken < 0)
		must(*error.text);
	return i < 0 || taken <= 0;
}

static char *printed(const struct rate_path *path)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	must(file);
	rate_path_print(file, path);
	fclose(file);
	return text;
}

/* All that words can set. */
static bool same(const struct rate_path *a, const struct rate_path *b)
{
	return a->set == b->set && !memcmp(&a->key, &b->key, sizeof(a->key)) &&
	       a->rate == b->rate && a->age_limit == b->age_limit &&
	       a->lag == b->lag && a->lag_time == b->lag_time &&
	       a->base_rtt == b->base_rtt && a->meaning == b->meaning &&
	       a->beta == b->beta && a->swing == b->swing && a->phi == b->phi &&
	       a->rise == b->rise && a->pace == b->pace &&
	       a->layer == b->layer && a->follow_ifindex == b->follow_ifindex;
}

static void check_round_trip(struct rate_path *path)
{
	static struct payload payload;
	struct rate_path back, again;
	char *text, *words, *second;

	payload.length = 0;
	must(!rate_path_encode(path, payload_put, &payload));
	rate_path_decode(&back, payload.data, payload.length);
	must(same(path, &back) && back.time == path->time);

	/* its own time is not shown, nor what a path that follows has of its own */
	path->set &= ~RATE_PATH_TIME;
	if (path->key.kind == RATE_KEY_NONE ||
	    (path->set & RATE_PATH_FOLLOW && path->set & RATE_PATH_VALUE))
		return;
	text = printed(path);
	words = strdup(text);
	must(words && !parse(&again, words));
	must(same(path, &again));
	second = printed(&again);
	must(!strcmp(text, second));
	free(text);
	free(words);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input_text(data, size);
	struct rate_path path;

	if (!parse(&path, text))
		check_round_trip(&path);
	free(text);
	return 0;
}
