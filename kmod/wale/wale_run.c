// SPDX-License-Identifier: GPL-2.0
/*
 * wale_run.c - replays what is due on a link, and not too much of it at a time
 *
 * Ends of service, cells that arrive, changes of the rate and of the price happen at
 * times of their own, and are replayed in the order of these.  How many fall due
 * together is up to who configures the link: after a raise of its rate, all that the
 * buffer holds.  The root lock is held while they are replayed, and softirqs are off.
 * So a run stops after a number of events, and has the qdisc run again at once: others
 * get the lock and the CPU in between.
 *
 * A packet that comes while a link is behind must not arrive before all that happened
 * earlier.  It waits, together with the time at which it came, and arrives at that
 * time: what becomes of it is what would have.  But what its sender can be told of it
 * is not known yet, and is a success.
 */

#include <linux/minmax.h>
#include <linux/sched.h>

#include "wale.h"

/* Events that are replayed at a time: some tenths of a ms. */
#define WALE_RUN_EVENTS	1024

/* Ends of service, changes of the rate, and cells that arrive. */
static bool wale_run_arrivals(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 next;

	while (q->cells.busy) {
		next = wale_cells_inputs_next(&q->cells, q->classes);
		if (next > now)
			break;
		if (!q->cells.amid && !wale_serve(sch, next))
			return false;
		wale_atm_arrive(sch, next);
		if (!wale_run_goes_on(&q->run, next))
			return false;
	}
	return wale_serve(sch, now);
}

/* With policy rem: what happens up to the next update of the price, and that. */
static bool wale_run_price(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_rem *rem = &q->rem;
	u64 quiet_until, offered, rate, at_ns;

	offered = q->counts.offered.bytes;
	while (rem->next_ns <= now) {
		at_ns = rem->next_ns;
		if (!wale_run_arrivals(sch, at_ns))
			return false;
		quiet_until = q->server.busy ? q->server.event_ns :
					       q->schedule.until_ns;
		if (wale_rem_rests(rem, q->buffer.bytes))
			quiet_until = U64_MAX;
		quiet_until =
			min(quiet_until,
			    wale_cells_inputs_next(&q->cells, q->classes));
		rate = wale_schedule_bytes_per_s(&q->schedule);
		wale_rem_update(rem, q->buffer.bytes, offered, rate,
				wale_rem_steps(rem, offered, quiet_until, now));
		if (!wale_run_goes_on(&q->run, at_ns))
			return false;
	}
	return true;
}

/* These, and updates of the price. */
static bool wale_run_prices(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (q->policy.kind == WALE_POLICY_REM &&
	    !wale_run_price(sch, now))
		return false;
	return wale_run_arrivals(sch, now);
}

/*
 * So many changes that are told are replayed one by one.  If there are more, the
 * last one is told: only steps of a trace that are shorter than a tick are ever
 * that many, or those of a machine that slept.
 */
#define WALE_TOLD_STEPS	32

static void wale_run_tell(struct wale_sched_data *q, u64 now)
{
	if (q->feedback)
		wale_feedback_update(q, now);
	if (q->element)
		wale_element_update(q, now);
}

static bool wale_run_told(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 next = wale_link_next_told(q);
	int left = WALE_TOLD_STEPS;

	if (next <= now &&
	    wale_schedule_change_ns(&q->schedule, left + 1) <= now)
		left = 0;
	for (; next <= now && left; left--) {
		if (!wale_run_prices(sch, next))
			return false;
		wale_run_tell(q, next);
		next = wale_link_next_told(q);
	}
	if (!wale_run_prices(sch, now))
		return false;
	if (next <= now)
		wale_run_tell(q, now);
	return true;
}

static bool wale_run_events(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (q->plain)
		return wale_serve(sch, now);
	if (!(wale_link_tells(q) ? wale_run_told(sch, now) :
				   wale_run_prices(sch, now)))
		return false;
	return !q->station->look || !q->station->look(sch, now) ||
	       wale_run_prices(sch, now);
}

/* Up to which instant is the chain drawn, if more than it may draw is due? */
static u64 wale_run_end(const struct wale_schedule *schedule, u64 now)
{
	if (!schedule->sessions)
		return now;
	return min(now, schedule->until_ns + (WALE_RUN_STEPS - 1) *
			schedule->sessions->params.step_ns);
}

static bool wale_run_up_to(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 end = wale_run_end(&q->schedule, now);

	if (!wale_run_events(sch, end))
		return false;
	if (end < now)
		q->run.reached_ns = end;
	return end == now;
}

static bool wale_run_with_late(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 arrival_ns;

	while ((skb = q->run.late.head)) {
		arrival_ns = wale_skb_cb(skb)->arrival_ns;
		if (!wale_run_up_to(sch, arrival_ns))
			return false;
		q->run.arrive(sch, __qdisc_dequeue_head(&q->run.late));
		if (!wale_run_goes_on(&q->run, arrival_ns))
			return false;
	}
	return wale_run_up_to(sch, now);
}

/**
 * wale_run() - replay what happened up to now, but not too much of it
 * @sch: the qdisc
 * @now: ns of CLOCK_MONOTONIC
 *
 * Return: true if all of it was replayed; if not, the qdisc runs again.
 */
bool wale_run(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (q->entry && q->run.behind)	/* a late packet may be arriving */
		return false;
	q->run.budget = WALE_RUN_EVENTS;
	if (wale_run_with_late(sch, now)) {
		q->run.behind = false;
		return true;
	}
	q->run.behind = true;
	wale_alarm_ring_now(&q->alarm);
	return false;
}

/**
 * wale_run_rest() - replay all that happened up to now
 * @sch: the qdisc, which was at @now already when the packet came that now arrives
 * @now: ns
 */
void wale_run_rest(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	do
		q->run.budget = WALE_RUN_EVENTS;
	while (!wale_run_up_to(sch, now));
}

/**
 * wale_run_patiently() - replay all that happened up to now, if that is soon done
 * @sch: the qdisc
 * @patience_ns: so long it may take, ns
 * @now: set to the time, ns; if the link is still behind: to the one that it is at
 *
 * Whoever else wants the lock, or the CPU, gets it in between.
 *
 * Context: process context; the root lock is held, from sch_tree_lock().
 * Return: true if all was replayed.
 */
bool wale_run_patiently(struct Qdisc *sch, u64 patience_ns, u64 *now)
	__must_hold(root_lock)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	u64 end;

	*now = ktime_get_ns();
	end = *now + patience_ns;
	while (!wale_link_run(sch, *now)) {
		if (*now >= end) {
			*now = q->run.reached_ns;
			return false;
		}
		sch_tree_unlock(sch);
		cond_resched();
		sch_tree_lock(sch);
		*now = ktime_get_ns();
	}
	return true;
}
