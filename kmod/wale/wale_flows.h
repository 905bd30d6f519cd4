/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_flows.h - the flows that are active on the link   (pure)
 */
#ifndef _WALE_FLOWS_H
#define _WALE_FLOWS_H

#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

/**
 * struct wale_flow - a flow that is active, or a place for one
 * @key: tells it from the others
 * @last_ns: when it was seen last
 * @next: in the same bucket, or the next free place
 * @older: was seen before it
 * @newer: was seen after it
 */
struct wale_flow {
	u64 key;
	u64 last_ns;
	u16 next;
	u16 older;
	u16 newer;
};

/**
 * struct wale_flows - the flows that are active
 * @idle_ns: one that was not seen for so long has ended
 * @since_ns: @count holds since then
 * @uncounted: packets of flows for which there was no place
 * @count: of active flows
 * @oldest: seen before all others
 * @newest: seen after all others
 * @free: the first free place
 * @bucket: the first flow of each, by the low bits of the key
 * @flow: places
 */
struct wale_flows {
	u64 idle_ns;
	u64 since_ns;
	u64 uncounted;
	u32 count;
	u16 oldest;
	u16 newest;
	u16 free;
	u16 bucket[WALE_FLOWS_MAX];
	struct wale_flow flow[WALE_FLOWS_MAX];
};

void wale_flows_init(struct wale_flows *flows, u64 idle_ns, u64 now);
bool wale_flows_see(struct wale_flows *flows, u64 key, u64 now);
bool wale_flows_end(struct wale_flows *flows, u64 key, u64 now);
u64 wale_flows_expiry(const struct wale_flows *flows);
bool wale_flows_expire(struct wale_flows *flows, u64 now);

#endif /* _WALE_FLOWS_H */
