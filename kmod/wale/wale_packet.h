/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_packet.h - what becomes of a packet, as far as most packets need it
 */
#ifndef _WALE_PACKET_H
#define _WALE_PACKET_H

#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <net/sock.h>

#include "wale.h"
#include "wale_trace.h"

/* The next draw, if packets are lost independently: does it fall on a loss? */
static __always_inline bool wale_packet_draws_lone_loss(struct wale_sched_data *q)
{
	return q->loss &&
	       ((u32)(wale_stream_draw(&q->loss_stream) >> 32) < q->loss ||
		q->loss == WALE_LOSS_ALWAYS);
}

/**
 * wale_packet_disown() - a packet in the network is no longer the local sender's
 * @skb: the packet
 * @lost: it will be lost
 *
 * One that will be lost may stay for as long as nothing else moves the link: it
 * must not hold a socket, a route or a connection, and with them a namespace.
 */
static inline void wale_packet_disown(struct sk_buff *skb, bool lost)
{
	if (!lost) {
		if (skb->destructor)
			skb_orphan_partial(skb);
		return;
	}
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
}

/* A packet enters the buffer.  @plain: is it known that the link is plain? */
static __always_inline void wale_packet_enter(struct wale_sched_data *q,
					      const struct sk_buff *skb,
					    bool plain)
{
	u32 len = wale_skb_cb(skb)->wire_len;

	wale_buffer_enter(&q->buffer, len);
	if (!plain && q->classes)
		wale_class_enter(q->classes, wale_skb_class(skb), len);
}

/**
 * wale_packet_leave() - a packet leaves the buffer
 * @q: the link
 * @skb: the packet; it is counted before where it goes next
 */
static inline void wale_packet_leave(struct wale_sched_data *q,
				     const struct sk_buff *skb)
{
	u32 len = wale_skb_cb(skb)->wire_len;

	wale_buffer_leave(&q->buffer, len);
	if (q->classes)
		wale_class_leave(q->classes, wale_skb_class(skb), len);
}

/* wale_packet_count_line(), in the loop that needs it. */
static __always_inline void __wale_packet_count_line(struct Qdisc *sch,
						     struct sk_buff *skb,
						   u64 departure_ns, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	q->last_departure_ns = max(q->last_departure_ns, departure_ns);
	cb->departure_ns = departure_ns;
	wale_count(&q->counts.line, cb->wire_len);
	if (q->classes)
		wale_count(&wale_skb_counts(q, skb)->line, cb->wire_len);
	trace_wale_packet(sch, skb, __WALE_DROP_MAX, now);
}

/* A service ends: with which delay?  Most do in the step of the one before. */
static __always_inline void wale_packet_follow(struct wale_sched_data *q,
					       u64 now)
{
	const struct wale_follow *follow = &q->follow;

	if (follow->delays &&
	    (now <= follow->from_ns || now > follow->until_ns))
		wale_follow_end(q, now);
}

/* Without impairments: it is lost, or departs after all that did so far. */
static __always_inline void wale_packet_complete_plain(struct Qdisc *sch,
						       struct sk_buff *skb,
						     u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (wale_skb_cb(skb)->lost) {
		wale_packet_vanish(sch, skb, now);
	} else {
		__wale_packet_count_line(sch, skb, max(q->last_departure_ns,
						       now + q->delay_ns), now);
		wale_packet_leave(q, skb);
		__qdisc_enqueue_tail(skb, &q->line);
	}
}

/**
 * wale_packet_complete() - the service of a packet has ended
 * @sch: the qdisc
 * @skb: the packet, on no list
 * @now: ns
 */
static inline void wale_packet_complete(struct Qdisc *sch,
					struct sk_buff *skb, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_packet_follow(q, now);
	if (q->impair)
		wale_impair_complete(sch, skb, now);
	else if (wale_skb_cb(skb)->lost ||
		 (!wale_packet_overflow(sch, skb, now) &&
		  !wale_packet_cut(sch, skb, max(q->last_departure_ns,
						 now + q->delay_ns), now)))
		wale_packet_complete_plain(sch, skb, now);
}

#endif /* _WALE_PACKET_H */
