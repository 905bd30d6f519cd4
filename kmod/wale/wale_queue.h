/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_queue.h - packets wait in a queue, as far as most packets need it
 */
#ifndef _WALE_QUEUE_H
#define _WALE_QUEUE_H

#include <linux/skbuff.h>

#include "wale.h"
#include "wale_packet.h"
#include "wale_trace.h"

/*
 * A packet that is admitted, whole: it waits, or is served.
 *
 * @plain: is it known that the link is plain?
 */
static __always_inline void wale_queue_take_in(struct Qdisc *sch,
					       struct sk_buff *skb, u64 now,
					      bool plain)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (plain ? wale_packet_draws_lone_loss(q) :
		    (q->loss || q->impair) && wale_packet_draw_loss(q, skb))
		cb->lost = true;
	wale_packet_disown(skb, cb->lost);
	wale_packet_enter(q, skb, plain);
	__skb_queue_tail(&q->waiting, skb);
	if (!q->server.busy)
		wale_server_start(&q->server, &q->schedule, now, cb->wire_len);
	trace_wale_enqueue(sch, skb, now);
	if (!cb->lost)
		wale_parents_hold(sch, skb);
}

void wale_queue_served(struct Qdisc *sch);
u64 wale_queue_earliest_end(const struct wale_sched_data *q);

#endif /* _WALE_QUEUE_H */
