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
static int parse_room(struct link_slot *slot, int argc, char **argv,
		      struct link_error *error)
{
	uint64_t count = 0;
	int taken = 0, err;

	for (; taken < argc; taken += 2) {
		bool bytes = !strcmp(argv[taken], "bytes");

		if (!bytes && strcmp(argv[taken], "packets"))
			break;
		if (taken + 1 == argc)
			return link_error_set(error, LINK_ERROR_MISSING,
					      argv[taken], "expected a number");
		err = units_parse_count(argv[taken + 1], UINT32_MAX, &count);
		if (err)
			return link_parse_failed(argv[taken + 1], err,
						 "a number up to 4294967295",
						 error);
		*(bytes ? &slot->bytes : &slot->packets) = count;
	}
	return taken;
}

/* slot off, slot MIN [MAX] [packets N] [bytes N] */
int link_parse_slot(struct link_config *c, int argc, char **argv,
		    struct link_error *error)
{
	struct link_slot *slot = &c->slot;
	int taken = 2, err, rest;

	if (!strcmp(argv[1], "off"))
		return 2;
	err = units_parse_time(argv[1], &slot->min_ns);
	slot->max_ns = slot->min_ns;
	if (!err && argc > 2 && isdigit((unsigned char)*argv[2])) {
		err = units_parse_time(argv[2], &slot->max_ns);
		taken = 3;
	}
	if (!err && (!slot->max_ns || slot->max_ns > WALE_TIME_MAX ||
		     slot->min_ns > slot->max_ns))
		err = -ERANGE;
	if (err)
		return link_parse_failed(argv[taken - 1], err, times_expected,
					 error);
	rest = parse_room(slot, argc - taken, argv + taken, error);
	return rest < 0 ? -1 : taken + rest;
}

void link_slot_print(FILE *to, const struct link_config *c)
{
	const struct link_slot *slot = &c->slot;
	char min[UNITS_MAX], max[UNITS_MAX];

	if (!(c->set & LINK_SLOT))
		return;
	if (!slot->max_ns) {
		fputs("slot off ", to);
		return;
	}
	fprintf(to, "slot %s %s ", units_format_time(min, slot->min_ns),
		units_format_time(max, slot->max_ns));
	if (slot->packets)
		fprintf(to, "packets %" PRIu32 " ", slot->packets);
	if (slot->bytes)
		fprintf(to, "bytes %" PRIu32 " ", slot->bytes);
}
