// SPDX-License-Identifier: GPL-2.0
/*
 * wale_impair.c - what a link does to packets at the end of their service, and
 * the line, on which they may then overtake others
 *
 * Each packet whose service ends takes one draw of each stream of an impairment
 * that is on, also one that is lost: so what becomes of the n-th does not depend
 * on the other impairments.  Whether there will be two of a packet is drawn when
 * it enters the buffer, as for a loss, because only then can parents be told.
 *
 * The line stays a list in the order of departures, to which a packet is added
 * behind its tail; only those that depart before the tail are in a tree.  What is
 * due next is the first of the list or of the tree.  Of two that depart at the
 * same time, that of the list came first: when the other was added, it departed
 * before the tail, which was behind the first.
 */

#include <linux/mm.h>
#include <linux/skbuff.h>

#include "wale.h"
#include "wale_corrupt.h"
#include "wale_packet.h"

/**
 * wale_impair_seed() - every draw of an impairment begins anew
 * @impair: the impairments, or NULL
 * @seed: of the link
 */
void wale_impair_seed(struct wale_impair *impair, u64 seed)
{
	if (!impair)
		return;
	wale_loss_start(&impair->loss, &impair->params.loss);
	impair->delayed = 0;
	wale_stream_init(&impair->slot_stream, seed, WALE_PURPOSE_SLOT);
	wale_stream_init(&impair->jitter_stream, seed, WALE_PURPOSE_JITTER);
	wale_stream_init(&impair->reorder_stream, seed, WALE_PURPOSE_REORDER);
	wale_stream_init(&impair->duplicate_stream, seed,
			 WALE_PURPOSE_DUPLICATE);
	wale_stream_init(&impair->corrupt_stream, seed, WALE_PURPOSE_CORRUPT);
	wale_again_init(&impair->loss_again, seed, WALE_PURPOSE_LOSS_AGAIN);
	wale_again_init(&impair->jitter_again, seed,
			WALE_PURPOSE_JITTER_AGAIN);
}

/**
 * wale_impair_free() - free the impairments of a link that is empty
 * @impair: the impairments, or NULL
 */
void wale_impair_free(struct wale_impair *impair)
{
	if (!impair)
		return;
	kvfree(impair->table);
	kvfree(impair);
}

/* Is the delay of each packet one of its own? */
static bool wale_impair_varies(const struct wale_sched_data *q)
{
	return q->impair->params.jitter_ns || q->follow.delays;
}

/**
 * wale_impair_may_overtake() - can a packet depart before one ahead of it?
 * @q: the link, which has impairments
 *
 * Return: true if it can.
 */
bool wale_impair_may_overtake(const struct wale_sched_data *q)
{
	return q->impair->params.reorder ||
	       (wale_impair_varies(q) && q->impair->params.reordering);
}

/* What impairments count. */
enum wale_impair_counter {
	WALE_IMPAIR_DUPLICATED,
	WALE_IMPAIR_CORRUPTED,
	WALE_IMPAIR_REORDERED,
};

static struct wale_counter *
wale_impair_counter(struct wale_counts *counts, enum wale_impair_counter which)
{
	switch (which) {
	case WALE_IMPAIR_DUPLICATED:
		return &counts->duplicated;
	case WALE_IMPAIR_CORRUPTED:
		return &counts->corrupted;
	default:
		return &counts->reordered;
	}
}

static void wale_impair_count(struct wale_sched_data *q,
			      const struct sk_buff *skb,
			      enum wale_impair_counter which)
{
	u32 len = wale_skb_cb(skb)->wire_len;

	wale_count(wale_impair_counter(&q->counts, which), len);
	if (q->classes)
		wale_count(wale_impair_counter(wale_skb_note_counts(q, skb),
					       which), len);
}

/* A draw is used up if there is a probability. */
static bool wale_impair_draws(struct wale_stream *stream, u32 probability)
{
	return probability && (wale_stream_draw(stream) >> 32) <
			      wale_chance(probability);
}

/**
 * wale_impair_lists() - is a packet on the list of those that are lost?
 * @q: the link, which has impairments
 * @skb: the packet that was last offered
 *
 * Return: true if it is.
 */
bool wale_impair_lists(const struct wale_sched_data *q,
		       const struct sk_buff *skb)
{
	const struct wale_drop_list *list = &q->impair->params.drops;
	u32 class;

	if (!list->count)
		return false;
	if (wale_drop_list_has(list, 0, q->counts.offered.packets))
		return true;
	if (!q->classes)
		return false;
	class = wale_skb_class(skb);
	return wale_drop_list_has(list, class ?: WALE_CLASS_CROWD,
				  wale_skb_counts(q, skb)->offered.packets);
}

/**
 * wale_impair_draws_copy() - will there be two of the packet that comes next?
 * @impair: the impairments
 *
 * Return: true if there will be.
 */
bool wale_impair_draws_copy(struct wale_impair *impair)
{
	return wale_impair_draws(&impair->duplicate_stream,
				 impair->params.duplicate);
}

/**
 * wale_impair_admit() - a packet enters the buffer
 * @q: the link, which has impairments
 * @skb: the packet that was last offered; what parents are to know of it is set
 */
void wale_impair_admit(const struct wale_sched_data *q, struct sk_buff *skb)
{
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	cb->lost = wale_impair_lists(q, skb);
	cb->twice = wale_impair_draws_copy(q->impair);
}

/* Does the packet whose service ends skip the delay? */
static bool wale_impair_skips(struct wale_impair *impair)
{
	const struct wale_impair_params *params = &impair->params;
	bool skips = wale_impair_draws(&impair->reorder_stream,
				       params->reorder);

	if (impair->delayed < params->gap - 1)
		skips = false;
	if (skips)
		impair->delayed = 0;
	else if (impair->delayed < U32_MAX)
		impair->delayed++;
	return skips;
}

/* When a packet departs whose service ends now. */
static u64 wale_impair_departure(struct wale_sched_data *q, u64 now)
{
	struct wale_impair *impair = q->impair;
	const struct wale_impair_params *params = &impair->params;
	bool overtakes = wale_impair_varies(q) && params->reordering;
	u64 delay_ns = q->delay_ns, draw;

	if (params->jitter_ns) {
		draw = wale_stream_draw(&impair->jitter_stream);
		if (params->jitter_again)
			draw = wale_again_draw(&impair->jitter_again,
					       params->jitter_again, draw);
		delay_ns = wale_jitter_delay(delay_ns,
					     wale_jitter_offset(params->jitter_ns,
								impair->table,
								draw));
	}
	if (wale_impair_skips(impair)) {
		overtakes = true;
		delay_ns = 0;
	}
	if (overtakes && !params->slot.max_ns)
		return now + delay_ns;
	return max(q->last_departure_ns, now + delay_ns);
}

/* Maybe the packet, whose service ended, takes more memory then. */
static void wale_impair_corrupt(struct wale_sched_data *q, struct sk_buff *skb,
				u32 draw)
{
	u32 size = skb->truesize;

	if (q->impair->params.corrupt_fix ? wale_corrupt_fixed(skb, draw) :
					    wale_corrupt_any(skb, draw)) {
		wale_skb_cb(skb)->corrupted = true;
		wale_impair_count(q, skb, WALE_IMPAIR_CORRUPTED);
	}
	wale_memory_change(&q->memory, size, skb->truesize);
}

static struct sk_buff *wale_impair_clone(struct wale_sched_data *q,
					 struct sk_buff *skb)
{
	struct sk_buff *clone;

	if (!wale_memory_take(&q->memory, skb->truesize))
		return NULL;
	clone = skb_clone(skb, GFP_ATOMIC);
	if (!clone)
		wale_memory_give(&q->memory, skb->truesize);
	return clone;
}

/* The copy that parents count already; or NULL, and they are told so. */
static struct sk_buff *wale_impair_copy(struct wale_sched_data *q,
					struct sk_buff *skb)
{
	struct sk_buff *copy = wale_impair_clone(q, skb);

	if (copy) {
		wale_skb_cb(copy)->copy = true;
		wale_impair_count(q, skb, WALE_IMPAIR_DUPLICATED);
	} else {
		q->gone_packets++;
		q->gone_bytes += qdisc_pkt_len(skb);
	}
	return copy;
}

/* When a packet leaves that is to leave: then, or in a slot. */
static u64 wale_impair_slot(struct wale_impair *impair, u64 departure_ns,
			    u32 len)
{
	const struct wale_slot_params *params = &impair->params.slot;
	struct wale_slot *slot = &impair->slot;

	if (!params->max_ns)
		return departure_ns;
	if (!wale_slot_takes(slot, params, departure_ns, len))
		wale_slot_open(slot, params, departure_ns,
			       wale_stream_draw(&impair->slot_stream));
	return wale_slot_enter(slot, len);
}

/* A packet is added to the line. */
static void wale_impair_line_up(struct Qdisc *sch, struct sk_buff *skb,
				u64 departure_ns, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct rb_node **link = &q->impair->overtakers.rb_node, *parent = NULL;

	wale_packet_count_line(sch, skb, departure_ns, now);
	if (!q->line.tail ||
	    wale_skb_cb(q->line.tail)->departure_ns <= departure_ns) {
		__qdisc_enqueue_tail(skb, &q->line);
		return;
	}
	wale_impair_count(q, skb, WALE_IMPAIR_REORDERED);
	while (*link) {
		parent = *link;
		link = wale_skb_cb(rb_to_skb(parent))->departure_ns <=
		       departure_ns ? &parent->rb_right : &parent->rb_left;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &q->impair->overtakers);
}

/**
 * wale_impair_complete() - the service of a packet has ended
 * @sch: the qdisc, which has impairments
 * @skb: the packet, on no list
 * @now: ns
 */
void wale_impair_complete(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_impair *impair = q->impair;
	u64 departure_ns = wale_impair_departure(q, now), draw = 0;
	u32 len = wale_skb_cb(skb)->wire_len;
	struct sk_buff *copy = NULL;

	if (impair->params.corrupt)
		draw = wale_stream_draw(&impair->corrupt_stream);
	if (wale_skb_cb(skb)->lost) {
		wale_packet_vanish(sch, skb, now);
		return;
	}
	if (wale_packet_overflow(sch, skb, now) ||
	    wale_packet_cut(sch, skb, departure_ns, now))
		return;
	if (draw >> 32 < wale_chance(impair->params.corrupt))
		wale_impair_corrupt(q, skb, draw);
	if (wale_skb_cb(skb)->twice)
		copy = wale_impair_copy(q, skb);
	wale_impair_line_up(sch, skb,
			    wale_impair_slot(impair, departure_ns, len), now);
	wale_packet_leave(q, skb);
	if (copy)
		wale_impair_line_up(sch, copy,
				    wale_impair_slot(impair, departure_ns, len),
				    now);
}

/**
 * wale_impair_line_first() - the packet that departs next
 * @q: the link, which has impairments
 *
 * Return: the packet, or NULL.
 */
const struct sk_buff *
wale_impair_line_first(const struct wale_sched_data *q)
{
	const struct sk_buff *skb = skb_rb_first(&q->impair->overtakers);
	const struct sk_buff *head = q->line.head;

	if (!skb || (head && wale_skb_cb(head)->departure_ns <=
			     wale_skb_cb(skb)->departure_ns))
		return head;
	return skb;
}

/**
 * wale_impair_line_take() - take the packet that departs next off the line
 * @sch: the qdisc, which has impairments
 * @now: ns
 *
 * Return: the packet, if it departs by now; or NULL.
 */
struct sk_buff *wale_impair_line_take(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	const struct sk_buff *first = wale_impair_line_first(q);
	struct sk_buff *skb;

	if (!first || wale_skb_cb(first)->departure_ns > now)
		return NULL;
	if (first == q->line.head)
		return __qdisc_dequeue_head(&q->line);
	skb = skb_rb_first(&q->impair->overtakers);
	rb_erase(&skb->rbnode, &q->impair->overtakers);
	/* the node shares their place */
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = qdisc_dev(sch);
	return skb;
}
