// SPDX-License-Identifier: GPL-2.0
/*
 * units.c - numbers with units, as tc users type them
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "units.h"

typedef unsigned __int128 u128;

#define ONE32 (UINT64_C(1) << 32)
#define UNLIMITED (~UINT64_C(0))

/* Digits kept: 10^24 times any unit here stays below 2^128. */
#define DIGITS_MAX 24
#define EXPONENT_MAX 999 /* three digits, as scenarios have them */

/* mantissa * 10^-decimals, followed by the suffix */
struct decimal {
	u128 mantissa;
	int decimals;
	bool more; /* digits behind these, and not only zeros */
	const char *suffix;
};

struct suffix {
	const char *name;
	uint64_t numerator;
	uint64_t denominator;
};

/* In bytes per second.  Where a name has a capital letter, only that is meant. */
static const struct suffix rate_suffixes[] = {
	{ "", 1, 8 },
	{ "bit", 1, 8 },
	{ "kbit", 1000, 8 },
	{ "mbit", 1000000, 8 },
	{ "gbit", 1000000000, 8 },
	{ "tbit", 1000000000000, 8 },
	{ "kibit", 1 << 10, 8 },
	{ "mibit", 1 << 20, 8 },
	{ "gibit", 1 << 30, 8 },
	{ "tibit", UINT64_C(1) << 40, 8 },
	{ "bit/s", 1, 8 },
	{ "kbit/s", 1000, 8 },
	{ "mbit/s", 1000000, 8 },
	{ "gbit/s", 1000000000, 8 },
	{ "tbit/s", 1000000000000, 8 },
	{ "kibit/s", 1 << 10, 8 },
	{ "mibit/s", 1 << 20, 8 },
	{ "gibit/s", 1 << 30, 8 },
	{ "tibit/s", UINT64_C(1) << 40, 8 },
	{ "bps", 1, 1 },
	{ "kbps", 1000, 1 },
	{ "mbps", 1000000, 1 },
	{ "gbps", 1000000000, 1 },
	{ "tbps", 1000000000000, 1 },
	{ "kibps", 1 << 10, 1 },
	{ "mibps", 1 << 20, 1 },
	{ "gibps", 1 << 30, 1 },
	{ "tibps", UINT64_C(1) << 40, 1 },
	{ "B/s", 1, 1 },
	{ "kB/s", 1000, 1 },
	{ "mB/s", 1000000, 1 },
	{ "gB/s", 1000000000, 1 },
	{ "tB/s", 1000000000000, 1 },
	{ "kiB/s", 1 << 10, 1 },
	{ "miB/s", 1 << 20, 1 },
	{ "giB/s", 1 << 30, 1 },
	{ "tiB/s", UINT64_C(1) << 40, 1 },
	{}
};

/* In ns. */
static const struct suffix time_suffixes[] = { { "", 1, 1 },
					       { "ns", 1, 1 },
					       { "nsec", 1, 1 },
					       { "nsecs", 1, 1 },
					       { "us", 1000, 1 },
					       { "usec", 1000, 1 },
					       { "usecs", 1000, 1 },
					       { "ms", 1000000, 1 },
					       { "msec", 1000000, 1 },
					       { "msecs", 1000000, 1 },
					       { "s", 1000000000, 1 },
					       { "sec", 1000000000, 1 },
					       { "secs", 1000000000, 1 },
					       { "min", 60000000000, 1 },
					       { "h", 3600000000000, 1 },
					       { "d", 86400000000000, 1 },
					       {} };

/* In bytes. */
static const struct suffix size_suffixes[] = { { "", 1, 1 },
					       { "b", 1, 1 },
					       { "k", 1 << 10, 1 },
					       { "kb", 1 << 10, 1 },
					       { "ki", 1 << 10, 1 },
					       { "kib", 1 << 10, 1 },
					       { "m", 1 << 20, 1 },
					       { "mb", 1 << 20, 1 },
					       { "mi", 1 << 20, 1 },
					       { "mib", 1 << 20, 1 },
					       { "g", 1 << 30, 1 },
					       { "gb", 1 << 30, 1 },
					       { "gi", 1 << 30, 1 },
					       { "gib", 1 << 30, 1 },
					       { "ti", UINT64_C(1) << 40, 1 },
					       { "tib", UINT64_C(1) << 40, 1 },
					       {} };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An exponent, if one is there ("1e6", not the e of a suffix). */
static const char *parse_exponent(const char *p, int *exponent)
{
	int sign = 1, value = 0;
	const char *q = p + 1;

	*exponent = 0;
	if (*p != 'e' && *p != 'E')
		return p;
	if (*q == '-' || *q == '+')
		sign = *q++ == '-' ? -1 : 1;
	if (!is_digit(*q))
		return p;
	for (; is_digit(*q); q++)
		if (value <= EXPONENT_MAX)
			value = value * 10 + *q - '0';
	*exponent = sign * value;
	return q;
}

static int parse_decimal(const char *text, struct decimal *d)
{
	bool point = false, any = false;
	const char *p = text;
	int exponent, digits = 0;

	d->mantissa = 0;
	d->decimals = 0;
	d->more = false;
	for (;; p++) {
		if (*p == '.' && !point) {
			point = true;
			continue;
		}
		if (!is_digit(*p))
			break;
		any = true;
		if (digits == DIGITS_MAX) {
			if (!point)
				return -ERANGE;
			d->more |= *p != '0';
			continue; /* too far behind the point to count */
		}
		d->mantissa = d->mantissa * 10 + *p - '0';
		d->decimals += point;
		digits += d->mantissa != 0;
	}
	if (!any)
		return -EINVAL;

	d->suffix = parse_exponent(p, &exponent);
	if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
		return -ERANGE;
	d->decimals -= exponent;
	return 0;
}

/* What becomes of a fraction of the unit: -EDOM, and it is cut off, if WHOLE. */
enum fraction { CUT, NEAREST, WHOLE };

/* d * numerator / denominator */
static int scale(const struct decimal *d, uint64_t numerator,
		 uint64_t denominator, enum fraction fraction, uint64_t *result)
{
	u128 value = d->mantissa * numerator, divisor = denominator;
	int decimals = d->decimals;
	bool whole = !d->more;

	for (; decimals < 0; decimals++) {
		if (value > ~(u128)0 / 10)
			return -ERANGE;
		value *= 10;
	}
	for (; decimals > DIGITS_MAX; decimals--) {
		whole = whole && value % 10 == 0;
		value /= 10;
	}
	for (; decimals > 0; decimals--)
		divisor *= 10;

	if (fraction == NEAREST)
		value += divisor / 2;
	whole = whole && value % divisor == 0;
	value /= divisor;
	if (value > UINT64_MAX)
		return -ERANGE;
	*result = value;
	return fraction == WHOLE && !whole ? -EDOM : 0;
}

static bool is_suffix(const char *text, const char *name)
{
	return !strcasecmp(text, name) &&
	       (!strchr(name, 'B') || strchr(text, 'B'));
}

static int parse_with(const struct suffix *suffixes, const char *text,
		      enum fraction fraction, uint64_t *result)
{
	const struct suffix *s;
	struct decimal d;
	int err;

	err = parse_decimal(text, &d);
	if (err)
		return err;
	for (s = suffixes; s->name; s++)
		if (is_suffix(d.suffix, s->name))
			return scale(&d, s->numerator, s->denominator, fraction,
				     result);
	return -EINVAL;
}

int units_parse_rate(const char *text, uint64_t *bytes_per_s)
{
	int err;

	if (!strcasecmp(text, "unlimited")) {
		*bytes_per_s = UNLIMITED;
		return 0;
	}
	*bytes_per_s = 0;
	err = parse_with(rate_suffixes, text, WHOLE, bytes_per_s);
	/* Not by a number, only by its name. */
	return (!err && *bytes_per_s == UNLIMITED) ||
			       (err == -EDOM && *bytes_per_s >= UNLIMITED - 1)
		       ? -ERANGE
		       : err;
}

int units_parse_time(const char *text, uint64_t *ns)
{
	return parse_with(time_suffixes, text, NEAREST, ns);
}

int units_parse_time_unit(const char *text, uint64_t *ns)
{
	int err = parse_with(time_suffixes + 1, text, NEAREST, ns);

	if (err == -EINVAL && !units_parse_time(text, ns) && !*ns)
		return 0;
	return err;
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	return parse_with(size_suffixes, text, WHOLE, bytes);
}

int units_parse_count(const char *text, uint64_t max, uint64_t *count)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (!is_digit(*text))
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *text - '0', &value))
			return -ERANGE;
	}
	if (value > max)
		return -ERANGE;
	*count = value;
	return 0;
}

int units_parse_seed(const char *text, uint64_t *seed)
{
	size_t length = strlen(text);
	char digits[24];

	if (length < 2 || length > sizeof(digits) || *text != '"' ||
	    text[length - 1] != '"')
		return units_parse_count(text, UINT64_MAX, seed);
	snprintf(digits, sizeof(digits), "%.*s", (int)length - 2, text + 1);
	return units_parse_count(digits, UINT64_MAX, seed);
}

/* Even if it would be rounded to one. */
static bool is_above_one(const struct decimal *d)
{
	u128 one = 1;
	int i;

	if (d->decimals < 0)
		return d->mantissa;
	if (d->decimals > DIGITS_MAX)
		return false;
	for (i = 0; i < d->decimals; i++)
		one *= 10;
	return d->mantissa > one;
}

/* A number, or with % (or if @percent, without it, too) a hundredth of it. */
static int parse_share(const char *text, bool percent, struct decimal *d)
{
	int err = parse_decimal(text, d);

	if (err)
		return err;
	if (!strcmp(d->suffix, "%"))
		percent = true;
	else if (*d->suffix)
		return -EINVAL;
	if (percent)
		d->decimals += 2;
	return 0;
}

static int parse_fraction(const char *text, bool percent, uint32_t *fraction)
{
	struct decimal d;
	uint64_t value;
	int err;

	err = parse_share(text, percent, &d);
	if (err)
		return err;
	if (is_above_one(&d))
		return -ERANGE;

	err = scale(&d, ONE32, 1, NEAREST, &value);
	if (err)
		return err;
	*fraction = value < UINT32_MAX ? value : UINT32_MAX;
	return 0;
}

int units_parse_percent(const char *text, uint32_t *fraction)
{
	return parse_fraction(text, true, fraction);
}

int units_parse_probability(const char *text, uint32_t *fraction)
{
	return parse_fraction(text, false, fraction);
}

int units_parse_fixed32(const char *text, uint64_t *fixed)
{
	struct decimal d;
	int err;

	err = parse_decimal(text, &d);
	if (err)
		return err;
	if (*d.suffix)
		return -EINVAL;
	return scale(&d, ONE32, 1, NEAREST, fixed);
}

int units_parse_millionths(const char *text, uint32_t *millionths)
{
	struct decimal d;
	uint64_t value;
	int err;

	err = parse_share(text, false, &d);
	if (err)
		return err;
	err = scale(&d, 1000000, 1, CUT, &value);
	if (err)
		return err;
	if (value > UINT32_MAX)
		return -ERANGE;
	*millionths = value;
	return 0;
}

/* value in the largest of the @n units (largest first) that divides it */
static const char *format_in(char buf[UNITS_MAX], uint64_t value,
			     const uint64_t *units, const char *const *names,
			     int n)
{
	int i = 0;

	while (i < n - 1 && (!value || value % units[i]))
		i++;
	snprintf(buf, UNITS_MAX, "%" PRIu64 "%s", value / units[i], names[i]);
	return buf;
}

const char *units_format_rate(char buf[UNITS_MAX], uint64_t bytes_per_s)
{
	static const char *const names[] = { "Tbit", "Gbit", "Mbit", "Kbit",
					     "bit" };
	static const uint64_t units[] = { 1000000000000, 1000000000, 1000000,
					  1000, 1 };

	if (bytes_per_s == UNLIMITED)
		return strcpy(buf, "unlimited");
	if (bytes_per_s > UINT64_MAX / 8) {
		snprintf(buf, UNITS_MAX, "%" PRIu64 "bps", bytes_per_s);
		return buf;
	}
	return format_in(buf, bytes_per_s * 8, units, names, 5);
}

const char *units_rate_wrong(char buf[UNITS_WRONG_MAX], int err,
			     uint64_t bytes_per_s, const char *expected)
{
	char below[UNITS_MAX], above[UNITS_MAX];

	units_format_rate(below, bytes_per_s);
	units_format_rate(above, bytes_per_s + 1);
	if (err != -EDOM)
		snprintf(buf, UNITS_WRONG_MAX, "%sexpected %s",
			 err == -ERANGE ? "out of range: " : "", expected);
	else if (!bytes_per_s)
		snprintf(buf, UNITS_WRONG_MAX,
			 "not a whole number of bytes/s; the least is %s",
			 above);
	else
		snprintf(
			buf, UNITS_WRONG_MAX,
			"not a whole number of bytes/s; the nearest are %s and %s",
			below, above);
	return buf;
}

const char *units_format_time(char buf[UNITS_MAX], uint64_t ns)
{
	static const char *const names[] = { "s", "ms", "us", "ns" };
	static const uint64_t units[] = { 1000000000, 1000000, 1000, 1 };

	return format_in(buf, ns, units, names, 4);
}

const char *units_format_size(char buf[UNITS_MAX], uint64_t bytes)
{
	static const char *const names[] = { "Mb", "Kb", "b" };
	static const uint64_t units[] = { 1 << 20, 1 << 10, 1 };

	return format_in(buf, bytes, units, names, 3);
}

/* d, without zeros at the end */
static void print_decimal(char buf[UNITS_MAX], struct decimal d)
{
	u128 power = 1;
	int i;

	while (d.decimals > 0 && d.mantissa % 10 == 0) {
		d.mantissa /= 10;
		d.decimals--;
	}
	for (i = 0; i < d.decimals; i++)
		power *= 10;
	if (d.decimals > 0)
		snprintf(buf, UNITS_MAX, "%" PRIu64 ".%0*" PRIu64,
			 (uint64_t)(d.mantissa / power), d.decimals,
			 (uint64_t)(d.mantissa % power));
	else
		snprintf(buf, UNITS_MAX, "%" PRIu64, (uint64_t)d.mantissa);
}

/*
 * value * 2^-32 in the fewest decimals that give it back when they are read,
 * shifted by @shift (2 for a percentage).  Ten decimals always do.
 */
static char *format_binary(char buf[UNITS_MAX], uint64_t value, int shift)
{
	struct decimal d = { .decimals = shift };
	u128 power = shift ? 100 : 1;
	uint64_t back;

	for (;; d.decimals++, power *= 10) {
		d.mantissa = ((u128)value * power + ONE32 / 2) / ONE32;
		if (!scale(&d, ONE32, 1, NEAREST, &back) && back == value)
			break;
	}
	d.decimals -= shift;
	print_decimal(buf, d);
	return buf;
}

const char *units_format_percent(char buf[UNITS_MAX], uint32_t fraction)
{
	if (fraction == UINT32_MAX)
		return strcpy(buf, "100%");
	return strcat(format_binary(buf, fraction, 2), "%");
}

const char *units_format_probability(char buf[UNITS_MAX], uint32_t fraction)
{
	if (fraction == UINT32_MAX)
		return strcpy(buf, "1");
	return format_binary(buf, fraction, 0);
}

const char *units_format_fixed32(char buf[UNITS_MAX], uint64_t fixed)
{
	return format_binary(buf, fixed, 0);
}

const char *units_format_millionths(char buf[UNITS_MAX], uint32_t millionths)
{
	print_decimal(
		buf, (struct decimal){ .mantissa = millionths, .decimals = 6 });
	return buf;
}

const char *units_format_share(char buf[UNITS_MAX], uint32_t millionths)
{
	print_decimal(
		buf, (struct decimal){ .mantissa = millionths, .decimals = 4 });
	return strcat(buf, "%");
}
