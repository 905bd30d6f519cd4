/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_history.h - the steps of one rate   (pure)
 */
#ifndef _RATE_HISTORY_H
#define _RATE_HISTORY_H

#include <linux/types.h>

#define RATE_RING_MIN	8U	/* steps; a power of two */
#define RATE_RING_MAX	1024U

/**
 * struct rate_step - a rate, and since when it holds
 * @since: ns
 * @rate: bytes/s
 * @flows: flows active on a link, as far as its publisher counts them
 * @meaning: enum rate_feedback_meaning
 * @layer: enum rate_feedback_layer
 */
struct rate_step {
	u64 since;
	u64 rate;
	u32 flows;
	u8 meaning;
	u8 layer;
};

/**
 * struct rate_ring - earlier steps, the oldest is overwritten
 * @rcu: for freeing it
 * @size: number of steps, a power of two
 * @steps: step n is at n % @size
 */
struct rate_ring {
	struct rcu_head rcu;
	u32 size;
	struct rate_step steps[];
};

/**
 * struct rate_history - the steps of one rate, as far as they are remembered
 * @last: the step that holds now; valid if @begun
 * @ring: earlier steps; NULL: none is remembered
 * @count: number of steps ever put into @ring; says where the next one goes
 * @begun: there is a step
 * @forgot: there were steps before those in @ring
 */
struct rate_history {
	struct rate_step last;
	struct rate_ring *ring;
	u32 count;
	bool begun;
	bool forgot;
};

bool rate_history_push(struct rate_history *h, const struct rate_step *step);
bool rate_history_at(const struct rate_history *h, u64 when,
		     struct rate_step *step);
u32 rate_history_wants(const struct rate_history *h, u64 keep_ns);
struct rate_ring *rate_history_resize(struct rate_history *h,
				      struct rate_ring *ring);

#endif /* _RATE_HISTORY_H */
