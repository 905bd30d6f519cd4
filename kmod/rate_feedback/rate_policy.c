// SPDX-License-Identifier: GPL-2.0
/*
 * rate_policy.c - what requests may have
 *
 * Generated from Documentation/netlink/specs/rate_feedback.yaml by `make generate`.
 */

#include "rate_netlink.h"

const struct nla_policy
rate_follow_policy[RATE_FEEDBACK_A_FOLLOW_IFINDEX + 1] = {
	[RATE_FEEDBACK_A_FOLLOW_NETNS_FD] = { .type = NLA_U32 },
	[RATE_FEEDBACK_A_FOLLOW_IFINDEX] = { .type = NLA_U32 },
};

const struct nla_policy
rate_key_policy[RATE_FEEDBACK_A_PATH_DPORT + 1] = {
	[RATE_FEEDBACK_A_PATH_IFINDEX] = { .type = NLA_U32 },
	[RATE_FEEDBACK_A_PATH_SADDR] = { .type = NLA_BINARY, .len = 16 },
	[RATE_FEEDBACK_A_PATH_DADDR] = { .type = NLA_BINARY, .len = 16 },
	[RATE_FEEDBACK_A_PATH_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[RATE_FEEDBACK_A_PATH_SPORT] = { .type = NLA_U16 },
	[RATE_FEEDBACK_A_PATH_DPORT] = { .type = NLA_U16 },
};

const struct nla_policy
rate_set_policy[RATE_FEEDBACK_A_PATH_PHI + 1] = {
	[RATE_FEEDBACK_A_PATH_IFINDEX] = { .type = NLA_U32 },
	[RATE_FEEDBACK_A_PATH_SADDR] = { .type = NLA_BINARY, .len = 16 },
	[RATE_FEEDBACK_A_PATH_DADDR] = { .type = NLA_BINARY, .len = 16 },
	[RATE_FEEDBACK_A_PATH_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[RATE_FEEDBACK_A_PATH_SPORT] = { .type = NLA_U16 },
	[RATE_FEEDBACK_A_PATH_DPORT] = { .type = NLA_U16 },
	[RATE_FEEDBACK_A_PATH_RATE] = { .type = NLA_U64 },
	[RATE_FEEDBACK_A_PATH_MEANING] =
		NLA_POLICY_MAX(NLA_U32, RATE_FEEDBACK_MEANING_WEIGHT),
	[RATE_FEEDBACK_A_PATH_TIME] = { .type = NLA_U64 },
	[RATE_FEEDBACK_A_PATH_AGE_LIMIT] = { .type = NLA_U64 },
	[RATE_FEEDBACK_A_PATH_LAG] =
		NLA_POLICY_MAX(NLA_U32, RATE_FEEDBACK_LAG_FIXED),
	[RATE_FEEDBACK_A_PATH_LAG_TIME] = { .type = NLA_U64 },
	[RATE_FEEDBACK_A_PATH_BETA] = { .type = NLA_U32 },
	[RATE_FEEDBACK_A_PATH_RISE] =
		NLA_POLICY_MAX(NLA_U32, RATE_FEEDBACK_RISE_ADDITIVE),
	[RATE_FEEDBACK_A_PATH_PACE] = NLA_POLICY_MAX(NLA_U32, 1),
	[RATE_FEEDBACK_A_PATH_BASE_RTT] = { .type = NLA_U64 },
	[RATE_FEEDBACK_A_PATH_LAYER] =
		NLA_POLICY_MAX(NLA_U32, RATE_FEEDBACK_LAYER_PAYLOAD),
	[RATE_FEEDBACK_A_PATH_FOLLOW] = NLA_POLICY_NESTED(rate_follow_policy),
	[RATE_FEEDBACK_A_PATH_SWING] = { .type = NLA_U32 },
	[RATE_FEEDBACK_A_PATH_PHI] = { .type = NLA_U32 },
};

const struct nla_policy
rate_flow_policy[RATE_FEEDBACK_A_FLOW_PATH + 1] = {
	[RATE_FEEDBACK_A_FLOW_PATH] = NLA_POLICY_MIN(NLA_U32, 1),
};
