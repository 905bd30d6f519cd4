// SPDX-License-Identifier: GPL-2.0
/*
 * wale_schedule.c - the rate as a function of time, and when service ends (pure)
 *
 * The server of Fig. 1 of Karnik and Kumar (2005): a queue with a server of
 * time-varying rate R(t).  A packet that is in service when the rate changes
 * finishes at the new rate: its service ends when the integral of R over its
 * service reaches its length.
 *
 *	busy period   |--- packet 1 ---|--- packet 2 ---|-- ...
 *	exact ends                     T1               T2
 *	time_ns                        ceil(T1)         ceil(T2)
 *	credit                         R * (ceil(T1) - T1)
 *
 * Packet 2, if it was waiting at T1, starts at T1 and not at ceil(T1): the
 * credit is work that it already received.  Ends of packets in a busy period
 * hence do not drift, whatever the rate.  Since arrivals and changes of the
 * rate are at whole ns, a packet is waiting at T1 if and only if it arrived
 * before ceil(T1).
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
 * @trace: the trace, with room for it; its sums and its peak are kept
 * @duration_ns: how long the step is, above 0
 * @rate: bytes/s
 */
void wale_trace_append(struct wale_trace *trace, u64 duration_ns, u64 rate)
{
	u64 work;

	trace->period_ns += duration_ns;
	trace->peak_rate = max(trace->peak_rate, rate);
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

/**
 * wale_schedule_run() - let time pass
 * @schedule: the schedule
 * @now: ns
 *
 * A trace goes to where it is by then at once, however many steps that are (what
 * a busy server passes: wale_server_skip_periods()).  The chain has to draw every
 * step that passed: some ns each.
 */
void wale_schedule_run(struct wale_schedule *schedule, u64 now)
{
	if (now < schedule->until_ns)
		return;
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
 * wale_server_init() - an idle server
 * @server: the server
 */
void wale_server_init(struct wale_server *server)
{
	server->event_ns = U64_MAX;
	server->time_ns = 0;
	server->need = 0;
	server->credit = 0;
	server->busy = false;
}

/**
 * wale_server_plan() - when is there something to do next?
 * @server: the server, busy
 * @schedule: the rate at the server's time
 *
 * Sets the instant at which the packet in service ends, rounded up, or that
 * at which the rate changes, whichever is first.
 */
void wale_server_plan(struct wale_server *server,
		      const struct wale_schedule *schedule)
{
	u64 end;

	if (!server->need || schedule->rate == WALE_RATE_UNLIMITED)
		end = server->time_ns;
	else if (schedule->rate)
		end = server->time_ns +
		      div64_u64(server->need + schedule->rate - 1,
				schedule->rate);
	else
		end = U64_MAX;
	server->event_ns = min(end, schedule->until_ns);
}

/**
 * wale_server_earliest_end() - before when can the service not end?
 * @server: the server, busy, run up to now
 * @schedule: the rate
 * @more: work of what is served next and whose service must end, too
 *
 * Who waits for the end of a service need not wake up at each change of the
 * rate on the way: it cannot end earlier than at the largest rate to come.
 *
 * Return: ns; U64_MAX if it does not end unless the schedule is changed.
 */
u64 wale_server_earliest_end(const struct wale_server *server,
			     const struct wale_schedule *schedule, u64 more)
{
	u64 peak = schedule->trace ? schedule->trace->peak_rate :
				     schedule->capacity;
	u64 work = server->need + more - min(more, server->credit);

	if (schedule->until_ns == U64_MAX) {	/* no change of the rate ahead */
		if (!more || !schedule->rate ||
		    schedule->rate == WALE_RATE_UNLIMITED)
			return server->event_ns;
		return server->time_ns +
		       div64_u64(work + schedule->rate - 1, schedule->rate);
	}
	/* the service ends before the next one */
	if (!more && server->event_ns < schedule->until_ns)
		return server->event_ns;
	return max(server->event_ns,
		   server->time_ns + div64_u64(work, peak * WALE_RATE_UNIT));
}

/**
 * wale_server_start() - a packet arrives at the idle server
 * @server: the server, idle
 * @schedule: the rate
 * @now: ns; not before the end of the last service
 * @len: bytes on the wire
 */
void wale_server_start(struct wale_server *server,
		       struct wale_schedule *schedule, u64 now, u32 len)
{
	server->time_ns = now;
	server->credit = 0;
	wale_server_next(server, schedule, len);
}

/**
 * wale_server_next() - the packet that was waiting when the last service ended
 * @server: the server, at the end of a service
 * @schedule: the rate
 * @len: bytes on the wire
 *
 * With as much credit as the packet has work, its service ended within the same
 * ns as the one before.
 */
void wale_server_next(struct wale_server *server,
		      struct wale_schedule *schedule, u32 len)
{
	u64 work = len * WALE_WORK_PER_BYTE;
	u64 received = min(work, server->credit);

	wale_schedule_run(schedule, server->time_ns);
	server->busy = true;
	server->start_ns = server->time_ns;
	server->need = work - received;
	server->credit -= received;
	wale_server_plan(server, schedule);
}

/*
 * A service that takes many periods of a looping trace: whatever the phase, a
 * period does the same work.  All but the last, in which the service ends, and
 * none that is not over by @now.
 */
static void wale_server_skip_periods(struct wale_server *server,
				     struct wale_schedule *schedule, u64 now)
{
	const struct wale_trace *trace = schedule->trace;
	u64 n;

	if (!trace || trace->end != WALE_TRACE_LOOP)
		return;
	if (server->need <= trace->period_work ||
	    now - server->time_ns < trace->period_ns)
		return;
	n = min(div64_u64(server->need - 1, trace->period_work),
		div64_u64(now - server->time_ns, trace->period_ns));
	server->need -= n * trace->period_work;
	server->time_ns += n * trace->period_ns;
	schedule->since_ns += n * trace->period_ns;
	schedule->until_ns += n * trace->period_ns;
}

/**
 * wale_server_run() - let time pass until a service ends
 * @server: the server
 * @schedule: the rate
 * @now: ns
 *
 * Return: true if the service ended, at @server->time_ns <= @now; the server is
 * then idle, and wale_server_next() gives it the packet that waits.
 */
bool wale_server_run(struct wale_server *server,
		     struct wale_schedule *schedule, u64 now)
{
	u64 done;

	while (server->busy && server->event_ns <= now) {
		if (schedule->rate == WALE_RATE_UNLIMITED)
			done = server->need;
		else
			done = (server->event_ns - server->time_ns) *
			       schedule->rate;
		server->time_ns = server->event_ns;
		if (done >= server->need) {
			/* a need of zero keeps the credit it left over */
			server->credit += done - server->need;
			server->need = 0;
			server->busy = false;
			server->event_ns = U64_MAX;
			return true;
		}
		server->need -= done;
		wale_schedule_run(schedule, server->time_ns);
		wale_server_skip_periods(server, schedule, now);
		wale_server_plan(server, schedule);
	}
	return false;
}

/**
 * wale_server_settle() - account for the work done so far at the rate so far
 * @server: the server, run up to @now
 * @schedule: the rate so far
 * @now: ns; the rate is about to change
 *
 * The caller changes the rate and then calls wale_server_plan().
 */
void wale_server_settle(struct wale_server *server,
			const struct wale_schedule *schedule, u64 now)
{
	if (!server->busy)
		return;
	server->need -= (now - server->time_ns) * schedule->rate;
	server->time_ns = now;
}
