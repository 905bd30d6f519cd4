/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_netlink.h - what the netlink files of rate_feedback share
 */
#ifndef _RATE_NETLINK_H
#define _RATE_NETLINK_H

#include <net/genetlink.h>

#include "rate.h"

enum {
	RATE_GROUP_PATHS,
	RATE_GROUP_FLOWS,
};

/**
 * struct rate_range - what a number may be
 * @refusal: the sentence for any other; NULL at the end of a table
 * @min: the smallest
 * @max: the largest
 * @attr: type of the attribute
 */
struct rate_range {
	const char *refusal;
	u64 min;
	u64 max;
	u16 attr;
};

/* rate_policy.c */
/* generated: policies */
extern const struct nla_policy
rate_set_policy[RATE_FEEDBACK_A_PATH_PHI + 1];
extern const struct nla_policy
rate_key_policy[RATE_FEEDBACK_A_PATH_DPORT + 1];
extern const struct nla_policy
rate_flow_policy[RATE_FEEDBACK_A_FLOW_PATH + 1];
extern const struct nla_policy
rate_follow_policy[RATE_FEEDBACK_A_FOLLOW_IFINDEX + 1];
extern const struct rate_range rate_follow_ranges[];
extern const struct rate_range rate_key_ranges[];
extern const struct rate_range rate_set_ranges[];
/* generated: end */

/* rate_request.c */
int rate_request_parse_key(struct nlattr **tb, struct rate_key *key,
			   struct netlink_ext_ack *extack);
int rate_request_set(struct sk_buff *skb, struct genl_info *info);

/* rate_message.c */
void rate_message_set_family(const struct genl_family *family);
void rate_message_allow_events(bool allow);
int rate_put_path(struct sk_buff *skb, const struct rate_path *path,
		  struct netlink_callback *cb, u32 portid, u32 seq, int flags,
		  u8 cmd);
int rate_put_flow(struct sk_buff *skb, const struct rate_flow *flow,
		  struct user_namespace *user_ns, u32 portid, u32 seq,
		  int flags, u8 cmd);

#endif /* _RATE_NETLINK_H */
