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

/* The rate C, in units of the schedule. */
static u64 wale_schedule_open_rate(const struct wale_schedule *schedule)
{
	return schedule->capacity == WALE_RATE_UNLIMITED ?
	       WALE_RATE_UNLIMITED : schedule->capacity * WALE_RATE_UNIT;
}

/*
 * The rate of a step, in units of the schedule.
 *
 * @open: that of steps that leave it to the option
 */
static u64 wale_step_rate(const struct wale_trace *trace, u32 step, u64 open)
{
	u64 rate = wale_trace_rate(trace, step);

	if (rate <= WALE_RATE_MAX)
		return rate * WALE_RATE_UNIT;
	return rate == WALE_TRACE_SAME ? open : 0;
}

static u64 wale_schedule_rate(const struct wale_schedule *schedule)
{
	const struct wale_trace *trace = schedule->trace;
	u64 open = wale_schedule_open_rate(schedule);

	if (trace) {
		if (schedule->step < trace->count)
			return wale_step_rate(trace, schedule->step, open);
		return trace->end == WALE_TRACE_STOP ? 0 :
		       wale_step_rate(trace, trace->count - 1, open);
	}
	if (open == WALE_RATE_UNLIMITED)
		return open;
	return div_u64(open, schedule->m + 1);
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
 * wale_schedule_peak_rate() - no rate is larger than which?
 * @schedule: the schedule
 *
 * Return: bytes/s; or WALE_RATE_UNLIMITED.
 */
u64 wale_schedule_peak_rate(const struct wale_schedule *schedule)
{
	const struct wale_trace *trace = schedule->trace;

	if (!trace)
		return schedule->capacity;
	return wale_trace_is_open(trace) ?
	       max(trace->peak_rate, schedule->capacity) : trace->peak_rate;
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

/**
 * wale_schedule_set_capacity() - set C, and follow the trace further
 * @schedule: the schedule, which must have been run up to now
 * @capacity: bytes/s, or WALE_RATE_UNLIMITED
 */
void wale_schedule_set_capacity(struct wale_schedule *schedule, u64 capacity)
{
	schedule->capacity = capacity;
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
 * @open: rate of the steps that leave it to the option
 * @need: work that is left when @step begins; above 0
 * @until_ns: no step passes that is not over by then, from the start of the trace
 * @step: the next to pass
 */
struct wale_walk {
	const struct wale_trace *trace;
	u64 open;
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
	    check_mul_overflow(wale_step_rate(trace, walk->step, walk->open),
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

	return to->before.ns <= walk->until_ns &&
	       wale_work_is_less(&from->before, &to->before, walk->open,
				 walk->need);
}

/* Work from one sum to a later one, which is known to fit. */
static u64 wale_walk_work(const struct wale_step_sum *from,
			  const struct wale_step_sum *to, u64 open)
{
	return to->work.low - from->work.low +
	       (to->open_ns - from->open_ns) * open;
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
	walk->need -= wale_walk_work(&wale_trace_block(trace, from)->before,
				     &wale_trace_block(trace, block)->before,
				     walk->open);
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
	static const struct wale_step_sum none;
	const struct wale_step_sum *period = &walk->trace->total;
	u64 ns = period->ns, left_ns = walk->until_ns - ns, n, work;

	if (left_ns >= period->ns &&
	    wale_work_is_less(&none, period, walk->open, walk->need)) {
		work = wale_walk_work(&none, period, walk->open);
		n = min(div64_u64(walk->need - 1, work),
			div64_u64(left_ns, period->ns));
		walk->need -= n * work;
		ns += n * period->ns;
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
		.open = wale_schedule_open_rate(schedule),
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
	       step / trace->count * trace->total.ns;
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
	if (ahead.rate == WALE_RATE_UNLIMITED)
		return ahead.since_ns;
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

/**
 * wale_schedule_step_before() - the step of the trace that held until an instant
 * @schedule: the schedule, which follows a trace, in the step that holds at the instant
 * @ns: the instant; a step that begins then does not hold yet
 *
 * Return: its index; after the last step that one, and before the start the first.
 */
u32 wale_schedule_step_before(const struct wale_schedule *schedule, u64 ns)
{
	const struct wale_trace *trace = schedule->trace;
	u32 step = schedule->step;

	if (step == trace->count)
		return step - 1;
	if (ns != schedule->until_ns - wale_trace_duration(trace, step) ||
	    ns == schedule->epoch_ns)
		return step;
	return (step ?: trace->count) - 1;
}

/**
 * wale_schedule_is_down() - is the link down now?
 * @schedule: the schedule
 *
 * Return: true if it is.
 */
bool wale_schedule_is_down(const struct wale_schedule *schedule)
{
	const struct wale_trace *trace = schedule->trace;

	if (!trace || !trace->total.down_ns)
		return false;
	if (schedule->step < trace->count)
		return wale_trace_rate(trace, schedule->step) ==
		       WALE_TRACE_DOWN;
	return wale_trace_ends_down(trace);
}

/**
 * wale_schedule_was_down() - is the link down between two instants?
 * @schedule: the schedule, which was run up to one not before @from_ns
 * @from_ns: the first; a step that ends then does not count
 * @to_ns: the second; a step that begins then does not count
 *
 * Return: true if it is.
 */
bool wale_schedule_was_down(const struct wale_schedule *schedule, u64 from_ns,
			    u64 to_ns)
{
	const struct wale_trace *trace = schedule->trace;
	u64 epoch_ns = schedule->epoch_ns;

	if (!trace || !trace->total.down_ns || from_ns >= to_ns)
		return false;
	if ((s64)(from_ns - epoch_ns) < 0) {
		if (wale_trace_rate(trace, 0) == WALE_TRACE_DOWN)
			return true;
		if ((s64)(to_ns - epoch_ns) <= 0)
			return false;
		from_ns = epoch_ns;
	}
	return wale_trace_down_ns(trace, to_ns - epoch_ns) !=
	       wale_trace_down_ns(trace, from_ns - epoch_ns);
}
