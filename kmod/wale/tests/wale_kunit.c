// SPDX-License-Identifier: GPL-2.0
/*
 * wale_kunit.c - tests of the arithmetic of sch_wale
 *
 * The tables in vectors/ are written by testbed/src/wale_lab/models/vectors.py, which knows
 * the definitions and not this code.  The pure files are included, so that the
 * module under test need not export anything.
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/wale_wire.h>

#include "../wale_buffer.c"
#include "../wale_schedule.c"
#include "../wale_server.c"
#include "../wale_sessions.c"
#include "../wale_step.c"
#include "wale_test_trace.h"

#include "vectors/wale_vectors_random.h"
#include "vectors/wale_vectors_service.h"
#include "vectors/wale_vectors_sessions.h"
#include "vectors/wale_vectors_trace.h"
#include "vectors/wale_vectors_long_trace.h"

/* Random streams */

static void wale_random_known_answer(struct kunit *test)
{
	u64 n;

	for (n = 0; n < ARRAY_SIZE(wale_vec_splitmix64); n++)
		KUNIT_EXPECT_EQ(test, wale_random_at(WALE_VEC_SPLITMIX64_SEED, n),
				wale_vec_splitmix64[n]);
}

static void wale_random_streams(struct kunit *test)
{
	const struct wale_vec_stream *vec;
	struct wale_stream stream;
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(wale_vec_streams); i++) {
		vec = &wale_vec_streams[i];
		wale_stream_init(&stream, vec->seed, vec->purpose);
		for (n = 0; n < ARRAY_SIZE(vec->draw64); n++)
			KUNIT_EXPECT_EQ_MSG(test, wale_stream_draw(&stream),
					    vec->draw64[n],
					    "seed %llu purpose %u draw %zu",
					    vec->seed, vec->purpose, n);
	}
}

/* Wire lengths and the buffer */

static void wale_wire_len_table(struct kunit *test)
{
	static const struct {
		u32 ip_len, raw, ethernet, atm;
	} vec[] = {
		{ 0, 1, 84, 53 },		/* nothing is not a packet */
		{ 1, 1, 84, 53 },
		{ 32, 32, 84, 53 },		/* one cell, full */
		{ 33, 33, 84, 106 },
		{ 40, 40, 84, 106 },		/* a TCP ACK */
		{ 46, 46, 84, 106 },		/* the smallest frame, full */
		{ 47, 47, 85, 106 },
		{ 552, 552, 590, 636 },		/* Goyal 1998: 12 cells */
		{ 1500, 1500, 1538, 1696 },
		{ 65535, 65535, 65573, 72398 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++) {
		KUNIT_EXPECT_EQ(test, wale_wire_len(WALE_OVERHEAD_RAW,
						    vec[i].ip_len), vec[i].raw);
		KUNIT_EXPECT_EQ(test, wale_wire_len(WALE_OVERHEAD_ETHERNET,
						    vec[i].ip_len),
				vec[i].ethernet);
		KUNIT_EXPECT_EQ(test, wale_wire_len(WALE_OVERHEAD_ATM,
						    vec[i].ip_len), vec[i].atm);
	}
}

static void wale_buffer_limits(struct kunit *test)
{
	struct wale_buffer buffer = {
		.limit_packets = 2, .limit_bytes = U64_MAX,
	};

	KUNIT_EXPECT_TRUE(test, wale_buffer_fits(&buffer, U32_MAX));
	wale_buffer_enter(&buffer, 1500);
	KUNIT_EXPECT_TRUE(test, wale_buffer_fits(&buffer, 1));
	wale_buffer_enter(&buffer, 40);
	KUNIT_EXPECT_FALSE(test, wale_buffer_fits(&buffer, 1));

	buffer.limit_packets = U32_MAX;
	buffer.limit_bytes = 3000;
	KUNIT_EXPECT_TRUE(test, wale_buffer_fits(&buffer, 1460));
	KUNIT_EXPECT_FALSE(test, wale_buffer_fits(&buffer, 1461));
	KUNIT_EXPECT_FALSE(test, wale_buffer_fits(&buffer, U32_MAX));

	/* a limit below the backlog, after a change: nothing fits */
	buffer.limit_bytes = 1500;
	KUNIT_EXPECT_FALSE(test, wale_buffer_fits(&buffer, 1));

	wale_buffer_leave(&buffer, 1500);
	wale_buffer_leave(&buffer, 40);
	KUNIT_EXPECT_EQ(test, buffer.packets, 0);
	KUNIT_EXPECT_EQ(test, buffer.bytes, 0);
	KUNIT_EXPECT_EQ(test, buffer.peak_packets, 2);
	KUNIT_EXPECT_EQ(test, buffer.peak_bytes, 1540);
}

/* Service: completions of a stream of packets, buffer without limit */

struct wale_stream_test {
	struct wale_schedule schedule;
	struct wale_server server;
	const struct wale_vec_packet *packets;
	unsigned int arrived;		/* that entered the buffer */
	unsigned int served;
};

static void wale_test_run(struct kunit *test, struct wale_stream_test *t,
			  u64 now, const char *name)
{
	u64 free_ns = 0;	/* since when the server is, but for this packet */

	while (wale_server_run(&t->server, &t->schedule, now)) {
		if (t->served)
			free_ns = t->packets[t->served - 1].completion_ns;
		KUNIT_EXPECT_EQ_MSG(test, t->server.start_ns,
				    max(t->packets[t->served].arrival_ns, free_ns),
				    "%s: packet %u", name, t->served);
		KUNIT_EXPECT_EQ_MSG(test, t->server.time_ns,
				    t->packets[t->served].completion_ns,
				    "%s: packet %u", name, t->served);
		t->served++;
		if (t->served < t->arrived)
			wale_server_next(&t->server, &t->schedule,
					 t->packets[t->served].wire_len);
	}
}

static void wale_test_arrival(struct kunit *test, struct wale_stream_test *t,
			      const char *name)
{
	const struct wale_vec_packet *packet = &t->packets[t->arrived];

	wale_test_run(test, t, packet->arrival_ns, name);
	t->arrived++;
	if (!t->server.busy)
		wale_server_start(&t->server, &t->schedule, packet->arrival_ns,
				  packet->wire_len);
}

/* What never ends must be last, and still be in service. */
static void wale_test_end(struct kunit *test, struct wale_stream_test *t,
			  unsigned int n_packets, const char *name)
{
	wale_test_run(test, t, U64_MAX - 1, name);
	if (t->served < n_packets)
		KUNIT_EXPECT_EQ_MSG(test, t->packets[t->served].completion_ns,
				    WALE_VEC_NEVER, "%s: packet %u", name,
				    t->served);
}

static void wale_test_set_rate(struct wale_stream_test *t, u64 rate, u64 now)
{
	wale_server_settle(&t->server, &t->schedule, now);
	t->schedule.rate = rate;
	if (t->server.busy)
		wale_server_plan(&t->server, &t->schedule);
}

static void wale_service_steps(struct kunit *test)
{
	const struct wale_vec_service *vec;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wale_vec_services); i++) {
		struct wale_stream_test t = {};
		unsigned int step = 1;

		vec = &wale_vec_services[i];
		t.packets = vec->packets;
		t.schedule.until_ns = U64_MAX;
		t.schedule.rate = vec->steps[0].rate_units;
		wale_server_init(&t.server);
		while (step < vec->n_steps || t.arrived < vec->n_packets) {
			if (step < vec->n_steps &&
			    (t.arrived == vec->n_packets ||
			     vec->steps[step].start_ns <=
			     vec->packets[t.arrived].arrival_ns)) {
				u64 start = vec->steps[step].start_ns;

				wale_test_run(test, &t, start, vec->name);
				wale_test_set_rate(&t,
						   vec->steps[step].rate_units,
						   start);
				step++;
			} else {
				wale_test_arrival(test, &t, vec->name);
			}
		}
		wale_test_end(test, &t, vec->n_packets, vec->name);
	}
}

/* A trace without steps, with room for so many. */
static struct wale_trace *wale_test_steps(struct kunit *test, u32 count,
					  enum wale_trace_end end)
{
	struct wale_trace *trace;

	trace = kunit_kzalloc(test, wale_trace_size(count), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace);
	wale_trace_init(trace, count, end);
	return trace;
}

static struct wale_trace *wale_test_trace(struct kunit *test,
					  const struct wale_vec_trace *vec)
{
	struct wale_trace *trace = wale_test_steps(test, vec->n_steps, vec->end);
	unsigned int i;

	for (i = 0; i < vec->n_steps; i++)
		wale_trace_append(trace, vec->steps[i].duration_ns,
				  vec->steps[i].rate);
	return trace;
}

static void wale_service_trace(struct kunit *test,
			       const struct wale_vec_trace *vec)
{
	struct wale_stream_test t = { .packets = vec->packets };

	wale_server_init(&t.server);
	wale_schedule_set_trace(&t.schedule, wale_test_trace(test, vec),
				vec->set_ns, vec->set_ns - vec->epoch_ns);
	while (t.arrived < vec->n_packets)
		wale_test_arrival(test, &t, vec->name);
	if (vec->packets[vec->n_packets - 1].completion_ns != WALE_VEC_NEVER)
		wale_test_end(test, &t, vec->n_packets, vec->name);
}

static void wale_service_traces(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wale_vec_traces); i++)
		wale_service_trace(test, &wale_vec_traces[i]);
	for (i = 0; i < ARRAY_SIZE(wale_vec_long_traces); i++)
		wale_service_trace(test, &wale_vec_long_traces[i]);
}

/* 10^6 packets in one busy period, a rate whose period is not an integer */
static void wale_service_does_not_drift(struct kunit *test)
{
	const u64 n = 1000000, len = 1499, rate = 1000003;
	struct wale_schedule schedule = {};
	struct wale_server server;
	u64 i, work;

	schedule.until_ns = U64_MAX;
	wale_schedule_set_constant(&schedule, rate, 0);
	wale_server_init(&server);
	wale_server_start(&server, &schedule, 7, len);
	for (i = 1; i < n; i++) {
		wale_server_run(&server, &schedule, U64_MAX - 1);
		wale_server_next(&server, &schedule, len);
	}
	wale_server_run(&server, &schedule, U64_MAX - 1);
	work = n * len * 1000000000ULL;
	KUNIT_EXPECT_EQ(test, server.time_ns,
			7 + div64_u64(work + rate - 1, rate));
}

/* what was divided for before changes nothing, whatever it was */
static void wale_service_takes_what_it_takes(struct kunit *test)
{
	static const u64 before[] = { 0, 1, 119, 120, 121, U32_MAX, U64_MAX };
	struct wale_server server = {};
	u64 rate, need, ns;
	u32 i;

	for (rate = 1; rate < U64_MAX / 512; rate = 3 * rate + 1) {
		for (ns = 119; ns <= 121; ns++) {
			need = ns * rate;
			for (i = 0; i < 4 * ARRAY_SIZE(before); i++) {
				server.took_ns = before[i / 4];
				server.need = need + i % 4 - 1;
				KUNIT_EXPECT_EQ(test,
						wale_server_takes(&server, rate),
						DIV64_U64_ROUND_UP(server.need,
								   rate));
			}
		}
	}
}

static void wale_service_extremes(struct kunit *test)
{
	struct wale_schedule schedule = {};
	struct wale_server server;

	/* the slowest rate, the longest packet: 72398 s */
	schedule.until_ns = U64_MAX;
	wale_schedule_set_constant(&schedule, 1, 0);
	wale_server_init(&server);
	wale_server_start(&server, &schedule, 0, 72398);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, U64_MAX));
	KUNIT_EXPECT_EQ(test, server.time_ns, 72398000000000ULL);

	/* the fastest: 1000 packets of 1000 bytes in one ns */
	wale_schedule_set_constant(&schedule, WALE_RATE_MAX, 0);
	wale_server_start(&server, &schedule, 5, 1000000);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, 6));
	KUNIT_EXPECT_EQ(test, server.time_ns, 6);
	KUNIT_EXPECT_EQ(test, server.credit, 0);
	wale_server_next(&server, &schedule, 1);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, 7));
	KUNIT_EXPECT_EQ(test, server.time_ns, 7);
	wale_server_next(&server, &schedule, 1000);	/* within the same ns */
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, 7));
	KUNIT_EXPECT_EQ(test, server.time_ns, 7);

	/* no limit: no time */
	wale_schedule_set_constant(&schedule, WALE_RATE_UNLIMITED, 0);
	wale_server_start(&server, &schedule, 9, 1500);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, 9));
	KUNIT_EXPECT_EQ(test, server.time_ns, 9);
}

/* A byte per us for so long, then as long nothing. */
static struct wale_trace *wale_test_on_off(struct kunit *test,
					   enum wale_trace_end end,
					   u64 duration_ns)
{
	struct wale_trace *trace = wale_test_steps(test, 2, end);

	wale_trace_append(trace, duration_ns, 1000000);
	wale_trace_append(trace, duration_ns, 0);
	return trace;
}

/* An outage: nothing is done, and what was done is not forgotten. */
static void wale_service_outage(struct kunit *test)
{
	struct wale_schedule schedule = {};
	struct wale_trace *trace;
	struct wale_server server;

	trace = wale_test_on_off(test, WALE_TRACE_STOP, 1000000);
	wale_server_init(&server);
	wale_schedule_set_trace(&schedule, trace, 0, 0);
	wale_server_start(&server, &schedule, 0, 1001);
	KUNIT_EXPECT_FALSE(test, wale_server_run(&server, &schedule, U64_MAX - 1));
	KUNIT_EXPECT_EQ(test, server.event_ns, U64_MAX);
	KUNIT_EXPECT_EQ(test, server.need, WALE_WORK_PER_BYTE);
	wale_server_settle(&server, &schedule, 10000000);
	wale_schedule_set_constant(&schedule, 1000000, 10000000);
	wale_server_plan(&server, &schedule);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, U64_MAX - 1));
	KUNIT_EXPECT_EQ(test, server.time_ns, 10001000);
}

/* Who waits for the end of a service is woken then: not too late, nor at each step. */
static void wale_service_earliest_end(struct kunit *test)
{
	struct wale_schedule schedule = {};
	struct wale_trace *trace;
	struct wale_server server;

	/* a million periods, in one call */
	trace = wale_test_on_off(test, WALE_TRACE_LOOP, 1000);
	wale_server_init(&server);
	wale_schedule_set_trace(&schedule, trace, 0, 0);
	wale_server_start(&server, &schedule, 0, 1000000);
	KUNIT_EXPECT_EQ(test, server.event_ns, 1000);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0),
			1999999000);
	KUNIT_EXPECT_FALSE(test, wale_server_run(&server, &schedule, 1032000));
	KUNIT_EXPECT_EQ(test, server.need, 999484 * WALE_WORK_PER_BYTE);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0),
			1999999000);
	KUNIT_EXPECT_TRUE(test, wale_server_run(&server, &schedule, 1999999000));
	KUNIT_EXPECT_EQ(test, server.time_ns, 1999999000);

	/* a service in the third step ends there, or does not end */
	trace = wale_test_steps(test, 2, WALE_TRACE_STOP);
	wale_trace_append(trace, 1000, 0);
	wale_trace_append(trace, 1000, 1000000);
	wale_schedule_set_trace(&schedule, trace, 9000000000ULL, 0);
	wale_server_start(&server, &schedule, 9000000000ULL, 1);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0),
			9000000000ULL + 2000);
	wale_server_start(&server, &schedule, 9000000000ULL, 2);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0),
			U64_MAX);

	/* in 32 million years */
	trace = wale_test_steps(test, 2, WALE_TRACE_LOOP);
	wale_trace_append(trace, 1000, 1);
	wale_trace_append(trace, WALE_TIME_MAX, 0);
	wale_schedule_set_trace(&schedule, trace, 9000000000ULL, 0);
	wale_server_start(&server, &schedule, 9000000000ULL, 12000);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0),
			U64_MAX);

	/* alone with its rate: the end itself */
	wale_schedule_set_constant(&schedule, 500000, 0);
	wale_server_start(&server, &schedule, 2000000, 1000);
	KUNIT_EXPECT_EQ(test, wale_server_earliest_end(&server, &schedule, 0),
			4000000);
}

/* Sessions */

static struct wale_sessions *
wale_test_sessions(struct kunit *test, const struct wale_sessions_params *params)
{
	struct wale_sessions *sessions;

	sessions = kunit_kzalloc(test, wale_sessions_size(params->max),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sessions);
	return sessions;
}

static void wale_sessions_law(struct kunit *test)
{
	const struct wale_vec_chain *vec;
	struct wale_sessions *sessions;
	size_t i, k;
	u32 m, d;

	for (i = 0; i < ARRAY_SIZE(wale_vec_chains); i++) {
		struct wale_sessions_params params;

		vec = &wale_vec_chains[i];
		params.arrival = vec->arrival;
		params.mean = vec->mean;
		params.max = vec->max;
		params.step_ns = vec->step_ns;
		sessions = wale_test_sessions(test, &params);
		KUNIT_ASSERT_EQ(test, wale_sessions_init(sessions, &params), 0);
		for (k = 0, m = 0; m <= params.max; m++) {
			for (d = 0; d <= m; d++, k++) {
				u64 got = wale_sessions_row(sessions, m)[d];
				u64 want = vec->thresholds[k];
				u64 off = max(got, want) - min(got, want);

				KUNIT_EXPECT_LE_MSG(test, off, BIT_ULL(14),
						    "%s: row %u, %u leave",
						    vec->name, m, d);
			}
		}
		KUNIT_EXPECT_EQ(test, k, vec->n_thresholds);
	}
}

/* The path, through the schedule: M from the seed, rate from M. */
static void wale_sessions_path(struct kunit *test)
{
	const u64 epoch = 12345, capacity = 100000;
	const struct wale_vec_chain *vec;
	size_t i, p, k;

	for (i = 0; i < ARRAY_SIZE(wale_vec_chains); i++) {
		struct wale_sessions_params params;
		struct wale_sessions *sessions;

		vec = &wale_vec_chains[i];
		params.arrival = vec->arrival;
		params.mean = vec->mean;
		params.max = vec->max;
		params.step_ns = vec->step_ns;
		sessions = wale_test_sessions(test, &params);
		KUNIT_ASSERT_EQ(test, wale_sessions_init(sessions, &params), 0);
		for (p = 0; p < WALE_VEC_PATHS; p++) {
			struct wale_schedule schedule = {};

			schedule.until_ns = U64_MAX;
			wale_schedule_set_constant(&schedule, capacity, 0);
			wale_schedule_set_sessions(&schedule, sessions,
						   vec->paths[p].seed, epoch, 0);
			for (k = 0; k < WALE_VEC_PATH_LEN; k++) {
				u32 m = vec->paths[p].m[k];

				wale_schedule_run(&schedule, epoch +
						  k * params.step_ns);
				KUNIT_EXPECT_EQ_MSG(test, schedule.m, m,
						    "%s: seed %llu step %zu",
						    vec->name,
						    vec->paths[p].seed, k);
				KUNIT_EXPECT_EQ(test, schedule.rate,
						div_u64(capacity * WALE_RATE_UNIT,
							m + 1));
			}
		}
	}
}

static void wale_sessions_refused(struct kunit *test)
{
	/* two sessions leave in a step with 0.86 and more: no room for 0.9 */
	struct wale_sessions_params params = {
		.arrival = 0xe6666666, .mean = BIT_ULL(31), .max = 3,
		.step_ns = 1000000,
	};
	struct wale_sessions *sessions = wale_test_sessions(test, &params);

	KUNIT_EXPECT_EQ(test, wale_sessions_init(sessions, &params), -ERANGE);
	params.arrival = 0;
	KUNIT_EXPECT_EQ(test, wale_sessions_init(sessions, &params), 0);
	KUNIT_EXPECT_EQ(test, wale_sessions_move(sessions, 0, 0), 0);
}

/* Since when does the rate hold? */
static void wale_schedule_since(struct kunit *test)
{
	struct wale_schedule schedule = {};
	struct wale_trace *trace;
	struct wale_server server;

	schedule.until_ns = U64_MAX;
	wale_schedule_set_constant(&schedule, 500000, 17);
	wale_schedule_run(&schedule, 1000);
	KUNIT_EXPECT_EQ(test, schedule.since_ns, 17);

	trace = wale_test_on_off(test, WALE_TRACE_LOOP, 1000);
	wale_schedule_set_trace(&schedule, trace, 100, 0);
	KUNIT_EXPECT_EQ(test, schedule.since_ns, 100);
	wale_schedule_run(&schedule, 1099);
	KUNIT_EXPECT_EQ(test, schedule.since_ns, 100);
	wale_schedule_run(&schedule, 1100);
	KUNIT_EXPECT_EQ(test, schedule.since_ns, 1100);
	KUNIT_EXPECT_EQ(test, schedule.rate, 0);

	/* a million periods at once, idle and busy */
	wale_schedule_run(&schedule, 2000000100ULL + 999);
	KUNIT_EXPECT_EQ(test, schedule.since_ns, 2000000100ULL);
	wale_server_init(&server);
	wale_server_start(&server, &schedule, 2000000100ULL, 72398000);
	KUNIT_EXPECT_FALSE(test, wale_server_run(&server, &schedule,
						 4000000100ULL + 1500));
	KUNIT_EXPECT_EQ(test, schedule.since_ns, 4000000100ULL + 1000);
	KUNIT_EXPECT_EQ(test, schedule.until_ns, 4000000100ULL + 2000);
}

/* Where a trace of three steps is, by what has elapsed. */
static void wale_trace_positions(struct kunit *test)
{
	static const struct {
		enum wale_trace_end end;
		u64 elapsed_ns;
		struct wale_trace_position is;
	} cases[] = {
		{ WALE_TRACE_LOOP, 0, { 0, 0, 10 } },
		{ WALE_TRACE_LOOP, 9, { 0, 9, 1 } },
		{ WALE_TRACE_LOOP, 10, { 1, 0, 1 } },
		{ WALE_TRACE_LOOP, 11, { 2, 0, 100 } },
		{ WALE_TRACE_LOOP, 110, { 2, 99, 1 } },
		{ WALE_TRACE_LOOP, 111, { 0, 0, 10 } },
		{ WALE_TRACE_LOOP, 111ULL * 1000000007 + 10, { 1, 0, 1 } },
		{ WALE_TRACE_HOLD, 110, { 2, 99, 1 } },
		{ WALE_TRACE_HOLD, 111, { 3, 0, U64_MAX } },
		{ WALE_TRACE_STOP, S64_MAX, { 3, S64_MAX - 111, U64_MAX } },
	};
	struct wale_trace_position position;
	struct wale_trace *trace = wale_test_steps(test, 3, WALE_TRACE_LOOP);
	unsigned int i;

	wale_trace_append(trace, 10, 1);
	wale_trace_append(trace, 1, 2);
	wale_trace_append(trace, 100, 3);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct wale_trace_position *is = &cases[i].is;

		trace->end = cases[i].end;
		wale_trace_locate(trace, cases[i].elapsed_ns, &position);
		KUNIT_EXPECT_EQ_MSG(test, position.step, is->step, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, position.gone_ns, is->gone_ns, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, position.left_ns, is->left_ns, "case %u", i);
	}
}

/* When does a step begin that is some steps ahead? */
static void wale_schedule_changes(struct kunit *test)
{
	static const u64 ends[] = { 10, 11, 111 };
	struct wale_trace *trace = wale_test_steps(test, 3, WALE_TRACE_LOOP);
	struct wale_schedule schedule = {};
	u32 n;

	wale_trace_append(trace, 10, 1);
	wale_trace_append(trace, 1, 2);
	wale_trace_append(trace, 100, 3);
	wale_schedule_set_trace(&schedule, trace, 1000, 4);
	for (n = 1; n < 20; n++)
		KUNIT_EXPECT_EQ(test, wale_schedule_change_ns(&schedule, n),
				996 + (n - 1) / 3 * 111 + ends[(n - 1) % 3]);
	wale_schedule_run(&schedule, 996 + 11);
	KUNIT_EXPECT_EQ(test, wale_schedule_change_ns(&schedule, 1), 996 + 111);
	KUNIT_EXPECT_EQ(test, wale_schedule_change_ns(&schedule, 2), 996 + 121);
	trace->end = WALE_TRACE_HOLD;
	KUNIT_EXPECT_EQ(test, wale_schedule_change_ns(&schedule, 1), 996 + 111);
	KUNIT_EXPECT_EQ(test, wale_schedule_change_ns(&schedule, 2), U64_MAX);
	wale_schedule_run(&schedule, 996 + 111);
	KUNIT_EXPECT_EQ(test, wale_schedule_change_ns(&schedule, 1), U64_MAX);
}

/* A schedule that starts then is one that runs since then, ahead of it and behind. */
static void wale_schedule_started(struct kunit *test)
{
	const u64 start = 1000000, step = 1000;
	static const s64 elapsed[] = { -5000, -1, 0, 1, 1999, 2000, 987654321 };
	struct wale_trace *trace;
	unsigned int i;

	trace = wale_test_on_off(test, WALE_TRACE_LOOP, step);
	for (i = 0; i < ARRAY_SIZE(elapsed); i++) {
		struct wale_schedule late = {}, early = {};
		u64 now = start + elapsed[i];

		wale_schedule_set_trace(&late, trace, now, elapsed[i]);
		wale_schedule_set_trace(&early, trace, start, 0);
		KUNIT_EXPECT_EQ(test, late.epoch_ns, start);
		KUNIT_EXPECT_EQ(test, late.since_ns, now);
		if (elapsed[i] < 0) {
			KUNIT_EXPECT_EQ(test, late.until_ns, start + step);
			KUNIT_EXPECT_EQ(test, late.rate, 1000000 * WALE_RATE_UNIT);
			continue;
		}
		wale_schedule_run(&early, now);
		KUNIT_EXPECT_EQ(test, late.until_ns, early.until_ns);
		KUNIT_EXPECT_EQ(test, late.rate, early.rate);
		KUNIT_EXPECT_EQ(test, late.step, early.step);
	}
}

/* The same of a chain; and of one that started before the clock did. */
static void wale_sessions_started(struct kunit *test)
{
	const struct wale_sessions_params params = {
		.arrival = BIT(30), .mean = BIT_ULL(34), .max = 5,
		.step_ns = 1000000,
	};
	struct wale_sessions *sessions = wale_test_sessions(test, &params);
	struct wale_schedule late = {}, early = {};
	const u64 elapsed = 12345 * params.step_ns + 17;
	u32 k;

	KUNIT_ASSERT_EQ(test, wale_sessions_init(sessions, &params), 0);
	late.capacity = 1000000;
	early.capacity = 1000000;
	wale_schedule_set_sessions(&late, sessions, 7, 100, elapsed);
	wale_schedule_set_sessions(&early, sessions, 7, 0, 0);
	wale_schedule_run(&early, elapsed);
	KUNIT_EXPECT_EQ(test, late.epoch_ns, 100 - elapsed);
	for (k = 0; k < 100; k++) {
		KUNIT_EXPECT_EQ(test, late.m, early.m);
		KUNIT_EXPECT_EQ(test, late.until_ns - 100,
				early.until_ns - elapsed);
		wale_schedule_run(&late, late.until_ns);
		wale_schedule_run(&early, early.until_ns);
	}

	wale_schedule_set_sessions(&late, sessions, 7, 100, -50);
	KUNIT_EXPECT_EQ(test, late.m, 0);
	KUNIT_EXPECT_EQ(test, late.until_ns, 150 + params.step_ns);
}

static struct kunit_case wale_cases[] = {
	KUNIT_CASE(wale_random_known_answer),
	KUNIT_CASE(wale_random_streams),
	KUNIT_CASE(wale_wire_len_table),
	KUNIT_CASE(wale_buffer_limits),
	KUNIT_CASE(wale_service_steps),
	KUNIT_CASE(wale_service_traces),
	KUNIT_CASE(wale_service_does_not_drift),
	KUNIT_CASE(wale_service_takes_what_it_takes),
	KUNIT_CASE(wale_service_extremes),
	KUNIT_CASE(wale_service_outage),
	KUNIT_CASE(wale_service_earliest_end),
	KUNIT_CASE(wale_sessions_law),
	KUNIT_CASE(wale_sessions_path),
	KUNIT_CASE(wale_sessions_refused),
	KUNIT_CASE(wale_schedule_since),
	KUNIT_CASE(wale_trace_positions),
	KUNIT_CASE(wale_schedule_changes),
	KUNIT_CASE(wale_schedule_started),
	KUNIT_CASE(wale_sessions_started),
	{}
};

static struct kunit_suite wale_suite = {
	.name = "wale",
	.test_cases = wale_cases,
};

kunit_test_suite(wale_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the arithmetic of sch_wale");
