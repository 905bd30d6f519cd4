// SPDX-License-Identifier: GPL-2.0
/*
 * wale_queue.c - packets wait in a queue, whole, and the first one is served
 */

#include <linux/skbuff.h>

#include "wale.h"
#include "wale_queue.h"

/*
 * random_tail: true if there is room for the arrival, after that of victims.  In
 * a buffer that is fuller than its limit, after a change, it takes their place.
 */
static bool wale_queue_make_room(struct Qdisc *sch, u32 len, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 before = wale_buffer_occupancy(&q->buffer, &q->buffer);
	u32 size = q->buffer.limit_bytes != U64_MAX ? len : 1;
	struct sk_buff *victim;
	u32 k;

	do {
		k = wale_mark_draw_victim(q, q->buffer.packets -
					     !!q->buffer.packets);
		if (!k)
			return false;
		victim = q->waiting.prev;
		while (--k)
			victim = victim->prev;
		__skb_unlink(victim, &q->waiting);
		wale_packet_discard(sch, victim, WALE_DROP_BUFFER, now);
	} while (!wale_buffer_fits(&q->buffer, len) &&
		 wale_buffer_occupancy(&q->buffer, &q->buffer) + size > before);
	return true;
}

/* Does a packet enter the buffer?  If not: why. */
static bool wale_queue_admits(struct Qdisc *sch, struct sk_buff *skb, u64 now,
			      enum wale_drop_reason *reason)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len = wale_skb_cb(skb)->wire_len;

	*reason = WALE_DROP_BUFFER;
	if (!wale_buffer_fits(&q->buffer, len))
		return q->policy.kind == WALE_POLICY_RANDOM_TAIL &&
		       wale_queue_make_room(sch, len, now);
	if (q->policy.kind == WALE_POLICY_TAIL)
		return true;
	*reason = WALE_DROP_EARLY;
	return !wale_mark_refuses(q, skb);
}

/* One wire packet, whole. */
static void wale_queue_accept(struct Qdisc *sch, struct sk_buff *skb,
			      u64 now, struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	enum wale_drop_reason reason;

	if (!wale_queue_admits(sch, skb, now, &reason)) {
		wale_memory_give(&q->memory, skb->truesize);
		wale_packet_refuse(sch, skb, reason, now, to_free);
		return;
	}

	if (q->impair)
		wale_impair_admit(q, skb);
	wale_queue_take_in(sch, skb, now, false);
	if (!wale_skb_cb(skb)->lost)
		q->entry->accepted = true;
}

static bool wale_queue_next(struct Qdisc *sch, u32 *len)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (skb_queue_empty(&q->waiting))
		return false;
	if (q->classes)
		wale_class_prefetch(q->classes,
				    wale_skb_class(q->waiting.next));
	*len = wale_skb_cb(q->waiting.next)->wire_len;
	return true;
}

/**
 * wale_queue_served() - the service of the first packet ended
 * @sch: the qdisc
 */
void wale_queue_served(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_packet_complete(sch, __skb_dequeue(&q->waiting),
			     q->server.time_ns);
}

/**
 * wale_queue_earliest_end() - before when can the service of no packet end?
 * @q: the link, run up to now
 *
 * Return: ns; U64_MAX: none does unless a packet comes or the link is changed.
 */
u64 wale_queue_earliest_end(const struct wale_sched_data *q)
{
	if (!q->server.busy)
		return U64_MAX;
	return wale_server_earliest_end(&q->server, &q->schedule, 0);
}

const struct wale_station wale_queue_station = {
	.accept		= wale_queue_accept,
	.next		= wale_queue_next,
	.served		= wale_queue_served,
	.earliest_end	= wale_queue_earliest_end,
};
