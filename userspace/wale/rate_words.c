// SPDX-License-Identifier: GPL-2.0
/*
 * rate_words.c - wale rate: the words that subcommands share
 */
#include <string.h>

#include "cmd.h"
#include "rate.h"

int rate_open(struct genl *g, const char *verb)
{
	if (rate_channel_open(g))
		return rate_cannot(verb, g->rtnl.error);
	return WALE_EXIT_OK;
}

int rate_take_key(struct rate_key *key, int argc, char **argv, int *taken)
{
	struct rate_error error;

	*taken = rate_key_parse(key, argc, argv, &error);
	if (*taken < 0)
		return rate_wrong("%s", error.text);
	if (!*taken)
		return rate_wrong("%s%s%sdev, dst or flow was expected",
				  argc > 0 ? "what is \"" : "",
				  argc > 0 ? *argv : "",
				  argc > 0 ? "\"?  " : "");
	return WALE_EXIT_OK;
}

int rate_take_options(struct rate_path *path, int argc, char **argv)
{
	struct rate_error error;
	int taken;

	for (; argc > 0; argc -= taken, argv += taken) {
		char *word = *argv;

		if (!strncmp(word, "--", 2))
			*argv += 2;
		taken = rate_path_parse(path, argc, argv, &error);
		if (taken < 0)
			return rate_wrong("%s", error.text);
		if (!taken)
			return rate_wrong("no option \"%s\"", word);
	}
	return WALE_EXIT_OK;
}
