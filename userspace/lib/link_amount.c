// SPDX-License-Identifier: GPL-2.0
/*
 * link_amount.c - amounts of packets, bytes or cells, as words, and the threshold of a
 * policy, which is one in the unit of the limit
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

struct amount {
	enum link_unit unit;
	uint64_t value;
	int taken; /* words */
};

/*
 * "20" or "20p" are packets, "1000 cells" are cells, and a size is bytes.
 * Returns 0, -EINVAL or -ERANGE.
 */
static int parse_amount(struct amount *amount, int argc, char **argv)
{
	const char *word = argv[0];
	size_t length = strlen(word);
	char digits[24];

	amount->taken = 1;
	if (length && (word[length - 1] == 'p' || word[length - 1] == 'P'))
		length--;
	if (!length || strspn(word, "0123456789") < length) {
		amount->unit = LINK_BYTES;
		return units_parse_size(word, &amount->value);
	}
	amount->unit = LINK_PACKETS;
	if (argc > 1 && !strcmp(argv[1], "cells") && !word[length]) {
		amount->unit = LINK_CELLS;
		amount->taken = 2;
	}
	snprintf(digits, sizeof(digits), "%.*s", (int)length, word);
	return length >= sizeof(digits)
		       ? -ERANGE
		       : units_parse_count(digits, UINT32_MAX, &amount->value);
}

static void print_amount(FILE *to, const char *word, enum link_unit unit,
			 uint64_t value)
{
	char buf[UNITS_MAX];

	if (unit == LINK_BYTES)
		fprintf(to, "%s %s ", word, units_format_size(buf, value));
	else
		fprintf(to, "%s %" PRIu64 "%s ", word, value,
			unit == LINK_CELLS ? " cells" : "p");
}

void link_print_amount(FILE *to, const struct link_config *c, int type)
{
	const struct link_attribute *a = &link_options_set.attributes[type];

	if (a->also && c->link.value[type] == a->also)
		fprintf(to, "%s unlimited ", a->word);
	else
		print_amount(to, a->word, a->unit, c->link.value[type]);
}

/* Of the attributes of an option, the one in this unit; 0: there is none. */
static int in_unit(uint64_t bits, enum link_unit unit)
{
	int type;

	for (type = link_options_set.max; type; type--)
		if (bits & LINK_BIT(type) &&
		    link_options_set.attributes[type].unit == unit)
			break;
	return type;
}

/* The words behind those of an option; *type is the attribute that they are about. */
static int parse_bound(const struct link_option *o, int argc, char **argv,
		       struct amount *amount, int *type)
{
	const struct link_attribute *a = link_options_set.attributes;
	int err;

	*type = in_unit(o->bits, LINK_BYTES);
	if (!strcmp(argv[0], "unlimited") && a[*type].also) {
		*amount = (struct amount){ LINK_BYTES, a[*type].also, 1 };
		return 0;
	}
	err = parse_amount(amount, argc, argv);
	if (err)
		return err;
	*type = in_unit(o->bits, amount->unit);
	if (!*type)
		return -EINVAL;
	return amount->value < a[*type].min || amount->value > a[*type].max
		       ? -ERANGE
		       : 0;
}

int link_parse_amount(struct link_config *c, const struct link_option *o,
		      int argc, char **argv, struct link_error *error)
{
	const struct link_attribute *a = &link_options_set.attributes[o->type];
	struct amount amount;
	int err, type;

	err = parse_bound(o, argc - 1, argv + 1, &amount, &type);
	if (err)
		return link_parse_failed(argv[1], err, a->expected, error);
	link_value_set(&c->link, type, amount.value);
	if (!link_threshold_fits(c))
		return link_parse_failed(argv[1], -EINVAL,
					 "a limit in the unit of the threshold",
					 error);
	return 1 + amount.taken;
}

/* The unit of the limit, or LINK_UNITS if there is none. */
static enum link_unit limit_unit(const struct link_config *c)
{
	if (link_is_set(&c->link, TCA_WALE_LIMIT_BYTES))
		return LINK_BYTES;
	if (link_is_set(&c->link, TCA_WALE_LIMIT_CELLS))
		return LINK_CELLS;
	return link_is_set(&c->link, TCA_WALE_LIMIT_PACKETS) ? LINK_PACKETS
							     : LINK_UNITS;
}

bool link_threshold_fits(const struct link_config *c)
{
	const enum link_unit unit = limit_unit(c);

	return !link_is_set(&c->link, TCA_WALE_THRESHOLD) ||
	       unit == LINK_UNITS || unit == c->threshold_unit;
}

/* A share of the limit, or an amount, which must be in the limit's unit. */
int link_parse_threshold(struct link_config *c, const struct link_option *o,
			 int argc, char **argv, struct link_error *error)
{
	static const char expected[] =
		"a threshold: a share of the limit such as 90%, or an amount in the unit of the limit";
	const char *word = argv[1];
	struct amount amount = { .taken = 1 };
	uint32_t share = 0;
	int err;

	if (*word && word[strlen(word) - 1] == '%') {
		err = units_parse_millionths(word, &share);
		if (!err && (!share || share > WALE_POLICY_UNIT))
			err = -ERANGE;
		link_value_set(&c->link, TCA_WALE_THRESHOLD_SHARE, share);
	} else {
		err = parse_amount(&amount, argc - 1, argv + 1);
		c->threshold_unit = amount.unit;
		link_value_set(&c->link, TCA_WALE_THRESHOLD, amount.value);
		if (!err && !link_threshold_fits(c))
			err = -EINVAL;
	}
	if (err)
		return link_parse_failed(word, err, expected, error);
	return 1 + amount.taken;
}

void link_print_threshold(FILE *to, const struct link_config *c, int type)
{
	const uint64_t value = c->link.value[type];
	char buf[UNITS_MAX];

	if (type == TCA_WALE_THRESHOLD)
		print_amount(to, "threshold", limit_unit(c), value);
	else
		fprintf(to, "threshold %s ", units_format_share(buf, value));
}
