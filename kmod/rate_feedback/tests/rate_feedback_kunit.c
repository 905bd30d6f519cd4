// SPDX-License-Identifier: GPL-2.0
/*
 * rate_feedback_kunit.c - the history of a rate, against a list of all its steps
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../rate_history.c"

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

/* The same rate again is no step; its beginning stays. */
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

/* Two changes at one instant: only the second ever held; time never runs back. */
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

/* Beyond memory the oldest rate that is remembered stands for all before. */
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

/* The ring grows while it is too short for who looks back, and loses nothing. */
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

static struct kunit_case rate_feedback_cases[] = {
	KUNIT_CASE(rate_history_without_a_step_test),
	KUNIT_CASE(rate_history_remembers_test),
	KUNIT_CASE(rate_history_renewed_test),
	KUNIT_CASE(rate_history_same_instant_test),
	KUNIT_CASE(rate_history_forgets_test),
	KUNIT_CASE(rate_history_grows_test),
	KUNIT_CASE(rate_history_stops_growing_test),
	{}
};

static struct kunit_suite rate_feedback_suite = {
	.name = "rate_feedback",
	.test_cases = rate_feedback_cases,
};

kunit_test_suite(rate_feedback_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the history of rates");
