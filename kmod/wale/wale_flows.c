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
 * is known to the ns without looking at any other.  Every call takes the same time
 * however many there are.
 *
 * Memory comes in blocks, from the caller, as flows become more; without any flow,
 * all but what the next one needs may be taken away again.  With each place that is
 * used for the first time there is one bucket more: one of the others is split for
 * it (W. Litwin, "Linear hashing", 1980), so that buckets stay short, and at no time
 * is there more to do than to move a flow or two.
 *
 * The keys are hashes with a secret, so that the buckets stay short whoever
 * chooses the addresses, and that two flows with one key do not happen.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "wale_flows.h"

#define WALE_FLOW_NONE	U16_MAX

/* So many flows at a time are found to have ended. */
#define WALE_FLOWS_EXPIRE_MAX	512

static_assert(WALE_FLOWS_MAX <= WALE_FLOW_NONE);

/**
 * wale_flows_init() - no flow is active, and there is no place for one
 * @flows: to be set up
 * @idle_ns: a flow ends when it was not seen for so long
 * @now: ns
 */
void wale_flows_init(struct wale_flows *flows, u64 idle_ns, u64 now)
{
	*flows = (struct wale_flows) {
		.idle_ns = idle_ns,
		.since_ns = now,
		.oldest = WALE_FLOW_NONE,
		.newest = WALE_FLOW_NONE,
		.free = WALE_FLOW_NONE,
	};
}

static u32 wale_flows_places(const struct wale_flows *flows)
{
	return min_t(u32, flows->blocks * WALE_FLOWS_OF_BLOCK, WALE_FLOWS_MAX);
}

/**
 * wale_flows_are_full() - does the next flow need another block?
 * @flows: the flows
 *
 * Return: true if so; false also if there may be no more.
 */
bool wale_flows_are_full(const struct wale_flows *flows)
{
	return flows->free == WALE_FLOW_NONE &&
	       flows->used == wale_flows_places(flows) &&
	       flows->blocks < WALE_FLOWS_BLOCKS;
}

/**
 * wale_flows_add_block() - more places
 * @flows: the flows, which are full
 * @block: places, whatever is in them
 */
void wale_flows_add_block(struct wale_flows *flows,
			  struct wale_flow_block *block)
{
	flows->block[flows->blocks++] = block;
}

static struct wale_flow *wale_flow(const struct wale_flows *flows, u16 i)
{
	return &flows->block[i / WALE_FLOWS_OF_BLOCK]->flow[i % WALE_FLOWS_OF_BLOCK];
}

/* The bucket of a key; there is one. */
static u16 wale_flows_bucket(const struct wale_flows *flows, u64 key)
{
	u16 bucket = key & flows->mask;

	return bucket < flows->used ? bucket : bucket & (flows->mask >> 1);
}

/* What points to the flow, or to the end of the bucket that it would be in. */
static u16 *wale_flows_find(const struct wale_flows *flows, u64 key)
{
	struct wale_flow *flow;
	u16 *at;

	at = &wale_flow(flows, wale_flows_bucket(flows, key))->bucket;
	while (*at != WALE_FLOW_NONE) {
		flow = wale_flow(flows, *at);
		if (flow->key == key)
			break;
		at = &flow->next;
	}
	return at;
}

/* Another bucket: of the flows that may belong there, all are in one of the others. */
static void wale_flows_split(struct wale_flows *flows)
{
	u16 new = flows->used++, other, *from, *to;

	to = &wale_flow(flows, new)->bucket;
	*to = WALE_FLOW_NONE;
	if (!new)
		return;
	if (new > flows->mask)
		flows->mask = flows->mask << 1 | 1;
	other = new & (flows->mask >> 1);
	from = &wale_flow(flows, other)->bucket;
	while (*from != WALE_FLOW_NONE) {
		u16 i = *from, *next = &wale_flow(flows, i)->next;

		if ((wale_flow(flows, i)->key & flows->mask) != new) {
			from = next;
			continue;
		}
		*from = *next;
		*next = WALE_FLOW_NONE;
		*to = i;
		to = next;
	}
}

static void wale_flows_append(struct wale_flows *flows, u16 i)
{
	struct wale_flow *flow = wale_flow(flows, i);

	flow->older = flows->newest;
	flow->newer = WALE_FLOW_NONE;
	if (flows->newest == WALE_FLOW_NONE)
		flows->oldest = i;
	else
		wale_flow(flows, flows->newest)->newer = i;
	flows->newest = i;
}

static void wale_flows_unlink(struct wale_flows *flows, u16 i)
{
	const struct wale_flow *flow = wale_flow(flows, i);

	if (flow->older == WALE_FLOW_NONE)
		flows->oldest = flow->newer;
	else
		wale_flow(flows, flow->older)->newer = flow->newer;
	if (flow->newer == WALE_FLOW_NONE)
		flows->newest = flow->older;
	else
		wale_flow(flows, flow->newer)->older = flow->older;
}

/* The flow that @at points to is no longer active; without any, it begins anew. */
static void wale_flows_remove(struct wale_flows *flows, u16 *at)
{
	u16 i = *at;

	*at = wale_flow(flows, i)->next;
	wale_flows_unlink(flows, i);
	wale_flow(flows, i)->next = flows->free;
	flows->free = i;
	if (--flows->count)
		return;
	flows->free = WALE_FLOW_NONE;
	flows->used = 0;
	flows->mask = 0;
}

/**
 * wale_flows_see() - a packet of a flow, which may be active
 * @flows: the flows
 * @key: of the flow
 * @now: ns; not before that of a call before
 *
 * Return: true if it is active.
 */
bool wale_flows_see(struct wale_flows *flows, u64 key, u64 now)
{
	u16 i;

	if (!flows->count)
		return false;
	i = *wale_flows_find(flows, key);
	if (i == WALE_FLOW_NONE)
		return false;
	wale_flows_unlink(flows, i);
	wale_flow(flows, i)->last_ns = now;
	wale_flows_append(flows, i);
	return true;
}

/* A place that is free, with a bucket; or none. */
static u16 wale_flows_take_place(struct wale_flows *flows)
{
	u16 i = flows->free;

	if (i != WALE_FLOW_NONE) {
		flows->free = wale_flow(flows, i)->next;
		return i;
	}
	if (flows->used == wale_flows_places(flows))
		return WALE_FLOW_NONE;
	i = flows->used;
	wale_flows_split(flows);
	return i;
}

/**
 * wale_flows_begin() - a flow that is not active becomes so
 * @flows: the flows
 * @key: of the flow
 * @now: ns; not before that of a call before
 *
 * Return: true; false if there is no place for it.
 */
bool wale_flows_begin(struct wale_flows *flows, u64 key, u64 now)
{
	u16 i = wale_flows_take_place(flows);
	struct wale_flow *flow;

	if (i == WALE_FLOW_NONE) {
		flows->uncounted++;
		return false;
	}
	flow = wale_flow(flows, i);
	flow->next = WALE_FLOW_NONE;
	flow->key = key;
	flow->last_ns = now;
	*wale_flows_find(flows, key) = i;
	wale_flows_append(flows, i);
	flows->count++;
	flows->since_ns = now;
	return true;
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
	u16 *at;

	if (!flows->count)
		return false;
	at = wale_flows_find(flows, key);
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
	last = wale_flow(flows, flows->oldest)->last_ns;
	return last + min(flows->idle_ns, U64_MAX - last);
}

/**
 * wale_flows_expire() - the flows that were idle for too long end
 * @flows: the flows
 * @now: ns
 *
 * They ended when their idle time was over, if the idle time was not changed
 * meanwhile, and not later than now.  Of very many at once, some are left for the
 * next call: until then, it is as of a time before now.
 *
 * Return: true if there are fewer.
 */
bool wale_flows_expire(struct wale_flows *flows, u64 now)
{
	u32 before = flows->count, left = WALE_FLOWS_EXPIRE_MAX;

	while (left-- && flows->count && wale_flows_expiry(flows) <= now) {
		u64 key = wale_flow(flows, flows->oldest)->key;

		flows->since_ns = max(flows->since_ns,
				      wale_flows_expiry(flows));
		wale_flows_remove(flows, wale_flows_find(flows, key));
	}
	return flows->count != before;
}
