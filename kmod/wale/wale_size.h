/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_size.h - packets whose length a size table (stab) says   (pure)
 */
#ifndef _WALE_SIZE_H
#define _WALE_SIZE_H

#include <linux/types.h>
#include <net/wale_wire.h>

struct qdisc_size_table;

u32 wale_size_len(const struct qdisc_size_table *table, u32 len);
u32 wale_size_table_wire_len(const struct qdisc_size_table *table,
			     const struct wale_framing *framing,
			     u32 below_ip, u32 ip_len);

/**
 * wale_size_wire_len() - bytes that a packet takes on the wire
 * @table: the size table; or NULL
 * @framing: what packets take beside
 * @below_ip: bytes of its headers below IP, which only a size table counts
 * @ip_len: bytes of the IP packet, header included
 *
 * Return: bytes, at least 1.
 */
static inline u32 wale_size_wire_len(const struct qdisc_size_table *table,
				     const struct wale_framing *framing,
				     u32 below_ip, u32 ip_len)
{
	if (unlikely(table))
		return wale_size_table_wire_len(table, framing, below_ip,
						ip_len);
	return wale_framing_len(framing, ip_len);
}

#endif /* _WALE_SIZE_H */
