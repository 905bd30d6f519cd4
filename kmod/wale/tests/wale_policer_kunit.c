// SPDX-License-Identifier: GPL-2.0
/*
 * wale_policer_kunit.c - which packets exceed a policer, against an independent model
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_policer.c"
#include "vectors/wale_vectors_policer.h"

static void wale_policer_desc(const struct wale_vec_policer *vec, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%llu bytes/s, %llu bytes",
		 vec->params[0].rate, vec->params[0].burst);
}

KUNIT_ARRAY_PARAM(wale_policer, wale_vec_policers, wale_policer_desc);

static void wale_policer_vector_test(struct kunit *test)
{
	const struct wale_vec_policer *vec = test->param_value;
	u64 now = WALE_VEC_POLICER_START;
	struct wale_policer policer = {};
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, wale_policer_is_on(&policer));
	wale_policer_set(&policer, &vec->params[0], now);
	for (i = 0; i < WALE_VEC_POLICER_PACKETS; i++) {
		if (i == WALE_VEC_POLICER_PACKETS / 2)
			wale_policer_set(&policer, &vec->params[1], now);
		now = vec->packet[i].arrival_ns;
		KUNIT_EXPECT_EQ_MSG(test, vec->packet[i].takes,
				    wale_policer_takes(&policer, now,
						       vec->packet[i].len),
				    "packet %u", i);
	}
}

static struct kunit_case wale_policer_cases[] = {
	KUNIT_CASE_PARAM(wale_policer_vector_test, wale_policer_gen_params),
	{}
};

static struct kunit_suite wale_policer_suite = {
	.name = "wale_policer",
	.test_cases = wale_policer_cases,
};

kunit_test_suite(wale_policer_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the policer of sch_wale");
