/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_tuple.h - where the transport header of a packet is, and the key of its flow
 */
#ifndef _WALE_TUPLE_H
#define _WALE_TUPLE_H

#include <linux/siphash.h>
#include <linux/types.h>

struct sk_buff;

/**
 * struct wale_tuple - the transport header of an IP packet
 * @network: offset of the IP header
 * @offset: offset of the transport header
 * @len: bytes from there to the end of the IP packet, as its header says; not negative
 * @ipv6: IPv6, not IPv4
 * @protocol: IPPROTO_*
 * @fragment: the packet is the first fragment of one
 */
struct wale_tuple {
	int network;
	int offset;
	int len;
	bool ipv6;
	u8 protocol;
	bool fragment;
};

bool wale_tuple_find(const struct sk_buff *skb, struct wale_tuple *tuple);
u64 wale_tuple_key(const struct sk_buff *skb, const struct wale_tuple *tuple,
		   const siphash_key_t *key);

#endif /* _WALE_TUPLE_H */
