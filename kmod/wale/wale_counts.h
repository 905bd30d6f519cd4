/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_counts.h - what became of the packets of a link, or of a flow   (pure)
 */
#ifndef _WALE_COUNTS_H
#define _WALE_COUNTS_H

#include <linux/types.h>

/**
 * struct wale_counter - packets on the wire, and their bytes
 * @packets: number of them
 * @bytes: of the wire
 */
struct wale_counter {
	u64 packets;
	u64 bytes;
};

/* Why a packet did not arrive at the other end. */
enum wale_drop_reason {
	WALE_DROP_BUFFER,	/* did not fit */
	WALE_DROP_LOSS,		/* lost at random, after service */
	WALE_DROP_MEMORY,	/* could not be split */
	WALE_DROP_PURGE,	/* held at device down, or by a replaced child */
	WALE_DROP_EARLY,	/* would have fit; refused by the policy */
	WALE_DROP_PARTIAL,	/* cells of it did not fit; after service */
	WALE_DROP_CHILD,	/* by the child qdisc that is the buffer */
	WALE_DROP_LINE,		/* there was no room on the line */
	WALE_DROP_DOWN,		/* the link was down, or went down */
	WALE_DROP_POLICER,	/* exceeded the policer */
	WALE_DROP_BREAKER,	/* its flow was cut */
	__WALE_DROP_MAX
};

/**
 * struct wale_counts - of a link, or of a flow
 * @line: that are on the propagation line now
 * @offered: that arrived, after splitting
 * @sent: that departed
 * @dropped: by reason
 * @marked: that got a mark
 * @duplicated: copies that were made
 * @corrupted: that were damaged
 * @reordered: that overtook others on the line
 * @unmarkable: that would have got one, but are no ECT (policy rem)
 * @dropped_cells: that were not admitted
 * @wasted_cells: that were served, of packets that were dropped as partial
 */
struct wale_counts {
	struct wale_counter line;
	struct wale_counter offered;
	struct wale_counter sent;
	struct wale_counter dropped[__WALE_DROP_MAX];
	struct wale_counter marked;
	struct wale_counter unmarkable;
	struct wale_counter duplicated;
	struct wale_counter corrupted;
	struct wale_counter reordered;
	u64 dropped_cells;
	u64 wasted_cells;
};

static inline void wale_count(struct wale_counter *counter, u32 len)
{
	counter->packets++;
	counter->bytes += len;
}

static inline void wale_uncount(struct wale_counter *counter, u32 len)
{
	counter->packets--;
	counter->bytes -= len;
}

#endif /* _WALE_COUNTS_H */
