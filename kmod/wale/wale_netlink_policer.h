/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_policer.h - the part of a request that is about the policer
 */
#ifndef _WALE_NETLINK_POLICER_H
#define _WALE_NETLINK_POLICER_H

struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct wale_policer_params;

int wale_netlink_policer_parse(struct wale_policer_params *params,
			       const struct nlattr *attr,
			       struct netlink_ext_ack *extack);
int wale_netlink_dump_policer(const struct wale_policer_params *params,
			      struct sk_buff *skb);

#endif /* _WALE_NETLINK_POLICER_H */
