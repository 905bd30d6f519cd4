// SPDX-License-Identifier: GPL-2.0
/*
 * wale_mark.c - which packets that would fit are refused, or marked (ECN)
 *
 * epd, seldrop and fba refuse in congestion (wale_policy.c), rem by its price
 * (wale_rem.c).  With mark, a packet whose sender can be told (ECT) gets a mark in
 * the place of being refused, and enters.  One that cannot be marked is refused by
 * the first three, as without mark; rem leaves it alone: what its price asks for
 * is a rate, of those who read it, and not that every SYN be lost at a high price.
 */

#include <net/inet_ecn.h>

#include "wale.h"

/**
 * wale_mark_run() - what happens up to the next update of the price, and that
 * @sch: the qdisc, whose policy is rem
 * @replay: replays the link, without its price
 * @now: ns
 *
 * Return: false if there is more than a run may replay.
 */
bool wale_mark_run(struct Qdisc *sch,
		   bool (*replay)(struct Qdisc *sch, u64 now), u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_rem *rem = &q->rem;
	u64 quiet_until, offered, rate, at_ns;

	offered = q->counts.offered.bytes;
	while (rem->next_ns <= now) {
		at_ns = rem->next_ns;
		if (!replay(sch, at_ns))
			return false;
		quiet_until = q->server.busy ? q->server.event_ns :
					       q->schedule.until_ns;
		if (wale_rem_rests(rem, q->buffer.bytes))
			quiet_until = U64_MAX;
		quiet_until = min(quiet_until,
				  wale_inputs_next(&q->cells, q->classes));
		rate = wale_schedule_bytes_per_s(&q->schedule);
		wale_rem_update(rem, q->buffer.bytes, offered, rate,
				wale_rem_steps(rem, offered, quiet_until, now));
		if (!wale_run_goes_on(&q->run, at_ns))
			return false;
	}
	return true;
}

static bool wale_mark_draw(struct wale_sched_data *q)
{
	if (!q->rem.probability)
		return false;
	return (u32)(wale_stream_draw(&q->mark_stream) >> 32) <
	       q->rem.probability;
}

static void wale_mark_count(struct wale_sched_data *q,
			    const struct sk_buff *skb, bool marked)
{
	u32 len = wale_skb_cb(skb)->wire_len;
	struct wale_counts *counts;

	wale_count(marked ? &q->counts.marked : &q->counts.unmarkable, len);
	if (!q->classes)
		return;
	counts = wale_skb_note_counts(q, skb);
	wale_count(marked ? &counts->marked : &counts->unmarkable, len);
}

/**
 * wale_mark_saves() - is a packet marked instead of being lost at random?
 * @q: the link
 * @skb: the packet; it may get a mark
 *
 * Return: true if it is.
 */
bool wale_mark_saves(struct wale_sched_data *q, struct sk_buff *skb)
{
	if (!q->impair || !q->impair->params.ecn || !INET_ECN_set_ce(skb))
		return false;
	wale_mark_count(q, skb, true);
	return true;
}

/**
 * wale_mark_refuses() - is a packet that would fit refused?
 * @q: the link
 * @skb: the packet; it may get a mark
 *
 * Return: true if it is.
 */
bool wale_mark_refuses(struct wale_sched_data *q, struct sk_buff *skb)
{
	bool rem = q->policy.kind == WALE_POLICY_REM;
	bool marked;

	if (rem ? !wale_mark_draw(q) :
		  !wale_link_congested(q, wale_skb_class(skb)))
		return false;
	if (!q->policy.mark)
		return true;
	marked = INET_ECN_set_ce(skb);
	if (marked || rem)
		wale_mark_count(q, skb, marked);
	return !marked && !rem;
}
