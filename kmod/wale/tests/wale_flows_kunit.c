// SPDX-License-Identifier: GPL-2.0
/*
 * wale_flows_kunit.c - tests of how the flows on a wale link are counted
 */

#include <kunit/test.h>
#include <linux/module.h>

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

/* A packet of a flow, for which there is room.  Return: true if it begins. */
static bool wale_test_flow_see(struct kunit *test, struct wale_flows *flows,
			       u64 key, u64 now)
{
	struct wale_flow_block *block;

	if (wale_flows_see(flows, key, now))
		return false;
	if (wale_flows_are_full(flows)) {
		block = kunit_kmalloc(test, sizeof(*block), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, block);
		memset(block, 0x5a, sizeof(*block));
		wale_flows_add_block(flows, block);
	}
	return wale_flows_begin(flows, key, now);
}

static void wale_test_flow_steps(struct kunit *test, struct wale_flows *flows,
				 const struct wale_test_flow_step *step,
				 size_t n)
{
	bool changes;
	size_t i;

	for (i = 0; i < n; i++, step++) {
		if (step->verb == SEE)
			changes = wale_test_flow_see(test, flows, step->key,
						     step->now);
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
	struct wale_flows *flows;

	flows = kunit_kmalloc(test, sizeof(*flows), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, flows);
	wale_flows_init(flows, idle_ns, 0);
	return flows;
}

static void wale_flows_lives(struct kunit *test)
{
	enum { TWIN = 1 + WALE_FLOWS_MAX };	/* shares a bucket with key 1 */
	static const struct wale_test_flow_step steps[] = {
		{ EXPIRE, 0, 5, false, 0, 0, NEVER },
		{ END, 1, 6, false, 0, 0, NEVER },
		/* the idle time runs from the last packet, of the oldest */
		{ SEE, 1, 10, true, 1, 10, 110 },
		{ SEE, TWIN, 20, true, 2, 20, 110 },
		{ SEE, 1, 30, false, 2, 20, 120 },
		{ SEE, 2, 30, true, 3, 30, 120 },
		{ EXPIRE, 0, 119, false, 3, 30, 120 },
		{ EXPIRE, 0, 120, true, 2, 120, 130 },
		/* it begins again, behind the others */
		{ SEE, TWIN, 125, true, 3, 125, 130 },
		/* two at once, later than they were due; the last tells since */
		{ EXPIRE, 0, 140, true, 1, 130, 225 },
		{ SEE, 1, 150, true, 2, 150, 225 },
		{ SEE, 2, 160, true, 3, 160, 225 },
		/* ends: the oldest, one that is not there, the newest, all */
		{ END, TWIN, 170, true, 2, 170, 250 },
		{ END, TWIN, 171, false, 2, 170, 250 },
		{ END, 2, 172, true, 1, 172, 250 },
		{ END, 1, 173, true, 0, 173, NEVER },
		{ EXPIRE, 0, 1000, false, 0, 173, NEVER },
		/* one that ends as another begins, from the middle of a bucket */
		{ SEE, 1, 1000, true, 1, 1000, 1100 },
		{ SEE, TWIN, 1001, true, 2, 1001, 1100 },
		{ SEE, TWIN + WALE_FLOWS_MAX, 1002, true, 3, 1002, 1100 },
		{ END, TWIN, 1003, true, 2, 1003, 1100 },
		{ SEE, 1, 1004, false, 2, 1003, 1102 },
		{ END, TWIN + WALE_FLOWS_MAX, 1005, true, 1, 1005, 1104 },
		{ EXPIRE, 0, 1104, true, 0, 1104, NEVER },
		/* the end of time */
		{ SEE, 7, NEVER - 50, true, 1, NEVER - 50, NEVER },
		{ EXPIRE, 0, NEVER - 1, false, 1, NEVER - 50, NEVER },
		{ END, 7, NEVER - 1, true, 0, NEVER - 1, NEVER },
	};
	struct wale_flows *flows = wale_test_flows(test, 100);

	wale_test_flow_steps(test, flows, steps, ARRAY_SIZE(steps));
}

/* With no place left, more flows are not told apart; each place is used again. */
static void wale_flows_overflow(struct kunit *test)
{
	struct wale_flows *flows = wale_test_flows(test, 1000000);
	u64 i, n = WALE_FLOWS_MAX;

	for (i = 0; i < n; i++)
		wale_test_flow_see(test, flows, i << 40 | i * 7 % WALE_FLOWS_MAX, i);
	KUNIT_EXPECT_EQ(test, flows->count, n);
	KUNIT_EXPECT_EQ(test, flows->uncounted, 0);
	KUNIT_EXPECT_FALSE(test, wale_test_flow_see(test, flows, 5 << 20, n));
	KUNIT_EXPECT_FALSE(test, wale_test_flow_see(test, flows, 5 << 20, n));
	KUNIT_EXPECT_FALSE(test, wale_flows_end(flows, 5 << 20, n));
	KUNIT_EXPECT_EQ(test, flows->uncounted, 2);
	KUNIT_EXPECT_EQ(test, flows->since_ns, n - 1);

	/* known ones are, and their order is that of their last packets */
	KUNIT_EXPECT_TRUE(test, wale_flows_see(flows, 0, n));
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
		KUNIT_EXPECT_TRUE(test, wale_test_flow_see(test, flows, i << 30,
							   2000000));
	KUNIT_EXPECT_EQ(test, flows->count, n);
	KUNIT_EXPECT_TRUE(test, wale_flows_end(flows, 0, 2000001));
	KUNIT_EXPECT_TRUE(test, wale_test_flow_see(test, flows, 5 << 20,
						   2000001));
	KUNIT_EXPECT_EQ(test, flows->blocks, WALE_FLOWS_BLOCKS);
	KUNIT_EXPECT_EQ(test, flows->uncounted, 2);
}

/* However many there are, each is found, and those that ended are not. */
static void wale_flows_grow(struct kunit *test)
{
	enum { FLOWS = 3000 };
	struct wale_flows *flows = wale_test_flows(test, 1000000);
	struct wale_stream stream;
	u32 i, n, missing = 0;
	u64 *keys;

	keys = kunit_kcalloc(test, FLOWS, sizeof(*keys), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, keys);
	wale_stream_init(&stream, 2, WALE_PURPOSE_LOSS);
	for (n = 0; n < FLOWS; n++) {
		KUNIT_ASSERT_EQ(test, flows->blocks,
				DIV_ROUND_UP(n, WALE_FLOWS_OF_BLOCK));
		keys[n] = wale_stream_draw(&stream);
		wale_test_flow_see(test, flows, keys[n], n);
		for (i = 0; n % 41 == 0 && i <= n; i++)
			missing += !wale_flows_see(flows, keys[i], n);
	}
	for (i = 0; i < FLOWS; i += 2)
		missing += !wale_flows_end(flows, keys[i], FLOWS);
	for (i = 0; i < FLOWS; i++)
		missing += wale_flows_see(flows, keys[i], FLOWS) != i % 2;
	KUNIT_EXPECT_EQ(test, missing, 0);
	KUNIT_EXPECT_EQ(test, flows->count, FLOWS / 2);

	/* without any, the next one needs a single block */
	for (i = 1; i < FLOWS; i += 2)
		missing += !wale_flows_end(flows, keys[i], FLOWS);
	KUNIT_EXPECT_EQ(test, flows->count, 0);
	flows->blocks = 1;
	for (n = 0; n < WALE_FLOWS_OF_BLOCK; n++) {
		KUNIT_ASSERT_FALSE(test, wale_flows_are_full(flows));
		missing += !wale_flows_begin(flows, keys[n], FLOWS);
	}
	KUNIT_EXPECT_TRUE(test, wale_flows_are_full(flows));
	KUNIT_EXPECT_FALSE(test, wale_flows_begin(flows, 1, FLOWS));
	KUNIT_EXPECT_EQ(test, flows->uncounted, 1);
	KUNIT_EXPECT_EQ(test, missing, 0);
}

/* Of very many that end at one time, some are left for the next call. */
static void wale_flows_end_in_parts(struct kunit *test)
{
	enum { FLOWS = WALE_FLOWS_EXPIRE_MAX * 3 + 7 };
	struct wale_flows *flows = wale_test_flows(test, 1000);
	u32 i, calls = 0;

	for (i = 0; i < FLOWS; i++)
		wale_test_flow_see(test, flows, i * 77777, i / 2);
	for (; wale_flows_expire(flows, 1000000); calls++) {
		i = FLOWS - min(FLOWS, (calls + 1) * WALE_FLOWS_EXPIRE_MAX);
		KUNIT_EXPECT_EQ(test, flows->count, i);
		/* as of the end of the last one that has ended */
		KUNIT_EXPECT_EQ(test, flows->since_ns,
				(FLOWS - i - 1) / 2 + 1000);
	}
	KUNIT_EXPECT_EQ(test, calls, 4);
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
		k = (u32)wale_stream_draw(&stream) % KEYS;
		wale_flows_expire(flows, now);
		if (wale_stream_draw(&stream) % 4) {
			wale_test_flow_see(test, flows,
					   k * WALE_FLOWS_MAX / 3, now);
			last[k] = now;
		} else {
			wale_flows_end(flows, k * WALE_FLOWS_MAX / 3, now);
			last[k] = 0;
		}
		for (i = 0, count = 0; i < KEYS; i++)
			count += last[i] && last[i] + IDLE > now;
		if (flows->count != count)
			break;
	}
	KUNIT_EXPECT_GE(test, now, 100000);
}

static struct kunit_case wale_flows_cases[] = {
	KUNIT_CASE(wale_flows_lives),
	KUNIT_CASE(wale_flows_overflow),
	KUNIT_CASE(wale_flows_grow),
	KUNIT_CASE(wale_flows_end_in_parts),
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
