/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_child.h - a child qdisc instead of the buffer
 */
#ifndef _WALE_CHILD_H
#define _WALE_CHILD_H

#include <linux/types.h>

struct Qdisc;
struct gnet_dump;
struct netlink_ext_ack;
struct sk_buff;

/**
 * struct wale_child - the qdisc that is the buffer
 * @qdisc: the child; NULL: the link has a buffer of its own; replaced with RTNL too
 * @packets: that it holds, as far as the link knows
 * @bytes: theirs, as the child counts them: on the wire
 * @memory: bytes of memory that these packets take, as far as the link knows
 * @drops: of the child's own count, when the link last looked
 * @listed: it was given packets that are on the list of those that are lost
 */
struct wale_child {
	struct Qdisc *qdisc;
	u32 packets;
	u32 bytes;
	u64 memory;
	u32 drops;
	bool listed;
};

bool wale_child_next(struct Qdisc *sch, u64 now);
void wale_child_purge(struct Qdisc *sch, u64 now);
int wale_child_dump_stats(const struct wale_child *child, struct gnet_dump *d);

#endif /* _WALE_CHILD_H */
