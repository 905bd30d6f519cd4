// SPDX-License-Identifier: GPL-2.0
/*
 * wale_schedule.c - the rate as a function of time                        (pure)
 *
 * Constant, or the steps of a trace, or C / (M + 1) with a chain M of sessions.
 */

#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "wale_schedule.h"

static void wale_work_add(struct wale_work_sum *sum, u64 rate, u64 ns)
{
	sum->high += mul_u64_u64_shr(rate, ns, 64);
	if (check_add_overflow(sum->low, rate * ns, &sum->low))
		sum->high++;
}

/* Is less than @need done from one sum to a later one? */
static bool wale_work_is_less(const struct wale_work_sum *from,
			      const struct wale_work_sum *to, u64 need)
{
	u64 borrow = to->low < from->low;

	return to->high - from->high == borrow && to->low - from->low < need;
}

/* In units of the schedule. */
static u64 wale_trace_rate(const struct wale_trace *trace, u32 step)
{
	return wale_trace_step(trace, step)->rate * WALE_RATE_UNIT;
}

/* When a step is over, from the start of the trace. */
static u64 wale_trace_over(const struct wale_trace *trace, u32 step)
{
	return wale_trace_step(trace, step)->end_ns;
}

/* When a step begins, or when the last is over, from the start of the trace. */
static u64 wale_trace_begin(const struct wale_trace *trace, u32 step)
{
	return step ? wale_trace_over(trace, step - 1) : 0;
}

/**
 * wale_trace_append() - one more step at the end of a trace
 * @trace: the trace, with room for it; its sums and its peak are kept
 * @duration_ns: how long the step is, above 0
 * @rate: bytes/s
 */
void wale_trace_append(struct wale_trace *trace, u64 duration_ns, u64 rate)
{
	u32 block = trace->count / WALE_TRACE_BLOCK;
	struct wale_rate_step *step;

	if (trace->count % WALE_TRACE_BLOCK == 0) {
		wale_trace_block(trace, block)->begin_ns = trace->period_ns;
		wale_trace_block(trace, block)->work = trace->period_work;
	}
	trace->period_ns += duration_ns;
	trace->peak_rate = max(trace->peak_rate, rate);
	wale_work_add(&trace->period_work, rate * WALE_RATE_UNIT, duration_ns);
	step = wale_trace_step(trace, trace->count);
	step->end_ns = trace->period_ns;
	step->rate = rate;
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
	return wale_trace_over(trace, step) - wale_trace_begin(trace, step);
}

/* The first step that is not over @ns after the start; there is one. */
static u32 wale_trace_find(const struct wale_trace *trace, u64 ns)
{
	u32 low = 0, high = trace->count - 1;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (wale_trace_over(trace, middle) > ns)
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
	position->left_ns = wale_trace_over(trace, position->step) - elapsed_ns;
	position->gone_ns = elapsed_ns - wale_trace_begin(trace, position->step);
}

static u64 wale_schedule_rate(const struct wale_schedule *schedule)
{
	const struct wale_trace *trace = schedule->trace;

	if (trace) {
		if (schedule->step < trace->count)
			return wale_trace_rate(trace, schedule->step);
		return trace->end == WALE_TRACE_STOP ? 0 :
		       wale_trace_rate(trace, trace->count - 1);
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

/**
 * struct wale_walk - a service that goes on while the steps of a trace pass
 * @trace: the trace
 * @need: work that is left when @step begins; above 0
 * @until_ns: no step passes that is not over by then, from the start of the trace
 * @step: the next to pass
 */
struct wale_walk {
	const struct wale_trace *trace;
	u64 need;
	u64 until_ns;
	u32 step;
};

/* Return: false if the next step is not over, or the service ends in it. */
static bool wale_walk_step(struct wale_walk *walk)
{
	const struct wale_trace *trace = walk->trace;
	u64 work;

	if (wale_trace_over(trace, walk->step) > walk->until_ns ||
	    check_mul_overflow(wale_trace_rate(trace, walk->step),
			       wale_trace_duration(trace, walk->step), &work) ||
	    work >= walk->need)
		return false;
	walk->need -= work;
	walk->step++;
	return true;
}

/* Return: true if all steps passed up to that one. */
static bool wale_walk_steps(struct wale_walk *walk, u32 step)
{
	while (walk->step < step)
		if (!wale_walk_step(walk))
			return false;
	return true;
}

/* From the beginning of a block: does the service go on when @block begins? */
static bool wale_walk_reaches(const struct wale_walk *walk, u32 block)
{
	const struct wale_trace *trace = walk->trace;
	const struct wale_trace_block *to = wale_trace_block(trace, block);
	const struct wale_trace_block *from =
		wale_trace_block(trace, walk->step / WALE_TRACE_BLOCK);

	return to->begin_ns <= walk->until_ns &&
	       wale_work_is_less(&from->work, &to->work, walk->need);
}

/*
 * The last block that it reaches, found in strides that double, and then become half
 * as long each time.
 */
static void wale_walk_blocks(struct wale_walk *walk)
{
	const struct wale_trace *trace = walk->trace;
	u32 last = (trace->count - 1) / WALE_TRACE_BLOCK;
	u32 from = walk->step / WALE_TRACE_BLOCK;
	u32 block = from, stride = 1;

	while (stride <= last - block &&
	       wale_walk_reaches(walk, block + stride)) {
		block += stride;
		stride *= 2;
	}
	while (stride /= 2)
		if (stride <= last - block &&
		    wale_walk_reaches(walk, block + stride))
			block += stride;
	walk->need -= wale_trace_block(trace, block)->work.low -
		      wale_trace_block(trace, from)->work.low;
	walk->step = block * WALE_TRACE_BLOCK;
}

/*
 * To where the service ends, or time does.  At most the steps of two blocks are looked
 * at, however many pass.
 *
 * Return: true if it goes on behind the last step.
 */
static bool wale_walk_to_end(struct wale_walk *walk)
{
	u32 count = walk->trace->count;

	if (!wale_walk_steps(walk, min(round_up(walk->step, WALE_TRACE_BLOCK),
				       count)))
		return false;
	if (walk->step == count)
		return true;
	wale_walk_blocks(walk);
	return wale_walk_steps(walk, min(walk->step + WALE_TRACE_BLOCK, count));
}

/*
 * A looping trace begins again.  All periods pass but the last, in which the service
 * or time ends.
 *
 * Return: ns from one start of the trace to the other.
 */
static u64 wale_walk_again(struct wale_walk *walk)
{
	const struct wale_trace *trace = walk->trace;
	u64 ns = trace->period_ns, left_ns = walk->until_ns - ns, n;

	if (left_ns >= trace->period_ns && !trace->period_work.high &&
	    trace->period_work.low < walk->need) {
		n = min(div64_u64(walk->need - 1, trace->period_work.low),
			div64_u64(left_ns, trace->period_ns));
		walk->need -= n * trace->period_work.low;
		ns += n * trace->period_ns;
	}
	walk->until_ns -= ns;
	walk->step = 0;
	return ns;
}

/**
 * wale_schedule_serve() - pass steps of a trace while a service goes on
 * @schedule: the schedule, which follows a trace and whose rate just changed
 * @need: work that is left of the service at @schedule->since_ns, above 0; then
 *	what is left when the schedule's new step begins
 * @now: ns; a step that is not over by then does not pass
 *
 * What results is what passing step by step, at its end each, would give; it takes
 * no longer for more steps, but for the bits of their number.
 */
void wale_schedule_serve(struct wale_schedule *schedule, u64 *need, u64 now)
{
	const struct wale_trace *trace = schedule->trace;
	u64 start_ns = schedule->since_ns -
		       wale_trace_begin(trace, schedule->step);
	struct wale_walk walk = {
		.trace = trace,
		.need = *need,
		.until_ns = now - start_ns,
		.step = schedule->step,
	};

	if (walk.step == trace->count)
		return;		/* nothing changes any more */
	if (wale_walk_to_end(&walk) && trace->end == WALE_TRACE_LOOP) {
		start_ns += wale_walk_again(&walk);
		wale_walk_to_end(&walk);
	}
	*need = walk.need;
	schedule->step = walk.step;
	schedule->since_ns = start_ns + wale_trace_begin(trace, walk.step);
	schedule->until_ns = walk.step == trace->count ?
			     U64_MAX : start_ns + wale_trace_over(trace, walk.step);
	schedule->rate = wale_schedule_rate(schedule);
}

/**
 * wale_schedule_change_ns() - when does a step begin that is so many ahead?
 * @schedule: the schedule
 * @n: 1: the next one
 *
 * Return: ns; U64_MAX: there are not so many.
 */
u64 wale_schedule_change_ns(const struct wale_schedule *schedule, u32 n)
{
	const struct wale_trace *trace = schedule->trace;
	u32 step = schedule->step + n - 1;

	if (schedule->until_ns == U64_MAX)
		return U64_MAX;
	if (!trace)
		return schedule->until_ns +
		       (n - 1) * schedule->sessions->params.step_ns;
	if (step >= trace->count && trace->end != WALE_TRACE_LOOP)
		return U64_MAX;
	return schedule->until_ns + wale_trace_over(trace, step % trace->count) -
	       wale_trace_over(trace, schedule->step) +
	       step / trace->count * trace->period_ns;
}

/**
 * wale_schedule_reach_ns() - before when can so much work not be done?
 * @schedule: the schedule, of which a change of the rate is ahead
 * @work: that is left when it changes, at @schedule->until_ns; above 0
 *
 * Of a trace, this is when it is done.  Of sessions, all that is known of the rates
 * to come is the largest.
 *
 * Return: ns; U64_MAX: never, or in centuries.
 */
u64 wale_schedule_reach_ns(const struct wale_schedule *schedule, u64 work)
{
	struct wale_schedule ahead = *schedule;
	u64 end_ns;

	if (!schedule->trace)
		return schedule->until_ns +
		       div64_u64(work, schedule->capacity * WALE_RATE_UNIT);
	if (schedule->until_ns > S64_MAX)
		return U64_MAX;
	wale_schedule_next(&ahead);
	wale_schedule_serve(&ahead, &work, S64_MAX);
	if (!ahead.rate)
		return U64_MAX;
	end_ns = ahead.since_ns +
		 div64_u64(work + ahead.rate - 1, ahead.rate);
	return end_ns > S64_MAX ? U64_MAX : end_ns;
}

/**
 * wale_schedule_pass() - let time pass, and the rate change
 * @schedule: the schedule
 * @now: ns; not before @schedule->until_ns
 *
 * A trace goes to where it is by then at once, however many steps that are.  The
 * chain has to draw every step that passed: wale_timer.c keeps them few.
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
