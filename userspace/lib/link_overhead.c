// SPDX-License-Identifier: GPL-2.0
/*
 * link_overhead.c - what a packet takes on the wire, as words: a layer, bytes, or both
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

/* Layers that have a name and are another one with some bytes. */
static const struct {
	const char *name;
	uint64_t layer;
	int32_t bytes;
} presets[] = {
	{ "pppoe", WALE_OVERHEAD_ETHERNET, 8 },
	{ "vlan", WALE_OVERHEAD_ETHERNET, 4 },
	{},
};

static const char expected[] =
	"raw, ethernet, atm, pppoe, vlan, or a number of bytes from -4096 to 4096";

/* Is it a number of bytes, maybe negative?  0, -EINVAL or -ERANGE. */
static int parse_bytes(const char *word, int32_t *bytes)
{
	const bool negative = *word == '-';
	uint64_t count;
	int err = units_parse_count(word + (negative || *word == '+'),
				    WALE_OVERHEAD_BYTES_MAX, &count);

	if (!err)
		*bytes = negative ? -(int32_t)count : (int32_t)count;
	return err;
}

static bool parse_layer(const char *word, uint64_t *layer, int32_t *bytes)
{
	const char *const *names =
		link_options_set.attributes[TCA_WALE_OVERHEAD].names;
	size_t i;

	*bytes = 0;
	for (*layer = 0; names[*layer]; (*layer)++)
		if (!strcmp(word, names[*layer]))
			return true;
	for (i = 0; presets[i].name; i++) {
		if (strcmp(word, presets[i].name))
			continue;
		*layer = presets[i].layer;
		*bytes = presets[i].bytes;
		return true;
	}
	*layer = WALE_OVERHEAD_RAW;
	return false;
}

/* overhead LAYER, overhead BYTES, overhead LAYER BYTES */
int link_parse_overhead(struct link_config *c, const struct link_option *o,
			int argc, char **argv, struct link_error *error)
{
	int32_t bytes, more;
	uint64_t layer;
	int taken = 2, err;

	if (!parse_layer(argv[1], &layer, &bytes)) {
		err = parse_bytes(argv[1], &bytes);
		if (err)
			return link_parse_failed(argv[1], err, expected, error);
	} else if (argc > 2 && !parse_bytes(argv[2], &more)) {
		bytes += more;
		taken = 3;
		if (bytes > WALE_OVERHEAD_BYTES_MAX)
			return link_parse_failed(argv[2], -ERANGE, expected,
						 error);
	}
	link_value_set(&c->link, TCA_WALE_OVERHEAD, layer);
	if (bytes) /* without them, there are none any more */
		link_value_set(&c->link, TCA_WALE_OVERHEAD_BYTES,
			       (uint32_t)bytes);
	return taken;
}

int32_t link_overhead_bytes(const struct link_config *c)
{
	return link_is_set(&c->link, TCA_WALE_OVERHEAD_BYTES)
		       ? (int32_t)c->link.value[TCA_WALE_OVERHEAD_BYTES]
		       : 0;
}

void link_print_overhead(FILE *to, const struct link_config *c, int type)
{
	const struct link_attribute *a = &link_options_set.attributes[type];
	const uint64_t layer = c->link.value[type];
	const int32_t bytes = link_overhead_bytes(c);

	if (layer > WALE_OVERHEAD_ATM)
		return;
	if (layer == WALE_OVERHEAD_RAW && bytes)
		fprintf(to, "overhead %" PRId32 " ", bytes);
	else if (bytes)
		fprintf(to, "overhead %s %" PRId32 " ", a->names[layer], bytes);
	else
		fprintf(to, "overhead %s ", a->names[layer]);
}
