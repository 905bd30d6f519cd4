// SPDX-License-Identifier: GPL-2.0
/*
 * wale_timer.c - has a link run in time though no packet moves it
 *
 * For what takes longer the longer it is left alone, for what is to be published, and
 * for parents that are to know of losses.
 */

#include <linux/timer.h>

#include "../compat.h"
#include "wale.h"

/*
 * Passing steps of a trace takes no longer for more of them.  But with a long delay,
 * nothing else moves the link until a packet departs.
 */
#define WALE_TRACE_PERIOD	HZ

/* The timer wheel is exact to a jiffy for delays below so many of them. */
#define WALE_TIMER_EXACT	64

/* The wheel rounds a longer delay up by an eighth at most: come that much earlier. */
static unsigned long wale_timer_jiffies(u64 delay_ns)
{
	unsigned long delay = nsecs_to_jiffies(delay_ns);

	return delay < WALE_TIMER_EXACT ? delay : delay - delay / 8;
}

/* ns from one thing to the next that cannot be passed at once; U64_MAX: there is none. */
static u64 wale_timer_step_ns(const struct wale_sched_data *q)
{
	const struct wale_schedule *schedule = &q->schedule;
	u64 step_ns = U64_MAX;

	if (schedule->sessions)
		step_ns = schedule->sessions->params.step_ns;
	if (q->policy.kind == WALE_POLICY_REM && schedule->until_ns != U64_MAX)
		step_ns = min(step_ns, q->rem.params.interval_ns);
	return step_ns;
}

/*
 * So often the link is to run, in jiffies; MAX_JIFFY_OFFSET: nothing adds up.
 *
 * The chain draws every step that passed, and while the rate changes, rem updates the
 * price at every interval.  Were a link left alone for a month, the first packet after
 * it would have to wait for all of them.
 */
static unsigned long wale_timer_period(const struct wale_sched_data *q)
{
	unsigned long period = MAX_JIFFY_OFFSET;
	u64 step_ns = wale_timer_step_ns(q);

	if (q->schedule.trace && q->schedule.until_ns != U64_MAX)
		period = WALE_TRACE_PERIOD;
	if (step_ns == U64_MAX)
		return period;
	return min(period, wale_timer_jiffies(step_ns * WALE_RUN_STEPS));
}

/*
 * A rate that changes faster is published this often, as long as nothing else moves the
 * link.  A timer rings one jiffy after it is due, or later.
 */
#define WALE_TIMER_PUBLISH	(msecs_to_jiffies(10) - 1)

/* From now until the link must run, in jiffies; MAX_JIFFY_OFFSET: it need not. */
static unsigned long wale_timer_delay(const struct wale_sched_data *q,
				      u64 now)
{
	unsigned long delay = wale_timer_period(q);
	u64 next;

	if (!wale_link_tells(q))
		return delay;
	next = wale_link_next_told(q);
	if (next == U64_MAX)
		return delay;
	return min(delay, max(wale_timer_jiffies(next > now ? next - now : 0),
			      WALE_TIMER_PUBLISH));
}

/**
 * wale_timer_set() - have the link run in time though no packet moves it
 * @sch: the qdisc, run up to @now
 * @now: ns
 */
void wale_timer_set(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	unsigned long delay = wale_timer_delay(q, now);

	if (delay != MAX_JIFFY_OFFSET)
		mod_timer(&q->run_timer, jiffies + delay);
}

static void wale_timer_ring(struct timer_list *timer)
{
	struct wale_sched_data *q = container_of(timer, struct wale_sched_data,
						 run_timer);
	struct Qdisc *sch = q->alarm.sch;
	spinlock_t *root_lock;	/* see wale.h */
	u64 now;

	rcu_read_lock();
	root_lock = wale_parents_lock(sch);
	now = ktime_get_ns();
	wale_link_run(sch, now);
	wale_parents_settle(sch);
	wale_timer_set(sch, now);
	spin_unlock_bh(root_lock);
	rcu_read_unlock();
}

/**
 * wale_timer_init() - the timer is not set
 * @q: the link
 */
void wale_timer_init(struct wale_sched_data *q)
{
	timer_setup(&q->run_timer, wale_timer_ring, 0);
}
