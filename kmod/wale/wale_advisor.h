/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_advisor.h - whose SCONE packets are changed, and how many there were
 */
#ifndef _WALE_ADVISOR_H
#define _WALE_ADVISOR_H

#include "wale_datagram.h"
#include "wale_quota.h"

/**
 * struct wale_advisor - what writes signals into SCONE packets
 * @seen: SCONE packets that are whole
 * @lowered: whose signal was lowered
 * @limited: that were left alone, against the quota or without memory
 * @malformed: that are not whole
 * @key: secret of the keys of flows
 * @quota: of flows
 *
 * Protected by a lock of its owner.
 */
struct wale_advisor {
	u64 seen;
	u64 lowered;
	u64 limited;
	u64 malformed;
	siphash_key_t key;
	struct wale_quota quota;
};

void wale_advisor_init(struct wale_advisor *advisor);
void wale_advisor_advise(struct wale_advisor *advisor, struct sk_buff *skb,
			 const struct wale_datagram *datagram, u8 advice,
			 u64 now);

#endif /* _WALE_ADVISOR_H */
