// SPDX-License-Identifier: GPL-2.0
/*
 * wale_schedule.c - the rate as a function of time                        (pure)
 *
 * Constant, or the steps of a trace, or C / (M + 1) with a chain M of sessions.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "wale_schedule.h"

static u64 wale_schedule_rate(const struct wale_schedule *schedule)
{
	const struct wale_trace *trace = schedule->trace;

	if (trace) {
		if (schedule->step < trace->count)
			return trace->steps[schedule->step].rate *
			       WALE_RATE_UNIT;
		return trace->end == WALE_TRACE_STOP ? 0 :
		       trace->steps[trace->count - 1].rate * WALE_RATE_UNIT;
	}
	if (schedule->capacity == WALE_RATE_UNLIMITED)
		return WALE_RATE_UNLIMITED;
	return div_u64(schedule->capacity * WALE_RATE_UNIT, schedule->m + 1);
}

/**
 * wale_schedule_bytes_per_s() - the rate as everybody else says it
 * @schedule: the schedule
 *
 * Return: bytes/s, rounded down; or WALE_RATE_UNLIMITED.
 */
u64 wale_schedule_bytes_per_s(const struct wale_schedule *schedule)
{
	return schedule->rate == WALE_RATE_UNLIMITED ?
	       WALE_RATE_UNLIMITED : div_u64(schedule->rate, WALE_RATE_UNIT);
}

/**
 * wale_trace_append() - one more step at the end of a trace
 * @trace: the trace, with room for it; its sums and its extremes are kept
 * @duration_ns: how long the step is, above 0
 * @rate: bytes/s
 */
void wale_trace_append(struct wale_trace *trace, u64 duration_ns, u64 rate)
{
	u64 work;

	trace->period_ns += duration_ns;
	trace->peak_rate = max(trace->peak_rate, rate);
	if (!trace->count || duration_ns < trace->shortest_ns)
		trace->shortest_ns = duration_ns;
	if (check_mul_overflow(rate * WALE_RATE_UNIT, duration_ns, &work) ||
	    check_add_overflow(trace->period_work, work, &trace->period_work))
		trace->period_work = U64_MAX;
	trace->steps[trace->count].end_ns = trace->period_ns;
	trace->steps[trace->count].rate = rate;
	trace->count++;
}

/**
 * wale_trace_duration() - how long a step is
 * @trace: the trace
 * @step: its index
 *
 * Return: ns.
 */
u64 wale_trace_duration(const struct wale_trace *trace, u32 step)
{
	u64 begin_ns = step ? trace->steps[step - 1].end_ns : 0;

	return trace->steps[step].end_ns - begin_ns;
}

/* The first step that is not over @ns after the start; there is one. */
static u32 wale_trace_find(const struct wale_trace *trace, u64 ns)
{
	u32 low = 0, high = trace->count - 1;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (trace->steps[middle].end_ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * wale_trace_locate() - where is a trace, so long after its start?
 * @trace: the trace
 * @elapsed_ns: since its start
 * @position: set
 *
 * As many comparisons as the number of steps has bits, whatever has elapsed.
 */
void wale_trace_locate(const struct wale_trace *trace, u64 elapsed_ns,
		       struct wale_trace_position *position)
{
	if (trace->end == WALE_TRACE_LOOP) {
		div64_u64_rem(elapsed_ns, trace->period_ns, &elapsed_ns);
	} else if (elapsed_ns >= trace->period_ns) {
		position->step = trace->count;
		position->gone_ns = elapsed_ns - trace->period_ns;
		position->left_ns = U64_MAX;
		return;
	}
	position->step = wale_trace_find(trace, elapsed_ns);
	position->left_ns = trace->steps[position->step].end_ns - elapsed_ns;
	position->gone_ns = wale_trace_duration(trace, position->step) -
			    position->left_ns;
}

/**
 * wale_schedule_set_constant() - set C; ends a trace, leaves sessions
 * @schedule: the schedule, which must have been run up to now
 * @capacity: bytes/s, or WALE_RATE_UNLIMITED
 * @now: ns
 */
void wale_schedule_set_constant(struct wale_schedule *schedule, u64 capacity,
				u64 now)
{
	schedule->capacity = capacity;
	schedule->trace = NULL;
	schedule->since_ns = now;
	if (!schedule->sessions)
		schedule->until_ns = U64_MAX;
	schedule->rate = wale_schedule_rate(schedule);
}

/* From now on the schedule is where the trace is, a time after its start. */
static void wale_schedule_seek(struct wale_schedule *schedule, u64 now)
{
	struct wale_trace_position position;

	wale_trace_locate(schedule->trace, now - schedule->epoch_ns, &position);
	schedule->step = position.step;
	schedule->since_ns = now - position.gone_ns;
	schedule->until_ns = position.left_ns == U64_MAX ?
			     U64_MAX : now + position.left_ns;
}

/**
 * wale_schedule_set_trace() - follow a trace; ends sessions
 * @schedule: the schedule
 * @trace: the steps
 * @now: ns
 * @elapsed_ns: since the first step began; negative: so long until it does, and
 *	its rate holds from now on
 */
void wale_schedule_set_trace(struct wale_schedule *schedule,
			     struct wale_trace *trace, u64 now, s64 elapsed_ns)
{
	schedule->trace = trace;
	schedule->sessions = NULL;
	schedule->m = 0;
	schedule->epoch_ns = now - elapsed_ns;
	if (elapsed_ns < 0) {
		schedule->step = 0;
		schedule->until_ns = schedule->epoch_ns +
				     wale_trace_duration(trace, 0);
	} else {
		wale_schedule_seek(schedule, now);
	}
	schedule->since_ns = now;
	schedule->rate = wale_schedule_rate(schedule);
}

/* Draw what happened in the steps of the chain that are over. */
static void wale_schedule_replay(struct wale_schedule *schedule, u64 now,
				 u64 elapsed_ns)
{
	const struct wale_sessions *sessions = schedule->sessions;
	u64 moves, gone_ns;

	moves = div64_u64_rem(elapsed_ns, sessions->params.step_ns, &gone_ns);
	while (moves--)
		schedule->m = wale_sessions_move(sessions, schedule->m,
						 wale_stream_draw(&schedule->stream));
	schedule->until_ns = now - gone_ns + sessions->params.step_ns;
}

/**
 * wale_schedule_set_sessions() - share C with sessions; ends a trace
 * @schedule: the schedule, with a finite C
 * @sessions: the chain; NULL: no more sessions
 * @seed: of the link
 * @now: ns
 * @elapsed_ns: since the first step of the chain began, each step of which is
 *	drawn now; negative: so long until it does, without sessions
 */
void wale_schedule_set_sessions(struct wale_schedule *schedule,
				struct wale_sessions *sessions, u64 seed,
				u64 now, s64 elapsed_ns)
{
	schedule->trace = NULL;
	schedule->sessions = sessions;
	schedule->m = 0;
	schedule->since_ns = now;
	schedule->until_ns = U64_MAX;
	if (sessions) {
		wale_stream_init(&schedule->stream, seed,
				 WALE_PURPOSE_SESSIONS);
		schedule->epoch_ns = now - elapsed_ns;
		if (elapsed_ns < 0)
			schedule->until_ns = schedule->epoch_ns +
					     sessions->params.step_ns;
		else
			wale_schedule_replay(schedule, now, elapsed_ns);
	}
	schedule->rate = wale_schedule_rate(schedule);
}

/* The step of the trace that begins at until_ns. */
static void wale_schedule_next_step(struct wale_schedule *schedule)
{
	const struct wale_trace *trace = schedule->trace;

	schedule->step++;
	if (schedule->step == trace->count && trace->end == WALE_TRACE_LOOP)
		schedule->step = 0;
	if (schedule->step < trace->count)
		schedule->until_ns += wale_trace_duration(trace, schedule->step);
	else
		schedule->until_ns = U64_MAX;
}

static void wale_schedule_next(struct wale_schedule *schedule)
{
	const struct wale_sessions *sessions = schedule->sessions;

	schedule->since_ns = schedule->until_ns;
	if (sessions) {
		schedule->m = wale_sessions_move(sessions, schedule->m,
						 wale_stream_draw(&schedule->stream));
		schedule->until_ns += sessions->params.step_ns;
	} else {
		wale_schedule_next_step(schedule);
	}
	schedule->rate = wale_schedule_rate(schedule);
}

/* At most so many steps of a trace are looked at ahead of time. */
#define WALE_SCHEDULE_AHEAD	64

/**
 * wale_schedule_reach_ns() - before when can so much work not be done?
 * @schedule: the schedule, of which a change of the rate is ahead
 * @work: that is left when it changes, at @schedule->until_ns; above 0
 *
 * A trace is followed for some steps: they may be short, and without a rate.  From
 * there on, and of sessions, all that is known is the largest rate to come.
 *
 * Return: ns.
 */
u64 wale_schedule_reach_ns(const struct wale_schedule *schedule, u64 work)
{
	struct wale_schedule ahead = *schedule;
	u64 peak = schedule->capacity, step_work;
	int steps = 0;

	if (schedule->trace) {
		peak = schedule->trace->peak_rate;
		steps = WALE_SCHEDULE_AHEAD;
	}
	while (steps-- && ahead.until_ns != U64_MAX) {
		wale_schedule_next(&ahead);
		if (!ahead.rate)
			continue;
		if (check_mul_overflow(ahead.rate, ahead.until_ns -
				       ahead.since_ns, &step_work) ||
		    step_work >= work)
			return ahead.since_ns +
			       div64_u64(work + ahead.rate - 1, ahead.rate);
		work -= step_work;
	}
	if (ahead.until_ns == U64_MAX)
		return U64_MAX;
	return ahead.until_ns + div64_u64(work, peak * WALE_RATE_UNIT);
}

/**
 * wale_schedule_pass() - let time pass, and the rate change
 * @schedule: the schedule
 * @now: ns; not before @schedule->until_ns
 *
 * A trace goes to where it is by then at once, however many steps that are (what
 * a busy server passes: wale_server_skip_periods(), and wale_timer.c).  The chain
 * has to draw every step that passed: some ns each.
 */
void wale_schedule_pass(struct wale_schedule *schedule, u64 now)
{
	wale_schedule_next(schedule);
	if (now < schedule->until_ns)
		return;
	if (!schedule->trace) {
		while (now >= schedule->until_ns)
			wale_schedule_next(schedule);
		return;
	}
	wale_schedule_seek(schedule, now);
	schedule->rate = wale_schedule_rate(schedule);
}
