// SPDX-License-Identifier: GPL-2.0
/*
 * wale_gso.c - what a GSO packet takes on the wire   (pure)
 *
 * With n payload bytes in segments of s, there are ceil(n / s) packets.  All but
 * the last are alike, and each has the headers:
 *
 *	(ceil(n / s) - 1) wire(h + s) + wire(h + rest)
 *
 * where wire() is what an IP packet takes with the overhead of the link, or by the size
 * table.
 */

#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "wale_gso.h"
#include "wale_size.h"

/**
 * wale_gso_packets() - how many packets of the wire are in a GSO packet?
 * @gso: the GSO packet
 *
 * Return: 1 or more.
 */
u32 wale_gso_packets(const struct wale_gso *gso)
{
	return max_t(u32, DIV_ROUND_UP_ULL(gso->payload, gso->size), 1);
}

/**
 * wale_gso_wire_len() - bytes that all packets of a GSO packet take on the wire
 * @gso: the GSO packet
 * @table: the size table; or NULL
 * @framing: what packets take beside
 *
 * Return: bytes, 1 .. WALE_WIRE_LEN_MAX; 0: more than that.
 */
u32 wale_gso_wire_len(const struct wale_gso *gso,
		      const struct qdisc_size_table *table,
		      const struct wale_framing *framing)
{
	u32 before = wale_gso_packets(gso) - 1;
	u32 rest = gso->payload - before * gso->size;
	u64 len = wale_size_wire_len(table, framing, gso->below_ip,
				     gso->headers + rest);

	if (before)
		len += (u64)before *
		       wale_size_wire_len(table, framing, gso->below_ip,
					  gso->headers + gso->size);
	return len > WALE_WIRE_LEN_MAX ? 0 : len;
}
