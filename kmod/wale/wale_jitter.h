/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_jitter.h - by how much the delay of a packet differs   (pure)
 */
#ifndef _WALE_JITTER_H
#define _WALE_JITTER_H

#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

/* No entry of a table is further from zero than so many times the jitter. */
#define WALE_JITTER_REACH	4

/**
 * struct wale_jitter_table - a distribution, as its quantiles
 * @count: of @entry, 1 .. WALE_JITTER_TABLE_MAX
 * @name: for people
 * @entry: equally likely values, in 1 / WALE_JITTER_UNIT of the jitter
 */
struct wale_jitter_table {
	u32 count;
	char name[WALE_JITTER_NAME_MAX];
	s16 entry[];
};

s64 wale_jitter_offset(u64 jitter_ns, const struct wale_jitter_table *table,
		       u64 draw);
u64 wale_jitter_delay(u64 delay_ns, s64 offset_ns);

#endif /* _WALE_JITTER_H */
