// SPDX-License-Identifier: GPL-2.0
/*
 * link_slot.c - the slots to which departures are held, as words
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const char times_expected[] =
	"a time from 0 to 86400s, or two, the first not above the second, which is not 0";

/* packets N, bytes N; how many words, or -1. */
static int parse_room(struct link_values *slot, int argc, char **argv,
		      struct link_error *error)
{
	const struct link_set *set =
		link_options_set.attributes[TCA_WALE_SLOT].nest;
	int taken = 0, type;

	link_value_set(slot, TCA_WALE_SLOT_PACKETS, 0);
	link_value_set(slot, TCA_WALE_SLOT_BYTES, 0);
	for (; taken < argc; taken += 2) {
		type = TCA_WALE_SLOT_PACKETS;
		if (!strcmp(argv[taken], "bytes"))
			type = TCA_WALE_SLOT_BYTES;
		else if (strcmp(argv[taken], "packets"))
			break;
		if (taken + 1 == argc)
			return link_error_set(error, LINK_ERROR_MISSING,
					      argv[taken], "expected a number");
		if (link_value_parse(slot, set, type, argv[taken + 1], error))
			return -1;
	}
	return taken;
}

/* slot off, slot MIN [MAX] [packets N] [bytes N] */
int link_parse_slot(struct link_config *c, const struct link_option *o,
		    int argc, char **argv, struct link_error *error)
{
	struct link_values *slot = &c->nest[LINK_NEST_SLOT];
	uint64_t min = 0, max;
	int taken = 2, err, rest;

	c->link.set |= LINK_BIT(TCA_WALE_SLOT);
	if (!strcmp(argv[1], "off"))
		return 2;
	err = units_parse_time(argv[1], &min);
	max = min;
	if (!err && argc > 2 && isdigit((unsigned char)*argv[2])) {
		err = units_parse_time(argv[2], &max);
		taken = 3;
	}
	if (!err && (!max || max > WALE_TIME_MAX || min > max))
		err = -ERANGE;
	if (err)
		return link_parse_failed(argv[taken - 1], err, times_expected,
					 error);
	link_value_set(slot, TCA_WALE_SLOT_MIN64, min);
	link_value_set(slot, TCA_WALE_SLOT_MAX64, max);
	rest = parse_room(slot, argc - taken, argv + taken, error);
	return rest < 0 ? -1 : taken + rest;
}

void link_print_slot(FILE *to, const struct link_config *c, int type)
{
	const uint64_t *slot = c->nest[LINK_NEST_SLOT].value;
	char min[UNITS_MAX], max[UNITS_MAX];

	if (!slot[TCA_WALE_SLOT_MAX64]) {
		fputs("slot off ", to);
		return;
	}
	fprintf(to, "slot %s %s ",
		units_format_time(min, slot[TCA_WALE_SLOT_MIN64]),
		units_format_time(max, slot[TCA_WALE_SLOT_MAX64]));
	if (slot[TCA_WALE_SLOT_PACKETS])
		fprintf(to, "packets %" PRIu64 " ",
			slot[TCA_WALE_SLOT_PACKETS]);
	if (slot[TCA_WALE_SLOT_BYTES])
		fprintf(to, "bytes %" PRIu64 " ", slot[TCA_WALE_SLOT_BYTES]);
}
