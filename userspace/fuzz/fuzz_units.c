// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_units.c - numbers with units
 *
 * The input is a number in eight bytes, and a text.  What a formatter writes of
 * the number, the parser of its kind reads back.  What a parser reads of the text
 * is formatted and read back; and a text of few digits is what the same digits
 * are in integer arithmetic.
 */
#include <errno.h>
#include <strings.h>

#include "fuzz.h"
#include "lib/units.h"

struct kind {
	int (*parse)(const char *text, uint64_t *value);
	const char *(*format)(char buf[UNITS_MAX], uint64_t value);
};

static const struct kind kinds[] = {
	{ units_parse_rate, units_format_rate },
	{ units_parse_time, units_format_time },
	{ units_parse_size, units_format_size },
	{ units_parse_fixed32, units_format_fixed32 },
};

static void check_value(const struct kind *kind, uint64_t value)
{
	char buf[UNITS_MAX];
	uint64_t back;

	must(!kind->parse(kind->format(buf, value), &back));
	must(back == value);
}

static void check_fraction(uint32_t value)
{
	char buf[UNITS_MAX];
	uint32_t back;

	must(!units_parse_percent(units_format_percent(buf, value), &back));
	must(back == value);
	must(!units_parse_probability(units_format_probability(buf, value),
				      &back));
	must(back == value);
}

static void check_parsed(int err)
{
	must(!err || err == -EINVAL || err == -ERANGE || err == -EDOM);
}

static void check_text(const char *text)
{
	uint64_t value;
	uint32_t fraction;
	size_t i;
	int err;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		err = kinds[i].parse(text, &value);
		check_parsed(err);
		if (!err)
			check_value(&kinds[i], value);
	}
	err = units_parse_percent(text, &fraction);
	check_parsed(err);
	if (!err)
		check_fraction(fraction);
	err = units_parse_probability(text, &fraction);
	check_parsed(err);
	if (!err)
		check_fraction(fraction);
	err = units_parse_count(text, 1000, &value);
	check_parsed(err);
	must(err || value <= 1000);
}

/* "123.45": 12345 and 2; what is behind is the unit. */
static const char *digits(const char *text, uint64_t *mantissa,
			  unsigned int *decimals)
{
	unsigned int n = 0;
	bool point = false;

	*mantissa = 0;
	*decimals = 0;
	for (; *text == '.' || (*text >= '0' && *text <= '9'); text++) {
		if (*text == '.' && point)
			return NULL;
		if (*text == '.') {
			point = true;
			continue;
		}
		if (++n > 18)
			return NULL;
		*mantissa = *mantissa * 10 + *text - '0';
		*decimals += point;
	}
	return n ? text : NULL;
}

static u128 power_of_ten(unsigned int n)
{
	u128 power = 1;

	while (n--)
		power *= 10;
	return power;
}

/* Times, which have a unit for each: few, and exact. */
static void check_time(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} names[] = { { "d", 86400000000000 },
		      { "h", 3600000000000 },
		      { "min", 60000000000 },
		      { "s", 1000000000 },
		      { "ms", 1000000 },
		      { "us", 1000 },
		      { "ns", 1 },
		      { "", 1 } };
	unsigned int decimals, i;
	uint64_t mantissa, value;
	const char *unit = digits(text, &mantissa, &decimals);
	u128 expected;

	for (i = 0; unit && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(unit, names[i].name))
			continue;
		expected = ((u128)mantissa * names[i].ns +
			    power_of_ten(decimals) / 2) /
			   power_of_ten(decimals);
		if (expected > UINT64_MAX)
			must(units_parse_time(text, &value) == -ERANGE);
		else
			must(!units_parse_time(text, &value) &&
			     value == expected);
		if (!*names[i].name && expected && expected <= UINT64_MAX)
			must(units_parse_time_unit(text, &value) == -EINVAL);
	}
}

/* Rates: whole, or refused with those on both sides. */
static void check_rate(const char *text)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} names[] = {
		{ "", 1 },	     { "bit", 1 },	     { "kbit", 1000 },
		{ "mbit", 1000000 }, { "gbit", 1000000000 }, { "bps", 8 },
		{ "kbps", 8000 },    { "mibit", 1048576 }
	};
	unsigned int decimals, i;
	uint64_t mantissa, value;
	const char *unit = digits(text, &mantissa, &decimals);
	u128 bits, divisor;

	for (i = 0; unit && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(unit, names[i].name))
			continue;
		bits = (u128)mantissa * names[i].bits;
		divisor = 8 * power_of_ten(decimals);
		if (bits / divisor >= UINT64_MAX - 1)
			continue;
		must(units_parse_rate(text, &value) ==
			     (bits % divisor ? -EDOM : 0) &&
		     value == bits / divisor);
	}
}

/* Of one, or of a hundred: rounded, and nothing above all. */
static void check_share(const char *text, unsigned int shift,
			int (*parse)(const char *text, uint32_t *fraction))
{
	unsigned int decimals;
	uint64_t mantissa;
	const char *unit = digits(text, &mantissa, &decimals);
	uint32_t fraction;
	u128 all, expected;

	if (!unit || *unit)
		return;
	all = power_of_ten(decimals + shift);
	expected = (((u128)mantissa << 32) + all / 2) / all;
	if (expected > UINT32_MAX)
		expected = UINT32_MAX;
	if (mantissa > all)
		must(parse(text, &fraction) == -ERANGE);
	else
		must(!parse(text, &fraction) && fraction == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t value = 0;
	char *text;
	size_t i;

	if (size < sizeof(value))
		return 0;
	memcpy(&value, data, sizeof(value));
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		check_value(&kinds[i], value);
	check_fraction(value);

	text = input_text(data + sizeof(value), size - sizeof(value));
	check_text(text);
	check_time(text);
	check_rate(text);
	check_share(text, 0, units_parse_probability);
	check_share(text, 2, units_parse_percent);
	free(text);
	return 0;
}
