// SPDX-License-Identifier: GPL-2.0
/*
 * wale_purge.c - all that a link holds is dropped at once
 *
 * A device goes down, or the link is replaced, and there may be millions of packets.
 * The root lock is held meanwhile, with softirqs off, so no packet is looked at: what
 * is counted is known in sums, and lists are handed over in one piece.  Those are
 * freed as soon as RTNL is not held any more.  A tree has no such form: it is freed by
 * a work.
 *
 * Only if someone traces, each packet is passed.
 */

#include <linux/llist.h>
#include <linux/rbtree.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "wale.h"
#include "wale_trace.h"

/* In the packet at the root of a tree that waits to be freed. */
struct wale_wreck {
	struct llist_node node;
};

static LLIST_HEAD(wale_wrecks);

static struct wale_wreck *wale_purge_wreck(struct sk_buff *root)
{
	BUILD_BUG_ON(sizeof(struct wale_wreck) > sizeof(root->cb));
	return (struct wale_wreck *)root->cb;
}

/* Of a tree, the root is the last. */
static void wale_purge_free_tree(struct sk_buff *root)
{
	struct rb_root tree = { .rb_node = &root->rbnode };
	struct sk_buff *skb, *next;

	rbtree_postorder_for_each_entry_safe(skb, next, &tree, rbnode) {
		skb->next = NULL;	/* the node was in their place */
		skb->prev = NULL;
		skb->dev = NULL;
		kfree_skb(skb);
		cond_resched();
	}
}

static void wale_purge_free_trees(struct work_struct *work)
{
	struct llist_node *node = llist_del_all(&wale_wrecks), *next;

	for (; node; node = next) {
		next = node->next;	/* it is freed with its packet */
		wale_purge_free_tree(container_of((void *)node, struct sk_buff,
						  cb));
	}
}

static DECLARE_WORK(wale_purge_work, wale_purge_free_trees);

/**
 * wale_purge_wait() - until the trees of packets are freed
 */
void wale_purge_wait(void)
{
	flush_work(&wale_purge_work);
}

static void wale_purge_tree(struct rb_root *tree)
{
	struct sk_buff *root;

	if (RB_EMPTY_ROOT(tree))
		return;
	root = rb_to_skb(tree->rb_node);
	*tree = RB_ROOT;
	llist_add(&wale_purge_wreck(root)->node, &wale_wrecks);
	schedule_work(&wale_purge_work);
}

static void wale_purge_trace_one(struct Qdisc *sch, struct sk_buff *skb,
				 bool on_line, u64 now)
{
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	if (!on_line)
		cb->departure_ns = 0;	/* it was something else */
	trace_wale_drop(sch, skb, cb->wire_len, WALE_DROP_PURGE,
			cb->arrival_ns, now);
	trace_wale_packet(sch, skb, WALE_DROP_PURGE, now);
}

static void wale_purge_trace(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 i;

	if (!trace_wale_drop_enabled() && !trace_wale_packet_enabled())
		return;
	for (skb = q->run.late.head; skb; skb = skb->next)
		wale_purge_trace_one(sch, skb, false, now);
	for (skb = q->line.head; skb; skb = skb->next)
		wale_purge_trace_one(sch, skb, true, now);
	if (q->impair)
		skb_rbtree_walk(skb, &q->impair->overtakers)
			wale_purge_trace_one(sch, skb, true, now);
	skb_queue_walk(&q->waiting, skb)
		wale_purge_trace_one(sch, skb, false, now);
	if (!q->classes)
		return;
	for (i = 0; i <= q->classes->count; i++)
		for (skb = q->classes->class[i].input.first; skb;
		     skb = skb->next)
			wale_purge_trace_one(sch, skb, false, now);
}

static void wale_purge_count(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_counter *purged = &q->counts.dropped[WALE_DROP_PURGE];

	u32 late = q->run.late.qlen;

	q->counts.offered.packets += late;
	q->counts.offered.bytes += q->run.late_bytes;
	__qdisc_qstats_drop(sch, q->counts.line.packets + q->buffer.packets +
				 late);
	purged->packets += q->counts.line.packets + q->buffer.packets + late;
	purged->bytes += q->counts.line.bytes + q->buffer.bytes +
			 q->run.late_bytes;
	q->counts.line = (struct wale_counter){};
	wale_buffer_set(&q->buffer, 0, 0);
	q->buffer.cells = 0;
}

/* A list from its head to its tail, which points nowhere. */
static void wale_purge_list(struct qdisc_skb_head *list)
{
	rtnl_kfree_skbs(list->head, list->tail);
	*list = (struct qdisc_skb_head){};
}

static void wale_purge_waiting(struct sk_buff_head *waiting)
{
	if (!skb_queue_empty(waiting))
		rtnl_kfree_skbs(waiting->next, waiting->prev);
	__skb_queue_head_init(waiting);
}

static void wale_purge_classes(struct wale_classes *classes)
{
	struct wale_input *input;
	u32 i;

	for (i = 0; i <= classes->count; i++) {
		input = &classes->class[i].input;
		rtnl_kfree_skbs(input->first, input->last);
		wale_class_purge(classes, i);
	}
	classes->ends.count = 0;
	wale_ends_forget(&classes->ends);
}

/**
 * wale_purge() - drop what the link holds
 * @sch: the qdisc
 *
 * Context: RTNL is held; and the root lock, unless no packet can come any more.
 */
void wale_purge(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	if (q->station->purge)
		q->station->purge(sch, now);
	wale_purge_trace(sch, now);
	wale_purge_count(sch);
	wale_purge_list(&q->line);
	wale_purge_list(&q->lost);
	wale_purge_list(&q->run.late);
	q->run = (struct wale_run){ .arrive = q->run.arrive };
	wale_purge_waiting(&q->waiting);
	if (q->impair) {
		wale_purge_tree(&q->impair->overtakers);
		q->impair->slot = (struct wale_slot){};
	}
	if (q->classes)
		wale_purge_classes(q->classes);
	wale_cells_clear(&q->cells);
	wale_memory_give(&q->memory, q->memory.held);
	q->gone_packets = 0;
	q->gone_bytes = 0;
	q->last_departure_ns = 0;	/* nobody left to overtake */
	wale_server_init(&q->server);
	wale_alarm_cancel(&q->alarm);
}
