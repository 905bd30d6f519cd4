// SPDX-License-Identifier: GPL-2.0
/*
 * test_units.c - numbers with units: what is read, refused, and read back
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/units.h"
#include "tests/tap.h"

#define MAX UINT64_MAX

struct test_case {
	const char *text;
	int err;
	uint64_t value;
};

static const struct test_case rates[] = {
	{ "8", 0, 1 },
	{ "8bit", 0, 1 },
	{ "10mbit", 0, 1250000 },
	{ "10Mbit", 0, 1250000 },
	{ "1.5gbit", 0, 187500000 },
	{ "0.1mbit", 0, 12500 },
	{ "0.296kbit", 0, 37 },
	{ "0.29kbit", -EDOM, 36 }, /* 36.25 */
	{ "300bit", -EDOM, 37 },
	{ "12345678bit", -EDOM, 1543209 },
	{ "1.5bps", -EDOM, 1 },
	{ "0.3kibit", -EDOM, 38 },
	{ "10.0000000000000000000000000000mbit", 0, 1250000 },
	{ "10.0000000000000000000000000001mbit", -EDOM, 1250000 },
	{ "1e-18bps", -EDOM, 0 },
	{ "64kbit", 0, 8000 },
	{ "1kibit", 0, 128 },
	{ "1mbps", 0, 1000000 },
	{ "8Mbps", 0, 8000000 },
	{ "1mibit", 0, 131072 },
	{ "2Mbit/s", 0, 250000 },
	{ "250kB/s", 0, 250000 },
	{ "1MB/s", 0, 1000000 },
	{ "1KiB/s", 0, 1024 },
	{ "1B/s", 0, 1 },
	{ "250kb/s", -EINVAL, 0 }, /* bits? */
	{ "2mbit/", -EINVAL, 0 },
	{ "2m/s", -EINVAL, 0 },
	{ "2mbps/s", -EINVAL, 0 },
	{ "1MiBps", 0, 1048576 },
	{ "1e3kbit", 0, 125000 },
	{ "1e-3mbit", 0, 125 },
	{ "8000tbit", 0, 1000000000000000 },
	{ "0", 0, 0 },
	{ "7bit", -EDOM, 0 },
	{ "18446744073709551613.5bps", -EDOM, MAX - 2 },
	{ "18446744073709551614.5bps", -ERANGE, 0 },
	{ "unlimited", 0, MAX },
	{ "18446744073709551614bps", 0, MAX - 1 },
	{ "18446744073709551615bps", -ERANGE, 0 },
	{ "18446744073709551616bps", -ERANGE, 0 },
	{ "1e18tbit", -ERANGE, 0 },
	{ "1e99", -ERANGE, 0 },
	{ "999999999999999999999999e18tbit", -ERANGE, 0 },
	{ "99999999999999999999999999", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ ".", -EINVAL, 0 },
	{ "-1mbit", -EINVAL, 0 },
	{ "+1mbit", -EINVAL, 0 },
	{ " 1mbit", -EINVAL, 0 },
	{ "1 mbit", -EINVAL, 0 },
	{ "10m", -EINVAL, 0 },
	{ "10mbitt", -EINVAL, 0 },
	{ "1.2.3mbit", -EINVAL, 0 },
	{ "inf", -EINVAL, 0 },
	{ "nan", -EINVAL, 0 },
	{ "0x10", -EINVAL, 0 },
	{}
};

static const struct test_case times[] = {
	{ "50ms", 0, 50000000 },
	{ "0.29s", 0, 290000000 },
	{ "1.001s", 0, 1001000000 },
	{ "1234567ns", 0, 1234567 },
	{ "1.234567ms", 0, 1234567 },
	{ "100", 0, 100 },
	{ "1us", 0, 1000 },
	{ "2usecs", 0, 2000 },
	{ "3sec", 0, 3000000000 },
	{ "0.4ns", 0, 0 },
	{ "0.5ns", 0, 1 },
	{ "1.5ns", 0, 2 },
	{ "2min", 0, UINT64_C(120000000000) },
	{ "1h", 0, UINT64_C(3600000000000) },
	{ "1D", 0, UINT64_C(86400000000000) },
	{ "0.0000000000000000000000000001s", 0, 0 },
	{ "18446744073.709551615s", 0, MAX },
	{ "18446744073.709551616s", -ERANGE, 0 },
	{ "18446744073709551615.5ns", -ERANGE, 0 },
	{ "1m", -EINVAL, 0 },
	{ "-5ms", -EINVAL, 0 },
	{ "ms", -EINVAL, 0 },
	{}
};

/* Seconds, or ns? */
static const struct test_case file_times[] = { { "2000ns", 0, 2000 },
					       { "2s", 0, 2000000000 },
					       { "2000", -EINVAL, 0 },
					       { "0", 0, 0 },
					       { "0.6", -EINVAL, 0 },
					       { "1e3", -EINVAL, 0 },
					       {} };

static const struct test_case sizes[] = {
	{ "1500", 0, 1500 },
	{ "1500b", 0, 1500 },
	{ "30kb", 0, 30720 },
	{ "30k", 0, 30720 },
	{ "0.5mb", 0, 524288 },
	{ "5gb", 0, UINT64_C(5) << 30 }, /* more than 32 bits */
	{ "8kbit", -EINVAL, 0 }, /* a rate? */
	{ "64KiB", 0, 65536 },
	{ "1mib", 0, 1 << 20 },
	{ "2GiB", 0, UINT64_C(2) << 30 },
	{ "1tib", 0, UINT64_C(1) << 40 },
	{ "1.5b", -EDOM, 1 },
	{ "0.1kb", -EDOM, 102 },
	{ "64Ki", 0, 65536 },
	{ "-1kb", -EINVAL, 0 },
	{}
};

static const struct test_case seeds[] = {
	{ "14411494476543054653", 0, UINT64_C(14411494476543054653) },
	{ "\"14411494476543054653\"", 0, UINT64_C(14411494476543054653) },
	{ "\"18446744073709551615\"", 0, MAX },
	{ "\"18446744073709551616\"", -ERANGE, 0 },
	{ "\"999999999999999999999999\"", -EINVAL, 0 },
	{ "\"1", -EINVAL, 0 },
	{ "1\"", -EINVAL, 0 },
	{ "\"", -EINVAL, 0 },
	{ "\"\"", -EINVAL, 0 },
	{ "\"\"1\"\"", -EINVAL, 0 },
	{}
};

static const struct test_case percents[] = { { "1%", 0, 42949673 },
					     { "1", 0, 42949673 },
					     { "0.01", 0, 429497 },
					     { "0", 0, 0 },
					     { "100%", 0, UINT32_MAX },
					     { "100", 0, UINT32_MAX },
					     { "50%", 0, UINT64_C(1) << 31 },
					     { "100.0000001%", -ERANGE, 0 },
					     { "100.00000001%", -ERANGE, 0 },
					     { "101%", -ERANGE, 0 },
					     { "1%%", -EINVAL, 0 },
					     { "-1%", -EINVAL, 0 },
					     { "a%", -EINVAL, 0 },
					     {} };

static const struct test_case probabilities[] = {
	{ "0.5", 0, UINT64_C(1) << 31 },
	{ "50%", 0, UINT64_C(1) << 31 },
	{ "1", 0, UINT32_MAX },
	{ "1e-3", 0, 4294967 },
	{ "1.1", -ERANGE, 0 },
	{ "1.0000000001", -ERANGE, 0 },
	{ "1e-18", 0, 0 },
	{ "2", -ERANGE, 0 },
	{}
};

static const struct test_case fixed[] = { { "20", 0, UINT64_C(20) << 32 },
					  { "0.5", 0, UINT64_C(1) << 31 },
					  { "4294967295.9999999998", 0, MAX },
					  { "4294967296", -ERANGE, 0 },
					  { "20x", -EINVAL, 0 },
					  {} };

static int percent(const char *text, uint64_t *value)
{
	uint32_t fraction = 0;
	int err = units_parse_percent(text, &fraction);

	*value = fraction;
	return err;
}

static int probability(const char *text, uint64_t *value)
{
	uint32_t fraction = 0;
	int err = units_parse_probability(text, &fraction);

	*value = fraction;
	return err;
}

static void test_parser(const char *what, const struct test_case *c,
			int (*parse)(const char *text, uint64_t *value))
{
	for (; c->text; c++) {
		uint64_t value = 0;
		int err = parse(c->text, &value);

		if (!ok(err == c->err &&
				((err && err != -EDOM) || value == c->value),
			"%s \"%s\" is %s%" PRIu64, what, c->text,
			c->err == -EINVAL   ? "invalid "
			: c->err == -ERANGE ? "out of range "
			: c->err == -EDOM   ? "not whole, more than "
					    : "",
			c->value))
			printf("# got error %d, value %" PRIu64 "\n", err,
			       value);
	}
}

static void test_counts(void)
{
	uint64_t value = 0;

	ok(!units_parse_count("18446744073709551615", MAX, &value) &&
		   value == MAX,
	   "the largest count");
	ok(units_parse_count("18446744073709551616", MAX, &value) == -ERANGE,
	   "a count too large for 64 bits");
	ok(units_parse_count("64", 63, &value) == -ERANGE,
	   "a count above its maximum");
	ok(units_parse_count("1.5", MAX, &value) == -EINVAL &&
		   units_parse_count("", MAX, &value) == -EINVAL &&
		   units_parse_count("-1", MAX, &value) == -EINVAL,
	   "counts that are none");
}

/* Fixed numbers that look random, for what is read back. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void test_back(const char *what, uint64_t mask,
		      const char *(*format)(char *buf, uint64_t value),
		      int (*parse)(const char *text, uint64_t *value))
{
	uint64_t state = 1, value, back;
	unsigned int bad = 0;
	char buf[UNITS_MAX];
	int i;

	for (i = 0; i < 100000; i++) {
		/* Of every size, and both ends. */
		value = i == 0	 ? 0
			: i == 1 ? mask
				 : (next_random(&state) & mask) >> i % 64;
		if (parse(format(buf, value), &back) || back != value) {
			if (!bad++)
				printf("# %" PRIu64 " as %s\n", value, buf);
		}
	}
	ok(!bad, "what is written of a %s is read back", what);
}

static const char *format_percent(char *buf, uint64_t value)
{
	return units_format_percent(buf, value);
}

static const char *format_probability(char *buf, uint64_t value)
{
	return units_format_probability(buf, value);
}

static void test_formats(void)
{
	char buf[UNITS_MAX];

	ok(!strcmp(units_format_rate(buf, 1250000), "10Mbit"), "10Mbit");
	ok(!strcmp(units_format_rate(buf, 154321), "1234568bit"), "1234568bit");
	ok(!strcmp(units_format_rate(buf, MAX), "unlimited"), "unlimited");
	ok(!strcmp(units_format_time(buf, 50000000), "50ms"), "50ms");
	ok(!strcmp(units_format_time(buf, 1500000), "1500us"), "1500us");
	ok(!strcmp(units_format_size(buf, 30720), "30Kb"), "30Kb");
	ok(!strcmp(units_format_size(buf, 1500), "1500b"), "1500b");
	ok(!strcmp(units_format_percent(buf, 42949673), "1%"), "1%%");
	ok(!strcmp(units_format_percent(buf, UINT32_MAX), "100%"), "100%%");
	ok(!strcmp(units_format_probability(buf, 858993459), "0.2"), "0.2");
	ok(!strcmp(units_format_fixed32(buf, UINT64_C(20) << 32), "20"), "20");
}

int main(void)
{
	test_parser("rate", rates, units_parse_rate);
	test_parser("time", times, units_parse_time);
	test_parser("time in a file", file_times, units_parse_time_unit);
	test_parser("size", sizes, units_parse_size);
	test_parser("seed", seeds, units_parse_seed);
	test_parser("percent", percents, percent);
	test_parser("probability", probabilities, probability);
	test_parser("fixed", fixed, units_parse_fixed32);
	test_counts();
	test_formats();
	test_back("rate", MAX, units_format_rate, units_parse_rate);
	test_back("time", MAX, units_format_time, units_parse_time);
	test_back("size", MAX, units_format_size, units_parse_size);
	test_back("percentage", UINT32_MAX, format_percent, percent);
	test_back("probability", UINT32_MAX, format_probability, probability);
	test_back("fixed number", MAX, units_format_fixed32,
		  units_parse_fixed32);
	return tap_done();
}
