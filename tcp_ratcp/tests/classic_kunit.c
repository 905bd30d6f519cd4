// SPDX-License-Identifier: GPL-2.0
/*
 * classic_kunit.c - tests of the window and the timer of TCP before SACK
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../classic_clock.h"
#include "../classic_window.h"

static void classic_grow_slow_start(struct kunit *test)
{
	struct ratcp_window w = { .cwnd = 1, .cwnd_cnt = 7, .ssthresh = 15 };
	u32 acks;

	for (acks = 0; w.cwnd < 15; acks++)
		classic_window_grow(&w);
	KUNIT_EXPECT_EQ(test, acks, 14);
	KUNIT_EXPECT_EQ(test, w.cwnd_cnt, 0);
}

static void classic_grow_avoidance(struct kunit *test)
{
	struct ratcp_window w = { .cwnd = 15, .ssthresh = 15 };
	u32 acks;

	for (acks = 0; w.cwnd < 31; acks++)
		classic_window_grow(&w);
	/* 15 + 16 + ... + 30: one packet for each window of them */
	KUNIT_EXPECT_EQ(test, acks, 360);
	KUNIT_EXPECT_EQ(test, w.ssthresh, 15);
}

static void classic_grow_edges(struct kunit *test)
{
	struct ratcp_window w = { .cwnd = 1, .ssthresh = 1 };

	classic_window_grow(&w);
	KUNIT_EXPECT_EQ(test, w.cwnd, 2);

	/* a count left behind by another congestion control */
	w = (struct ratcp_window){ .cwnd = 4, .cwnd_cnt = 900, .ssthresh = 2 };
	classic_window_grow(&w);
	KUNIT_EXPECT_EQ(test, w.cwnd, 5);
	KUNIT_EXPECT_EQ(test, w.cwnd_cnt, 0);

	w = (struct ratcp_window){ .cwnd = S32_MAX, .ssthresh = U32_MAX };
	classic_window_grow(&w);
	KUNIT_EXPECT_EQ(test, w.cwnd, S32_MAX);
}

static void classic_losses(struct kunit *test)
{
	static const struct {
		u32 cwnd, half;
	} vec[] = {
		{ 1, 2 }, { 2, 2 }, { 3, 2 }, { 4, 2 }, { 5, 2 }, { 6, 3 },
		{ 30, 15 }, { 31, 15 }, { S32_MAX, S32_MAX / 2 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++) {
		struct ratcp_window w = {
			.cwnd = vec[i].cwnd, .cwnd_cnt = 1, .ssthresh = 99,
		};

		classic_window_restart(&w);
		KUNIT_EXPECT_EQ(test, w.cwnd, 1);
		KUNIT_EXPECT_EQ(test, w.ssthresh, vec[i].half);
		KUNIT_EXPECT_EQ(test, w.cwnd_cnt, 0);

		w.cwnd = vec[i].cwnd;
		classic_window_halve(&w);
		KUNIT_EXPECT_EQ(test, w.cwnd, vec[i].half);
		KUNIT_EXPECT_EQ(test, w.ssthresh, vec[i].half);
	}
}

/* Packets that the stack sends: it sends while in_flight < its window. */
static s64 classic_may_send(const struct classic_flight *f, u32 window,
			    bool recovery)
{
	return (s64)classic_window_for_stack(window, f, recovery) -
	       f->in_flight;
}

static struct classic_flight classic_test_flight(u32 out, u32 sacked, u32 lost,
						 u32 resent)
{
	return (struct classic_flight){
		.sacked = sacked,
		.lost = lost,
		.resent = resent,
		.in_flight = out - sacked - lost + resent,
	};
}

static void classic_stack_duplicates(struct kunit *test)
{
	struct classic_flight f;
	u32 sacked;

	/* 31 outstanding with a window of 31: duplicate ACKs make no room */
	for (sacked = 0; sacked <= 30; sacked++) {
		f = classic_test_flight(31, sacked, 0, 0);
		KUNIT_EXPECT_EQ(test, classic_may_send(&f, 31, false), 0);
		/* nor in a reduced window, however small */
		KUNIT_EXPECT_LE(test, classic_may_send(&f, 5, false), 0);
		KUNIT_EXPECT_GE(test, classic_window_for_stack(5, &f, false),
				1);
	}
	/* room that was there stays */
	f = classic_test_flight(20, 4, 0, 0);
	KUNIT_EXPECT_EQ(test, classic_may_send(&f, 31, false), 11);
}

static void classic_stack_restart(struct kunit *test)
{
	/* all lost, the first one sent again */
	struct classic_flight f = classic_test_flight(31, 0, 31, 1);

	KUNIT_EXPECT_EQ(test, classic_may_send(&f, 1, false), 0);
	/* acknowledged; 30 are still lost */
	f = classic_test_flight(30, 0, 30, 0);
	KUNIT_EXPECT_EQ(test, classic_may_send(&f, 2, false), 2);
	/* both sent */
	f = classic_test_flight(30, 0, 30, 2);
	KUNIT_EXPECT_EQ(test, classic_may_send(&f, 2, false), 0);
}

static void classic_stack_reno(struct kunit *test)
{
	struct classic_flight f = classic_test_flight(31, 3, 1, 0);
	u32 sacked;

	/* only the lost packet, though 15 + 3 < 31 */
	KUNIT_EXPECT_EQ(test, classic_may_send(&f, 15, true), 1);
	/*
	 * Half the window of 31 is 15: new packets leave from the 17th duplicate
	 * ACK on, when 15 + 17 > 31.
	 */
	for (sacked = 4; sacked <= 30; sacked++) {
		s64 room;

		f = classic_test_flight(31, sacked, 1, 1);
		room = classic_may_send(&f, 15, true);
		if (sacked <= 16)
			KUNIT_EXPECT_LE(test, room, 0);
		else
			KUNIT_EXPECT_EQ(test, room, sacked - 16);
	}
}

static void classic_stack_edges(struct kunit *test)
{
	struct classic_flight f = { .sacked = U32_MAX, .lost = U32_MAX };

	KUNIT_EXPECT_EQ(test, classic_window_for_stack(1, &f, true), 1);
	KUNIT_EXPECT_EQ(test, classic_window_for_stack(1, &f, false), 1);
	f = (struct classic_flight){ .resent = U32_MAX };
	KUNIT_EXPECT_EQ(test, classic_window_for_stack(U32_MAX, &f, true),
			S32_MAX);
}

static void classic_rto_table(struct kunit *test)
{
	static const struct {
		u32 srtt_ms, deviation_ms, backoff;
		u64 rto_us;
	} vec[] = {
		{ 0, 0, 0, 200000 },
		{ 100, 0, 0, 200000 },
		{ 160, 0, 0, 200000 },
		{ 155, 5, 0, 218750 },		/* 5/4 (155 + 4 * 5) */
		{ 155, 5, 1, 437500 },
		{ 155, 5, 5, 7000000 },
		{ 155, 5, 10, 120000000 },
		{ 155, 5, U32_MAX, 120000000 },
		{ 60000, 20000, 0, 120000000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    classic_rto_us(vec[i].srtt_ms * 8000,
						   vec[i].deviation_ms * 4000,
						   vec[i].backoff),
				    vec[i].rto_us, "row %zu", i);
	KUNIT_EXPECT_EQ(test, classic_rto_us(U32_MAX, U32_MAX, U32_MAX),
			120000000);
}

static void classic_rto_left(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, classic_rto_left_us(200000, 0), 200000);
	KUNIT_EXPECT_EQ(test, classic_rto_left_us(200000, 155000), 45000);
	KUNIT_EXPECT_EQ(test, classic_rto_left_us(200000, 200000), 1);
	KUNIT_EXPECT_EQ(test, classic_rto_left_us(200000, S64_MAX), 1);
	KUNIT_EXPECT_EQ(test, classic_rto_left_us(200000, -5), 200000);
}

static void classic_clock_estimate(struct kunit *test)
{
	/* samples in ticks; then srtt / 8, deviation / 4, timeout */
	static const struct {
		u32 ticks;
		u16 srtt, deviation;
		u32 rto;
	} vec[] = {
		{ 1, 8, 2, 3 },
		{ 2, 9, 3, 4 },
		{ 3, 11, 5, 6 },
		{ 5, 15, 8, 9 },
		{ 5, 19, 10, 12 },
		{ 0, 17, 10, 12 },
		{ U32_MAX, 4110, 4101, 128 },
	};
	struct classic_clock clock = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++) {
		classic_clock_sample(&clock, vec[i].ticks);
		KUNIT_EXPECT_EQ_MSG(test, clock.srtt, vec[i].srtt, "row %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, clock.deviation, vec[i].deviation,
				    "row %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, classic_clock_rto(&clock, 0),
				    vec[i].rto, "row %zu", i);
	}
}

static void classic_clock_edges(struct kunit *test)
{
	struct classic_clock clock = {};
	u32 i;

	/* always within one tick: 2 ticks, and twice that after a timeout */
	for (i = 0; i < 100; i++)
		classic_clock_sample(&clock, 0);
	KUNIT_EXPECT_EQ(test, classic_clock_rto(&clock, 0), 2);
	KUNIT_EXPECT_EQ(test, classic_clock_rto(&clock, 1), 4);
	KUNIT_EXPECT_EQ(test, classic_clock_rto(&clock, 6), 128);
	KUNIT_EXPECT_EQ(test, classic_clock_rto(&clock, U32_MAX), 128);
	/* no value grows beyond its type */
	for (i = 0; i < 100; i++)
		classic_clock_sample(&clock, U32_MAX);
	KUNIT_EXPECT_EQ(test, classic_clock_rto(&clock, 0), 128);
	KUNIT_EXPECT_GT(test, clock.srtt, 30000);
}

static void classic_clock_time(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, classic_clock_ticks(99999, 100000, 100000), 1);
	KUNIT_EXPECT_EQ(test, classic_clock_ticks(100000, 199999, 100000), 0);
	KUNIT_EXPECT_EQ(test, classic_clock_ticks(5, 5, 1), 0);
	/* the second tick from 0.35 s on is at 0.5 s */
	KUNIT_EXPECT_EQ(test, classic_clock_left_us(350000, 100000, 2), 150000);
	KUNIT_EXPECT_EQ(test, classic_clock_left_us(400000, 100000, 2), 200000);
	KUNIT_EXPECT_EQ(test, classic_clock_left_us(499999, 100000, 1), 1);
	KUNIT_EXPECT_EQ(test, classic_clock_left_us(1ULL << 50, 10000000, 128),
			1280000000 - (1ULL << 50) % 10000000);
}

static struct kunit_case classic_cases[] = {
	KUNIT_CASE(classic_grow_slow_start),
	KUNIT_CASE(classic_grow_avoidance),
	KUNIT_CASE(classic_grow_edges),
	KUNIT_CASE(classic_losses),
	KUNIT_CASE(classic_stack_duplicates),
	KUNIT_CASE(classic_stack_restart),
	KUNIT_CASE(classic_stack_reno),
	KUNIT_CASE(classic_stack_edges),
	KUNIT_CASE(classic_rto_table),
	KUNIT_CASE(classic_rto_left),
	KUNIT_CASE(classic_clock_estimate),
	KUNIT_CASE(classic_clock_edges),
	KUNIT_CASE(classic_clock_time),
	{}
};

static struct kunit_suite classic_suite = {
	.name = "tcp_classic",
	.test_cases = classic_cases,
};

kunit_test_suite(classic_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the rules of TCP before SACK");
