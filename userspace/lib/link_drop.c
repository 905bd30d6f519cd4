// SPDX-License-Identifier: GPL-2.0
/*
 * link_drop.c - which packets a link drops, by their numbers, as words
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const char packets_expected[] =
	"packets such as 10,11,20-25, numbered from 1, in at most 32 ranges for all flows";

static int add_range(struct link_config *c, uint32_t flow, const char *first,
		     const char *last)
{
	struct wale_drop_range *range = &c->drop[c->n_drop];
	uint64_t from = 0, to = 0;
	int err = units_parse_count(first, UINT32_MAX, &from);

	if (!err)
		err = units_parse_count(last, UINT32_MAX, &to);
	if (!err && (!from || to < from || c->n_drop == WALE_DROP_RANGES_MAX))
		err = -ERANGE;
	if (err)
		return err;
	*range = (struct wale_drop_range){ flow, from, to };
	c->n_drop++;
	return 0;
}

/* "10,11,20-25" */
static int parse_ranges(struct link_config *c, uint32_t flow, const char *word)
{
	char *copy = strdup(word), *rest = copy, *first, *last;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (first = strsep(&rest, ","))) {
		last = strchr(first, '-');
		if (last)
			*last++ = '\0';
		err = add_range(c, flow, first, last ? last : first);
	}
	free(copy);
	return err;
}

/* drop_list off, drop_list [flow F] packets LIST */
int link_parse_drop(struct link_config *c, const struct link_option *o,
		    int argc, char **argv, struct link_error *error)
{
	uint64_t flow = 0;
	int taken = 1, err;

	if (link_is_set(&c->link, TCA_WALE_DROP_LIST) &&
	    (!c->n_drop || !strcmp(argv[1], "off")))
		return link_error_set(
			error, LINK_ERROR_INVALID, argv[1],
			"expected either off or lists of packets");
	link_value_set(&c->link, TCA_WALE_DROP_LIST, 0);
	if (!strcmp(argv[1], "off"))
		return 2;
	if (!strcmp(argv[1], "flow") && argc > 2) {
		err = units_parse_count(argv[2], WALE_CLASS_CROWD, &flow);
		if (err)
			return link_parse_failed(
				argv[2], err, "a flow, the number of its class",
				error);
		taken += 2;
	}
	if (taken >= argc || strcmp(argv[taken], "packets"))
		return link_parse_failed(
			taken < argc ? argv[taken] : argv[1], -EINVAL,
			"off, or [flow F] packets LIST", error);
	if (++taken == argc)
		return link_error_set(error, LINK_ERROR_MISSING,
				      argv[taken - 1], "expected %s",
				      packets_expected);
	err = parse_ranges(c, flow, argv[taken]);
	return err ? link_parse_failed(argv[taken], err, packets_expected,
				       error)
		   : taken + 1;
}

void link_print_drop(FILE *to, const struct link_config *c, int type)
{
	const struct wale_drop_range *range = c->drop;
	uint32_t i;

	if (!c->n_drop)
		fputs("drop_list off ", to);
	for (i = 0; i < c->n_drop; i++, range++) {
		if (i && range->flow == range[-1].flow)
			fputc(',', to);
		else if (range->flow)
			fprintf(to, "%sdrop_list flow %" PRIu32 " packets ",
				i ? " " : "", range->flow);
		else
			fprintf(to, "%sdrop_list packets ", i ? " " : "");
		fprintf(to, "%" PRIu32, range->first);
		if (range->last != range->first)
			fprintf(to, "-%" PRIu32, range->last);
	}
	if (c->n_drop)
		fputc(' ', to);
}
