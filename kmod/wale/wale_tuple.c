// SPDX-License-Identifier: GPL-2.0
/*
 * wale_tuple.c - where the transport header of a packet is, and the key of its flow
 */

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "wale_tuple.h"

/* What a length in an IP header says; in that of a GSO packet too long for it, it is 0. */
static int wale_tuple_len(const struct sk_buff *skb, __be16 says, int whole)
{
	return says || !skb_is_gso(skb) ? ntohs(says) : whole;
}

/* Of a packet in fragments, the first has the header. */
static bool wale_tuple_find_ipv4(const struct sk_buff *skb,
				 struct wale_tuple *tuple)
{
	int offset = tuple->network;
	const struct iphdr *ip;
	struct iphdr buf;

	ip = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!ip || ip->version != 4 || ip->ihl < sizeof(*ip) / 4 ||
	    ip->frag_off & htons(IP_OFFSET))
		return false;
	tuple->ipv6 = false;
	tuple->protocol = ip->protocol;
	tuple->fragment = ip->frag_off & htons(IP_MF);
	tuple->offset = offset + ip->ihl * 4;
	tuple->len = wale_tuple_len(skb, ip->tot_len, skb->len - offset) -
		     ip->ihl * 4;
	return tuple->len >= 0;
}

static bool wale_tuple_find_ipv6(const struct sk_buff *skb,
				 struct wale_tuple *tuple)
{
	int offset = tuple->network;
	const struct ipv6hdr *ip;
	struct ipv6hdr buf;
	__be16 fragment;

	ip = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!ip || ip->version != 6)
		return false;
	tuple->ipv6 = true;
	tuple->protocol = ip->nexthdr;
	tuple->offset = ipv6_skip_exthdr(skb, offset + sizeof(*ip),
					 &tuple->protocol, &fragment);
	tuple->fragment = fragment;
	offset += sizeof(*ip);
	tuple->len = offset - tuple->offset +
		     wale_tuple_len(skb, ip->payload_len, skb->len - offset);
	return tuple->offset >= 0 && tuple->len >= 0;
}

/**
 * wale_tuple_find() - find the transport header of a packet
 * @skb: the packet, at its link layer
 * @tuple: set
 *
 * Return: true; false if it is no IP packet, or one that ends before that header by its
 * own length, or of IPv4 a fragment without that header.
 */
bool wale_tuple_find(const struct sk_buff *skb, struct wale_tuple *tuple)
{
	tuple->network = skb_network_offset(skb);
	if (tuple->network < 0)
		return false;
	switch (skb_protocol(skb, true)) {
	case htons(ETH_P_IP):
		return wale_tuple_find_ipv4(skb, tuple);
	case htons(ETH_P_IPV6):
		return wale_tuple_find_ipv6(skb, tuple);
	default:
		return false;
	}
}

/**
 * wale_tuple_key() - the key of a flow: its addresses, ports and protocol
 * @skb: a packet of the flow
 * @tuple: where its transport header is, which begins with the ports and is all there
 * @key: the secret
 *
 * Return: the key.
 */
u64 wale_tuple_key(const struct sk_buff *skb, const struct wale_tuple *tuple,
		   const siphash_key_t *key)
{
	struct {
		struct in6_addr addresses[2];
		__be32 ports;
		u32 protocol;
	} __aligned(SIPHASH_ALIGNMENT) flow = { .protocol = tuple->protocol };
	__be32 buf[2], *pair;

	skb_copy_bits(skb, tuple->offset, &flow.ports, sizeof(flow.ports));
	if (tuple->ipv6) {
		skb_copy_bits(skb, tuple->network +
			      offsetof(struct ipv6hdr, saddr), flow.addresses,
			      sizeof(flow.addresses));
		return siphash(&flow, sizeof(flow), key);
	}
	pair = skb_header_pointer(skb, tuple->network +
				  offsetof(struct iphdr, saddr), sizeof(buf),
				  buf);
	return siphash_4u32((__force u32)pair[0], (__force u32)pair[1],
			    (__force u32)flow.ports, flow.protocol, key);
}
