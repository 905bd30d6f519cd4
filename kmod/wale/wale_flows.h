/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_flows.h - the flows that are active on the link   (pure)
 */
#ifndef _WALE_FLOWS_H
#define _WALE_FLOWS_H

#include <linux/math.h>
#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

/**
 * struct wale_flow - a place for a flow, and a bucket
 * @key: tells the flow from the others
 * @last_ns: when it was seen last
 * @next: in the same bucket, or the next free place
 * @older: was seen before it
 * @newer: was seen after it
 * @bucket: the first flow of the bucket that has the number of this place
 */
struct wale_flow {
	u64 key;
	u64 last_ns;
	u16 next;
	u16 older;
	u16 newer;
	u16 bucket;
};

#define WALE_FLOWS_OF_BLOCK	((u32)(4096 / sizeof(struct wale_flow)))
#define WALE_FLOWS_BLOCKS	DIV_ROUND_UP(WALE_FLOWS_MAX, WALE_FLOWS_OF_BLOCK)

/**
 * struct wale_flow_block - places, in a page
 * @flow: the places
 */
struct wale_flow_block {
	struct wale_flow flow[WALE_FLOWS_OF_BLOCK];
};

/**
 * struct wale_flows - the flows that are active
 * @idle_ns: one that was not seen for so long has ended
 * @since_ns: @count holds since then
 * @uncounted: packets of flows for which there was no place
 * @count: of active flows
 * @oldest: seen before all others
 * @newest: seen after all others
 * @free: the first place that was used and is free
 * @used: places that were used since there was no flow; of so many buckets
 * @mask: the least 2^n - 1 that is not below the last bucket
 * @blocks: how many there are in @block
 * @block: places
 */
struct wale_flows {
	u64 idle_ns;
	u64 since_ns;
	u64 uncounted;
	u32 count;
	u16 oldest;
	u16 newest;
	u16 free;
	u16 used;
	u16 mask;
	u16 blocks;
	struct wale_flow_block *block[WALE_FLOWS_BLOCKS];
};

void wale_flows_init(struct wale_flows *flows, u64 idle_ns, u64 now);
bool wale_flows_are_full(const struct wale_flows *flows);
void wale_flows_add_block(struct wale_flows *flows,
			  struct wale_flow_block *block);
bool wale_flows_see(struct wale_flows *flows, u64 key, u64 now);
bool wale_flows_begin(struct wale_flows *flows, u64 key, u64 now);
bool wale_flows_end(struct wale_flows *flows, u64 key, u64 now);
u64 wale_flows_expiry(const struct wale_flows *flows);
bool wale_flows_expire(struct wale_flows *flows, u64 now);

#endif /* _WALE_FLOWS_H */
