// SPDX-License-Identifier: GPL-2.0
/*
 * wale_child.c - a child qdisc instead of the buffer
 *
 *	arrives -> child -> is served -> lost? -> line -> departs
 *
 * The child gets each wire packet when it arrives, and is asked for the next one
 * at the very end of a service: with a child, the alarm rings at each of them.  So
 * what an AQM measures is the time that a packet waited, without service and delay.
 * A child may have nothing to give though it holds packets: the server is then
 * idle until the child has the qdisc tree run.
 *
 * In the child, a packet's length (qdisc_pkt_len()) is that on the wire.  So the
 * child works with what the link does, and what it holds is known in wire bytes: so
 * is, from the difference, what it dropped, though not which packets these were.
 *
 * The child drops when it likes, also while it is asked for a packet.  It is made
 * the root of its own hierarchy (TCQ_F_NOPARENT), because it would tell all parents
 * at once, also that they have nothing left, while one of them is just asking for a
 * packet.  The link looks what is missing after each call, and tells parents of it
 * as of its own losses: see wale_parents_settle().
 *
 * The private part of the control block is the child's as long as it has the packet.
 * So losses and copies are drawn when it comes back, in the order of service; when
 * the packet came is not known any more.
 *
 * A GSO packet that the link kept, a child may split (cake does, unless it is told
 * not to).  It then makes packets of the wire instead of the one that was
 * offered, and gives them lengths without the overhead: the link counts them as what
 * was offered, and corrects the lengths of those that come back.
 */

#include <linux/sched.h>
#include <linux/skbuff.h>
#include <net/gen_stats.h>

#include "../compat.h"
#include "wale.h"
#include "wale_packet.h"
#include "wale_queue.h"
#include "wale_trace.h"

/*
 * In tc_classid of struct qdisc_skb_cb while the child has a packet that is on the
 * list of those that are lost.  A bpf filter of the child writes the class of its
 * result there, so that it is no number which a class is likely to have.
 */
#define WALE_CHILD_LISTED	U16_MAX

/* The child dropped packets, or (its own children did) made some. */
static void wale_child_count(struct Qdisc *sch, int packets, int bytes, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_counter *dropped = &q->counts.dropped[WALE_DROP_CHILD];

	if (packets < 0) {
		q->counts.duplicated.packets -= packets;
		q->counts.duplicated.bytes -= bytes;
	} else {
		dropped->packets += packets;
		dropped->bytes += bytes;
		__qdisc_qstats_drop(sch, packets);
	}
	q->gone_packets += packets;
	q->gone_bytes += bytes;
	trace_wale_child_drop(sch, packets, bytes, now);
}

/*
 * So many packets of the child are gone.  Which ones is not known: they took what
 * packets of the child take on average, and the last of them what is left.
 */
static void wale_child_give(struct wale_sched_data *q, int packets)
{
	struct wale_child *child = &q->child;
	u64 size = child->memory;

	if (packets <= 0)
		return;
	if (packets < child->packets)
		size = div_u64(size, child->packets) * packets;
	child->memory -= size;
	wale_memory_give(&q->memory, size);
}

/* What is missing in the child?  And how full is the buffer now? */
static void wale_child_look(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_child *child = &q->child;
	int packets = child->packets - child->qdisc->q.qlen;
	int bytes = child->bytes - child->qdisc->qstats.backlog;

	wale_child_give(q, packets);
	child->packets -= packets;
	child->bytes -= bytes;
	child->drops = child->qdisc->qstats.drops;
	wale_buffer_set(&q->buffer, q->buffer.packets - packets,
			q->buffer.bytes - bytes);
	if (packets || bytes)
		wale_child_count(sch, packets, bytes, now);
}

static bool wale_child_is_listed(const struct wale_sched_data *q,
				 const struct sk_buff *skb)
{
	return q->child.listed &&
	       qdisc_skb_cb(skb)->tc_classid == WALE_CHILD_LISTED;
}

/* What becomes of a packet that the child gave back, as far as parents care. */
static void wale_child_draw(struct Qdisc *sch, struct sk_buff *skb)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (q->follow.on)
		wale_follow_step(q);
	cb->lost = wale_child_is_listed(q, skb);
	qdisc_skb_cb(skb)->tc_classid = 0;
	if (q->impair)
		cb->twice = wale_impair_draws_copy(q->impair);
	if ((q->loss || q->impair) && wale_packet_draw_loss(q, skb))
		cb->lost = true;
	if (cb->lost) {
		cb->lost = false;	/* parents are not told yet */
		cb->twice = false;
		wale_parents_forget(sch, skb);
		wale_packet_disown(skb, true);
	} else if (cb->twice) {
		q->gone_packets--;
		q->gone_bytes -= qdisc_pkt_len(skb);
	}
}

/*
 * Bytes on the wire of a packet that the child gave back.  If the child split it, it
 * measured it as it does; or the overhead is another one since it came.
 */
static u32 wale_child_wire_len(struct Qdisc *sch, const struct sk_buff *skb)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb), wire_len;

	if (skb_is_gso(skb))
		wire_len = wale_block_wire_len(sch, skb) ?: len;
	else
		wire_len = wale_skb_wire_len(sch, skb);
	q->counts.offered.bytes += (u64)wire_len - len;
	wale_buffer_set(&q->buffer, q->buffer.packets,
			q->buffer.bytes + wire_len - len);
	return wire_len;
}

/* A packet is the link's own again, which the child may have made smaller, or new. */
static void wale_child_own(struct wale_sched_data *q, const struct sk_buff *skb)
{
	struct wale_child *child = &q->child;
	u64 size = child->packets ? min_t(u64, skb->truesize, child->memory) :
				    child->memory;

	child->memory -= size;
	wale_memory_change(&q->memory, size, skb->truesize);
}

/* Its length is again what it is outside of the link. */
static void wale_child_restore_len(const struct Qdisc *sch, struct sk_buff *skb)
{
	if (skb_is_gso(skb)) {
		qdisc_skb_cb(skb)->pkt_len = wale_block_outer_len(sch, skb);
		return;
	}
	wale_compat_set_pkt_len(skb, wale_skb_outer_len(sch, skb));
}

/* Ask the child for a packet. */
static struct sk_buff *wale_child_take(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_child *child = &q->child;
	struct sk_buff *skb = child->qdisc->dequeue(child->qdisc);
	u32 len;

	wale_schedule_run(&q->schedule, now);	/* a step may begin with the service */
	if (skb) {
		len = qdisc_pkt_len(skb);
		child->packets--;
		child->bytes -= len;
		wale_child_own(q, skb);
		*wale_skb_cb(skb) = (struct wale_skb_cb){
			.wire_len = wale_child_wire_len(sch, skb),
		};
		wale_child_restore_len(sch, skb);
		q->gone_bytes += len - qdisc_pkt_len(skb);
		wale_child_draw(sch, skb);
	}
	wale_child_look(sch, now);
	return skb;
}

/**
 * wale_child_next() - the packet that is served next leaves the child
 * @sch: the qdisc, which has a child
 * @now: ns
 *
 * Return: true if there is one, at the end of those that wait.
 */
bool wale_child_next(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = wale_child_take(sch, now);

	if (skb)
		__skb_queue_tail(&q->waiting, skb);
	return skb;
}

/* Return: true if the server was idle, and is not now. */
static bool wale_child_begin(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (q->server.busy ||
	    (skb_queue_empty(&q->waiting) && !wale_child_next(sch, now)))
		return false;
	wale_server_start(&q->server, &q->schedule, now,
			  wale_skb_cb(q->waiting.next)->wire_len);
	return true;
}

/*
 * See what became of the child since the link was run.  It may have been
 * changed, and have dropped packets; or it had nothing to give, and has now.
 *
 * Return: true if a service began.
 */
static bool wale_child_run(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	wale_child_look(sch, now);
	return q->child.packets && wale_child_begin(sch, now);
}

/**
 * struct wale_child_block - a GSO packet that is offered to a child
 * @packets: that it would be split into
 * @bytes: of them, as the child would measure them
 * @wire_len: bytes on the wire
 */
struct wale_child_block {
	int packets;
	int bytes;
	int wire_len;
};

static struct wale_child_block wale_child_block_of(const struct sk_buff *skb,
						   u32 wire_len)
{
	struct wale_child_block block = { .wire_len = wire_len };

	if (skb_is_gso(skb))
		wale_block_count(skb, &block.packets, &block.bytes);
	return block;
}

/* If the child split a GSO packet: that is what was offered. */
static void wale_child_see_split(struct Qdisc *sch,
				 const struct wale_child_block *block)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_child *child = &q->child;
	int packets = child->qdisc->q.qlen - child->packets;
	int bytes = child->qdisc->qstats.backlog - child->bytes;

	/* what it dropped since it was looked at, it had */
	packets += child->qdisc->qstats.drops - child->drops;
	if (packets <= 0)
		return;
	if (packets == block->packets - 1)
		bytes = block->bytes - block->wire_len;
	q->counts.offered.packets += packets;
	q->counts.offered.bytes += bytes;
	sch->q.qlen += packets;
	sch->qstats.backlog += bytes;
	child->packets += packets;
	child->bytes += bytes;
	wale_buffer_set(&q->buffer, q->buffer.packets + packets,
			q->buffer.bytes + bytes);
}

/* A packet arrives at the child, with its struct wale_skb_cb, counted as offered. */
static void wale_child_accept(struct Qdisc *sch, struct sk_buff *skb, u64 now,
			      struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len = wale_skb_cb(skb)->wire_len, size = skb->truesize;
	bool listed = q->impair && wale_impair_lists(q, skb);
	struct wale_child *child = &q->child;
	struct wale_child_block block = wale_child_block_of(skb, len);
	int verdict;

	wale_packet_disown(skb, false);
	child->listed |= listed;
	qdisc_skb_cb(skb)->tc_classid = listed ? WALE_CHILD_LISTED : 0;
	qdisc_skb_cb(skb)->pkt_len = len;
	sch->q.qlen++;
	sch->qstats.backlog += len;
	q->buffer.packets++;	/* if it stays there: see wale_child_look() */
	q->buffer.bytes += len;
	trace_wale_enqueue(sch, skb, now);
	trace_wale_packet(sch, skb, WALE_DROP_CHILD, now);

	verdict = qdisc_enqueue(skb, child->qdisc, to_free);
	/* not before: below a child, netem has the link take its copies meanwhile */
	child->packets++;
	child->bytes += len;
	child->memory += size;
	if (verdict == NET_XMIT_SUCCESS)
		q->entry->accepted = true;
	else
		q->entry->verdict = verdict;
	if (block.packets)
		wale_child_see_split(sch, &block);
	wale_child_look(sch, now);
	wale_child_begin(sch, now);
}

/**
 * wale_child_purge() - drop what the child holds
 * @sch: the qdisc, which has a child
 * @now: ns
 *
 * Context: RTNL and the root lock are held.
 */
void wale_child_purge(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_child *child = &q->child;
	struct wale_counter *purged = &q->counts.dropped[WALE_DROP_PURGE];

	wale_child_look(sch, now);
	purged->packets += child->packets;
	purged->bytes += child->bytes;
	__qdisc_qstats_drop(sch, child->packets);
	wale_buffer_set(&q->buffer, q->buffer.packets - child->packets,
			q->buffer.bytes - child->bytes);
	q->gone_packets += child->packets;
	q->gone_bytes += child->bytes;
	qdisc_reset(child->qdisc);
	wale_memory_give(&q->memory, child->memory);
	child->memory = 0;
	child->packets = 0;
	child->bytes = 0;
}

/**
 * wale_child_dump_stats() - put what the child counts
 * @child: the child
 * @d: the dump in progress
 *
 * Context: RTNL is held.
 * Return: 0, or -1 if the message is full.
 */
int wale_child_dump_stats(const struct wale_child *child, struct gnet_dump *d)
{
	struct Qdisc *qdisc = child->qdisc;

	if (gnet_stats_copy_basic(d, qdisc->cpu_bstats, &qdisc->bstats, true) < 0)
		return -1;
	return qdisc_qstats_copy(d, qdisc);
}

static bool wale_child_next_len(struct Qdisc *sch, u32 *len)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (skb_queue_empty(&q->waiting) &&
	    !wale_child_next(sch, q->server.time_ns))
		return false;
	*len = wale_skb_cb(q->waiting.next)->wire_len;
	return true;
}

/* At the end of a service. */
static u64 wale_child_asked_ns(const struct wale_sched_data *q)
{
	return q->child.packets ? wale_queue_earliest_end(q) : U64_MAX;
}

const struct wale_station wale_child_station = {
	.accept		= wale_child_accept,
	.next		= wale_child_next_len,
	.served		= wale_queue_served,
	.earliest_end	= wale_queue_earliest_end,
	.asked_ns	= wale_child_asked_ns,
	.look		= wale_child_run,
	.purge		= wale_child_purge,
	.restless	= true,
};
