// SPDX-License-Identifier: GPL-2.0
/*
 * wale_stats.c - statistics of a link and of its classes, as in
 * linux/pkt_sched_wale.h
 */

#include <net/gen_stats.h>

#include "wale.h"

static int wale_put_stat(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, TCA_WALE_STATS_PAD);
}

/* A counter has two attributes: packets, then bytes. */
static int wale_put_counter(struct sk_buff *skb, int attr,
			    const struct wale_counter *counter)
{
	return wale_put_stat(skb, attr, counter->packets) ?:
	       wale_put_stat(skb, attr + 1, counter->bytes);
}

static int wale_put_rate(struct sk_buff *skb,
			 const struct wale_schedule *schedule)
{
	int err = wale_put_stat(skb, TCA_WALE_STATS_RATE,
				wale_schedule_bytes_per_s(schedule));

	if (!err && schedule->sessions)
		err = wale_put_stat(skb, TCA_WALE_STATS_SESSIONS, schedule->m);
	if (!err && (schedule->sessions || schedule->trace))
		err = wale_put_stat(skb, TCA_WALE_STATS_EPOCH_NS,
				    schedule->epoch_ns);
	return err;
}

/* What a link and a class have alike. */
static int wale_put_counts(struct sk_buff *skb, const struct wale_buffer *buffer,
			   const struct wale_counts *counts)
{
	const struct wale_counter backlog = { buffer->packets, buffer->bytes };
	const struct wale_counter peak = {
		buffer->peak_packets, buffer->peak_bytes
	};
	const struct {
		int attr;
		const struct wale_counter *counter;
	} pairs[] = {
		{ TCA_WALE_STATS_OFFERED_PACKETS, &counts->offered },
		{ TCA_WALE_STATS_SENT_PACKETS, &counts->sent },
		{ TCA_WALE_STATS_DROPPED_BUFFER_PACKETS,
		  &counts->dropped[WALE_DROP_BUFFER] },
		{ TCA_WALE_STATS_DROPPED_LOSS_PACKETS,
		  &counts->dropped[WALE_DROP_LOSS] },
		{ TCA_WALE_STATS_DROPPED_MEMORY_PACKETS,
		  &counts->dropped[WALE_DROP_MEMORY] },
		{ TCA_WALE_STATS_DROPPED_PURGE_PACKETS,
		  &counts->dropped[WALE_DROP_PURGE] },
		{ TCA_WALE_STATS_DROPPED_EARLY_PACKETS,
		  &counts->dropped[WALE_DROP_EARLY] },
		{ TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS,
		  &counts->dropped[WALE_DROP_PARTIAL] },
		{ TCA_WALE_STATS_DROPPED_CHILD_PACKETS,
		  &counts->dropped[WALE_DROP_CHILD] },
		{ TCA_WALE_STATS_DROPPED_LINE_PACKETS,
		  &counts->dropped[WALE_DROP_LINE] },
		{ TCA_WALE_STATS_DROPPED_DOWN_PACKETS,
		  &counts->dropped[WALE_DROP_DOWN] },
		{ TCA_WALE_STATS_DROPPED_POLICER_PACKETS,
		  &counts->dropped[WALE_DROP_POLICER] },
		{ TCA_WALE_STATS_DROPPED_BREAKER_PACKETS,
		  &counts->dropped[WALE_DROP_BREAKER] },
		{ TCA_WALE_STATS_MARKED_PACKETS, &counts->marked },
		{ TCA_WALE_STATS_UNMARKABLE_PACKETS, &counts->unmarkable },
		{ TCA_WALE_STATS_DUPLICATED_PACKETS, &counts->duplicated },
		{ TCA_WALE_STATS_CORRUPTED_PACKETS, &counts->corrupted },
		{ TCA_WALE_STATS_REORDERED_PACKETS, &counts->reordered },
		{ TCA_WALE_STATS_BACKLOG_PACKETS, &backlog },
		{ TCA_WALE_STATS_PEAK_BACKLOG_PACKETS, &peak },
		{ TCA_WALE_STATS_LINE_PACKETS, &counts->line },
	};
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		err = wale_put_counter(skb, pairs[i].attr, pairs[i].counter);
		if (err)
			return err;
	}
	return 0;
}

/* And with a limit in cells. */
static int wale_put_cells(struct sk_buff *skb, const struct wale_buffer *buffer,
			  const struct wale_counts *counts)
{
	return wale_put_stat(skb, TCA_WALE_STATS_BACKLOG_CELLS,
			     buffer->cells) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_PEAK_BACKLOG_CELLS,
			     buffer->peak_cells) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_DROPPED_CELLS,
			     counts->dropped_cells) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_WASTED_CELLS,
			     counts->wasted_cells);
}

static int wale_put_flows(struct sk_buff *skb,
			  const struct wale_classes *classes, bool cells)
{
	return wale_put_stat(skb, TCA_WALE_STATS_BUSY_FLOWS,
			     cells ? classes->busy_cells : classes->busy) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_CROWDED_PACKETS,
			     classes->crowded);
}

static int wale_put_price(struct sk_buff *skb, const struct wale_rem *rem)
{
	return wale_put_stat(skb, TCA_WALE_STATS_PRICE, rem->price) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_MARK_PROBABILITY,
			     rem->probability) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_PRICE_NEXT_NS,
			     rem->next_ns);
}

static int wale_put_stats(struct sk_buff *skb, struct wale_sched_data *q,
			  u64 now)
{
	bool cells = wale_buffer_counts_cells(&q->buffer);

	return wale_put_counts(skb, &q->buffer, &q->counts) ?:
	       (cells ? wale_put_cells(skb, &q->buffer, &q->counts) : 0) ?:
	       (q->classes ? wale_put_flows(skb, q->classes, cells) : 0) ?:
	       (q->policy.kind == WALE_POLICY_REM ?
		wale_put_price(skb, &q->rem) : 0) ?:
	       (q->breaker ? wale_put_stat(skb, TCA_WALE_STATS_CUT_FLOWS,
					   q->breaker->cuts) : 0) ?:
	       wale_put_rate(skb, &q->schedule) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_LINE_LIMIT, q->line_limit) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_MEMORY, q->memory.held) ?:
	       wale_put_stat(skb, TCA_WALE_STATS_NOW_NS, now) ?:
	       (q->feedback ? wale_feedback_put_stats(skb, q->feedback) : 0) ?:
	       (q->element ? wale_element_put_stats(skb, q, now) : 0);
}

/**
 * wale_dump_stats() - put the statistics, as they are at one instant
 * @sch: the qdisc
 * @d: the dump in progress
 *
 * Context: takes the root lock.
 * Return: 0, or -1 if the message is full.
 */
int wale_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;
	u64 now;
	int err;

	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);
	if (!nest)
		return -1;

	sch_tree_lock(sch);
	wale_run_patiently(sch, WALE_DUMP_PATIENCE_NS, &now);
	wale_parents_settle(sch);
	err = wale_put_stats(d->skb, q, now);
	sch_tree_unlock(sch);
	if (err) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

/* What tc shows of any class. */
static int wale_copy_class(struct gnet_dump *d, const struct wale_class *class)
{
	struct gnet_stats_queue queue = {
		.qlen = class->buffer.packets + class->counts.line.packets,
		.backlog = class->buffer.bytes + class->counts.line.bytes,
	};
	struct gnet_stats_basic_sync basic;
	int i;

	for (i = 0; i < __WALE_DROP_MAX; i++)
		queue.drops += class->counts.dropped[i].packets;
	gnet_stats_basic_sync_init(&basic);
	u64_stats_set(&basic.bytes, class->counts.sent.bytes);
	u64_stats_set(&basic.packets, class->counts.sent.packets);
	if (gnet_stats_copy_basic(d, NULL, &basic, true) < 0)
		return -1;
	return gnet_stats_copy_queue(d, NULL, &queue, queue.qlen);
}

/**
 * wale_dump_class_stats() - put the statistics of a flow, as at one instant
 * @sch: the qdisc, which tells flows apart, or has a child: then those of the child
 * @cl: minor number of the class
 * @d: the dump in progress
 *
 * Context: takes the root lock.
 * Return: 0, or -1 if the message is full.
 */
int wale_dump_class_stats(struct Qdisc *sch, unsigned long cl,
			  struct gnet_dump *d)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_class class;
	struct nlattr *nest;
	u64 now;

	sch_tree_lock(sch);
	wale_run_patiently(sch, WALE_DUMP_PATIENCE_NS, &now);
	wale_parents_settle(sch);
	if (q->child.qdisc) {
		sch_tree_unlock(sch);
		return wale_child_dump_stats(&q->child, d);
	}
	class = q->classes->class[cl == WALE_CLASS_CROWD ? 0 : cl];
	sch_tree_unlock(sch);

	if (wale_copy_class(d, &class) < 0)
		return -1;
	nest = nla_nest_start_noflag(d->skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	if (wale_put_counts(d->skb, &class.buffer, &class.counts) ||
	    (wale_buffer_counts_cells(&q->buffer) &&
	     wale_put_cells(d->skb, &class.buffer, &class.counts))) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}
