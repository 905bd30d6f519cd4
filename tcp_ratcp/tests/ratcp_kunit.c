// SPDX-License-Identifier: GPL-2.0
/*
 * ratcp_kunit.c - the window rule, against section II of Karnik and Kumar (2005)
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../ratcp_window.c"

#define SLOW	RATE_FEEDBACK_PHASE_SLOW_START
#define AVOID	RATE_FEEDBACK_PHASE_AVOIDANCE
#define INACT	RATE_FEEDBACK_PHASE_INACTIVE
#define FAST	RATE_FEEDBACK_RISE_FAST
#define ADD	RATE_FEEDBACK_RISE_ADDITIVE
#define HUGE	RATCP_WINDOW_MAX
#define NONE	INT_MAX		/* no threshold */

/* W_rate = floor(R * base RTT / packet) + beta */

static const struct ratcp_rate_case {
	const char *name;
	u64 rate;
	u32 rtt_us, packet_size, beta;
	u32 rate_window;
} ratcp_rate_cases[] = {
	{ "the paper's link", 100000, 100000, 500, 1, 21 },
	{ "beta 4", 100000, 100000, 500, 4, 24 },
	{ "beta 0", 100000, 100000, 500, 0, 20 },
	{ "a third of the link", 33333, 100000, 500, 1, 7 },
	{ "just below a packet more", 100000, 104999, 500, 1, 21 },
	{ "a packet more", 100000, 105000, 500, 1, 22 },
	{ "R = 0", 0, 100000, 500, 1, 1 },
	{ "R = 0, beta 0: never nothing", 0, 100000, 500, 0, 1 },
	{ "less than a packet in a round trip", 1, 1000, 1500, 0, 1 },
	{ "1 us", 1250000000, 1, 1500, 1, 1 },
	{ "1 us, 100 Gbit/s", 12500000000ULL, 1, 1500, 1, 9 },
	{ "60 s, 1 Gbit/s", 125000000, 60000000, 1500, 1, 5000001 },
	{ "60 s, 1 Tbit/s: the largest", 125000000000ULL, 60000000, 1500, 1,
	  HUGE },
	{ "largest RTT that there is", 1000000000000000ULL, U32_MAX, 1, 1000000,
	  HUGE },
	{ "largest rate that is computed", RATCP_RATE_HUGE - 1, U32_MAX, 1, 1,
	  HUGE },
	{ "2^50", RATCP_RATE_HUGE, 1, U32_MAX, 1, HUGE },
	{ "unlimited", U64_MAX, 100000, 1500, 1, HUGE },
	{ "unlimited, 1 us", U64_MAX, 1, 1500, 0, HUGE },
	{ "largest beta", 0, 1, 1500, RATE_FEEDBACK_BETA_MAX, 1000000 },
	{ "largest packet", 125000000, 10000, U32_MAX, 0, 1 },
};

static void ratcp_rate_desc(const struct ratcp_rate_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ratcp_rate, ratcp_rate_cases, ratcp_rate_desc);

static void ratcp_rate_window_test(struct kunit *test)
{
	const struct ratcp_rate_case *c = test->param_value;
	u32 packets = ratcp_rate_packets(c->rate, c->rtt_us, c->packet_size);

	KUNIT_EXPECT_EQ(test, c->rate_window,
			ratcp_rate_window(packets, c->beta));
}

/* The backlog: beta plus a share of the gap to the peak. */

static const struct ratcp_backlog_case {
	const char *name;
	u32 beta;
	u8 swing;
	u32 packets, peak, backlog;
} ratcp_backlog_cases[] = {
	{ "off", 1, 0, 6, 20, 1 },
	{ "half of the gap", 1, 50, 6, 20, 8 },
	{ "rounded down", 1, 50, 7, 20, 7 },
	{ "all of it", 1, 100, 6, 20, 15 },
	{ "the least part of it", 1, 1, 0, 99, 1 },
	{ "a packet of it", 1, 1, 0, 100, 2 },
	{ "beta 0", 0, 50, 6, 20, 7 },
	{ "beta 4", 4, 50, 6, 20, 11 },
	{ "at the peak", 1, 50, 20, 20, 1 },
	{ "above the peak", 1, 100, 21, 20, 1 },
	{ "no peak yet", 1, 100, 20, 0, 1 },
	{ "R = 0", 1, 50, 0, 20, 11 },
	{ "the largest gap", RATE_FEEDBACK_BETA_MAX, 100, 0, HUGE,
	  HUGE + RATE_FEEDBACK_BETA_MAX },
	{ "half of the largest gap", 0, 50, 0, HUGE, HUGE / 2 },
};

static void ratcp_backlog_desc(const struct ratcp_backlog_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ratcp_backlog, ratcp_backlog_cases, ratcp_backlog_desc);

static void ratcp_backlog_test(struct kunit *test)
{
	const struct ratcp_backlog_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, c->backlog,
			ratcp_backlog(c->beta, c->swing, c->packets, c->peak));
	KUNIT_EXPECT_LE(test, ratcp_rate_window(c->packets, c->backlog), HUGE);
}

/*
 * The highest rate of the last minute.  Each row is a time, s, a rate, and the
 * peak then; run twice, so that jiffies wrap in the second.
 */
static void ratcp_peak_test(struct kunit *test)
{
	static const struct {
		u32 time_s;
		u64 rate, peak;
	} seen[] = {
		{ 0, 50, 50 },
		{ 1, 100, 100 },	/* higher */
		{ 2, 40, 100 },
		{ 30, 0, 100 },
		{ 61, 90, 100 },	/* a minute after it was seen */
		{ 62, 90, 90 },		/* later than that: start over from R */
		{ 100, 80, 90 },
		{ 110, 90, 90 },	/* seen again, not higher */
		{ 165, 80, 90 },
		{ 170, 20, 90 },
		{ 171, 20, 20 },	/* 80 between them is forgotten */
		{ 200, 30, 30 },
		{ 201, 10, 30 },
		{ 9000, 10, 10 },	/* no ACK came for long */
		{ 9001, U64_MAX, U64_MAX },
		{ 9002, U64_MAX - 1, U64_MAX },
		{ 9062, 0, 0 },
		{ 9063, 0, 0 },
	};
	static const u32 starts[] = { 0, -170 * HZ };
	size_t start, i;

	for (start = 0; start < ARRAY_SIZE(starts); start++) {
		u64 peak = 0, before;
		u32 when = 0;
		bool moved;

		for (i = 0; i < ARRAY_SIZE(seen); i++) {
			before = peak;
			moved = ratcp_peak_update(&peak, &when, seen[i].rate,
						  starts[start] +
						  seen[i].time_s * HZ);
			KUNIT_EXPECT_EQ_MSG(test, peak, seen[i].peak,
					    "at %u s", seen[i].time_s);
			KUNIT_EXPECT_EQ_MSG(test, moved, peak != before,
					    "at %u s", seen[i].time_s);
		}
	}
}

/* Seen again and again: the minute begins when it was last seen. */
static void ratcp_peak_stays_test(struct kunit *test)
{
	u64 peak = 0;
	u32 now, seen = 0;

	for (now = 0; now < 300 * HZ; now += HZ / 10)
		ratcp_peak_update(&peak, &seen, 100, now);
	KUNIT_EXPECT_FALSE(test, ratcp_peak_update(&peak, &seen, 99, now));
	KUNIT_EXPECT_EQ(test, peak, 100);
	now = seen + 60 * HZ;
	KUNIT_EXPECT_FALSE(test, ratcp_peak_update(&peak, &seen, 99, now));
	KUNIT_EXPECT_TRUE(test, ratcp_peak_update(&peak, &seen, 99, now + 1));
	KUNIT_EXPECT_EQ(test, peak, 99);
}

/* One acknowledgment: the limit, and growth if it covers data. */

static const struct ratcp_ack_case {
	const char *name;
	struct ratcp_window before;
	u32 rate_window, in_flight, acked;
	struct ratcp_window after;
} ratcp_ack_cases[] = {
	/* slow start */
	{ "slow start grows by what is acknowledged",
	  { 4, 0, NONE, SLOW, FAST }, 21, 3, 1,
	  { 5, 0, NONE, SLOW, FAST } },
	{ "slow start reaches W_rate",
	  { 20, 0, NONE, SLOW, FAST }, 21, 19, 1,
	  { 21, 0, 21, AVOID, FAST } },
	{ "slow start does not pass W_rate",
	  { 20, 0, NONE, SLOW, FAST }, 21, 16, 4,
	  { 21, 0, 21, AVOID, FAST } },
	{ "slow start with a window of W_rate is over",
	  { 1, 0, NONE, SLOW, ADD }, 1, 0, 1,
	  { 1, 0, 1, AVOID, ADD } },
	{ "slow start ends at the threshold, the rest is avoidance",
	  { 9, 0, 10, SLOW, ADD }, 21, 6, 3,
	  { 10, 2, 10, AVOID, ADD } },
	{ "W_rate falls below the window in slow start",
	  { 16, 0, NONE, SLOW, FAST }, 6, 15, 1,
	  { 6, 0, 6, INACT, FAST } },
	{ "the same, with less in flight",
	  { 16, 0, NONE, SLOW, FAST }, 6, 5, 1,
	  { 6, 0, 6, AVOID, FAST } },
	/* congestion avoidance */
	{ "at W_rate nothing moves",
	  { 21, 0, 21, AVOID, ADD }, 21, 20, 1,
	  { 21, 0, 21, AVOID, ADD } },
	{ "additive: one part of a packet",
	  { 7, 0, 7, AVOID, ADD }, 21, 6, 1,
	  { 7, 1, 7, AVOID, ADD } },
	{ "additive: one packet per window",
	  { 7, 6, 7, AVOID, ADD }, 21, 6, 1,
	  { 8, 0, 7, AVOID, ADD } },
	{ "additive: many at once",
	  { 7, 6, 7, AVOID, ADD }, 21, 0, 7,
	  { 8, 6, 7, AVOID, ADD } },
	{ "W_rate falls, more is in flight: inactive",
	  { 21, 5, 10, AVOID, ADD }, 11, 20, 1,
	  { 11, 0, 10, INACT, ADD } },
	{ "W_rate falls below the threshold: no slow start",
	  { 21, 0, 15, AVOID, ADD }, 11, 10, 1,
	  { 11, 0, 11, AVOID, ADD } },
	{ "inactive: no growth",
	  { 11, 0, 11, INACT, FAST }, 30, 11, 1,
	  { 11, 0, 11, INACT, FAST } },
	{ "inactive: the last that is too many",
	  { 11, 0, 11, INACT, FAST }, 11, 12, 1,
	  { 11, 0, 11, INACT, FAST } },
	{ "what is in flight fits: avoidance again",
	  { 11, 0, 11, INACT, ADD }, 21, 10, 1,
	  { 11, 1, 11, AVOID, ADD } },
	{ "inactive, and W_rate falls further",
	  { 11, 0, 11, INACT, FAST }, 5, 11, 1,
	  { 5, 0, 5, INACT, FAST } },
	/* rise fast */
	{ "fast: at once",
	  { 10, 7, 10, AVOID, FAST }, 20, 9, 1,
	  { 20, 0, 10, AVOID, FAST } },
	{ "fast: from slow start",
	  { 9, 0, 10, SLOW, FAST }, 21, 6, 3,
	  { 21, 0, 10, AVOID, FAST } },
	{ "fast: a window of one",
	  { 1, 0, 1, AVOID, FAST }, HUGE, 0, 1,
	  { HUGE, 0, 1, AVOID, FAST } },
	{ "marked: additive",
	  { 10, 9, 10, AVOID, FAST, true }, 20, 9, 1,
	  { 11, 0, 10, AVOID, FAST, true } },
	{ "marked until W_rate is reached",
	  { 20, 0, 10, AVOID, FAST, true }, 20, 9, 1,
	  { 20, 0, 10, AVOID, FAST, false } },
	/* the smallest */
	{ "R = 0 in congestion avoidance: one packet",
	  { 21, 0, 21, AVOID, FAST }, 1, 20, 1,
	  { 1, 0, 1, INACT, FAST } },
	{ "a duplicate: no growth",
	  { 7, 0, 7, AVOID, FAST }, 21, 6, 0,
	  { 7, 0, 7, AVOID, FAST } },
};

static void ratcp_ack_desc(const struct ratcp_ack_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ratcp_ack, ratcp_ack_cases, ratcp_ack_desc);

static void ratcp_expect_window(struct kunit *test,
				const struct ratcp_window *expected,
				const struct ratcp_window *w)
{
	KUNIT_EXPECT_EQ(test, expected->cwnd, w->cwnd);
	KUNIT_EXPECT_EQ(test, expected->cwnd_cnt, w->cwnd_cnt);
	KUNIT_EXPECT_EQ(test, expected->ssthresh, w->ssthresh);
	KUNIT_EXPECT_EQ(test, expected->phase, w->phase);
	KUNIT_EXPECT_EQ(test, expected->marked, w->marked);
}

static void ratcp_ack_test(struct kunit *test)
{
	const struct ratcp_ack_case *c = test->param_value;
	struct ratcp_window w = c->before;

	ratcp_window_limit(&w, c->rate_window, c->in_flight);
	ratcp_window_grow(&w, c->rate_window, c->acked);
	ratcp_expect_window(test, &c->after, &w);
}

static void ratcp_timeout_test(struct kunit *test)
{
	const struct ratcp_window expected = { 1, 0, 21, SLOW, ADD };
	struct ratcp_window w = { 21, 7, 10, AVOID, ADD, true };

	ratcp_window_timeout(&w, 21);
	ratcp_expect_window(test, &expected, &w);
}

/* A timeout, and then acknowledgments: 1, 2, 4, 8, 16, 21. */
static void ratcp_restart_test(struct kunit *test)
{
	static const u32 expected[] = { 2, 4, 8, 16, 21, 21 };
	struct ratcp_window w = { 21, 0, 10, AVOID, ADD };
	u32 round, ack, window;

	ratcp_window_timeout(&w, 21);
	for (round = 0; round < ARRAY_SIZE(expected); round++) {
		window = w.cwnd;
		for (ack = 0; ack < window; ack++) {
			ratcp_window_limit(&w, 21, w.cwnd - 1);
			ratcp_window_grow(&w, 21, 1);
		}
		KUNIT_EXPECT_EQ(test, expected[round], w.cwnd);
	}
	KUNIT_EXPECT_EQ(test, AVOID, w.phase);
}

/* Whatever the sequence of advice: never above it, never zero. */
static void ratcp_bounds_test(struct kunit *test)
{
	static const u32 advice[] = { 21, 1, 1000, 2, HUGE, 3, 1, HUGE, 7 };
	struct ratcp_window w = { 1, 0, NONE, SLOW, FAST };
	u32 i, ack;

	for (i = 0; i < 4 * ARRAY_SIZE(advice); i++) {
		u32 rate_window = advice[i % ARRAY_SIZE(advice)];

		w.rise = i / ARRAY_SIZE(advice) & 1 ? ADD : FAST;
		if (i % 7 == 6)
			ratcp_window_timeout(&w, rate_window);
		for (ack = 0; ack < 50; ack++) {
			ratcp_window_limit(&w, rate_window, w.cwnd - 1);
			ratcp_window_grow(&w, rate_window, ack % 3);
			KUNIT_ASSERT_GE(test, w.cwnd, 1);
			KUNIT_ASSERT_LE(test, w.cwnd, rate_window);
			/* the stack, too, knows that slow start is over */
			if (w.phase == AVOID)
				KUNIT_ASSERT_GE(test, w.cwnd, w.ssthresh);
			/* the excess in flight is gone */
			if (ack)
				KUNIT_ASSERT_NE(test, w.phase, INACT);
		}
	}
}

/* A window of 0, as a clamp of 0 leaves it, grows like one of one packet. */
static void ratcp_no_window_test(struct kunit *test)
{
	struct ratcp_window w;
	u32 i;

	for (i = 0; i < 16; i++) {
		w = (struct ratcp_window){
			.ssthresh = i & 1 ? 0 : NONE,
			.phase = i & 2 ? AVOID : SLOW,
			.rise = i & 4 ? ADD : FAST,
			.marked = i & 8,
		};
		ratcp_window_limit(&w, 10, 0);
		ratcp_window_grow(&w, 10, 1);
		KUNIT_EXPECT_GE(test, w.cwnd, 1);
		KUNIT_EXPECT_LE(test, w.cwnd, 10);
	}
}

static struct kunit_case ratcp_cases[] = {
	KUNIT_CASE_PARAM(ratcp_rate_window_test, ratcp_rate_gen_params),
	KUNIT_CASE_PARAM(ratcp_backlog_test, ratcp_backlog_gen_params),
	KUNIT_CASE(ratcp_peak_test),
	KUNIT_CASE(ratcp_peak_stays_test),
	KUNIT_CASE_PARAM(ratcp_ack_test, ratcp_ack_gen_params),
	KUNIT_CASE(ratcp_timeout_test),
	KUNIT_CASE(ratcp_restart_test),
	KUNIT_CASE(ratcp_bounds_test),
	KUNIT_CASE(ratcp_no_window_test),
	{}
};

static struct kunit_suite ratcp_suite = {
	.name = "ratcp",
	.test_cases = ratcp_cases,
};

kunit_test_suite(ratcp_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the window rule of RATCP");
