/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_corrupt.h - a bit of a packet is turned
 */
#ifndef _WALE_CORRUPT_H
#define _WALE_CORRUPT_H

#include <linux/types.h>

struct sk_buff;

bool wale_corrupt_any(struct sk_buff *skb, u32 draw);
bool wale_corrupt_fixed(struct sk_buff *skb, u32 draw);

#endif /* _WALE_CORRUPT_H */
