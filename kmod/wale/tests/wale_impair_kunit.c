// SPDX-License-Identifier: GPL-2.0
/*
 * wale_impair_kunit.c - the impairments of a link, against independent models
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_again.h"
#include "../wale_jitter.c"
#include "../wale_loss.c"
#include "../wale_random.h"
#include "../wale_slot.c"
#include "vectors/wale_vectors_jitter.h"
#include "vectors/wale_vectors_losses.h"
#include "vectors/wale_vectors_slot.h"

static void wale_loss_desc(const struct wale_vec_loss *vec, char *desc)
{
	strscpy(desc, vec->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(wale_loss, wale_vec_losses, wale_loss_desc);

static struct wale_loss_params
wale_loss_test_params(const struct wale_vec_loss *vec)
{
	struct wale_loss_params params = { .kind = vec->kind };

	memcpy(params.number, vec->number, sizeof(params.number));
	return params;
}

/* The same packets are lost as in the model. */
static void wale_loss_vector_test(struct kunit *test)
{
	const struct wale_vec_loss *vec = test->param_value;
	struct wale_loss_params params = wale_loss_test_params(vec);
	struct wale_stream stream;
	struct wale_loss loss;
	unsigned int n;

	KUNIT_ASSERT_TRUE(test, wale_loss_is_valid(&params));
	wale_stream_init(&stream, vec->seed, WALE_PURPOSE_LOSS);
	wale_loss_start(&loss, &params);
	for (n = 0; n < 64 * WALE_VEC_LOSS_WORDS; n++)
		KUNIT_ASSERT_EQ_MSG(test, wale_loss_next(&loss, wale_stream_draw(&stream)),
				    (bool)(vec->lost[n / 64] >> n % 64 & 1),
				    "packet %u", n);
}

/* Of 65536 draws, a share stays, and those that do not are the stream's own. */
static void wale_again_test(struct kunit *test)
{
	static const struct {
		u32 correlation;
		int stay;
	} cases[] = { { 0, 0 }, { 1U << 30, 16384 }, { 3U << 30, 49152 },
		      { WALE_LOSS_ALWAYS, 65535 } };
	struct wale_again again;
	struct wale_stream own;
	u64 draw, before, mine;
	int stayed;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		wale_again_init(&again, 7, WALE_PURPOSE_LOSS_AGAIN);
		wale_stream_init(&own, 7, WALE_PURPOSE_LOSS);
		for (n = 0, stayed = 0, before = 0; n < 65536; n++) {
			mine = wale_stream_draw(&own);
			draw = wale_again_draw(&again, cases[i].correlation, mine);
			KUNIT_ASSERT_TRUE(test, draw == mine || (n && draw == before));
			stayed += draw != mine;
			before = draw;
		}
		/* four and a half standard deviations */
		KUNIT_EXPECT_LE(test, abs(stayed - cases[i].stay), 500);
	}
}

/* Ways out of a state with more than certainty are not valid. */
static void wale_loss_valid_test(struct kunit *test)
{
	struct wale_loss_params params = {
		.kind = WALE_LOSS_STATE,
		.number = { 1U << 31, 1U << 31, 1U << 31, 0, 1U << 31 },
	};

	KUNIT_EXPECT_TRUE(test, wale_loss_is_valid(&params));
	params.number[P14]++;
	KUNIT_EXPECT_FALSE(test, wale_loss_is_valid(&params));
	params.number[P14] = WALE_LOSS_ALWAYS;
	params.number[P13] = 0;
	KUNIT_EXPECT_TRUE(test, wale_loss_is_valid(&params));
	params.number[P31] = WALE_LOSS_ALWAYS;
	KUNIT_EXPECT_FALSE(test, wale_loss_is_valid(&params));
	params.kind = WALE_LOSS_GEMODEL;
	KUNIT_EXPECT_TRUE(test, wale_loss_is_valid(&params));
}

/* Ranges include their ends, and are of their flow. */
static void wale_drop_list_test(struct kunit *test)
{
	static const struct wale_drop_list list = {
		.count = 3,
		.range = { { 0, 2, 4 }, { 7, 1, 1 }, { 7, U32_MAX, U32_MAX } },
	};

	KUNIT_EXPECT_FALSE(test, wale_drop_list_has(&list, 0, 1));
	KUNIT_EXPECT_TRUE(test, wale_drop_list_has(&list, 0, 2));
	KUNIT_EXPECT_TRUE(test, wale_drop_list_has(&list, 0, 4));
	KUNIT_EXPECT_FALSE(test, wale_drop_list_has(&list, 0, 5));
	KUNIT_EXPECT_TRUE(test, wale_drop_list_has(&list, 7, 1));
	KUNIT_EXPECT_FALSE(test, wale_drop_list_has(&list, 7, 2));
	KUNIT_EXPECT_TRUE(test, wale_drop_list_has(&list, 7, U32_MAX));
	KUNIT_EXPECT_FALSE(test, wale_drop_list_has(&list, 7, 1ULL << 32));
	KUNIT_EXPECT_FALSE(test, wale_drop_list_has(&list, 6, 1));
}

/* The same is added to the delay as in the model. */
static void wale_jitter_vector_test(struct kunit *test)
{
	const size_t size = sizeof(wale_vec_jitter_table);
	struct wale_jitter_table *table;
	unsigned int i;

	table = kunit_kzalloc(test, sizeof(*table) + size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	memcpy(table->entry, wale_vec_jitter_table, size);
	for (i = 0; i < ARRAY_SIZE(wale_vec_jitters); i++) {
		const struct wale_vec_jitter *vec = &wale_vec_jitters[i];

		table->count = vec->count;
		KUNIT_EXPECT_EQ_MSG(test,
				    wale_jitter_offset(vec->jitter_ns,
						       vec->count ? table : NULL,
						       vec->draw),
				    vec->offset_ns, "vector %u", i);
	}
}

/* A delay is never negative. */
static void wale_jitter_delay_test(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wale_jitter_delay(5, -4), 1ULL);
	KUNIT_EXPECT_EQ(test, wale_jitter_delay(5, -5), 0ULL);
	KUNIT_EXPECT_EQ(test, wale_jitter_delay(5, -6), 0ULL);
	KUNIT_EXPECT_EQ(test, wale_jitter_delay(WALE_TIME_MAX,
						4 * (s64)WALE_TIME_MAX),
			5 * WALE_TIME_MAX);
}

/* Packets leave in the slots of the model. */
static void wale_slot_vector_test(struct kunit *test)
{
	const struct wale_vec_slot *vec;
	struct wale_stream stream;
	unsigned int n;

	for (vec = wale_vec_slots;
	     vec < wale_vec_slots + ARRAY_SIZE(wale_vec_slots); vec++) {
		struct wale_slot slot = {};

		wale_stream_init(&stream, vec->seed, WALE_PURPOSE_SLOT);
		for (n = 0; n < WALE_VEC_SLOT_PACKETS; n++) {
			u64 departure_ns = vec->packet[n].departure_ns;
			u32 len = vec->packet[n].len;

			if (!wale_slot_takes(&slot, &vec->params, departure_ns,
					     len))
				wale_slot_open(&slot, &vec->params,
					       departure_ns,
					       wale_stream_draw(&stream));
			KUNIT_EXPECT_EQ_MSG(test, wale_slot_enter(&slot, len),
					    vec->packet[n].at_ns,
					    "seed %llu, packet %u", vec->seed,
					    n);
		}
	}
}

static struct kunit_case wale_impair_cases[] = {
	KUNIT_CASE_PARAM(wale_loss_vector_test, wale_loss_gen_params),
	KUNIT_CASE(wale_again_test),
	KUNIT_CASE(wale_loss_valid_test),
	KUNIT_CASE(wale_drop_list_test),
	KUNIT_CASE(wale_jitter_vector_test),
	KUNIT_CASE(wale_jitter_delay_test),
	KUNIT_CASE(wale_slot_vector_test),
	{}
};

static struct kunit_suite wale_impair_suite = {
	.name = "wale_impair",
	.test_cases = wale_impair_cases,
};

kunit_test_suite(wale_impair_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the impairments of sch_wale");
