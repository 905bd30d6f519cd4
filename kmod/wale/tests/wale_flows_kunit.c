// SPDX-License-Identifier: GPL-2.0
/*
 * wale_flows_kunit.c - tests of how the flows on a wale link are counted
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "../wale_flows.c"
#include "../wale_random.h"

/* What is done, when, to which; what there is then. */

enum wale_test_verb { SEE, END, EXPIRE };

struct wale_test_flow_step {
	enum wale_test_verb verb;
	u64 key;
	u64 now;
	bool changes;
	u32 count;
	u64 since;
	u64 expiry;
};

#define NEVER U64_MAX

static void wale_test_flow_steps(struct kunit *test, struct wale_flows *flows,
				 const struct wale_test_flow_step *step,
				 size_t n)
{
	bool changes;
	size_t i;

	for (i = 0; i < n; i++, step++) {
		if (step->verb == SEE)
			changes = wale_flows_see(flows, step->key, step->now);
		else if (step->verb == END)
			changes = wale_flows_end(flows, step->key, step->now);
		else
			changes = wale_flows_expire(flows, step->now);
		KUNIT_EXPECT_EQ_MSG(test, changes, step->changes, "step %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, flows->count, step->count,
				    "step %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, flows->since_ns, step->since,
				    "step %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, wale_flows_expiry(flows),
				    step->expiry, "step %zu", i);
	}
}

static struct wale_flows *wale_test_flows(struct kunit *test, u64 idle_ns)
{
	struct wale_flows *flows = vmalloc(sizeof(*flows));

	KUNIT_ASSERT_NOT_NULL(test, flows);
	wale_flows_init(flows, idle_ns, 0);
	return flows;
}

static void wale_flows_lives(struct kunit *test)
{
	/* keys 1 and 1 + WALE_FLOWS_MAX share a bucket */
	static const u64 twin = 1 + WALE_FLOWS_MAX;
	const struct wale_test_flow_step steps[] = {
		{ EXPIRE, 0, 5, false, 0, 0, NEVER },
		{ END, 1, 6, false, 0, 0, NEVER },
		/* the idle time runs from the last packet, of the oldest */
		{ SEE, 1, 10, true, 1, 10, 110 },
		{ SEE, twin, 20, true, 2, 20, 110 },
		{ SEE, 1, 30, false, 2, 20, 120 },
		{ SEE, 2, 30, true, 3, 30, 120 },
		{ EXPIRE, 0, 119, false, 3, 30, 120 },
		{ EXPIRE, 0, 120, true, 2, 120, 130 },
		/* it begins again, behind the others */
		{ SEE, twin, 125, true, 3, 125, 130 },
		/* two at once, later than they were due; the last tells since */
		{ EXPIRE, 0, 140, true, 1, 130, 225 },
		{ SEE, 1, 150, true, 2, 150, 225 },
		{ SEE, 2, 160, true, 3, 160, 225 },
		/* ends: the oldest, one that is not there, the newest, all */
		{ END, twin, 170, true, 2, 170, 250 },
		{ END, twin, 171, false, 2, 170, 250 },
		{ END, 2, 172, true, 1, 172, 250 },
		{ END, 1, 173, true, 0, 173, NEVER },
		{ EXPIRE, 0, 1000, false, 0, 173, NEVER },
		/* one that ends as another begins, from the middle of a bucket */
		{ SEE, 1, 1000, true, 1, 1000, 1100 },
		{ SEE, twin, 1001, true, 2, 1001, 1100 },
		{ SEE, twin + WALE_FLOWS_MAX, 1002, true, 3, 1002, 1100 },
		{ END, twin, 1003, true, 2, 1003, 1100 },
		{ SEE, 1, 1004, false, 2, 1003, 1102 },
		{ END, twin + WALE_FLOWS_MAX, 1005, true, 1, 1005, 1104 },
		{ EXPIRE, 0, 1104, true, 0, 1104, NEVER },
		/* the end of time */
		{ SEE, 7, NEVER - 50, true, 1, NEVER - 50, NEVER },
		{ EXPIRE, 0, NEVER - 1, false, 1, NEVER - 50, NEVER },
		{ END, 7, NEVER - 1, true, 0, NEVER - 1, NEVER },
	};
	struct wale_flows *flows = wale_test_flows(test, 100);

	wale_test_flow_steps(test, flows, steps, ARRAY_SIZE(steps));
	vfree(flows);
}

/* With no place left, more flows are not told apart; each place is used again. */
static void wale_flows_overflow(struct kunit *test)
{
	struct wale_flows *flows = wale_test_flows(test, 1000000);
	u64 i, n = WALE_FLOWS_MAX;

	for (i = 0; i < n; i++)
		wale_flows_see(flows, i << 40 | i * 7 % n, i);
	KUNIT_EXPECT_EQ(test, flows->count, n);
	KUNIT_EXPECT_EQ(test, flows->uncounted, 0);
	KUNIT_EXPECT_FALSE(test, wale_flows_see(flows, 5 << 20, n));
	KUNIT_EXPECT_FALSE(test, wale_flows_see(flows, 5 << 20, n));
	KUNIT_EXPECT_FALSE(test, wale_flows_end(flows, 5 << 20, n));
	KUNIT_EXPECT_EQ(test, flows->uncounted, 2);
	KUNIT_EXPECT_EQ(test, flows->since_ns, n - 1);

	/* known ones are, and their order is that of their last packets */
	KUNIT_EXPECT_FALSE(test, wale_flows_see(flows, 0, n));
	KUNIT_EXPECT_EQ(test, flows->uncounted, 2);
	for (i = 1; i < n; i++) {
		if (wale_flows_expiry(flows) != i + 1000000)
			break;
		wale_flows_expire(flows, i + 1000000);
	}
	KUNIT_EXPECT_EQ(test, i, n);
	KUNIT_EXPECT_EQ(test, flows->count, 1);
	KUNIT_EXPECT_EQ(test, flows->since_ns, n - 1 + 1000000);

	for (i = 1; i < n; i++)
		KUNIT_EXPECT_TRUE(test, wale_flows_see(flows, i << 30, 2000000));
	KUNIT_EXPECT_EQ(test, flows->count, n);
	KUNIT_EXPECT_TRUE(test, wale_flows_end(flows, 0, 2000001));
	KUNIT_EXPECT_TRUE(test, wale_flows_see(flows, 5 << 20, 2000001));
	KUNIT_EXPECT_EQ(test, flows->uncounted, 2);
	vfree(flows);
}

/* A long random life against a table that is searched from end to end. */
static void wale_flows_random_life(struct kunit *test)
{
	enum { KEYS = 50, IDLE = 300 };
	struct wale_flows *flows = wale_test_flows(test, IDLE);
	struct wale_stream stream;
	u64 last[KEYS] = {}, now;	/* 0: not active */
	u32 i, k, count;

	wale_stream_init(&stream, 1, WALE_PURPOSE_BUFFER);
	for (now = 1; now < 100000; now += 1 + wale_stream_draw(&stream) % 8) {
		k = wale_stream_draw(&stream) % KEYS;
		wale_flows_expire(flows, now);
		if (wale_stream_draw(&stream) % 4) {
			wale_flows_see(flows, (u64)k * WALE_FLOWS_MAX / 3, now);
			last[k] = now;
		} else {
			wale_flows_end(flows, (u64)k * WALE_FLOWS_MAX / 3, now);
			last[k] = 0;
		}
		for (i = 0, count = 0; i < KEYS; i++)
			count += last[i] && last[i] + IDLE > now;
		if (flows->count != count)
			break;
	}
	KUNIT_EXPECT_GE(test, now, 100000);
	vfree(flows);
}

static struct kunit_case wale_flows_cases[] = {
	KUNIT_CASE(wale_flows_lives),
	KUNIT_CASE(wale_flows_overflow),
	KUNIT_CASE(wale_flows_random_life),
	{}
};

static struct kunit_suite wale_flows_suite = {
	.name = "wale_flows",
	.test_cases = wale_flows_cases,
};

kunit_test_suite(wale_flows_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of how the flows on a wale link are counted");
