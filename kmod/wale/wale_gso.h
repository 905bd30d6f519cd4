/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_gso.h - what a GSO packet takes on the wire   (pure)
 */
#ifndef _WALE_GSO_H
#define _WALE_GSO_H

#include <linux/types.h>

struct qdisc_size_table;
struct wale_framing;

/*
 * What the link can count of one packet: the bits of it in struct wale_skb_cb (see
 * wale_qdisc.c, and the assertion of wale_server.c).  Qdiscs below it may add a quantum
 * until they have as much, so that the kernel allows no more in its size tables
 * (QDISC_PKT_LEN_MAX) either.
 */
#define WALE_WIRE_LEN_MAX	((1U << 20) - 1)

/**
 * struct wale_gso - a GSO packet: some packets of the wire that have not been split
 * @below_ip: bytes of headers below IP that each of them has
 * @headers: bytes of IP and above that each of them has
 * @payload: bytes behind the headers, of all of them
 * @size: bytes of @payload in each but the last, which has the rest; not 0
 */
struct wale_gso {
	u32 below_ip;
	u32 headers;
	u32 payload;
	u32 size;
};

u32 wale_gso_packets(const struct wale_gso *gso);
u32 wale_gso_wire_len(const struct wale_gso *gso,
		      const struct qdisc_size_table *table,
		      const struct wale_framing *framing);

#endif /* _WALE_GSO_H */
