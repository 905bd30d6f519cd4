/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_datagram.h - UDP datagrams that begin with a SCONE packet
 */
#ifndef _WALE_DATAGRAM_H
#define _WALE_DATAGRAM_H

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

bool wale_datagram_begin(const struct sk_buff *skb,
			 struct wale_datagram *datagram);
bool wale_datagram_next(const struct sk_buff *skb,
			struct wale_datagram *datagram);
bool wale_datagram_is_whole(const struct sk_buff *skb,
			    const struct wale_datagram *datagram);
bool wale_datagram_write(struct sk_buff *skb,
			 const struct wale_datagram *datagram, u8 signal);

#endif /* _WALE_DATAGRAM_H */
