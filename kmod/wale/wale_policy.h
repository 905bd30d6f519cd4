/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_policy.h - may a packet enter the buffer before it is full?   (pure)
 */
#ifndef _WALE_POLICY_H
#define _WALE_POLICY_H

#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

/* R, if nothing is said */
#define WALE_POLICY_SHARE_DEFAULT	(WALE_POLICY_UNIT / 10 * 9)

/**
 * struct wale_policy - how the buffer is shared, as configured
 * @kind: enum wale_policy_kind
 * @z: Z of seldrop and fba, in 1 / WALE_POLICY_UNIT
 * @last: n of random_tail: so many of the queue's tail may be the victim
 * @share: R as a share of the limit, in 1 / WALE_POLICY_UNIT; 0: it is not one
 * @threshold: R, in the unit of the limit
 * @mark: 1: mark what can be marked instead of refusing it
 */
struct wale_policy {
	u32 kind;
	u32 z;
	u32 last;
	u32 share;
	u64 threshold;
	u32 mark;
};

/**
 * struct wale_congestion - what a packet finds, in the unit of the limit
 * @total: X, in the buffer
 * @limit: K, more than @total
 * @flow: Y, in the buffer, of the packet's own flow; at most @total
 * @active: N_a, number of flows that have something in the buffer
 *
 * With seldrop and fba, @limit is at most WALE_POLICY_LIMIT_MAX.
 */
struct wale_congestion {
	u64 total;
	u64 limit;
	u64 flow;
	u32 active;
};

bool wale_policy_refuses(const struct wale_policy *policy,
			 const struct wale_congestion *congestion);
u64 wale_policy_threshold(const struct wale_policy *policy, u64 limit);

#endif /* _WALE_POLICY_H */
