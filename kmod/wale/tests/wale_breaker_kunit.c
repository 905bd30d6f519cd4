// SPDX-License-Identifier: GPL-2.0
/*
 * wale_breaker_kunit.c - which flows are cut, against an independent model
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_breaker.c"
#include "vectors/wale_vectors_breaker.h"

static void wale_breaker_desc(const struct wale_vec_breaker *vec, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu bytes/s for %llu ns",
		 vec->params.rate, vec->params.after_ns);
}

KUNIT_ARRAY_PARAM(wale_breaker, wale_vec_breakers, wale_breaker_desc);

static struct wale_breaker *
wale_breaker_test_new(struct kunit *test,
		      const struct wale_breaker_params *params)
{
	struct wale_breaker *breaker;

	breaker = kunit_kzalloc(test, struct_size(breaker, flow, 4), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, breaker);
	breaker->params = *params;
	return breaker;
}

/* Each packet of three flows. */
static void wale_breaker_vector_test(struct kunit *test)
{
	const struct wale_vec_breaker *vec = test->param_value;
	struct wale_breaker *breaker = wale_breaker_test_new(test, &vec->params);
	unsigned int i;
	u16 class;

	for (i = 0; i < WALE_VEC_BREAKER_PACKETS; i++) {
		class = vec->packet[i].flow;
		KUNIT_EXPECT_EQ_MSG(test, vec->packet[i].cut,
				    wale_breaker_cuts(breaker, class, 7 + class,
						      vec->packet[i].arrival_ns,
						      vec->packet[i].len),
				    "packet %u", i);
	}
	KUNIT_EXPECT_EQ(test, breaker->cuts, vec->cuts);
}

/* Another flow in the class begins anew; the crowd is no flow. */
static void wale_breaker_place_test(struct kunit *test)
{
	const struct wale_breaker_params params = { .rate = 1, .after_ns = 5 };
	struct wale_breaker *breaker = wale_breaker_test_new(test, &params);
	u64 now;

	for (now = 0; now < 10; now++) {
		KUNIT_EXPECT_EQ(test, now >= 5, wale_breaker_cuts(breaker, 1, 7, now, 40));
		KUNIT_EXPECT_FALSE(test, wale_breaker_cuts(breaker, 0, 0, now, 40));
	}
	KUNIT_EXPECT_EQ(test, breaker->cuts, 1ULL);
	KUNIT_EXPECT_FALSE(test, wale_breaker_cuts(breaker, 1, 8, now, 40));
	KUNIT_EXPECT_TRUE(test, wale_breaker_cuts(breaker, 1, 8, now + 5, 40));
	KUNIT_EXPECT_EQ(test, breaker->cuts, 2ULL);
}

static struct kunit_case wale_breaker_cases[] = {
	KUNIT_CASE_PARAM(wale_breaker_vector_test, wale_breaker_gen_params),
	KUNIT_CASE(wale_breaker_place_test),
	{}
};

static struct kunit_suite wale_breaker_suite = {
	.name = "wale_breaker",
	.test_cases = wale_breaker_cases,
};

kunit_test_suite(wale_breaker_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the circuit breaker of sch_wale");
