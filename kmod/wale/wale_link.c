// SPDX-License-Identifier: GPL-2.0
/*
 * wale_link.c - the life of a packet on the link
 *
 *	arrives -> fits into the buffer? -> waits -> is served -> lost? ->
 *	is on the line for the propagation delay -> departs
 *
 * Nothing happens at the time at which a timer fires: wale_link_run() replays
 * all ends of service and changes of rate up to now, in their order and with
 * their own times, before anything else is decided.  So who fits, who is lost
 * and when each packet departs follow from the arrivals alone, and a late timer
 * makes a packet late but no other.
 *
 * Whether a packet will be lost is drawn when it enters the buffer (packets
 * leave service in that order, so that it is the same draw), because only then
 * can a parent be told that this packet will not come back: dropping it from a
 * parent's dequeue would change the parent's tree under its feet.  The lost
 * packet occupies buffer and server all the same.
 *
 * With a child qdisc as the buffer (wale_child.c), what waits is in it, and all
 * this is drawn when it gives a packet to the server.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/prefetch.h>
#include <linux/skbuff.h>
#include <linux/timer.h>

#include "../compat.h"
#include "wale.h"
#include "wale_packet.h"
#include "wale_line.h"
#include "wale_trace.h"
#include "wale_trace_store.h"

/*
 * Before a packet is taken: see wale_parents_settle().  A parent such as hfsc peeks when
 * it enqueued; and that may be in a call within another, which is to tell them.
 */
static void wale_link_settle_later(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (q->entry)
		return;
	if (sch->q.qlen != q->gone_packets)
		wale_parents_settle(sch);
	else if (q->gone_packets)
		timer_reduce(&q->run_timer, jiffies + 1);
}

/* Take the packet that departs next off the line, if it does by now. */
static inline struct sk_buff *wale_link_take(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	const struct sk_buff *head = q->line.head;

	if (q->impair)
		return wale_impair_line_take(sch, now);
	if (!head || wale_skb_cb(head)->departure_ns > now)
		return NULL;
	return __qdisc_dequeue_head(&q->line);
}

/* Free those that were lost ahead of what departed at this time; all without a line. */
static void wale_link_free_lost(struct wale_sched_data *q, u64 departure_ns)
{
	struct sk_buff *skb;

	while ((skb = q->lost.head) &&
	       (!q->line.head ||
		wale_skb_cb(skb)->departure_ns < departure_ns))
		wale_packet_free(q, __qdisc_dequeue_head(&q->lost));
}

/*
 * A line can be longer than any cache.  A packet of it comes into the cache step by
 * step, as where to find a part is in the one before: the first bytes of its head
 * when the packet two ahead of it is the next one (wale_link_then()), the rest of the
 * head when that one is released, and what counts its fragments when the packet ahead
 * of it is.
 *
 * A call of a function that does nothing else, gcc takes to have no effect, and leaves
 * out: so it is none.
 */
static __always_inline void wale_link_prefetch(const struct wale_sched_data *q)
{
	const struct sk_buff *next = q->line.head;
	const u8 *head;

	if (!next)
		return;
	prefetch(skb_shinfo(next));
	head = (const u8 *)next->next;
	for (; head && head < (const u8 *)(next->next + 1);
	     head += L1_CACHE_BYTES)
		prefetch(head);
}

/*
 * Before when can no packet of the buffer depart, as far as it is known?  With
 * impairments, it may skip the delay, and others.  U64_MAX: not unless a packet comes or
 * the link is changed.
 */
static u64 wale_link_earliest_departure(const struct wale_sched_data *q)
{
	u64 end = q->station->earliest_end(q);

	if (end == U64_MAX || q->impair)
		return end;
	return max(end + wale_follow_least_delay(q), q->last_departure_ns);
}

/* When the packet behind the next one departs; 0: there is none. */
static u64 wale_link_then(const struct wale_sched_data *q)
{
	const struct sk_buff *then = q->line.head->next;

	if (!then)
		return 0;
	prefetch(then->next);	/* see wale_link_prefetch() */
	return wale_skb_cb(then)->departure_ns;
}

/* The next packet departs, then the one behind it. */
static void wale_link_set_line_alarm(struct wale_sched_data *q)
{
	wale_alarm_set(&q->alarm, wale_skb_cb(q->line.head)->departure_ns,
		       wale_link_then(q));
}

/**
 * wale_link_set_alarm() - have the qdisc run when there is something to do next
 * @sch: the qdisc
 *
 * A packet departs: the next of the line; if there is none, or another may overtake
 * it, not before one of the buffer can.  Or the station is asked for what is served
 * next.
 */
void wale_link_set_alarm(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	const struct sk_buff *next = q->line.head;
	u64 at_ns, asked_ns = U64_MAX;

	if (next && !q->impair && !q->station->asked_ns) {
		wale_link_set_line_alarm(q);
		return;
	}
	if (q->impair)
		next = wale_impair_line_first(q);
	at_ns = next ? wale_skb_cb(next)->departure_ns : U64_MAX;
	if (q->station->asked_ns)
		asked_ns = q->station->asked_ns(q);
	if (asked_ns != U64_MAX)
		at_ns = min(at_ns, asked_ns);
	else if (!next || (q->impair && wale_impair_may_overtake(q)))
		at_ns = min(at_ns, wale_link_earliest_departure(q));
	if (at_ns != U64_MAX)
		wale_alarm_set(&q->alarm, at_ns, 0);
}

/* The next packet of the line, if the link need not be run until it departs. */
static const struct sk_buff *
wale_link_awaited(const struct wale_sched_data *q)
{
	if (q->run.behind || q->gone_packets ||
	    (!q->plain && (q->impair || q->station->restless)))
		return NULL;
	return q->line.head;
}

/*
 * Will the time do at which a packet was due already?  It will, to release the packet
 * of a plain link; but what is traced has the time at which it happens.
 */
static bool wale_link_asks_no_clock(const struct wale_sched_data *q)
{
	return q->plain && !trace_wale_dequeue_enabled() &&
	       !trace_wale_release_enabled();
}

/*
 * Is there nothing to do until the alarm that is set?  So it is after most packets
 * that come, and after most that leave: what is behind the next one to depart can
 * be replayed then.  If not, @now is the time, or a while ago if that is enough.
 *
 * A packet that was due when the clock was last seen still is: so it is of those that
 * leave together, and with slack, when another comes.
 */
static bool wale_link_waits(struct wale_sched_data *q, u64 *now)
{
	const struct sk_buff *next = wale_link_awaited(q);
	bool due = next && wale_skb_cb(next)->departure_ns <= q->seen_ns;

	if (next && !(due && q->alarm.slack_ns) &&
	    wale_alarm_is_ahead(&q->alarm, wale_skb_cb(next)->departure_ns)) {
		if (!wale_alarm_is_complete(&q->alarm))
			wale_alarm_set_then(&q->alarm, wale_link_then(q));
		return true;
	}
	if (!due || !wale_link_asks_no_clock(q))
		q->seen_ns = ktime_get_ns();
	*now = q->seen_ns;
	return next && *now < wale_skb_cb(next)->departure_ns &&
	       wale_alarm_is_near(&q->alarm, wale_skb_cb(next)->departure_ns) &&
	       wale_alarm_is_complete(&q->alarm);
}

/**
 * wale_link_release() - the packet whose departure is due
 * @sch: the qdisc
 *
 * Return: the packet; NULL if none is, and the alarm is set for the next one.
 */
struct sk_buff *wale_link_release(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u64 now, due_ns;
	u32 len;

	if (wale_link_waits(q, &now))
		return NULL;
	/* what departs later may be overtaken, or in the way of a packet that is late */
	due_ns = wale_link_run(sch, now) ? now : q->run.reached_ns;
	wale_link_settle_later(sch);
	skb = wale_link_take(sch, due_ns);
	if (!skb) {
		if (!q->run.behind)
			wale_link_set_alarm(sch);
		return NULL;
	}

	wale_link_prefetch(q);
	if (q->lost.head)
		wale_link_free_lost(q, wale_skb_cb(skb)->departure_ns);
	len = wale_skb_cb(skb)->wire_len;
	wale_memory_give(&q->memory, skb->truesize);
	wale_uncount(&q->counts.line, len);
	wale_count(&q->counts.sent, len);
	if (q->classes) {
		wale_count(&wale_skb_counts(q, skb)->sent, len);
		wale_class_depart(q->classes, wale_skb_class(skb), len);
		if (q->line.head)
			wale_class_prefetch(q->classes,
					    wale_skb_class(q->line.head));
	}
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	trace_wale_dequeue(sch, skb, now);
	trace_wale_release(sch, now);
	return skb;
}

static const struct wale_station *
wale_link_station(const struct wale_sched_data *q)
{
	if (q->child.qdisc)
		return &wale_child_station;
	return wale_buffer_counts_cells(&q->buffer) ? &wale_atm_station :
						      &wale_queue_station;
}

/* Are endpoints of QUIC told a rate that is not always the same? */
static bool wale_link_tells_changes(const struct wale_sched_data *q)
{
	return q->element && (q->schedule.trace || q->schedule.sessions);
}

/**
 * wale_link_set_plain() - note where packets wait, and whether the link is plain
 * @q: the link, with nothing gone that parents were not told of
 *
 * Most links are, and what each packet needs of them is little.  Of a plain link,
 * parents count no packet that does not come back: a packet of it is refused when
 * it comes, or its loss is known then.
 */
void wale_link_set_plain(struct wale_sched_data *q)
{
	q->station = wale_link_station(q);
	q->plain = q->station == &wale_queue_station &&
		   q->policy.kind == WALE_POLICY_TAIL && !q->classes &&
		   !q->feedback && !wale_link_tells_changes(q) &&
		   !q->impair && !(q->follow.on && q->follow.cuts) &&
		   !wale_policer_is_on(&q->policer) &&
		   q->line_bound.packets == U32_MAX &&
		   q->line_bound.bytes == U64_MAX;
}

/* The longest that a packet is on the line, if it leaves in time. */
static u64 wale_link_reach_ns(const struct wale_sched_data *q)
{
	const struct wale_impair_params *params;

	if (!q->impair)
		return wale_follow_peak_delay(q);
	params = &q->impair->params;
	return wale_follow_peak_delay(q) + WALE_JITTER_REACH * params->jitter_ns +
	       params->slot.max_ns;
}

/**
 * wale_link_set_line_limit() - how much fits on the line from now on
 * @q: the link
 */
void wale_link_set_line_limit(struct wale_sched_data *q)
{
	q->line_limit = wale_line_limit(wale_schedule_peak_rate(&q->schedule),
					wale_link_reach_ns(q),
					q->counts.line.bytes,
					wale_memory_share(&q->memory));
}

/**
 * wale_link_seed() - every random draw begins anew, but for those of sessions
 * @q: the link
 * @seed: of them
 */
void wale_link_seed(struct wale_sched_data *q, u64 seed)
{
	q->seed = seed;
	wale_stream_init(&q->loss_stream, seed, WALE_PURPOSE_LOSS);
	wale_stream_init(&q->buffer_stream, seed, WALE_PURPOSE_BUFFER);
	wale_stream_init(&q->mark_stream, seed, WALE_PURPOSE_MARK);
	wale_impair_seed(q->impair, seed);
}

