// SPDX-License-Identifier: GPL-2.0
/*
 * wale_flows.c - how many flows are active on the link?   (pure)
 *
 * A flow is active from the first packet that begins it until one that ends it,
 * or until it was not seen for the idle time.  The active ones are in two
 * orders: by key, in buckets, and by when they were seen last:
 *
 *	oldest <-> ... <-> newest
 *
 * Since all have the same idle time, the oldest is the next to end, and an end
 * is known to the ns without looking at any other.  All memory is in struct
 * wale_flows; every call but wale_flows_expire() takes the same time however
 * many there are.
 *
 * The keys are hashes with a secret, so that the buckets stay short whoever
 * chooses the addresses, and that two flows with one key do not happen.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "wale_flows.h"

#define WALE_FLOW_NONE	U16_MAX

static_assert(WALE_FLOWS_MAX <= WALE_FLOW_NONE);
static_assert(!(WALE_FLOWS_MAX & (WALE_FLOWS_MAX - 1)));

/**
 * wale_flows_init() - no flow is active
 * @flows: to be set up
 * @idle_ns: a flow ends when it was not seen for so long
 * @now: ns
 */
void wale_flows_init(struct wale_flows *flows, u64 idle_ns, u64 now)
{
	u32 i;

	flows->idle_ns = idle_ns;
	flows->since_ns = now;
	flows->uncounted = 0;
	flows->count = 0;
	flows->oldest = WALE_FLOW_NONE;
	flows->newest = WALE_FLOW_NONE;
	flows->free = 0;
	for (i = 0; i < WALE_FLOWS_MAX; i++) {
		flows->bucket[i] = WALE_FLOW_NONE;
		flows->flow[i].next = i + 1;
	}
	flows->flow[WALE_FLOWS_MAX - 1].next = WALE_FLOW_NONE;
}

/* What points to the flow, or to the end of the bucket that it would be in. */
static u16 *wale_flows_find(struct wale_flows *flows, u64 key)
{
	u16 *at = &flows->bucket[key & (WALE_FLOWS_MAX - 1)];

	while (*at != WALE_FLOW_NONE && flows->flow[*at].key != key)
		at = &flows->flow[*at].next;
	return at;
}

static void wale_flows_append(struct wale_flows *flows, u16 i)
{
	struct wale_flow *flow = &flows->flow[i];

	flow->older = flows->newest;
	flow->newer = WALE_FLOW_NONE;
	if (flows->newest == WALE_FLOW_NONE)
		flows->oldest = i;
	else
		flows->flow[flows->newest].newer = i;
	flows->newest = i;
}

static void wale_flows_unlink(struct wale_flows *flows, u16 i)
{
	const struct wale_flow *flow = &flows->flow[i];

	if (flow->older == WALE_FLOW_NONE)
		flows->oldest = flow->newer;
	else
		flows->flow[flow->older].newer = flow->newer;
	if (flow->newer == WALE_FLOW_NONE)
		flows->newest = flow->older;
	else
		flows->flow[flow->newer].older = flow->older;
}

/* The flow that @at points to is no longer active. */
static void wale_flows_remove(struct wale_flows *flows, u16 *at)
{
	u16 i = *at;

	*at = flows->flow[i].next;
	wale_flows_unlink(flows, i);
	flows->flow[i].next = flows->free;
	flows->free = i;
	flows->count--;
}

/**
 * wale_flows_see() - a packet of a flow that is active, now at the latest
 * @flows: the flows
 * @key: of the flow
 * @now: ns; not before that of a call before
 *
 * Return: true if there is one more.
 */
bool wale_flows_see(struct wale_flows *flows, u64 key, u64 now)
{
	u16 *at = wale_flows_find(flows, key);
	bool begins = *at == WALE_FLOW_NONE;
	u16 i = *at;

	if (begins) {
		i = flows->free;
		if (i == WALE_FLOW_NONE) {
			flows->uncounted++;
			return false;
		}
		flows->free = flows->flow[i].next;
		flows->flow[i].next = WALE_FLOW_NONE;
		flows->flow[i].key = key;
		*at = i;
		flows->count++;
		flows->since_ns = now;
	} else {
		wale_flows_unlink(flows, i);
	}
	flows->flow[i].last_ns = now;
	wale_flows_append(flows, i);
	return begins;
}

/**
 * wale_flows_end() - the last packet of a flow
 * @flows: the flows
 * @key: of the flow, which may not be active
 * @now: ns
 *
 * Return: true if there is one less.
 */
bool wale_flows_end(struct wale_flows *flows, u64 key, u64 now)
{
	u16 *at = wale_flows_find(flows, key);

	if (*at == WALE_FLOW_NONE)
		return false;
	wale_flows_remove(flows, at);
	flows->since_ns = now;
	return true;
}

/**
 * wale_flows_expiry() - when does the next flow end if none is seen?
 * @flows: the flows
 *
 * Return: ns; U64_MAX: never.
 */
u64 wale_flows_expiry(const struct wale_flows *flows)
{
	u64 last;

	if (flows->oldest == WALE_FLOW_NONE)
		return U64_MAX;
	last = flows->flow[flows->oldest].last_ns;
	return last + min(flows->idle_ns, U64_MAX - last);
}

/**
 * wale_flows_expire() - the flows that were idle for too long end
 * @flows: the flows
 * @now: ns
 *
 * They ended when their idle time was over, if the idle time was not changed
 * meanwhile, and not later than now.
 *
 * Return: true if there are fewer.
 */
bool wale_flows_expire(struct wale_flows *flows, u64 now)
{
	u32 before = flows->count;

	while (flows->count && wale_flows_expiry(flows) <= now) {
		flows->since_ns = max(flows->since_ns,
				      wale_flows_expiry(flows));
		wale_flows_remove(flows,
				  wale_flows_find(flows,
						  flows->flow[flows->oldest].key));
	}
	return flows->count != before;
}
