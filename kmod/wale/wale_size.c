// SPDX-License-Identifier: GPL-2.0
/*
 * wale_size.c - packets whose length a size table (stab) says   (pure)
 *
 * The user of tc-stab(8) tells what a packet takes on the wire: its length as the
 * device gets it, and @overhead more, is looked up in a table.  The kernel does that
 * for the root qdisc before it enqueues a packet, but only once for a whole GSO
 * packet, and gives modules no function for it.
 *
 * The length that the table says replaces that of the packet.  With overhead raw it
 * is what the packet takes on the wire, as for any other qdisc.  The other overheads
 * are added to it, without the headers below IP, which they count themselves; they are
 * those of an IP packet, so that it is no longer than one can be.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/sch_generic.h>

#include "wale_gso.h"
#include "wale_size.h"

/**
 * wale_size_len() - the length of a packet, by a size table
 * @table: the size table
 * @len: bytes of the packet, as the device gets it
 *
 * Return: bytes, 1 .. WALE_WIRE_LEN_MAX.
 */
u32 wale_size_len(const struct qdisc_size_table *table, u32 len)
{
	const struct tc_sizespec *spec = &table->szopts;
	s64 sum = (s64)len + spec->overhead;
	u64 size, rows;
	u32 slot;

	if (!spec->tsize)
		return clamp_t(s64, sum, 1, WALE_WIRE_LEN_MAX);
	sum = max_t(s64, sum + spec->cell_align, 0) >> spec->cell_log;
	rows = div_u64_rem(sum, spec->tsize, &slot);
	size = rows * table->data[spec->tsize - 1] + table->data[slot];
	size = min_t(u64, size, WALE_WIRE_LEN_MAX) << spec->size_log;
	return clamp_t(u64, size, 1, WALE_WIRE_LEN_MAX);
}

/**
 * wale_size_table_wire_len() - bytes that a packet takes on the wire
 * @table: the size table
 * @framing: what packets take beside
 * @below_ip: bytes of its headers below IP
 * @ip_len: bytes of the IP packet, header included
 *
 * Return: bytes, at least 1.
 */
u32 wale_size_table_wire_len(const struct qdisc_size_table *table,
			     const struct wale_framing *framing,
			     u32 below_ip, u32 ip_len)
{
	u32 len = wale_size_len(table, below_ip + ip_len);

	if (framing->layer == WALE_OVERHEAD_RAW)
		return wale_framing_len(framing, len);
	len = len > below_ip ? len - below_ip : 0;
	return wale_framing_len(framing, min_t(u32, len, U16_MAX));
}
