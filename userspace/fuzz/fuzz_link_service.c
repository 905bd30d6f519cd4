// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_link_service.c - buffer, rate and server of a link, against a model
 *
 * The input says what happens to a link: packets arrive, time passes, and what
 * linux/pkt_sched_wale.h lets be changed is changed, also in the middle of a
 * service.  What must hold is what that header and Documentation/sch_wale.rst
 * promise:
 *
 *   - with W(t) the integral of the rate up to t, a packet's service ends at the
 *     first ns at which W has grown by the packet's length since the service
 *     began: when the packet arrived at an idle link, or where the one ahead of
 *     it was done.  So the link is never idle with a backlog (work conservation),
 *     ends are monotone, and no error adds up;
 *   - this does not depend on when the link is asked;
 *   - the backlog is what was admitted and not yet served, and nothing is
 *     admitted above the limit;
 *   - the instant for which an alarm is set is not later than the end of service, and
 *     with a trace it is the end.
 *
 * The model has W in 128 bits, and nothing else.  The propagation line is not
 * here: it is in wale_link.c, with the packets.
 */
#include <linux/limits.h>
#include <net/wale_wire.h>

#include "fuzz.h"
#include "tests/wale_test_trace.h"
#include "wale_buffer.h"
#include "wale_server.h"

#define OPS_MAX 300
#define QUEUE_MAX 128 /* packets; a power of two */
#define STEPS_MAX 12
#define TILES_MAX 40 /* how often they come, so that there are many blocks */
#define CHAIN_STEPS_MAX 2000 /* that pass at once; each is drawn */

/* The rate as a function of time, from the last change on. */
struct model {
	u64 base_ns;
	u128 base_work; /* W(base_ns) */
	bool unlimited;
	u64 capacity; /* of a constant rate, and of sessions */
	const struct wale_trace *trace;
	u64 start_ns; /* of the trace; modulo 2^64, it may be before 0 */
	const struct wale_sessions *sessions;
	u64 seed;
	u64 epoch_ns; /* of the chain */
	u64 step; /* of the chain, at base_ns */
	u32 m; /* sessions in it */
};

struct packet {
	u64 arrival_ns;
	u128 done_at; /* W at the end of its service */
	u32 len;
};

struct link {
	struct wale_server server;
	struct wale_schedule schedule;
	struct wale_buffer buffer;
	struct model model;
	struct packet queue[QUEUE_MAX];
	unsigned int head, tail;
	u64 now;
	u64 last_end_ns;
	u32 overhead;
};

/* Work of a trace in @ns from its beginning. */
static u128 trace_work(const struct wale_trace *trace, u64 ns)
{
	u64 period_ns = wale_trace_over(trace, trace->count - 1), begin_ns = 0;
	u128 period_work = 0, work = 0;
	u32 i;

	for (i = 0; i < trace->count; i++) {
		period_work += (u128)(wale_trace_over(trace, i) - begin_ns) *
			       wale_trace_rate(trace, i);
		begin_ns = wale_trace_over(trace, i);
	}
	if (trace->end == WALE_TRACE_LOOP) {
		work = ns / period_ns * period_work;
		ns %= period_ns;
	}
	for (i = 0, begin_ns = 0; i < trace->count; i++) {
		u64 part = min(ns, wale_trace_over(trace, i) - begin_ns);

		begin_ns = wale_trace_over(trace, i);
		work += (u128)part * wale_trace_rate(trace, i);
		ns -= part;
	}
	if (trace->end == WALE_TRACE_HOLD)
		work += (u128)ns * wale_trace_rate(trace, trace->count - 1);
	return work * WALE_RATE_UNIT;
}

/* Work of the trace from the base up to @t; before its start, at its first rate. */
static u128 trace_work_since(const struct model *m, u64 t)
{
	u64 ahead = 0;

	if ((s64)(m->start_ns - m->base_ns) > 0)
		ahead = min(m->start_ns, t) - m->base_ns;
	if (!ahead)
		return trace_work(m->trace, t - m->start_ns) -
		       trace_work(m->trace, m->base_ns - m->start_ns);
	return (u128)ahead * wale_trace_rate(m->trace, 0) * WALE_RATE_UNIT +
	       trace_work(m->trace, t - m->base_ns - ahead);
}

/* The number of sessions in step @n of the chain, from that in the step before. */
static u32 chain_move(const struct model *m, u32 sessions, u64 n)
{
	u64 key = wale_random_at(m->seed, WALE_PURPOSE_SESSIONS);

	return wale_sessions_move(m->sessions, sessions,
				  wale_random_at(key, n - 1));
}

/* Work of the chain from the base up to @t; both are moved on if @move. */
static u128 chain_work(struct model *m, u64 t, bool move)
{
	u64 step_ns = m->sessions->params.step_ns, n = m->step;
	u64 from = m->base_ns, end = m->epoch_ns + (n + 1) * step_ns;
	u128 work = 0;
	u32 sessions = m->m;

	while (from < t) {
		u64 to = min(end, t);

		work += (u128)(to - from) *
			(m->capacity * WALE_RATE_UNIT / (sessions + 1));
		from = to;
		if (to == end) {
			sessions = chain_move(m, sessions, ++n);
			end += step_ns;
		}
	}
	if (move) {
		m->step = n;
		m->m = sessions;
	}
	return work;
}

/* W(t), for t from the last change on. */
static u128 model_work(struct model *m, u64 t)
{
	must(t >= m->base_ns);
	if (m->unlimited)
		return m->base_work;
	if (m->trace)
		return m->base_work + trace_work_since(m, t);
	if (m->sessions)
		return m->base_work + chain_work(m, t, false);
	return m->base_work +
	       (u128)(t - m->base_ns) * m->capacity * WALE_RATE_UNIT;
}

/* The base moves to @now; a trace keeps that of its beginning. */
static void model_move(struct model *m, u64 now)
{
	m->base_work = model_work(m, now);
	if (m->sessions)
		chain_work(m, now, true);
	m->base_ns = now;
}

static struct packet *link_head(struct link *link)
{
	return link->head == link->tail ? NULL
					: &link->queue[link->head % QUEUE_MAX];
}

/* The service of the head ended: at the right time? */
static void check_end(struct link *link, u64 end)
{
	struct packet *packet = link_head(link);
	struct model *m = &link->model;

	must(packet);
	must(end >= link->last_end_ns && end >= packet->arrival_ns);
	must(end <= link->now && end >= m->base_ns);
	if (m->unlimited) {
		must(end == max(packet->arrival_ns, m->base_ns));
	} else {
		must(model_work(m, end) >= packet->done_at);
		must(end > m->base_ns);
		must(model_work(m, end - 1) < packet->done_at);
	}
	link->last_end_ns = end;
}

/* As wale_link_replay() does. */
static void link_run(struct link *link)
{
	struct wale_server *server = &link->server;

	while (wale_server_run(server, &link->schedule, link->now)) {
		must(server->start_ns ==
		     max(link_head(link)->arrival_ns, link->last_end_ns));
		check_end(link, server->time_ns);
		wale_buffer_leave(&link->buffer, link_head(link)->len);
		link->head++;
		if (link_head(link))
			wale_server_next(server, &link->schedule,
					 link_head(link)->len);
	}
	if (!server->busy)
		wale_schedule_run(&link->schedule, link->now);
}

/* So long that whatever has a rate at all is done: 36 years. */
#define NEVER_NS (1ULL << 60)

/* An alarm that is late would make a packet late. */
static void check_alarm(struct link *link, const struct packet *packet)
{
	struct model *m = &link->model;
	u64 alarm = wale_server_earliest_end(&link->server, &link->schedule, 0);

	must(alarm > link->now);
	if (alarm == U64_MAX) {
		must(!m->sessions && !m->unlimited);
		must(model_work(m, link->now + NEVER_NS) < packet->done_at);
		return;
	}
	if (m->sessions &&
	    (alarm - link->now) / m->sessions->params.step_ns > CHAIN_STEPS_MAX)
		return; /* too many to draw */
	must(model_work(m, alarm - 1) < packet->done_at);
	if (m->trace) /* nor is it early */
		must(model_work(m, alarm) >= packet->done_at);
}

static void check_link(struct link *link)
{
	const struct packet *packet = link_head(link);
	const struct wale_buffer *buffer = &link->buffer;
	u64 bytes = 0;
	unsigned int i;

	for (i = link->head; i != link->tail; i++)
		bytes += link->queue[i % QUEUE_MAX].len;
	must(buffer->packets == link->tail - link->head);
	must(buffer->bytes == bytes);
	must(buffer->peak_packets >= buffer->packets);
	must(buffer->peak_bytes >= buffer->bytes);

	/* work conservation: what is not over is in service */
	must(link->server.busy == !!packet);
	must(link->schedule.since_ns <= link->now);
	must(link->schedule.until_ns > link->now);
	if (!packet)
		return;
	must(!link->model.unlimited);
	must(model_work(&link->model, link->now) < packet->done_at);
	check_alarm(link, packet);
}

static void arrive(struct link *link, struct tape *tape)
{
	u32 ip_len = tape_range(tape, 1, 1 << 20);
	u32 len = wale_wire_len(link->overhead, ip_len);
	struct wale_buffer *buffer = &link->buffer;
	struct packet *before = link_head(link), *packet;
	bool fits;

	if (link->tail - link->head == QUEUE_MAX)
		return;
	must(len >= ip_len);
	fits = wale_buffer_fits(buffer, len);
	must(fits == (buffer->packets + (u64)1 <= buffer->limit_packets &&
		      (u128)buffer->bytes + len <= buffer->limit_bytes));
	if (!fits)
		return;

	packet = &link->queue[link->tail % QUEUE_MAX];
	packet->arrival_ns = link->now;
	packet->len = len;
	packet->done_at =
		before ? link->queue[(link->tail - 1) % QUEUE_MAX].done_at
		       : model_work(&link->model, link->now);
	packet->done_at += (u128)len * WALE_WORK_PER_BYTE;
	link->tail++;
	wale_buffer_enter(buffer, len);
	if (!link->server.busy)
		wale_server_start(&link->server, &link->schedule, link->now,
				  len);
}

/* The chain draws each step that passed, so they are not too many. */
static void pass_time(struct link *link, struct tape *tape)
{
	const struct wale_sessions *sessions = link->model.sessions;
	u64 ns = tape_range(tape, 0, WALE_TIME_MAX);

	if (sessions)
		ns = min(ns, CHAIN_STEPS_MAX * sessions->params.step_ns);
	link->now += ns;
}

static void change_rate(struct link *link, struct tape *tape)
{
	struct model *m = &link->model;
	u64 rate = tape_range(tape, 0, WALE_RATE_MAX);

	if (!rate && m->sessions)
		return; /* sessions share a finite rate */
	model_move(m, link->now);
	m->unlimited = !rate;
	m->capacity = rate;
	m->trace = NULL;
	wale_schedule_set_constant(&link->schedule, rate ?: WALE_RATE_UNLIMITED,
				   link->now);
}

static void change_trace(struct link *link, struct tape *tape)
{
	u32 count = 1 + tape_u8(tape) % STEPS_MAX, i;
	u8 kind = tape_u8(tape);
	u32 tiles = 1 + kind / __WALE_TRACE_END_MAX % TILES_MAX;
	struct model *m = &link->model;
	struct wale_trace *trace;
	s64 elapsed_ns = 0;

	trace = malloc(wale_trace_size(count * tiles));
	must(trace);
	wale_trace_init(trace, count * tiles, kind % __WALE_TRACE_END_MAX);
	for (i = 0; i < count; i++) {
		u64 duration_ns =
			tape_range(tape, WALE_TRACE_STEP_MIN, WALE_TIME_MAX);

		wale_trace_append(trace, duration_ns,
				  tape_range(tape, 0, WALE_RATE_MAX));
	}
	for (; i < count * tiles; i++)
		wale_trace_append(trace, wale_trace_duration(trace, i - count),
				  wale_trace_rate(trace, i - count));
	if (!trace->peak_rate) { /* refused */
		free(trace);
		return;
	}
	switch (tape_u8(tape) % 4) {
	case 0:
		elapsed_ns = tape_range(tape, 0, S64_MAX);
		break;
	case 1:
		elapsed_ns = -(s64)tape_range(tape, 0, WALE_START_AHEAD_MAX);
		break;
	}
	model_move(m, link->now);
	m->unlimited = false;
	m->capacity = 0;
	m->trace = trace;
	m->start_ns = link->now - elapsed_ns;
	m->sessions = NULL;
	wale_schedule_set_trace(&link->schedule, trace, link->now, elapsed_ns);
}

static void start_chain(struct link *link, const struct wale_sessions *sessions,
			u64 seed)
{
	struct model *m = &link->model;

	model_move(m, link->now);
	m->sessions = sessions;
	m->seed = seed;
	m->epoch_ns = link->now;
	m->step = 0;
	m->m = 0;
	wale_schedule_set_sessions(&link->schedule,
				   (struct wale_sessions *)sessions, seed,
				   link->now, 0);
}

static void change_sessions(struct link *link, struct tape *tape)
{
	struct wale_sessions_params params = {
		.max = tape_range(tape, 1, 5),
		.arrival = tape_range(tape, 0, U32_MAX),
		.mean = tape_range(tape, WALE_SESSIONS_MEAN_MIN,
				   WALE_SESSIONS_MEAN_MAX),
		.step_ns =
			tape_range(tape, WALE_SESSIONS_STEP_MIN, WALE_TIME_MAX),
	};
	struct wale_sessions *sessions;

	if (!link->model.capacity)
		return; /* refused */
	sessions = malloc(wale_sessions_size(params.max));
	must(sessions);
	if (wale_sessions_init(sessions, &params)) {
		free(sessions);
		return;
	}
	start_chain(link, sessions, tape_number(tape));
}

/* As wale_apply_schedule() does; the link has run up to now. */
static void change_schedule(struct link *link, unsigned int what,
			    struct tape *tape)
{
	struct wale_trace *trace = link->schedule.trace;
	struct wale_sessions *sessions = link->schedule.sessions;

	wale_server_settle(&link->server, &link->schedule, link->now);
	if (what == 0)
		change_rate(link, tape);
	else if (what == 1)
		change_trace(link, tape);
	else if (what == 2)
		change_sessions(link, tape);
	else if (sessions)
		start_chain(link, what == 3 ? NULL : sessions,
			    tape_number(tape));
	if (link->server.busy)
		wale_server_plan(&link->server, &link->schedule);
	if (trace != link->schedule.trace)
		free(trace);
	if (sessions != link->schedule.sessions)
		free(sessions);
}

static void change_limit(struct link *link, struct tape *tape, bool bytes)
{
	link->buffer.limit_packets =
		bytes ? U32_MAX : tape_range(tape, 1, U32_MAX);
	link->buffer.limit_bytes =
		bytes ? tape_range(tape, 1500, U64_MAX - 1) : U64_MAX;
}

static void do_one(struct link *link, struct tape *tape)
{
	unsigned int op = tape_u8(tape) % 16;

	if (op < 6)
		arrive(link, tape);
	else if (op < 9)
		pass_time(link, tape);
	else if (op < 14)
		change_schedule(link, op - 9, tape);
	else if (op == 14)
		change_limit(link, tape, tape_u8(tape) & 1);
	else
		link->overhead = tape_u8(tape) % __WALE_OVERHEAD_MAX;
}

/* As a new link is: wale_init_link(). */
static void link_init(struct link *link, struct tape *tape)
{
	memset(link, 0, sizeof(*link));
	link->now = tape_number(tape) >> 4;
	link->buffer.limit_packets = 1000;
	link->buffer.limit_bytes = U64_MAX;
	wale_server_init(&link->server);
	link->schedule.until_ns = U64_MAX;
	wale_schedule_set_constant(&link->schedule, WALE_RATE_UNLIMITED,
				   link->now);
	link->model.base_ns = link->now;
	link->model.unlimited = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };
	static struct link link;
	int i;

	link_init(&link, &tape);
	for (i = 0; tape.left && i < OPS_MAX; i++) {
		do_one(&link, &tape);
		link_run(&link);
		check_link(&link);
		if (!link.model.trace)
			model_move(&link.model, link.now);
	}
	free(link.schedule.trace);
	free(link.schedule.sessions);
	return 0;
}
