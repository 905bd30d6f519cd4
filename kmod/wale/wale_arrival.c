// SPDX-License-Identifier: GPL-2.0
/*
 * wale_arrival.c - a packet arrives at the link: does it enter the buffer?
 *
 * Of a GSO packet, each segment by itself, unless it is kept in one piece.  What the
 * caller of enqueue and the parents learn of it is decided at the end, for all of them.
 */

#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "../compat.h"
#include "wale.h"
#include "wale_datagram.h"
#include "wale_packet.h"
#include "wale_queue.h"
#include "wale_trace.h"

/*
 * Is there room for a packet on the link, beside its buffer?  If so, the memory of the
 * packet is taken.  If not, the reason is the line's or the buffer's: of the one that
 * has more packets.
 */
static __always_inline bool wale_arrival_takes(struct wale_sched_data *q,
					       const struct sk_buff *skb)
{
	return q->counts.line.bytes < q->line_limit &&
	       wale_memory_take(&q->memory, skb->truesize);
}

static enum wale_drop_reason
wale_arrival_crowded(const struct wale_sched_data *q)
{
	return q->counts.line.packets < q->buffer.packets ? WALE_DROP_BUFFER :
							    WALE_DROP_LINE;
}

static void wale_arrival_count_offered(struct wale_sched_data *q,
				       const struct sk_buff *skb)
{
	u32 len = wale_skb_cb(skb)->wire_len;

	wale_count(&q->counts.offered, len);
	if (q->classes)
		wale_count(&wale_skb_counts(q, skb)->offered, len);
}

/* Is the link down?  Its loss and limit are those of the present step from now on. */
static inline bool wale_arrival_finds_down(struct wale_sched_data *q)
{
	if (!q->follow.on)
		return false;
	if (q->follow.step != q->schedule.step)
		wale_follow_step(q);
	return q->follow.down;
}

/* Is the flow cut off?  There is a breaker, and flows are told apart. */
static bool wale_arrival_is_cut(struct wale_sched_data *q,
				const struct sk_buff *skb, u64 now)
{
	u16 class = wale_skb_class(skb);

	return wale_breaker_cuts(q->breaker, class,
				 q->classes->place[class].key, now,
				 wale_skb_cb(skb)->wire_len);
}

/* Whose headers the link reads: once, for feedback and for SCONE. */
static noinline void wale_arrival_look(struct Qdisc *sch, struct sk_buff *skb,
				       u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_tuple tuple;
	bool found;

	found = (q->feedback || wale_datagram_may_be(skb)) &&
		wale_tuple_find(skb, &tuple);
	if (found && q->feedback && wale_feedback_see(sch, skb, &tuple, now))
		wale_timer_set(sch, now);
	if (!q->element)
		return;
	if (!q->plain)
		wale_element_update(q, now);
	if (found)
		wale_element_see(sch, skb, &tuple, now);
}

/*
 * One wire packet, or a GSO packet that is kept, of @len bytes on the wire;
 * wale_parents_hold() if it comes back, as far as is known.
 */
static void wale_arrival_accept_one(struct Qdisc *sch, struct sk_buff *skb,
				    u32 len, u64 now, struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (q->feedback || q->element)
		wale_arrival_look(sch, skb, now);
	*cb = (struct wale_skb_cb){ .arrival_ns = now, .wire_len = len };
	wale_arrival_count_offered(q, skb);
	if (wale_arrival_finds_down(q))
		wale_packet_refuse(sch, skb, WALE_DROP_DOWN, now, to_free);
	else if (q->breaker && wale_arrival_is_cut(q, skb, now))
		wale_packet_refuse(sch, skb, WALE_DROP_BREAKER, now, to_free);
	else if (wale_policer_is_on(&q->policer) &&
		 wale_mark_polices(q, skb, now))
		wale_packet_refuse(sch, skb, WALE_DROP_POLICER, now, to_free);
	else if (!wale_arrival_takes(q, skb))
		wale_packet_refuse(sch, skb, wale_arrival_crowded(q), now,
				   to_free);
	else
		q->station->accept(sch, skb, now, to_free);
}

/* A GSO packet could not be split. */
static void wale_arrival_drop_whole(struct Qdisc *sch, struct sk_buff *skb,
				    u64 now, struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	*wale_skb_cb(skb) = (struct wale_skb_cb){
		.arrival_ns = now, .wire_len = wale_skb_wire_len(sch, skb),
	};
	wale_arrival_count_offered(q, skb);
	wale_packet_count_drop(sch, skb, WALE_DROP_MEMORY, now);
	__qdisc_drop(skb, to_free);
}

/*
 * A GSO packet: split it; each segment is a wire packet, of the same flow.
 *
 * Return: false if there is no memory for that.
 */
static bool wale_arrival_accept_gso(struct Qdisc *sch, struct sk_buff *skb,
				    u64 now, struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	u16 class = wale_skb_class(skb);
	struct sk_buff *segs, *next;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		wale_arrival_drop_whole(sch, skb, now, to_free);
		return false;
	}
	skb_list_walk_safe(segs, segs, next) {
		wale_run_rest(sch, now);
		skb_mark_not_on_list(segs);
		wale_compat_set_pkt_len(segs, wale_skb_outer_len(sch, segs));
		qdisc_skb_cb(segs)->tc_classid = class;
		wale_arrival_accept_one(sch, segs, wale_skb_wire_len(sch, segs),
					now, to_free);
	}
	consume_skb(skb);
	return true;
}

/* Bytes on the wire of a packet, or of all packets in one; 0: it must be split. */
static inline u32 wale_arrival_wire_len(struct Qdisc *sch,
					const struct sk_buff *skb)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (!skb_is_gso(skb))
		return wale_skb_wire_len(sch, skb);
	return q->gso == WALE_GSO_KEEP ? wale_block_wire_len(sch, skb) : 0;
}

/*
 * A packet arrives, of any kind, at a link that was run up to @now, in a call.
 *
 * Return: false if this host kept it from the link: @verdict is then what the caller of
 * enqueue learns.
 */
static bool wale_arrival_arrive(struct Qdisc *sch, struct sk_buff *skb, u64 now,
				int *verdict, struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len;

	if (q->classes && !wale_classify(sch, skb, verdict, to_free))
		return false;
	len = wale_arrival_wire_len(sch, skb);
	if (!len) {
		*verdict = NET_XMIT_DROP;
		return wale_arrival_accept_gso(sch, skb, now, to_free);
	}
	wale_arrival_accept_one(sch, skb, len, now, to_free);
	return true;
}

/*
 * The link is behind.  The packet arrives when all that happened before is replayed;
 * until then, parents have one packet more.
 */
static noinline int wale_arrival_accept_later(struct Qdisc *sch,
					      struct sk_buff *skb, u64 now,
					      struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb);
	struct wale_entry entry;

	*wale_skb_cb(skb) = (struct wale_skb_cb){
		.arrival_ns = now, .wire_len = wale_skb_wire_len(sch, skb),
	};
	wale_parents_enter(sch, &entry);
	if (wale_memory_take(&q->memory, skb->truesize)) {
		wale_packet_disown(skb, false);
		q->run.late_bytes += wale_skb_cb(skb)->wire_len;
		__qdisc_enqueue_tail(skb, &q->run.late);
		wale_parents_hold(sch, skb);
		entry.accepted = true;
	} else {
		wale_arrival_count_offered(q, skb);
		wale_packet_refuse(sch, skb, wale_arrival_crowded(q), now,
				   to_free);
	}
	return wale_parents_leave(sch, &entry, len);
}

/**
 * wale_arrival_accept_late() - a packet arrives that came while the link was behind
 * @sch: the qdisc, run up to the time at which the packet came
 * @skb: the packet, on no list
 *
 * Parents, who may just be asking for a packet, are told later what became of it.
 */
void wale_arrival_accept_late(struct Qdisc *sch, struct sk_buff *skb)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_entry entry = {
		.outer = q->entry,
		.qlen = sch->q.qlen,
		.backlog = sch->qstats.backlog,
	};
	u64 now = wale_skb_cb(skb)->arrival_ns;
	u32 len = qdisc_pkt_len(skb);
	struct sk_buff *to_free = NULL;
	int verdict;

	q->run.late_bytes -= wale_skb_cb(skb)->wire_len;
	wale_memory_give(&q->memory, skb->truesize);
	q->entry = &entry;
	wale_arrival_arrive(sch, skb, now, &verdict, &to_free);
	q->entry = entry.outer;
	/* it was one packet to them */
	q->gone_packets += 1 - (sch->q.qlen - entry.qlen);
	q->gone_bytes += len - (sch->qstats.backlog - entry.backlog);
	sch->q.qlen = entry.qlen;
	sch->qstats.backlog = entry.backlog;
	kfree_skb_list(to_free);
}

/* Why does a plain link refuse a packet? */
static enum wale_drop_reason
wale_arrival_reason(const struct wale_sched_data *q, u32 len)
{
	if (q->follow.on && q->follow.down)
		return WALE_DROP_DOWN;
	return wale_buffer_fits(&q->buffer, len) ? wale_arrival_crowded(q) :
						   WALE_DROP_BUFFER;
}

/*
 * One wire packet, or a GSO packet that is kept, of @len bytes on the wire, at a plain
 * link: what parents are to learn of it is known at once.
 */
static int wale_arrival_accept_plain(struct Qdisc *sch, struct sk_buff *skb,
				     u32 len, u64 now, struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (!wale_link_run(sch, now))
		return wale_arrival_accept_later(sch, skb, now, to_free);
	if (unlikely(q->element) && wale_datagram_may_be(skb))
		wale_arrival_look(sch, skb, now);
	*cb = (struct wale_skb_cb){ .arrival_ns = now, .wire_len = len };
	wale_count(&q->counts.offered, len);
	if (wale_arrival_finds_down(q) || !wale_buffer_fits(&q->buffer, len) ||
	    !wale_arrival_takes(q, skb)) {
		wale_packet_count_drop(sch, skb, wale_arrival_reason(q, len),
				       now);
		__qdisc_drop(skb, to_free);
		return q->drops == WALE_DROPS_LOCAL ?
		       NET_XMIT_DROP : NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
	}
	wale_queue_take_in(sch, skb, now, true);
	return cb->lost ? NET_XMIT_SUCCESS | __NET_XMIT_BYPASS :
			  NET_XMIT_SUCCESS;
}

/*
 * Of any kind, at any link.  Not a part of wale_arrival_accept(), where most packets
 * would have to set up what only this needs.
 */
static noinline int wale_arrival_accept_any(struct Qdisc *sch,
					    struct sk_buff *skb, u64 now,
					    struct sk_buff **to_free)
{
	u32 len = qdisc_pkt_len(skb);
	struct wale_entry entry;
	int kept, verdict;
	bool arrived;

	/* it may free the place of a flow, too */
	if (!wale_link_run(sch, now))
		return wale_arrival_accept_later(sch, skb, now, to_free);
	wale_parents_enter(sch, &entry);
	arrived = wale_arrival_arrive(sch, skb, now, &kept, to_free);
	verdict = wale_parents_leave(sch, &entry, len);
	return arrived ? verdict : kept;
}

/**
 * wale_arrival_accept() - a packet arrives
 * @skb: the packet; the link owns it from here
 * @sch: the qdisc
 * @to_free: list of packets that the caller frees
 *
 * Return: NET_XMIT_SUCCESS if parents have one packet more of the link; else
 * NET_XMIT_DROP, or NET_XMIT_SUCCESS with __NET_XMIT_BYPASS with drops remote, for
 * random loss, and if another is gone in its place: the sender sees a success, a
 * parent that nothing came in.  Or what a filter of the qdisc did with it.  A GSO
 * packet that there is no memory to split is dropped by this host, not by the link:
 * NET_XMIT_DROP.  While the link is behind, a success.
 */
int wale_arrival_accept(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len = q->plain ? wale_arrival_wire_len(sch, skb) : 0;
	u64 now = ktime_get_ns();

	q->seen_ns = now;
	qdisc_skb_cb(skb)->tc_classid = 0;
	return len ? wale_arrival_accept_plain(sch, skb, len, now, to_free) :
		     wale_arrival_accept_any(sch, skb, now, to_free);
}
