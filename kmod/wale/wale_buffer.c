// SPDX-License-Identifier: GPL-2.0
/*
 * wale_buffer.c - what a packet takes on the wire, and whether it fits   (pure)
 *
 * The buffer of the link holds the packets that wait and the one in service;
 * a packet on the propagation line has left it.  Tail drop: a packet that does
 * not fit whole is refused.
 */

#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "wale_buffer.h"

/* Ethernet (IEEE 802.3): 14 header, 4 FCS, 8 preamble, 12 gap; frame >= 64. */
#define WALE_ETHERNET_OVERHEAD	38
#define WALE_ETHERNET_MIN	84

/* ATM: 53-byte cells of 48; 8 bytes LLC/SNAP (RFC 2684), 8 AAL5 trailer. */
#define WALE_ATM_OVERHEAD	16
#define WALE_ATM_CELL_PAYLOAD	48
#define WALE_ATM_CELL		53

/**
 * wale_wire_len() - bytes that an IP packet takes on the wire
 * @overhead: the link layer below IP
 * @ip_len: bytes of the IP packet, header included
 *
 * Return: bytes, at least 1.
 */
u32 wale_wire_len(enum wale_overhead overhead, u32 ip_len)
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
 * wale_buffer_fits() - would a packet of @len bytes on the wire be admitted?
 * @buffer: the buffer as the packet finds it
 * @len: bytes on the wire
 *
 * Return: true if neither limit is exceeded with the packet in.
 */
bool wale_buffer_fits(const struct wale_buffer *buffer, u32 len)
{
	return buffer->packets < buffer->limit_packets &&
	       len <= buffer->limit_bytes &&
	       buffer->bytes <= buffer->limit_bytes - len;
}

/**
 * wale_buffer_enter() - a packet was admitted
 * @buffer: the buffer
 * @len: bytes on the wire
 */
void wale_buffer_enter(struct wale_buffer *buffer, u32 len)
{
	buffer->packets++;
	buffer->bytes += len;
	buffer->peak_packets = max(buffer->peak_packets, buffer->packets);
	buffer->peak_bytes = max(buffer->peak_bytes, buffer->bytes);
}

/**
 * wale_buffer_leave() - the service of a packet has ended
 * @buffer: the buffer
 * @len: bytes on the wire
 */
void wale_buffer_leave(struct wale_buffer *buffer, u32 len)
{
	buffer->packets--;
	buffer->bytes -= len;
}
