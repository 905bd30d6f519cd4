// SPDX-License-Identifier: GPL-2.0
/*
 * wale_line_kunit.c - tests of how much fits on the propagation line
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_line.c"

#define MB	(1024ULL * 1024)
#define TB	(1024 * 1024 * MB)

static void wale_line_limits(struct kunit *test)
{
	static const struct {
		u64 rate;
		u64 reach_ns;
		u64 present;
		u64 most;
		u64 limit;
	} cases[] = {
		/* without a delay, or without a rate in every step of a trace */
		{ 1000, 0, 0, TB, 64 * MB },
		{ 0, WALE_TIME_MAX, 0, TB, 64 * MB },
		/* 100 Gbit/s for a second, and as much if there is no rate */
		{ 12500000000ULL, 1000000000, 0, TB, 64 * MB + 25000000000ULL },
		{ WALE_RATE_UNLIMITED, 1000000000, 0, TB,
		  64 * MB + 25000000000ULL },
		/* parts of a second: 3.5 bytes, rounded down, twice */
		{ 1, 3500000000ULL, 0, TB, 64 * MB + 6 },
		{ 999, 1000000999, 0, TB, 64 * MB + 2 * 999 },
		/* what is there already stays beside it */
		{ 1000, 1000000000, 5000, TB, 64 * MB + 2000 + 5000 },
		/* the most there is */
		{ 1000, 1000000000, 0, MB, MB },
		{ WALE_RATE_MAX, WALE_TIME_MAX, 0, TB, TB },
		{ WALE_RATE_MAX, 10 * WALE_TIME_MAX, 0, TB, TB },
		{ WALE_RATE_MAX, 9000000000000ULL, U64_MAX / 2, TB, TB },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, wale_line_limit(cases[i].rate,
							  cases[i].reach_ns,
							  cases[i].present,
							  cases[i].most),
				    cases[i].limit, "case %zu", i);
}

static void wale_line_bounds(struct kunit *test)
{
	const struct wale_line_bound packets = { U64_MAX, 3 };
	const struct wale_line_bound bytes = { 3000, U32_MAX };
	const struct wale_line_bound none = { U64_MAX, U32_MAX };
	const struct wale_counter empty = {}, two = { 2, 2000 };
	const struct wale_counter much = { 1ULL << 31, 1ULL << 62 };

	KUNIT_EXPECT_TRUE(test, wale_line_takes(&packets, &two, 1, U32_MAX));
	KUNIT_EXPECT_FALSE(test, wale_line_takes(&packets, &two, 2, 0));
	KUNIT_EXPECT_TRUE(test, wale_line_takes(&bytes, &two, 1, 1000));
	KUNIT_EXPECT_FALSE(test, wale_line_takes(&bytes, &two, 1, 1001));
	KUNIT_EXPECT_TRUE(test, wale_line_takes(&bytes, &empty, 2, 1500));
	KUNIT_EXPECT_FALSE(test, wale_line_takes(&bytes, &two, 2, 501));
	/* one that is larger than the bound never fits */
	KUNIT_EXPECT_FALSE(test, wale_line_takes(&bytes, &empty, 1, 3001));
	KUNIT_EXPECT_TRUE(test, wale_line_takes(&none, &much, 2, U32_MAX));
}

static struct kunit_case wale_line_cases[] = {
	KUNIT_CASE(wale_line_limits),
	KUNIT_CASE(wale_line_bounds),
	{}
};

static struct kunit_suite wale_line_suite = {
	.name = "wale_line",
	.test_cases = wale_line_cases,
};

kunit_test_suite(wale_line_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of how much fits on the propagation line");
