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

/* Does the policy refuse a packet that would fit?  @class: where flows are told apart. */
static bool wale_mark_congested(const struct wale_sched_data *q, u16 class)
{
	struct wale_congestion congestion = {
		.total = wale_buffer_occupancy(&q->buffer, &q->buffer),
	};

	if (congestion.total <= q->policy.threshold)
		return false;
	congestion.limit = wale_buffer_limit(&q->buffer);
	if (q->classes) {
		congestion.flow =
			wale_buffer_occupancy(&q->buffer,
					      &q->classes->class[class].buffer);
		congestion.active = wale_buffer_counts_cells(&q->buffer) ?
				    q->classes->busy_cells : q->classes->busy;
	}
	return wale_policy_refuses(&q->policy, &congestion);
}

/**
 * wale_mark_draw_victim() - who of the tail is dropped in a full buffer?
 * @q: the link
 * @waiting: how many there are, without the one in service
 *
 * Return: 0: the arrival; k: the k-th from the tail, counted from 1.
 */
u32 wale_mark_draw_victim(struct wale_sched_data *q, u32 waiting)
{
	u32 pool = min(q->policy.last, waiting);

	if (!pool)
		return 0;
	return (wale_stream_draw(&q->buffer_stream) >> 32) * (pool + 1) >> 32;
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
 * wale_mark_polices() - does a packet exceed the policer, and is refused?
 * @q: the link, which has a policer
 * @skb: the packet; it may get a mark
 * @now: ns
 *
 * Return: true if it is.
 */
bool wale_mark_polices(struct wale_sched_data *q, struct sk_buff *skb, u64 now)
{
	if (wale_policer_takes(&q->policer, now, wale_skb_cb(skb)->wire_len))
		return false;
	if (q->policer.params.excess != WALE_POLICER_EXCESS_MARK ||
	    !INET_ECN_set_ce(skb))
		return true;
	wale_mark_count(q, skb, true);
	return false;
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
		  !wale_mark_congested(q, wale_skb_class(skb)))
		return false;
	if (!q->policy.mark)
		return true;
	marked = INET_ECN_set_ce(skb);
	if (marked || rem)
		wale_mark_count(q, skb, marked);
	return !marked && !rem;
}
