/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_impair.h - what a link does to packets beside delaying all alike, and
 * losing them independently
 *
 * Links without any of this have no struct wale_impair, and pay for it with a
 * look at a pointer.
 */
#ifndef _WALE_IMPAIR_H
#define _WALE_IMPAIR_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "wale_again.h"
#include "wale_jitter.h"
#include "wale_loss.h"
#include "wale_random.h"
#include "wale_slot.h"

struct Qdisc;
struct sk_buff;
struct wale_sched_data;

/**
 * struct wale_impair_params - as configured
 * @loss: the model of bursts
 * @ecn: 1: mark what can be marked instead of losing it
 * @jitter_ns: of the delay; 0: none
 * @reordering: 1: packets overtake others by jitter
 * @reorder: probability that a packet skips the delay
 * @gap: but only if so many since the last one, with this one
 * @duplicate: probability that there are two of a packet
 * @corrupt: probability that a bit of a packet is turned
 * @corrupt_fix: 1: of the data of TCP or UDP, with the checksum made right
 * @loss_again: probability that a packet has the draw of loss of the one before
 * @jitter_again: the same of jitter
 * @drops: packets that are lost, by their numbers
 * @slot: in which packets leave
 *
 * Probabilities are fractions of 2^32; WALE_LOSS_ALWAYS is one.
 */
struct wale_impair_params {
	struct wale_loss_params loss;
	u32 ecn;
	u64 jitter_ns;
	u32 reordering;
	u32 reorder;
	u32 gap;
	u32 duplicate;
	u32 corrupt;
	u32 corrupt_fix;
	u32 loss_again;
	u32 jitter_again;
	struct wale_drop_list drops;
	struct wale_slot_params slot;
};

/**
 * struct wale_impair - the impairments of a link
 * @params: as configured
 * @overtakers: on the line, ahead of its tail, which they overtook; by departure
 * @table: the distribution of jitter; NULL: uniform
 * @loss: the chain of @params.loss
 * @slot: the last one
 * @slot_stream: draws of slots
 * @delayed: packets since the last that skipped the delay
 * @jitter_stream: draws of jitter
 * @reorder_stream: draws of reorder
 * @duplicate_stream: draws of duplicate
 * @corrupt_stream: draws of corrupt
 * @loss_again: the last draw of loss
 * @jitter_again: the last draw of jitter
 */
struct wale_impair {
	struct wale_impair_params params;
	struct rb_root overtakers;
	struct wale_jitter_table *table;
	struct wale_loss loss;
	struct wale_slot slot;
	struct wale_stream slot_stream;
	u32 delayed;
	struct wale_stream jitter_stream;
	struct wale_stream reorder_stream;
	struct wale_stream duplicate_stream;
	struct wale_stream corrupt_stream;
	struct wale_again loss_again;
	struct wale_again jitter_again;
};

void wale_impair_seed(struct wale_impair *impair, u64 seed);
void wale_impair_free(struct wale_impair *impair);
void wale_impair_complete(struct Qdisc *sch, struct sk_buff *skb, u64 now);
void wale_impair_admit(const struct wale_sched_data *q, struct sk_buff *skb);
bool wale_impair_lists(const struct wale_sched_data *q,
		       const struct sk_buff *skb);
bool wale_impair_draws_copy(struct wale_impair *impair);
bool wale_impair_may_overtake(const struct wale_sched_data *q);

/* the line, where packets may overtake others */
const struct sk_buff *
wale_impair_line_first(const struct wale_sched_data *q);
struct sk_buff *wale_impair_line_take(struct Qdisc *sch, u64 now);

#endif /* _WALE_IMPAIR_H */
