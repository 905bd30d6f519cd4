// SPDX-License-Identifier: GPL-2.0
/*
 * wale_packet.c - what becomes of a packet on the link: it is lost, dropped, or on the line
 */

#include <linux/skbuff.h>

#include "wale.h"
#include "wale_line.h"
#include "wale_packet.h"
#include "wale_trace.h"

/* The next draw, or the one before: does it fall on a loss? */
static bool wale_packet_draws_loss_again(struct wale_sched_data *q)
{
	struct wale_impair *impair = q->impair;
	u64 draw = wale_again_draw(&impair->loss_again,
				   impair->params.loss_again,
				   wale_stream_draw(&q->loss_stream));

	return draw >> 32 < wale_chance(q->loss);
}

/* The next draw: does it fall on a loss? */
static bool wale_packet_draws_loss(struct wale_sched_data *q)
{
	if (q->loss && q->impair && q->impair->params.loss_again)
		return wale_packet_draws_loss_again(q);
	if (q->loss)
		return wale_packet_draws_lone_loss(q);
	if (!q->impair || q->follow.loss_given ||
	    q->impair->params.loss.kind == WALE_LOSS_INDEPENDENT)
		return false;
	return wale_loss_next(&q->impair->loss,
			      wale_stream_draw(&q->loss_stream));
}

/**
 * wale_packet_draw_loss() - will the packet that is admitted be lost at random?
 * @q: the link
 * @skb: the packet; it may get a mark instead
 *
 * Return: true if it will, and was not to be lost anyway.
 */
bool wale_packet_draw_loss(struct wale_sched_data *q, struct sk_buff *skb)
{
	return wale_packet_draws_loss(q) && !wale_skb_cb(skb)->lost &&
	       !wale_mark_saves(q, skb);
}

/**
 * wale_packet_count_drop() - count a packet that is dropped
 * @sch: the qdisc
 * @skb: the packet, with its struct wale_skb_cb
 * @reason: why
 * @now: ns
 */
void wale_packet_count_drop(struct Qdisc *sch, struct sk_buff *skb,
			    enum wale_drop_reason reason, u64 now)
{
	const struct wale_skb_cb *cb = wale_skb_cb(skb);
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_count(&q->counts.dropped[reason], cb->wire_len);
	if (q->classes)
		wale_count(&wale_skb_note_counts(q, skb)->dropped[reason],
			   cb->wire_len);
	qdisc_qstats_drop(sch);
	trace_wale_drop(sch, skb, cb->wire_len, reason, cb->arrival_ns, now);
	trace_wale_packet(sch, skb, reason, now);
}

/* A packet of the buffer is dropped; all that is left to do is to free it. */
static void wale_packet_give_up(struct Qdisc *sch, struct sk_buff *skb,
				enum wale_drop_reason reason, u64 now)
{
	wale_parents_forget(sch, skb);
	wale_packet_leave(qdisc_priv(sch), skb);
	wale_packet_count_drop(sch, skb, reason, now);
}

/**
 * wale_packet_free() - free a packet that was on the link
 * @q: the link
 * @skb: the packet, on no list
 */
void wale_packet_free(struct wale_sched_data *q, struct sk_buff *skb)
{
	wale_memory_give(&q->memory, skb->truesize);
	kfree_skb(skb);
}

/**
 * wale_packet_discard() - drop a packet of the buffer, which is on no list
 * @sch: the qdisc
 * @skb: the packet
 * @reason: why
 * @now: ns
 */
void wale_packet_discard(struct Qdisc *sch, struct sk_buff *skb,
			 enum wale_drop_reason reason, u64 now)
{
	wale_packet_give_up(sch, skb, reason, now);
	wale_packet_free(qdisc_priv(sch), skb);
}

/* Why a packet vanishes at the end of its service. */
static enum wale_drop_reason wale_packet_fate(const struct sk_buff *skb)
{
	u32 dropped = wale_skb_cb(skb)->dropped_cells;

	if (!dropped && !wale_skb_cb(skb)->merged)
		return WALE_DROP_LOSS;
	return dropped < wale_skb_cells(skb) ? WALE_DROP_PARTIAL :
					       WALE_DROP_BUFFER;
}

/* More packets than these, which are lost, are freed at once. */
#define WALE_LOST_MAX	1024

/*
 * The service of a packet has ended, and it does not get to the line.
 *
 * Packets are freed in the order in which they came, those that are lost, too: each
 * would else leave a hole in memory that is otherwise used up and freed in one piece,
 * and such holes cost the packets to come.  As long as there is a line, a packet that
 * is lost is freed with one that departs behind it.
 */
static void wale_packet_end(struct Qdisc *sch, struct sk_buff *skb,
			    enum wale_drop_reason reason, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_packet_give_up(sch, skb, reason, now);
	if (!q->line.head || q->lost.qlen >= WALE_LOST_MAX) {
		wale_packet_free(q, skb);
		return;
	}
	wale_packet_disown(skb, true);	/* its cells were lost since it came */
	wale_skb_cb(skb)->departure_ns = q->last_departure_ns;
	__qdisc_enqueue_tail(skb, &q->lost);
}

/**
 * wale_packet_vanish() - the service of a packet has ended that is lost
 * @sch: the qdisc
 * @skb: the packet, on no list
 * @now: ns
 */
void wale_packet_vanish(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	wale_packet_end(sch, skb, wale_packet_fate(skb), now);
}

/**
 * wale_packet_overflow() - drop a packet whose service has ended, if the line is full
 * @sch: the qdisc
 * @skb: the packet, on no list and not lost
 * @now: ns
 *
 * Return: true if it was dropped.
 */
bool wale_packet_overflow(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	const struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (wale_line_takes(&q->line_bound, &q->counts.line, 1 + cb->twice,
			    cb->wire_len))
		return false;
	wale_packet_end(sch, skb, WALE_DROP_LINE, now);
	return true;
}

/**
 * wale_packet_cut() - drop a packet whose service has ended, if the link goes down on its way
 * @sch: the qdisc
 * @skb: the packet, on no list and not lost
 * @departure_ns: when it would leave the line
 * @now: ns
 *
 * Return: true if it was dropped.
 */
bool wale_packet_cut(struct Qdisc *sch, struct sk_buff *skb, u64 departure_ns,
		     u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (!q->follow.cuts ||
	    !wale_schedule_was_down(&q->schedule, now, departure_ns))
		return false;
	wale_packet_end(sch, skb, WALE_DROP_DOWN, now);
	return true;
}

/**
 * wale_packet_count_line() - a packet is on the line now
 * @sch: the qdisc
 * @skb: the packet
 * @departure_ns: when it leaves the line
 * @now: ns; when its service ended
 */
void wale_packet_count_line(struct Qdisc *sch, struct sk_buff *skb,
			    u64 departure_ns, u64 now)
{
	__wale_packet_count_line(sch, skb, departure_ns, now);
}

/**
 * wale_packet_refuse() - drop a packet that arrives, in a call, and nothing instead
 * @sch: the qdisc
 * @skb: the packet
 * @reason: why
 * @now: ns
 * @to_free: list of packets that the caller frees
 */
void wale_packet_refuse(struct Qdisc *sch, struct sk_buff *skb,
			enum wale_drop_reason reason, u64 now,
			     struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_packet_count_drop(sch, skb, reason, now);
	q->entry->verdict = NET_XMIT_DROP;
	__qdisc_drop(skb, to_free);
}
