// SPDX-License-Identifier: GPL-2.0
/*
 * test_get_arrivals.c - the draws of sessions that arrive at random
 *
 * The numbers are those of testbed/src/wale_lab/models/arrivals.py.
 */
#include <inttypes.h>
#include <math.h>

#include "tests/tap.h"
#include "transfer/get_arrivals.h"

static const struct {
	uint64_t interval_ns;
	uint64_t mean_bytes;
	uint64_t seed;
	unsigned int n;
	uint64_t until_ns;
	uint64_t bytes;
} cases[] = {
	{ 1600000000, 200000, 1U, 0, 227079221, 2861 },
	{ 1600000000, 200000, 1U, 1, 1371295201, 319019 },
	{ 1600000000, 200000, 1U, 2, 1382461485, 9747 },
	{ 1600000000, 200000, 1U, 99999, 2057370418, 250001 },
	{ 888888889, 200000, 18446744073709551615U, 0, 588352730, 278995 },
	{ 888888889, 200000, 18446744073709551615U, 1, 2418647681, 152608 },
	{ 888888889, 200000, 18446744073709551615U, 2, 47785270, 134868 },
	{ 888888889, 200000, 18446744073709551615U, 99999, 948635062, 513569 },
	{ 1000, 1, 0U, 0, 1944, 3 },
	{ 1000, 1, 0U, 1, 6065, 6 },
	{ 1000, 1, 0U, 2, 139, 2 },
	{ 1000, 1, 0U, 99999, 615, 2 },
	{ 1000000000000, 1099511627776, 7U, 0, 1176794012266, 2777523296085 },
	{ 1000000000000, 1099511627776, 7U, 1, 629411861576, 309384793558 },
	{ 1000000000000, 1099511627776, 7U, 2, 863144313058, 1592814499224 },
	{ 1000000000000, 1099511627776, 7U, 99999, 1062569116501,
	  1734835259353 },
};

static void test_draws(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct get_arrivals arrivals = {
			.interval_ns = cases[i].interval_ns,
			.mean_bytes = cases[i].mean_bytes,
			.count = ARRIVALS_MAX,
			.seed = cases[i].seed,
		};
		unsigned int n = cases[i].n;

		ok(arrivals_interval_ns(&arrivals, n) == cases[i].until_ns &&
			   arrivals_bytes(&arrivals, n) == cases[i].bytes,
		   "seed %" PRIu64 ", session %u", arrivals.seed, n);
	}
}

/* Of an exponential law, mean and standard deviation are the same. */
static void test_law(void)
{
	const struct get_arrivals arrivals = { 1000000000, 200000, 100000, 42 };
	double time = 0, bytes = 0, square = 0, product = 0, n = arrivals.count;
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < arrivals.count; i++) {
		double t = (double)arrivals_interval_ns(&arrivals, i) / 1e9;
		uint64_t size = arrivals_bytes(&arrivals, i);
		double b = (double)size / 200000;

		time += t / n;
		bytes += b / n;
		square += b * b / n;
		product += t * b / n;
		least = size < least ? size : least;
	}
	/* three standard errors of the means, more for the squares */
	ok(fabs(time - 1) < 0.01, "mean time %.4f", time);
	ok(fabs(bytes - 1) < 0.01, "mean size %.4f", bytes);
	ok(fabs(square - 2) < 0.05, "mean square of sizes %.4f", square);
	ok(fabs(product - 1) < 0.02, "times and sizes: mean product %.4f",
	   product);
	ok(least >= 1, "least size %" PRIu64, least);
}

static void test_rates(void)
{
	static const struct {
		const char *text;
		uint64_t interval_ns; /* 0: refused */
	} rates[] = {
		{ "0.625", 1600000000 },
		{ "1", 1000000000 },
		{ "1.125", 888888889 },
		{ "1e3", 1000000 },
		{ "128000", 7813 },
		{ "0.001", 1000000000000 },
		{ "1000000", 1000 },
		{ "0.0009", 0 },
		{ "1000001", 0 },
		{ "0", 0 },
		{ "-1", 0 },
		{ "", 0 },
		{ " 1", 0 },
		{ "1/s", 0 },
		{ "0x1", 0 },
		{ "nan", 0 },
		{ "inf", 0 },
		{ "1e", 0 },
		{ "..", 0 },
	};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t interval_ns = 0;
		bool parsed = arrivals_parse_rate(rates[i].text, &interval_ns);

		ok(parsed == !!rates[i].interval_ns &&
			   interval_ns == rates[i].interval_ns,
		   "rate '%s': %" PRIu64 " ns", rates[i].text, interval_ns);
	}
}

int main(void)
{
	test_draws();
	test_law();
	test_rates();
	return tap_done();
}
