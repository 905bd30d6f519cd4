// SPDX-License-Identifier: GPL-2.0
/*
 * rate_feedback_kunit.c - the history of a rate, against a list of all its steps;
 * the price of a path, against exact values
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../rate_history.c"
#include "../rate_price.c"

#define MS	1000000ULL

static struct rate_ring *rate_test_ring(struct kunit *test, u32 size)
{
	struct rate_ring *ring;

	ring = kunit_kzalloc(test, struct_size(ring, steps, size), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	ring->size = size;
	return ring;
}

static void rate_test_push(struct rate_history *h, u64 since, u64 rate)
{
	const struct rate_step step = { .since = since, .rate = rate };

	rate_history_push(h, &step);
}

static void rate_history_without_a_step_test(struct kunit *test)
{
	struct rate_history h = {};
	struct rate_step step;

	KUNIT_EXPECT_FALSE(test, rate_history_at(&h, 0, &step));
	KUNIT_EXPECT_FALSE(test, rate_history_at(&h, U64_MAX, &step));
}

static void rate_history_remembers_test(struct kunit *test)
{
	struct rate_history h = { .ring = rate_test_ring(test, 8) };
	struct rate_step step;

	rate_test_push(&h, 100 * MS, 1000);
	rate_test_push(&h, 200 * MS, 500);
	rate_test_push(&h, 300 * MS, 250);

	KUNIT_EXPECT_FALSE(test, rate_history_at(&h, 100 * MS - 1, &step));
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 100 * MS, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 1000);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 200 * MS - 1, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 1000);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 200 * MS, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 500);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, U64_MAX, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 250);
}

/* The same rate again is not a step: it keeps its beginning. */
static void rate_history_renewed_test(struct kunit *test)
{
	const struct rate_step again = { .since = 9 * MS, .rate = 7 };
	const struct rate_step flows = { .since = 9 * MS, .rate = 7, .flows = 2 };
	struct rate_history h = { .ring = rate_test_ring(test, 8) };

	rate_test_push(&h, 1 * MS, 7);
	KUNIT_EXPECT_FALSE(test, rate_history_push(&h, &again));
	KUNIT_EXPECT_EQ(test, h.last.since, 1 * MS);
	KUNIT_EXPECT_TRUE(test, rate_history_push(&h, &flows));
	KUNIT_EXPECT_EQ(test, h.last.since, 9 * MS);
	KUNIT_EXPECT_EQ(test, h.count, 1);
}

/* Two changes at one instant: only the second one held; time never runs back. */
static void rate_history_same_instant_test(struct kunit *test)
{
	struct rate_history h = { .ring = rate_test_ring(test, 8) };
	struct rate_step step;

	rate_test_push(&h, 1 * MS, 10);
	rate_test_push(&h, 2 * MS, 20);
	rate_test_push(&h, 2 * MS, 30);
	rate_test_push(&h, 1 * MS, 40);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 2 * MS - 1, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 10);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 2 * MS, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 40);
	KUNIT_EXPECT_EQ(test, step.since, 2 * MS);
}

/* Before the ring begins, its oldest rate stands for all earlier ones. */
static void rate_history_forgets_test(struct kunit *test)
{
	struct rate_history h = { .ring = rate_test_ring(test, 8) };
	struct rate_history without = {};
	struct rate_step step;
	u32 i;

	for (i = 1; i <= 20; i++)
		rate_test_push(&h, i * MS, i);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 0, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 12);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&h, 13 * MS, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 13);

	rate_test_push(&without, 1 * MS, 1);
	KUNIT_EXPECT_FALSE(test, rate_history_at(&without, 0, &step));
	rate_test_push(&without, 2 * MS, 2);
	KUNIT_EXPECT_TRUE(test, rate_history_at(&without, 1 * MS, &step));
	KUNIT_EXPECT_EQ(test, step.rate, 2);
}

/* The ring grows while it is too short for a reader, and loses nothing. */
static void rate_history_grows_test(struct kunit *test)
{
	struct rate_history h = {};
	struct rate_step step;
	u32 i, size;

	for (i = 1; i <= 3000; i++) {
		size = rate_history_wants(&h, 400 * MS);
		if (size)
			rate_history_resize(&h, rate_test_ring(test, size));
		rate_test_push(&h, i * MS, i);
		if (i > 400) {
			KUNIT_ASSERT_TRUE(test, rate_history_at(&h, (i - 400) * MS,
								&step));
			KUNIT_ASSERT_EQ(test, step.rate, i - 400);
		}
	}
	KUNIT_EXPECT_EQ(test, h.ring->size, 512);
	KUNIT_EXPECT_EQ(test, rate_history_wants(&h, 3000 * MS), 1024);
}

static void rate_history_stops_growing_test(struct kunit *test)
{
	struct rate_history h = { .ring = rate_test_ring(test, RATE_RING_MAX) };
	u32 i;

	for (i = 1; i <= 2 * RATE_RING_MAX; i++)
		rate_test_push(&h, i, i);
	KUNIT_EXPECT_EQ(test, rate_history_wants(&h, U64_MAX), 0);
}

/* floor(2^24 log2(x)) */
static const struct rate_log_case {
	u32 x, log;
} rate_log_cases[] = {
	{ 1, 0 },
	{ 2, 16777216 },
	{ 3, 26591258 },
	{ 255, 134122994 },
	{ 256, 134217728 },
	{ 257, 134312092 },
	{ REM_PHI_ONE, 334396231 },
	{ 1001000, 334420423 },
	{ 1100000, 336703157 },
	{ 1000000000, 501594346 },
	{ BIT(31), 520093696 },
	{ U32_MAX, 536870911 },
};

static void rate_price_log2_test(struct kunit *test)
{
	const struct rate_log_case *c = rate_log_cases;
	u32 i, last = 0;

	for (i = 0; i < ARRAY_SIZE(rate_log_cases); i++, c++) {
		KUNIT_EXPECT_LE(test, rem_log2(c->x), c->log);
		KUNIT_EXPECT_GE(test, rem_log2(c->x) + 1, c->log);
	}
	for (i = 1; i < 10000; i++) {
		KUNIT_EXPECT_GE(test, rem_log2(i), last);
		last = rem_log2(i);
	}
}

/* ln(packets / unmarked) / ln(phi), and weight / that; packets in 2^-8 */
static const struct rate_price_case {
	const char *name;
	u32 packets, marked, phi;
	u64 price, weight, rate;
} rate_price_cases[] = {
	{ "half of them, phi 2: price 1", 25600, 12800, 2000000,
	  1000000000ULL, 100000ULL, 100000ULL },
	{ "1 in 11, phi 1.1: price 1", 140800, 12800, 1100000,
	  1000000000ULL, 100000ULL, 100000ULL },
	{ "a quarter, phi 1.1", 102400, 25600, 1100000,
	  3018377187ULL, 1000000ULL, 331303ULL },
	{ "95 %, phi 1.1", 102400, 97280, 1100000,
	  31431398825ULL, 10000000ULL, 318153ULL },
	{ "1 in 1000, phi 1.001: price 1", 256000, 256, 1001000,
	  1001000500ULL, 125000000ULL, 124875062ULL },
	{ "99.9 %, phi 1000: price 1", 256000, 255744, 1000000000,
	  1000000000ULL, 125000000ULL, 125000000ULL },
	{ "no mark in 100: half a packet's", 25600, 0, 1100000,
	  52591883ULL, 100000ULL, 1901434ULL },
	{ "all of 100: but half a packet", 25600, 25600, 1100000,
	  55590256754ULL, 100000ULL, 1798ULL },
	{ "one packet, no mark", 256, 0, 1100000,
	  7272540897ULL, 100000ULL, 13750ULL },
	{ "one packet, a mark", 256, 256, 1100000,
	  7272540897ULL, 100000ULL, 13750ULL },
	{ "all of a million: largest price", 1U << 31, 1U << 31, 1001000,
	  16643848714006ULL, 1000000000000000ULL, 60082257246ULL },
};

static void rate_price_desc(const struct rate_price_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rate_price, rate_price_cases, rate_price_desc);

/* Within 0.01 %, and a millionth. */
static void rate_test_near(struct kunit *test, u64 value, u64 expected)
{
	u64 tolerance = div_u64(expected, 10000) + 1000;

	KUNIT_EXPECT_LE(test, value, expected + tolerance);
	KUNIT_EXPECT_GE(test, value + tolerance, expected);
}

static void rate_price_test(struct kunit *test)
{
	const struct rate_price_case *c = test->param_value;
	const struct rate_price marks = { .packets = c->packets,
					  .marked = c->marked };
	u64 price = rate_price_read(&marks, c->phi);

	rate_test_near(test, price, c->price);
	rate_test_near(test, rate_price_rate(c->weight, price), c->rate);
}

static void rate_price_rate_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rate_price_rate(0, 1), 0);
	KUNIT_EXPECT_EQ(test, rate_price_rate(100000, REM_PRICE_ONE),
			100000);
	KUNIT_EXPECT_EQ(test, rate_price_rate(100000, 3 * REM_PRICE_ONE),
			33333);
	KUNIT_EXPECT_EQ(test, rate_price_rate(2, 1), 2 * REM_PRICE_ONE);
	KUNIT_EXPECT_EQ(test, rate_price_rate(U64_MAX, 1), RATE_PRICE_RATE_MAX);
	KUNIT_EXPECT_LE(test, rate_price_rate(U64_MAX, U64_MAX >> 30),
			RATE_PRICE_RATE_MAX);
}

/* Round trips count (7/8)^k; counters may wrap. */
static void rate_price_round_test(struct kunit *test)
{
	struct rate_price marks = { .delivered = U32_MAX - 4,
				    .delivered_ce = U32_MAX };

	KUNIT_EXPECT_FALSE(test, rate_price_round(&marks, U32_MAX - 4, U32_MAX));
	KUNIT_EXPECT_EQ(test, marks.packets, 0);
	KUNIT_EXPECT_TRUE(test, rate_price_round(&marks, 3, 1));
	KUNIT_EXPECT_EQ(test, marks.round_packets, 8);
	KUNIT_EXPECT_EQ(test, marks.packets, 8 << RATE_PRICE_PACKET_BITS);
	KUNIT_EXPECT_EQ(test, marks.marked, 2 << RATE_PRICE_PACKET_BITS);
	KUNIT_EXPECT_TRUE(test, rate_price_round(&marks, 19, 1));
	KUNIT_EXPECT_EQ(test, marks.packets, (7 + 16) << RATE_PRICE_PACKET_BITS);
	KUNIT_EXPECT_EQ(test, marks.marked, 7 << 6);	/* 1.75 */
}

/* Marks that are reported later than their packets are counted, not lost. */
static void rate_price_late_marks_test(struct kunit *test)
{
	struct rate_price marks = {};

	KUNIT_EXPECT_TRUE(test, rate_price_round(&marks, 10, 12));
	KUNIT_EXPECT_EQ(test, marks.marked, marks.packets);
	KUNIT_EXPECT_TRUE(test, rate_price_round(&marks, 20, 12));
	KUNIT_EXPECT_EQ(test, marks.delivered_ce, 12);
}

/* The sums fit for any sequence, and a constant share is read correctly. */
static void rate_price_settles_test(struct kunit *test)
{
	struct rate_price marks = {};
	u32 i, delivered = 0, marked = 0;

	for (i = 0; i < 100; i++) {
		delivered += U32_MAX / 2;
		marked += U32_MAX / 2;
		rate_price_round(&marks, delivered, marked);
		KUNIT_EXPECT_EQ(test, marks.packets, marks.marked);
	}
	for (i = 0; i < 200; i++) {
		delivered += 40;
		marked += 10;
		rate_price_round(&marks, delivered, marked);
	}
	/* 3.0184, apart from what is left of the first ones */
	KUNIT_EXPECT_GE(test, rate_price_read(&marks, 1100000), 3017000000ULL);
	KUNIT_EXPECT_LE(test, rate_price_read(&marks, 1100000), 3020000000ULL);
}

static void rate_price_limit_test(struct kunit *test)
{
	const struct rate_price marks = { .round_packets = 10 };
	const struct rate_price most = { .round_packets = U32_MAX };

	KUNIT_EXPECT_EQ(test, rate_price_limit(&marks, 1000, 100 * MS), 200000);
	KUNIT_EXPECT_EQ(test, rate_price_limit(&marks, 1000, 0),
			RATE_PRICE_RATE_MAX);
	KUNIT_EXPECT_GE(test, rate_price_limit(&most, U32_MAX, 1000),
			rate_price_limit(&most, 1500, 1000));
}

static struct kunit_case rate_feedback_cases[] = {
	KUNIT_CASE(rate_history_without_a_step_test),
	KUNIT_CASE(rate_history_remembers_test),
	KUNIT_CASE(rate_history_renewed_test),
	KUNIT_CASE(rate_history_same_instant_test),
	KUNIT_CASE(rate_history_forgets_test),
	KUNIT_CASE(rate_history_grows_test),
	KUNIT_CASE(rate_history_stops_growing_test),
	KUNIT_CASE(rate_price_log2_test),
	KUNIT_CASE_PARAM(rate_price_test, rate_price_gen_params),
	KUNIT_CASE(rate_price_rate_test),
	KUNIT_CASE(rate_price_round_test),
	KUNIT_CASE(rate_price_late_marks_test),
	KUNIT_CASE(rate_price_settles_test),
	KUNIT_CASE(rate_price_limit_test),
	{}
};

static struct kunit_suite rate_feedback_suite = {
	.name = "rate_feedback",
	.test_cases = rate_feedback_cases,
};

kunit_test_suite(rate_feedback_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the channel's arithmetic");
