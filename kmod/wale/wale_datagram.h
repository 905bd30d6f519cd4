/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_datagram.h - UDP datagrams that begin with a SCONE packet
 */
#ifndef _WALE_DATAGRAM_H
#define _WALE_DATAGRAM_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

#include "wale_scone.h"
#include "wale_tuple.h"

/**
 * struct wale_datagram - a UDP datagram in a packet
 * @tuple: of the packet
 * @payload: offset of the payload of the datagram
 * @len: of the payload
 * @left: bytes from @payload to the end of the last datagram of the packet
 * @size: payload of a full datagram
 * @signal: that its SCONE packet has
 */
struct wale_datagram {
	struct wale_tuple tuple;
	int payload;
	u32 len;
	u32 left;
	u32 size;
	u8 signal;
};

/**
 * wale_datagram_may_be() - is a packet worth a look?
 * @skb: the packet, at its link layer or its network layer
 *
 * All that most packets cost: what has no SCONE packet for sure need not be parsed.
 *
 * Return: false if so.
 */
static inline bool wale_datagram_may_be(const struct sk_buff *skb)
{
	int at = skb_network_offset(skb), left = (int)skb_headlen(skb) - at;
	const u8 *ip = skb->data + at;
	int payload;

	if (at < 0 || left < (int)sizeof(struct ipv6hdr))
		return true;
	switch (skb->protocol) {
	case htons(ETH_P_IP):
		if (((const struct iphdr *)ip)->protocol != IPPROTO_UDP)
			return false;
		payload = ((const struct iphdr *)ip)->ihl * 4;
		break;
	case htons(ETH_P_IPV6):
		if (((const struct ipv6hdr *)ip)->nexthdr != IPPROTO_UDP)
			return ((const struct ipv6hdr *)ip)->nexthdr != IPPROTO_TCP;
		payload = sizeof(struct ipv6hdr);
		break;
	default:
		return true;
	}
	payload += sizeof(struct udphdr);
	return skb_is_gso(skb) || left < payload + SCONE_HEAD ||
	       wale_scone_begins(ip + payload);
}

bool wale_datagram_begin(const struct sk_buff *skb,
			 const struct wale_tuple *tuple,
			 struct wale_datagram *datagram);
bool wale_datagram_next(const struct sk_buff *skb,
			struct wale_datagram *datagram);
bool wale_datagram_is_whole(const struct sk_buff *skb,
			    const struct wale_datagram *datagram);
bool wale_datagram_write(struct sk_buff *skb,
			 const struct wale_datagram *datagram, u8 signal);

#endif /* _WALE_DATAGRAM_H */
