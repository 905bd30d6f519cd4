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

const struct rate_range rate_follow_ranges[] = {
	{
		.attr = RATE_FEEDBACK_A_FOLLOW_IFINDEX,
		.min = 1,
		.max = INT_MAX,
		.refusal = "rate_feedback: ifindex must be 1 to 2147483647",
	},
	{}
};

const struct rate_range rate_key_ranges[] = {
	{
		.attr = RATE_FEEDBACK_A_PATH_IFINDEX,
		.min = 1,
		.max = INT_MAX,
		.refusal = "rate_feedback: ifindex must be 1 to 2147483647",
	},
	{}
};

const struct rate_range rate_set_ranges[] = {
	{
		.attr = RATE_FEEDBACK_A_PATH_AGE_LIMIT,
		.min = 0,
		.max = RATE_FEEDBACK_TIME_MAX,
		.refusal = "rate_feedback: age-limit must be 0 to 1 day",
	},
	{
		.attr = RATE_FEEDBACK_A_PATH_LAG_TIME,
		.min = 0,
		.max = RATE_FEEDBACK_TIME_MAX,
		.refusal = "rate_feedback: lag-time must be 0 to 1 day",
	},
	{
		.attr = RATE_FEEDBACK_A_PATH_BETA,
		.min = 0,
		.max = RATE_FEEDBACK_BETA_MAX,
		.refusal = "rate_feedback: beta must be 0 to 1000000 packets",
	},
	{
		.attr = RATE_FEEDBACK_A_PATH_BASE_RTT,
		.min = 0,
		.max = RATE_FEEDBACK_RTT_MAX,
		.refusal =
			"rate_feedback: base-rtt must be 0 (what is measured) to 60 s",
	},
	{
		.attr = RATE_FEEDBACK_A_PATH_SWING,
		.min = 0,
		.max = RATE_FEEDBACK_SWING_MAX,
		.refusal =
			"rate_feedback: swing must be 0 (off) to 100 percent",
	},
	{
		.attr = RATE_FEEDBACK_A_PATH_PHI,
		.min = RATE_FEEDBACK_PHI_MIN,
		.max = RATE_FEEDBACK_PHI_MAX,
		.refusal = "rate_feedback: phi must be 1.001 to 1000",
	},
	{}
};
