// SPDX-License-Identifier: GPL-2.0
/*
 * wale_parents.c - what the qdiscs above a link know of its packets, and the lock of all
 *
 * Parents count the packets that a link holds.  The link tells them of those that do not
 * come back, but not at any time: see wale_parents_settle().
 */

#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "wale.h"

/**
 * wale_parents_forget() - a packet that parents count will not come back
 * @sch: the qdisc
 * @skb: the packet
 */
void wale_parents_forget(struct Qdisc *sch, struct sk_buff *skb)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (cb->lost)
		return;
	cb->lost = true;
	q->gone_packets += 1 + cb->twice;
	q->gone_bytes += (1 + cb->twice) * qdisc_pkt_len(skb);
}

/**
 * wale_parents_settle() - have parents know which packets will not come back
 * @sch: the qdisc, not in a call of enqueue that has begun to take a packet
 *
 * A parent that is told of the last packet of a child takes the child off its
 * lists, under its feet if it is just asking the child for a packet.  So from
 * wale_link_release() only while there is another.
 */
void wale_parents_settle(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 packets = q->gone_packets, bytes = q->gone_bytes;

	if (!packets && !bytes)
		return;
	q->gone_packets = 0;
	q->gone_bytes = 0;
	sch->q.qlen -= packets;
	sch->qstats.backlog -= bytes;
	qdisc_tree_reduce_backlog(sch, packets, bytes);
}

/*
 * Parents know what the link holds; but not that it holds nothing: they would take it
 * off their lists, and some look whether it is there before they have it take a
 * packet.  So within another call, they are not told of what is gone.
 */
void wale_parents_enter(struct Qdisc *sch, struct wale_entry *entry)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (!q->entry && sch->q.qlen != q->gone_packets)
		wale_parents_settle(sch);
	*entry = (struct wale_entry){
		.outer = q->entry,
		.qlen = sch->q.qlen,
		.backlog = sch->qstats.backlog,
		.verdict = NET_XMIT_SUCCESS,
	};
	q->entry = entry;
}

/* Parents know of so many more; those calls that this one was in are not to tell. */
static void wale_parents_told(const struct wale_entry *entry, int packets,
			      int bytes)
{
	struct wale_entry *outer;

	for (outer = entry->outer; outer; outer = outer->outer) {
		outer->qlen += packets;
		outer->backlog += bytes;
	}
}

/*
 * What the caller of enqueue learns.  After NET_XMIT_SUCCESS, parents count one
 * packet of @len more, and take the link to have something for them: the link
 * has, and tells them the difference to what it really got.  It says so only if they
 * have one more of it in the end: with the difference told first, they would else
 * have none for a moment, and be taken off their own parents' lists.
 *
 * If nothing was accepted: with drops local, whether it was refused, and what a child
 * said.
 */
int wale_parents_leave(struct Qdisc *sch,
		       const struct wale_entry *entry, u32 len)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	int packets, bytes;	/* that are more than at the beginning */
	bool more;

	q->entry = entry->outer;
	if (!q->entry) {
		sch->q.qlen -= q->gone_packets;
		sch->qstats.backlog -= q->gone_bytes;
		q->gone_packets = 0;
		q->gone_bytes = 0;
	}
	packets = sch->q.qlen - entry->qlen;
	bytes = sch->qstats.backlog - entry->backlog;
	wale_parents_told(entry, packets, bytes);
	/* a parent that has not counted it yet does so on success only */
	more = packets > 0 && (entry->accepted || !entry->qlen);
	if (more) {
		packets--;
		bytes -= len;
	}
	if (packets || bytes)
		qdisc_tree_reduce_backlog(sch, -packets, -bytes);
	if (more)
		return NET_XMIT_SUCCESS;
	if (q->drops == WALE_DROPS_LOCAL && !entry->accepted &&
	    entry->verdict != NET_XMIT_SUCCESS)
		return entry->verdict;
	return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
}

/**
 * wale_parents_lock() - lock the qdisc tree, where no packet moves the link
 * @sch: the qdisc
 *
 * While a new qdisc is being put into its place, which the lock of the old tree is
 * held for, the root becomes another one.
 *
 * Context: RCU read side.
 * Return: the lock, which is held, with softirqs off.
 */
spinlock_t *wale_parents_lock(struct Qdisc *sch)
	__acquires(root_lock)
{
	spinlock_t *root_lock, *found;	/* see wale.h */

	root_lock = qdisc_lock(qdisc_root_sleeping(sch));
	spin_lock_bh(root_lock);
	found = qdisc_lock(qdisc_root_sleeping(sch));
	while (unlikely(found != root_lock)) {
		spin_unlock_bh(root_lock);
		root_lock = found;
		spin_lock_bh(root_lock);
		found = qdisc_lock(qdisc_root_sleeping(sch));
	}
	return root_lock;
}
