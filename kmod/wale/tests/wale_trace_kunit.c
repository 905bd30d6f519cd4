// SPDX-License-Identifier: GPL-2.0
/*
 * wale_trace_kunit.c - tests of services that go on while steps of a trace pass
 *
 * The server passes many steps at once.  What results must be, to the last bit, what
 * passing them one by one gives, which is what is done here next to it.
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <net/wale_wire.h>

#include "../wale_schedule.c"
#include "../wale_server.c"
#include "../wale_sessions.c"
#include "../wale_step.c"
#include "wale_test_trace.h"

#define WALE_TEST_STEPS_MAX	700
#define WALE_TEST_WALK_MAX	3000

/**
 * struct wale_trace_test - a link, and what it should be
 * @test: the test
 * @trace: what both follow
 * @draws: of what happens
 * @schedule: of the link
 * @server: of the link
 * @slow_schedule: passed step by step
 * @slow_server: passed step by step
 * @now: ns
 * @pace_ns: time from one thing that happens to the next, at most
 * @len_max: of a packet
 * @open: steps may leave the rate to the option
 */
struct wale_trace_test {
	struct kunit *test;
	struct wale_trace *trace;
	struct wale_stream draws;
	struct wale_schedule schedule;
	struct wale_server server;
	struct wale_schedule slow_schedule;
	struct wale_server slow_server;
	u64 now;
	u64 pace_ns;
	u32 len_max;
	bool open;
};

/* Below @n. */
static u64 wale_test_draw(struct wale_trace_test *t, u64 n)
{
	u64 rest;

	div64_u64_rem(wale_stream_draw(&t->draws), n, &rest);
	return rest;
}

/* 1 .. @most: each number of bits is as likely as another */
static u64 wale_test_draw_size(struct wale_trace_test *t, u64 most)
{
	return wale_test_draw(t, most >> wale_test_draw(t, fls64(most))) + 1;
}

/* Durations of a ns and more, so that the work of a period is 2^70 and more at times. */
static void wale_test_trace_steps(struct wale_trace_test *t, u32 count)
{
	u64 rate = wale_test_draw_size(t, WALE_RATE_MAX);
	u64 duration_ns = wale_test_draw_size(t, 1000000000);

	t->pace_ns = 4 * duration_ns * wale_test_draw_size(t, 2 * count);
	wale_trace_append(t->trace, duration_ns, rate);
	while (t->trace->count < count) {
		u64 kind = wale_test_draw(t, 16);

		wale_trace_append(t->trace,
				  kind < 4 ? 1 : wale_test_draw_size(t, duration_ns),
				  kind % 4 == 0 ? 0 :
				  kind == 15 ? WALE_RATE_MAX :
				  kind == 14 ? WALE_TRACE_DOWN :
				  kind == 13 && t->open ? WALE_TRACE_SAME :
				  wale_test_draw_size(t, rate));
	}
	/* a packet takes some steps, or some periods */
	t->len_max = clamp_t(u64, mul_u64_u64_shr(t->pace_ns, rate, 31), 1,
			     WALE_WIRE_LEN_MAX);
}

static void wale_test_trace_begin(struct wale_trace_test *t, u32 seed)
{
	u32 count;

	wale_stream_init(&t->draws, seed, 0);
	count = wale_test_draw_size(t, WALE_TEST_STEPS_MAX);
	t->trace = kunit_kzalloc(t->test, wale_trace_size(count), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(t->test, t->trace);
	wale_trace_init(t->trace, count, seed % __WALE_TRACE_END_MAX);
	t->open = wale_test_draw(t, 2);
	wale_test_trace_steps(t, count);

	t->now = 1000000000;
	t->schedule.capacity = wale_test_draw(t, 3) ?
			       wale_test_draw_size(t, WALE_RATE_MAX) :
			       WALE_RATE_UNLIMITED;
	wale_server_init(&t->server);
	wale_schedule_set_trace(&t->schedule, t->trace, t->now,
				(s64)wale_test_draw(t, 2 * t->pace_ns) -
				(s64)t->pace_ns);
	t->slow_server = t->server;
	t->slow_schedule = t->schedule;
}

/* The rate changes at the event, as long as the service goes on. */
static bool wale_test_slow_run(struct wale_server *server,
			       struct wale_schedule *schedule, u64 now)
{
	u64 done;

	while (server->event_ns <= now) {
		done = schedule->rate == WALE_RATE_UNLIMITED ? server->need :
		       (server->event_ns - server->time_ns) * schedule->rate;
		server->time_ns = server->event_ns;
		if (done >= server->need) {
			server->credit += done - server->need;
			server->need = 0;
			server->busy = false;
			server->event_ns = U64_MAX;
			return true;
		}
		server->need -= done;
		wale_schedule_next(schedule);
		wale_server_plan(server, schedule);
	}
	return false;
}

static void wale_test_expect_same(struct wale_trace_test *t, u64 seed)
{
	struct kunit *test = t->test;

	KUNIT_EXPECT_EQ_MSG(test, t->server.busy, t->slow_server.busy, "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->server.need, t->slow_server.need, "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->server.credit, t->slow_server.credit, "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->server.time_ns, t->slow_server.time_ns, "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->server.event_ns, t->slow_server.event_ns,
			    "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->schedule.step, t->slow_schedule.step, "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->schedule.rate, t->slow_schedule.rate, "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->schedule.since_ns, t->slow_schedule.since_ns,
			    "seed %llu", seed);
	KUNIT_EXPECT_EQ_MSG(test, t->schedule.until_ns, t->slow_schedule.until_ns,
			    "seed %llu", seed);
}

/* When does the service end?  Passing step by step, as far as that can be known. */
static void wale_test_expect_end(struct wale_trace_test *t, u64 seed)
{
	struct wale_schedule schedule = t->slow_schedule;
	struct wale_server server = t->slow_server;
	u64 end_ns = wale_server_earliest_end(&t->server, &t->schedule, 0);
	int steps = WALE_TEST_WALK_MAX;

	while (server.busy && server.event_ns != U64_MAX && steps--)
		wale_test_slow_run(&server, &schedule, server.event_ns);
	if (!server.busy)
		KUNIT_EXPECT_EQ_MSG(t->test, end_ns, server.time_ns, "seed %llu", seed);
	else if (server.event_ns == U64_MAX)
		KUNIT_EXPECT_EQ_MSG(t->test, end_ns, U64_MAX, "seed %llu", seed);
	else
		KUNIT_EXPECT_GT_MSG(t->test, end_ns, server.time_ns, "seed %llu", seed);
}

/* Services up to @now, of packets that wait or that come when the server is idle. */
static void wale_test_trace_run(struct wale_trace_test *t, u64 seed)
{
	u32 len;

	while (wale_server_run(&t->server, &t->schedule, t->now)) {
		wale_test_slow_run(&t->slow_server, &t->slow_schedule, t->now);
		wale_test_expect_same(t, seed);
		if (!wale_test_draw(t, 4))
			break;
		len = wale_test_draw_size(t, t->len_max);
		wale_server_next(&t->server, &t->schedule, len);
		wale_server_next(&t->slow_server, &t->slow_schedule, len);
	}
	if (t->server.busy) {
		wale_test_slow_run(&t->slow_server, &t->slow_schedule, t->now);
		return;
	}
	wale_schedule_run(&t->schedule, t->now);
	while (t->now >= t->slow_schedule.until_ns)
		wale_schedule_next(&t->slow_schedule);
	len = wale_test_draw_size(t, t->len_max);
	wale_server_start(&t->server, &t->schedule, t->now, len);
	wale_server_start(&t->slow_server, &t->slow_schedule, t->now, len);
}

static void wale_trace_is_passed_at_once(struct kunit *test)
{
	u64 seed;
	int k;

	for (seed = 0; seed < 300; seed++) {
		struct wale_trace_test t = { .test = test };

		wale_test_trace_begin(&t, seed);
		for (k = 0; k < 60; k++) {
			t.now += wale_test_draw_size(&t, t.pace_ns);
			wale_test_trace_run(&t, seed);
			wale_test_expect_same(&t, seed);
			wale_test_expect_end(&t, seed);
		}
		kunit_kfree(test, t.trace);
	}
}

/* Work of 2^100 in the blocks ahead of a service does not matter to it. */
static void wale_trace_sums_are_long(struct kunit *test)
{
	const u32 count = 5 * WALE_TRACE_BLOCK + 1;
	struct wale_schedule schedule = {};
	struct wale_trace *trace;
	struct wale_server server;
	u32 i;

	trace = kunit_kzalloc(test, wale_trace_size(count), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace);
	wale_trace_init(trace, count, WALE_TRACE_LOOP);
	for (i = 0; i < 2 * WALE_TRACE_BLOCK; i++)
		wale_trace_append(trace, WALE_TIME_MAX, WALE_RATE_MAX);
	for (; i < count - 1; i++)
		wale_trace_append(trace, 1000, 1000000);
	wale_trace_append(trace, WALE_TIME_MAX, WALE_RATE_MAX);
	KUNIT_EXPECT_GT(test, trace->total.work.high, BIT_ULL(36));

	/* in the first step of 1 us, of which there are 192 */
	wale_server_init(&server);
	wale_schedule_set_trace(&schedule, trace, 0,
				2 * WALE_TRACE_BLOCK * WALE_TIME_MAX);
	wale_server_start(&server, &schedule, 0, 192);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0), 192000);
	wale_server_start(&server, &schedule, 0, 193);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0), 192001);
	KUNIT_EXPECT_FALSE(test, wale_server_run(&server, &schedule, 191999));
	KUNIT_EXPECT_EQ(test, schedule.step, 5 * WALE_TRACE_BLOCK - 1);
	KUNIT_EXPECT_EQ(test, server.need, 2 * WALE_WORK_PER_BYTE);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, 192001));

	/* the last ns of the trace, and the first */
	wale_schedule_set_trace(&schedule, trace, 0, trace->total.ns - 1);
	wale_server_start(&server, &schedule, 0, 1000001);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0), 2);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, U64_MAX - 1));
	KUNIT_EXPECT_EQ(test, server.time_ns, 2);
}

/* The first columns of a step are there, or all: what it should give back. */
static struct wale_step wale_test_step(u32 i, u32 columns)
{
	bool same = i % 5 == 0;

	return (struct wale_step){
		.duration_ns = 1 + i % 7,
		.rate = !(columns & WALE_TRACE_RATE) || same ? WALE_TRACE_SAME :
			i % 4 ? i : WALE_TRACE_DOWN,
		.delay_ns = !(columns & WALE_TRACE_DELAY) || same ?
			    WALE_TRACE_SAME : WALE_TIME_MAX - i,
		.loss = !(columns & WALE_TRACE_LOSS) || same ?
			WALE_TRACE_SAME : WALE_LOSS_ALWAYS - i,
		.limit = !(columns & WALE_TRACE_LIMITS) || same ?
			 WALE_TRACE_SAME : i,
	};
}

/* Each combination of columns keeps what it is given, and knows when the link is down. */
static void wale_trace_keeps_columns(struct kunit *test)
{
	const u32 count = 3000;
	struct wale_trace *trace;
	struct wale_step step;
	u64 ns, down_ns;
	u32 columns, i;

	trace = kunit_kzalloc(test, wale_trace_size(count), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace);
	for (columns = 1; columns <= WALE_TRACE_COLUMNS_MAX; columns++) {
		if (!wale_trace_may_have(columns))
			continue;
		wale_trace_init_columns(trace, count, columns % 3, columns);
		KUNIT_EXPECT_LE(test, trace->piece_blocks * trace->block_size,
				WALE_TRACE_PIECE);
		for (i = 0; i < count; i++) {
			step = wale_test_step(i, columns);
			wale_trace_add(trace, &step);
		}
		for (i = 0, ns = 0, down_ns = 0; i < count; i++) {
			step = wale_test_step(i, columns);
			KUNIT_ASSERT_EQ(test, wale_trace_rate(trace, i), step.rate);
			KUNIT_ASSERT_EQ(test, wale_trace_delay(trace, i), step.delay_ns);
			KUNIT_ASSERT_EQ(test, wale_trace_loss(trace, i), step.loss);
			KUNIT_ASSERT_EQ(test, wale_trace_limit(trace, i), step.limit);
			KUNIT_ASSERT_EQ(test, wale_trace_begin(trace, i), ns);
			KUNIT_ASSERT_EQ(test, wale_trace_down_ns(trace, ns), down_ns);
			ns += step.duration_ns;
			if (step.rate == WALE_TRACE_DOWN)
				down_ns += step.duration_ns;
		}
		KUNIT_EXPECT_EQ(test, trace->total.ns, ns);
		KUNIT_EXPECT_EQ(test, wale_trace_down_ns(trace, 10 * ns),
				trace->end == WALE_TRACE_LOOP ? 10 * down_ns : down_ns);
	}
}

/* Which step held just before an instant: of two that meet there, the earlier one. */
static void wale_trace_knows_the_step_before(struct kunit *test)
{
	struct wale_schedule schedule = { .capacity = 1 };
	struct wale_trace *trace;

	trace = kunit_kzalloc(test, wale_trace_size(3), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace);
	wale_trace_init(trace, 3, WALE_TRACE_LOOP);
	wale_trace_append(trace, 10, 1);
	wale_trace_append(trace, 10, WALE_TRACE_DOWN);
	wale_trace_append(trace, 10, 1);
	wale_schedule_set_trace(&schedule, trace, 100, 0);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 100), 0);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 101), 0);
	KUNIT_EXPECT_FALSE(test, wale_schedule_is_down(&schedule));
	wale_schedule_run(&schedule, 110);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 110), 0);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 111), 1);
	KUNIT_EXPECT_TRUE(test, wale_schedule_is_down(&schedule));
	wale_schedule_run(&schedule, 130);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 130), 2);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 131), 0);

	KUNIT_EXPECT_FALSE(test, wale_schedule_was_down(&schedule, 130, 140));
	KUNIT_EXPECT_TRUE(test, wale_schedule_was_down(&schedule, 130, 141));
	KUNIT_EXPECT_TRUE(test, wale_schedule_was_down(&schedule, 149, 150));
	KUNIT_EXPECT_FALSE(test, wale_schedule_was_down(&schedule, 150, 170));
	KUNIT_EXPECT_TRUE(test, wale_schedule_was_down(&schedule, 150, 1000000));
	KUNIT_EXPECT_FALSE(test, wale_schedule_was_down(&schedule, 145, 145));

	/* before the start, the first step holds */
	wale_schedule_set_trace(&schedule, trace, 200, -50);
	KUNIT_EXPECT_EQ(test, wale_schedule_step_before(&schedule, 220), 0);
	KUNIT_EXPECT_FALSE(test, wale_schedule_was_down(&schedule, 210, 260));
	KUNIT_EXPECT_TRUE(test, wale_schedule_was_down(&schedule, 210, 261));
}

static struct kunit_case wale_trace_cases[] = {
	KUNIT_CASE(wale_trace_is_passed_at_once),
	KUNIT_CASE(wale_trace_sums_are_long),
	KUNIT_CASE(wale_trace_keeps_columns),
	KUNIT_CASE(wale_trace_knows_the_step_before),
	{}
};

static struct kunit_suite wale_trace_suite = {
	.name = "wale_trace",
	.test_cases = wale_trace_cases,
};

kunit_test_suite(wale_trace_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of sch_wale: services while steps of a trace pass");
