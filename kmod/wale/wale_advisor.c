// SPDX-License-Identifier: GPL-2.0
/*
 * wale_advisor.c - whose SCONE packets are changed, and how many there were
 *
 *	packet -> wale_datagram --> whole, lower? --> wale_quota --> packet
 */

#include <linux/random.h>
#include <linux/skbuff.h>

#include "wale_advisor.h"

/**
 * wale_advisor_init() - get ready
 * @advisor: all zeroes
 *
 * Context: process context.
 */
void wale_advisor_init(struct wale_advisor *advisor)
{
	get_random_bytes(&advisor->key, sizeof(advisor->key));
}

/**
 * wale_advisor_advise() - lower the signal of a SCONE packet
 * @advisor: counts it
 * @skb: the packet
 * @datagram: of wale_datagram_next()
 * @advice: the signal that it is to have at most; SCONE_UNKNOWN: it stays as it is
 * @now: ns
 */
void wale_advisor_advise(struct wale_advisor *advisor, struct sk_buff *skb,
			 const struct wale_datagram *datagram, u8 advice,
			 u64 now)
{
	u64 key;

	if (!wale_datagram_is_whole(skb, datagram)) {
		advisor->malformed++;
		return;
	}
	advisor->seen++;
	if (advice >= datagram->signal)
		return;
	key = wale_tuple_key(skb, &datagram->tuple, &advisor->key);
	if (wale_quota_take(&advisor->quota, key, advice, now) &&
	    wale_datagram_write(skb, datagram, advice))
		advisor->lowered++;
	else
		advisor->limited++;
}
