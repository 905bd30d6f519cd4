/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_wire.h - what an IP packet takes on the wire
 *
 * The link counts these bytes, and so must a sender that is told the link's
 * rate.  enum wale_overhead and enum rate_feedback_layer name the same layers
 * with the same numbers.
 */
#ifndef _NET_WALE_WIRE_H
#define _NET_WALE_WIRE_H

#include <linux/build_bug.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/pkt_sched_wale.h>
#include <linux/rate_feedback.h>
#include <linux/types.h>

static_assert((int)WALE_OVERHEAD_RAW == (int)RATE_FEEDBACK_LAYER_IP);
static_assert((int)WALE_OVERHEAD_ETHERNET ==
	      (int)RATE_FEEDBACK_LAYER_ETHERNET);
static_assert((int)WALE_OVERHEAD_ATM == (int)RATE_FEEDBACK_LAYER_ATM);

/* Ethernet (IEEE 802.3): 14 header, 4 FCS, 8 preamble, 12 gap; frame >= 64. */
#define WALE_ETHERNET_OVERHEAD	38
#define WALE_ETHERNET_MIN	84

/* ATM: 53-byte cells of 48; 8 bytes LLC/SNAP (RFC 2684), 8 AAL5 trailer. */
#define WALE_ATM_OVERHEAD	16
#define WALE_ATM_CELL_PAYLOAD	48
#define WALE_ATM_CELL		53

/**
 * wale_wire_len() - bytes that an IP packet takes on the wire
 * @overhead: enum wale_overhead, the link layer below IP
 * @ip_len: bytes of the IP packet, header included
 *
 * Return: bytes, at least 1.
 */
static inline u32 wale_wire_len(u32 overhead, u32 ip_len)
{
	switch (overhead) {
	case WALE_OVERHEAD_ETHERNET:
		return max_t(u32, ip_len + WALE_ETHERNET_OVERHEAD,
			     WALE_ETHERNET_MIN);
	case WALE_OVERHEAD_ATM:
		return DIV_ROUND_UP(ip_len + WALE_ATM_OVERHEAD,
				    WALE_ATM_CELL_PAYLOAD) * WALE_ATM_CELL;
	default:
		return max_t(u32, ip_len, 1);
	}
}

/**
 * struct wale_framing - what a packet takes on the wire, beside what it has
 * @layer: enum wale_overhead
 * @bytes: that it has more within the layer; fewer if negative
 * @least: that it has at least, with these
 */
struct wale_framing {
	u32 layer;
	s32 bytes;
	u32 least;
};

/**
 * wale_framing_len() - bytes that an IP packet takes on the wire
 * @framing: what it takes beside
 * @ip_len: bytes of the IP packet, header included
 *
 * Return: bytes, at least 1.
 */
static inline u32 wale_framing_len(const struct wale_framing *framing,
				   u32 ip_len)
{
	s64 len = (s64)ip_len + framing->bytes;

	return wale_wire_len(framing->layer, max_t(s64, len, framing->least));
}

#endif /* _NET_WALE_WIRE_H */
