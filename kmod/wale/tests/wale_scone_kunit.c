// SPDX-License-Identifier: GPL-2.0
/*
 * wale_scone_kunit.c - tests of SCONE packets, against vectors from an independent model
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_scone.c"
#include "vectors/wale_vectors_scone.h"

static_assert(SCONE_VERSION == WALE_VEC_SCONE_VERSION);
static_assert(SCONE_UNKNOWN == WALE_VEC_SCONE_UNKNOWN);
static_assert(SCONE_PERIOD_NS == WALE_VEC_SCONE_PERIOD_NS);
static_assert(ARRAY_SIZE(wale_vec_scone_rates) == SCONE_SIGNAL_MAX + 1);

static void wale_scone_rates(struct kunit *test)
{
	u8 n;

	KUNIT_EXPECT_EQ(test, wale_scone_decode(0), SCONE_RATE_MIN);
	for (n = 0; n <= SCONE_SIGNAL_MAX; n++) {
		KUNIT_EXPECT_EQ_MSG(test, wale_scone_decode(n),
				    wale_vec_scone_rates[n], "signal %u", n);
		KUNIT_EXPECT_EQ(test, wale_scone_encode(wale_scone_decode(n)),
				n);
	}
}

static void wale_scone_signals(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wale_vec_scone_signals); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    wale_scone_encode(wale_vec_scone_signals[i].rate),
				    wale_vec_scone_signals[i].signal,
				    "%llu bytes/s",
				    wale_vec_scone_signals[i].rate);
}

/* What an element does with a datagram. */
static u8 wale_scone_pass(u8 *data, u32 len, u8 advice)
{
	if (len < SCONE_HEAD || !wale_scone_begins(data))
		return 0;
	if (!wale_scone_is_whole(data, len))
		return 1;
	if (advice < wale_scone_get(data))
		wale_scone_set(data, advice);
	return 2;
}

static void wale_scone_datagrams(struct kunit *test)
{
	size_t i;
	u8 data[sizeof(wale_vec_scone_datagrams[0].data)];

	for (i = 0; i < ARRAY_SIZE(wale_vec_scone_datagrams); i++) {
		const u8 *before = wale_vec_scone_datagrams[i].data;
		const u8 *head = wale_vec_scone_datagrams[i].head;
		u32 len = wale_vec_scone_datagrams[i].len;

		memcpy(data, before, sizeof(data));
		KUNIT_EXPECT_EQ_MSG(test,
				    wale_scone_pass(data, len,
						    wale_vec_scone_datagrams[i].advice),
				    wale_vec_scone_datagrams[i].kind,
				    "datagram %zu", i);
		if (len < 2)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, memcmp(data, head, 2), 0,
				    "datagram %zu", i);
		KUNIT_EXPECT_EQ(test, memcmp(data + 2, before + 2,
					     sizeof(data) - 2), 0);
	}
}

static struct kunit_case wale_scone_cases[] = {
	KUNIT_CASE(wale_scone_rates),
	KUNIT_CASE(wale_scone_signals),
	KUNIT_CASE(wale_scone_datagrams),
	{}
};

static struct kunit_suite wale_scone_suite = {
	.name = "wale_scone",
	.test_cases = wale_scone_cases,
};

kunit_test_suite(wale_scone_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of SCONE packets");
