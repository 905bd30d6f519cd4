// SPDX-License-Identifier: GPL-2.0
/*
 * wale_quota.c - how many packets of a flow may be changed   (pure)
 *
 * The draft (net/scone.h) has an element change only a few packets of a flow in each
 * period, lest it destroy a protocol that is not QUIC, and lets it change more right
 * after its advice has changed.  Here, each change fills the quota of the flow for an
 * eighth of a period.  It may be filled for half a period ahead, and for a whole one if
 * the signal is not the one that was written last.
 *
 * A flow whose quota is empty need not be remembered.  So a place is given to another
 * flow only then: a flood of flows takes places, but lifts the limit of none.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "wale_quota.h"

/**
 * wale_quota_set_period() - set the time in which a few packets may be changed
 * @quota: the flows
 * @period_ns: the period
 */
void wale_quota_set_period(struct wale_quota *quota, u64 period_ns)
{
	quota->interval_ns = div_u64(period_ns, WALE_QUOTA_PER_PERIOD);
}

/* The place of a flow, or one that is free, or NULL. */
static struct wale_quota_flow *wale_quota_find(struct wale_quota *quota, u64 key,
					       u64 now)
{
	struct wale_quota_flow *flow = quota->flow[key % WALE_QUOTA_SETS];
	struct wale_quota_flow *found = NULL;
	u32 i;

	for (i = 0; i < WALE_QUOTA_WAYS; i++, flow++) {
		if (flow->key == key)
			return flow;
		if (!found && flow->due_ns <= now)
			found = flow;
	}
	return found;
}

/**
 * wale_quota_take() - may a packet of a flow be changed?
 * @quota: the flows
 * @key: of the flow
 * @signal: that is to be written
 * @now: ns
 *
 * Return: true if so; it counts as changed.
 */
bool wale_quota_take(struct wale_quota *quota, u64 key, u8 signal, u64 now)
{
	struct wale_quota_flow *flow = wale_quota_find(quota, key, now);
	u32 ahead = WALE_QUOTA_BURST - 1;

	if (!flow)
		return false;
	if (flow->key != key)
		*flow = (struct wale_quota_flow){ key, now, signal };
	if (flow->signal != signal)
		ahead = WALE_QUOTA_PER_PERIOD - 1;
	if (flow->due_ns > now + ahead * quota->interval_ns)
		return false;
	flow->due_ns = max(flow->due_ns, now) + quota->interval_ns;
	flow->signal = signal;
	return true;
}
