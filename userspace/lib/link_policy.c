// SPDX-License-Identifier: GPL-2.0
/*
 * link_policy.c - the options of a link's buffer, as words: how large it is, and
 * how it is shared
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const char *const policy_names[__WALE_POLICY_MAX] = {
	[WALE_POLICY_TAIL] = "tail",
	[WALE_POLICY_EPD] = "epd",
	[WALE_POLICY_SELDROP] = "seldrop",
	[WALE_POLICY_FBA] = "fba",
	[WALE_POLICY_RANDOM_TAIL] = "random_tail",
	[WALE_POLICY_REM] = "rem",
};

const char *link_policy_name(uint32_t kind)
{
	return kind < __WALE_POLICY_MAX ? policy_names[kind] : NULL;
}

/* What an amount of buffer is given in. */
enum amount_unit { AMOUNT_PACKETS, AMOUNT_BYTES, AMOUNT_CELLS };

struct amount {
	enum amount_unit unit;
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
		amount->unit = AMOUNT_BYTES;
		return units_parse_size(word, &amount->value);
	}
	amount->unit = AMOUNT_PACKETS;
	if (argc > 1 && !strcmp(argv[1], "cells") && !word[length]) {
		amount->unit = AMOUNT_CELLS;
		amount->taken = 2;
	}
	snprintf(digits, sizeof(digits), "%.*s", (int)length, word);
	return length >= sizeof(digits)
		       ? -ERANGE
		       : units_parse_count(digits, UINT32_MAX, &amount->value);
}

static uint64_t limit_bit(enum amount_unit unit)
{
	switch (unit) {
	case AMOUNT_PACKETS:
		return LINK_LIMIT_PACKETS;
	case AMOUNT_BYTES:
		return LINK_LIMIT_BYTES;
	default:
		return LINK_LIMIT_CELLS;
	}
}

bool link_threshold_fits(const struct link_config *c)
{
	return !(c->set & LINK_THRESHOLD_NUMBER) || !(c->set & LINK_LIMIT) ||
	       c->set & c->policy.threshold_unit;
}

int link_parse_limit(struct link_config *c, int argc, char **argv,
		     struct link_error *error)
{
	static const char expected[] =
		"a limit from 1p to 4294967295p (packets), or a size of at least one packet, such as 30kb, or 1000 cells";
	struct amount amount = { .value = 0 };
	int err = parse_amount(&amount, argc - 1, argv + 1);

	if (err)
		return link_parse_failed(argv[1], err, expected, error);
	c->set |= limit_bit(amount.unit);
	switch (amount.unit) {
	case AMOUNT_PACKETS:
		c->limit_packets = amount.value;
		break;
	case AMOUNT_BYTES:
		c->limit_bytes = amount.value;
		break;
	case AMOUNT_CELLS:
		c->limit_cells = amount.value;
		break;
	}
	if (!link_threshold_fits(c))
		return link_parse_failed(argv[1], -EINVAL,
					 "a limit in the unit of the threshold",
					 error);
	return 1 + amount.taken;
}

int link_parse_policy(struct link_config *c, int argc, char **argv,
		      struct link_error *error)
{
	uint32_t kind;

	for (kind = 0; kind < __WALE_POLICY_MAX; kind++) {
		if (strcmp(argv[1], policy_names[kind]))
			continue;
		c->policy.kind = kind;
		return 2;
	}
	return link_parse_failed(
		argv[1], -EINVAL,
		"a policy: tail, epd, seldrop, fba, random_tail or rem", error);
}

/* A share of the limit, or an amount, which must be in the limit's unit. */
int link_parse_threshold(struct link_config *c, int argc, char **argv,
			 struct link_error *error)
{
	static const char expected[] =
		"a threshold: a share of the limit such as 90%, or an amount in the unit of the limit";
	const char *word = argv[1];
	struct amount amount = { .taken = 1 };
	int err;

	if (*word && word[strlen(word) - 1] == '%') {
		c->set |= LINK_THRESHOLD_SHARE;
		err = units_parse_millionths(word, &c->policy.share);
		if (!err &&
		    (!c->policy.share || c->policy.share > WALE_POLICY_UNIT))
			err = -ERANGE;
	} else {
		c->set |= LINK_THRESHOLD_NUMBER;
		err = parse_amount(&amount, argc - 1, argv + 1);
		c->policy.threshold = err ? 0 : amount.value;
		c->policy.threshold_unit = limit_bit(amount.unit);
		if (!err && !link_threshold_fits(c))
			err = -EINVAL;
	}
	if (err)
		return link_parse_failed(word, err, expected, error);
	return 1 + amount.taken;
}

int link_parse_z(struct link_config *c, int argc, char **argv,
		 struct link_error *error)
{
	int err = units_parse_millionths(argv[1], &c->policy.z);

	if (!err && c->policy.z > WALE_POLICY_Z_MAX)
		err = -ERANGE;
	return err ? link_parse_failed(argv[1], err,
				       "a z from 0 to 1000, such as 0.8", error)
		   : 2;
}

static int parse_count(const char *word, uint32_t max, uint32_t *value,
		       const char *expected, struct link_error *error)
{
	uint64_t count = 0;
	int err = units_parse_count(word, max, &count);

	if (!err && !count)
		err = -ERANGE;
	*value = count;
	return err ? link_parse_failed(word, err, expected, error) : 2;
}

int link_parse_last(struct link_config *c, int argc, char **argv,
		    struct link_error *error)
{
	return parse_count(argv[1], WALE_POLICY_LAST_MAX, &c->policy.last,
			   "a number from 1 to 1024", error);
}

int link_parse_flows(struct link_config *c, int argc, char **argv,
		     struct link_error *error)
{
	return parse_count(argv[1], WALE_CLASSES_MAX, &c->flows,
			   "a number of flows from 1 to 65534", error);
}

int link_parse_input_rate(struct link_config *c, int argc, char **argv,
			  struct link_error *error)
{
	(void)argc;
	return link_parse_rate(
		       argv[1], &c->input_rate,
		       "a rate from 8kbit to 424gbit, such as 155mbit, or unlimited",
		       error)
		       ? -1
		       : 2;
}

/* In the unit of the limit, so that it can be typed again. */
static void print_amount(FILE *to, const struct link_config *c,
			 const char *option, uint64_t value)
{
	char buf[UNITS_MAX];

	if (c->set & LINK_LIMIT_BYTES)
		fprintf(to, "%s %s ", option, units_format_size(buf, value));
	else
		fprintf(to, "%s %" PRIu64 "%s ", option, value,
			c->set & LINK_LIMIT_CELLS ? " cells" : "p");
}

void link_limit_print(FILE *to, const struct link_config *c)
{
	if (c->set & LINK_LIMIT_PACKETS)
		print_amount(to, c, "limit", c->limit_packets);
	if (c->set & LINK_LIMIT_BYTES)
		print_amount(to, c, "limit", c->limit_bytes);
	if (c->set & LINK_LIMIT_CELLS)
		print_amount(to, c, "limit", c->limit_cells);
}

/* Without what every link has: policy tail, and no input links. */
void link_policy_print(FILE *to, const struct link_config *c)
{
	const struct link_policy *policy = &c->policy;
	char buf[UNITS_MAX];

	if (c->set & LINK_POLICY && policy->kind != WALE_POLICY_TAIL &&
	    link_policy_name(policy->kind))
		fprintf(to, "policy %s ", link_policy_name(policy->kind));
	if (c->set & LINK_THRESHOLD_SHARE)
		fprintf(to, "threshold %s ",
			units_format_share(buf, policy->share));
	if (c->set & LINK_THRESHOLD_NUMBER)
		print_amount(to, c, "threshold", policy->threshold);
	if (c->set & LINK_Z)
		fprintf(to, "z %s ", units_format_millionths(buf, policy->z));
	if (c->set & LINK_LAST)
		fprintf(to, "last %" PRIu32 " ", policy->last);
	if (c->set & LINK_MARK)
		fputs(policy->mark ? "mark " : "nomark ", to);
	if (c->set & LINK_REM)
		link_rem_print(to, &c->rem);
	if (c->set & LINK_FLOWS)
		fprintf(to, "flows %" PRIu32 " ", c->flows);
	if (c->set & LINK_INPUT_RATE && c->input_rate != WALE_RATE_UNLIMITED)
		fprintf(to, "input_rate %s ",
			units_format_rate(buf, c->input_rate));
}
