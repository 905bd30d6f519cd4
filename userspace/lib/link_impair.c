// SPDX-License-Identifier: GPL-2.0
/*
 * link_impair.c - reordering, duplication and corruption by a link, as words
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

/* The word behind the name: a probability.  2, or -1. */
static int parse_share(char **argv, uint32_t *share, struct link_error *error)
{
	int err = units_parse_percent(argv[1], share);

	return err ? link_parse_failed(argv[1], err,
				       "a share from 0% to 100%, such as 1%",
				       error)
		   : 2;
}

/* reorder P [gap N] */
int link_parse_reorder(struct link_config *c, int argc, char **argv,
		       struct link_error *error)
{
	static const char expected[] = "a gap from 1 to 4294967295 packets";
	uint64_t gap = 1;
	int err = parse_share(argv, &c->reorder, error);

	c->reorder_gap = 1;
	if (err < 0 || argc < 3 || strcmp(argv[2], "gap"))
		return err;
	if (argc < 4)
		return link_error_set(error, LINK_ERROR_MISSING, argv[2],
				      "expected %s", expected);
	err = units_parse_count(argv[3], UINT32_MAX, &gap);
	if (!err && !gap)
		err = -ERANGE;
	c->reorder_gap = gap;
	return err ? link_parse_failed(argv[3], err, expected, error) : 4;
}

int link_parse_duplicate(struct link_config *c, int argc, char **argv,
			 struct link_error *error)
{
	(void)argc;
	return parse_share(argv, &c->duplicate, error);
}

int link_parse_corrupt(struct link_config *c, int argc, char **argv,
		       struct link_error *error)
{
	(void)argc;
	return parse_share(argv, &c->corrupt, error);
}

void link_impair_print(FILE *to, const struct link_config *c)
{
	char buf[UNITS_MAX];

	if (c->set & LINK_REORDER) {
		fprintf(to, "reorder %s ",
			units_format_percent(buf, c->reorder));
		if (c->reorder_gap != 1)
			fprintf(to, "gap %" PRIu32 " ", c->reorder_gap);
	}
	if (c->set & LINK_DUPLICATE)
		fprintf(to, "duplicate %s ",
			units_format_percent(buf, c->duplicate));
	if (c->set & LINK_CORRUPT)
		fprintf(to, "corrupt %s ",
			units_format_percent(buf, c->corrupt));
}
