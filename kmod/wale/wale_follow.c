// SPDX-License-Identifier: GPL-2.0
/*
 * wale_follow.c - delay, loss and limit as the steps of a trace say
 *
 * Steps can be much shorter than the time between packets, so nothing is done when a
 * step begins.  When a packet needs the delay, the loss or the limit, the value is
 * looked up; until the next packet does, the link keeps it.
 *
 * A packet gets the limit of the step in which it arrives, and the loss probability
 * too, because the loss is drawn then.  It gets the delay of the step in which its
 * service ends.  As with any change, a step applies to arrivals from its first ns on,
 * and to services that end after that.
 */

#include <linux/minmax.h>

#include "wale.h"

/**
 * wale_follow_restart() - begin again after the options or the trace have changed
 * @q: the link; it has the values of the options until a step is looked up
 */
void wale_follow_restart(struct wale_sched_data *q)
{
	const struct wale_trace *trace = q->schedule.trace;
	struct wale_follow *follow = &q->follow;

	follow->on = trace && (trace->columns & ~WALE_TRACE_RATE ||
			       trace->total.down_ns);
	follow->delays = trace && trace->delay_at;
	follow->loss_given = false;
	follow->down = false;
	follow->step = U32_MAX;
	follow->from_ns = 0;
	follow->until_ns = 0;
	q->delay_ns = follow->delay_ns;
	q->loss = follow->loss;
	q->buffer.limit_packets = follow->limit_packets;
	q->buffer.limit_bytes = follow->limit_bytes;
}

static void wale_follow_loss(struct wale_sched_data *q, u32 step)
{
	u64 loss = wale_trace_loss(q->schedule.trace, step);

	q->follow.loss_given = loss != WALE_TRACE_SAME;
	q->loss = q->follow.loss_given ? loss : q->follow.loss;
}

static void wale_follow_limit(struct wale_sched_data *q, u32 step)
{
	const struct wale_trace *trace = q->schedule.trace;
	u64 limit = wale_trace_limit(trace, step);
	struct wale_buffer *buffer = &q->buffer;

	if (limit == WALE_TRACE_SAME) {
		buffer->limit_packets = q->follow.limit_packets;
		buffer->limit_bytes = q->follow.limit_bytes;
	} else if (wale_trace_limits_packets(trace)) {
		buffer->limit_packets = limit;
		buffer->limit_bytes = U64_MAX;
	} else {
		buffer->limit_packets = U32_MAX;
		buffer->limit_bytes = limit;
	}
	q->policy.threshold = wale_policy_threshold(&q->policy,
						    wale_buffer_limit(buffer));
}

/**
 * wale_follow_step() - apply the loss and the limit of the current step, if it is a new one
 * @q: the link, which follows more than rates, run up to now
 */
void wale_follow_step(struct wale_sched_data *q)
{
	const struct wale_trace *trace = q->schedule.trace;
	u32 step = min(q->schedule.step, trace->count - 1);

	if (q->schedule.step == q->follow.step)
		return;
	q->follow.step = q->schedule.step;
	q->follow.down = wale_schedule_is_down(&q->schedule);
	if (trace->loss_at)
		wale_follow_loss(q, step);
	if (trace->limit_at)
		wale_follow_limit(q, step);
}

/* Remember between which ends of service the delay of the current step applies. */
static void wale_follow_note_end(struct wale_sched_data *q)
{
	const struct wale_schedule *schedule = &q->schedule;
	const struct wale_trace *trace = schedule->trace;

	q->follow.until_ns = schedule->until_ns;
	if (schedule->step == trace->count)
		q->follow.from_ns = schedule->epoch_ns + trace->total.ns;
	else
		q->follow.from_ns = schedule->until_ns -
				    wale_trace_duration(trace, schedule->step);
}

/**
 * wale_follow_end() - apply the delay for a packet whose service ends, unless it is known
 * @q: the link, whose delay follows the trace
 * @now: when it ends; the schedule is in the step that holds then, or until then
 */
void wale_follow_end(struct wale_sched_data *q, u64 now)
{
	struct wale_follow *follow = &q->follow;
	u64 delay_ns;
	u32 step;

	step = wale_schedule_step_before(&q->schedule, now);
	delay_ns = wale_trace_delay(q->schedule.trace, step);
	q->delay_ns = delay_ns == WALE_TRACE_SAME ? follow->delay_ns : delay_ns;
	follow->from_ns = 0;
	follow->until_ns = 0;
	if (step == min(q->schedule.step, q->schedule.trace->count - 1))
		wale_follow_note_end(q);
}

/**
 * wale_follow_least_delay() - the smallest delay that a packet of the buffer can get
 * @q: the link
 *
 * Return: ns, without jitter.
 */
u64 wale_follow_least_delay(const struct wale_sched_data *q)
{
	if (!q->follow.delays)
		return q->delay_ns;
	return min(q->follow.delay_ns, q->schedule.trace->least_delay_ns);
}

/**
 * wale_follow_peak_delay() - the largest delay that a packet of the buffer can get
 * @q: the link
 *
 * Return: ns, without jitter.
 */
u64 wale_follow_peak_delay(const struct wale_sched_data *q)
{
	if (!q->follow.delays)
		return q->delay_ns;
	return max(q->follow.delay_ns, q->schedule.trace->peak_delay_ns);
}
