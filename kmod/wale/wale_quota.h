/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_quota.h - how many packets of a flow may be changed   (pure)
 */
#ifndef _WALE_QUOTA_H
#define _WALE_QUOTA_H

#include <linux/types.h>

#define WALE_QUOTA_SETS		512
#define WALE_QUOTA_WAYS		8	/* flows of a set */

/* So many changes fill a period, and so many of them may come at once. */
#define WALE_QUOTA_PER_PERIOD	8
#define WALE_QUOTA_BURST	4

/**
 * struct wale_quota_flow - a flow of which packets were changed
 * @key: of the flow
 * @due_ns: until then, what was changed of it fills its quota
 * @signal: that was written last
 */
struct wale_quota_flow {
	u64 key;
	u64 due_ns;
	u8 signal;
};

/**
 * struct wale_quota - the flows of which packets were changed
 * @interval_ns: a change fills the quota for so long
 * @flow: in sets, by key
 */
struct wale_quota {
	u64 interval_ns;
	struct wale_quota_flow flow[WALE_QUOTA_SETS][WALE_QUOTA_WAYS];
};

void wale_quota_set_period(struct wale_quota *quota, u64 period_ns);
bool wale_quota_take(struct wale_quota *quota, u64 key, u8 signal, u64 now);

#endif /* _WALE_QUOTA_H */
