// SPDX-License-Identifier: GPL-2.0
/*
 * wale_jitter.c - by how much the delay of a packet differs   (pure)
 */

#include <linux/math64.h>

#include "wale_jitter.h"

#define WALE_JITTER_SHIFT	13	/* WALE_JITTER_UNIT is 2^13 */

/**
 * wale_jitter_offset() - what is added to the delay
 * @jitter_ns: up to WALE_TIME_MAX
 * @table: the distribution; NULL: uniform, -@jitter_ns .. @jitter_ns
 * @draw: uniform bits; the upper half is used
 *
 * Without a division.  A product with an entry has 62 bits at most.
 *
 * Return: ns, rounded to the nearest.
 */
s64 wale_jitter_offset(u64 jitter_ns, const struct wale_jitter_table *table,
		       u64 draw)
{
	u32 share = draw >> 32;
	s64 entry;

	if (!table)
		return mul_u64_u32_shr(2 * jitter_ns + 1, share, 32) -
		       jitter_ns;
	entry = table->entry[((u64)table->count * share) >> 32];
	return ((s64)jitter_ns * entry + WALE_JITTER_UNIT / 2) >>
	       WALE_JITTER_SHIFT;
}

/**
 * wale_jitter_delay() - the delay with its jitter, which is never negative
 * @delay_ns: without
 * @offset_ns: what is added
 *
 * Return: ns.
 */
u64 wale_jitter_delay(u64 delay_ns, s64 offset_ns)
{
	s64 delay = (s64)delay_ns + offset_ns;

	return delay > 0 ? delay : 0;
}
