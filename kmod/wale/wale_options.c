// SPDX-License-Identifier: GPL-2.0
/*
 * wale_options.c - the attributes of a link: types, ranges, and what refuses others
 *
 * Generated from Documentation/netlink/specs/sch_wale.yaml by `make generate`.
 */

#include "wale_netlink_attr.h"

static const struct nla_policy wale_options_policy[TCA_WALE_MAX + 1] = {
	[TCA_WALE_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_RATE64] = { .type = NLA_U64 },
	[TCA_WALE_DELAY64] = { .type = NLA_U64 },
	[TCA_WALE_LIMIT_PACKETS] = { .type = NLA_U32 },
	[TCA_WALE_LIMIT_BYTES] = { .type = NLA_U64 },
	[TCA_WALE_LOSS] = { .type = NLA_U32 },
	[TCA_WALE_OVERHEAD] = { .type = NLA_U32 },
	[TCA_WALE_DROPS] = { .type = NLA_U32 },
	[TCA_WALE_SEED] = { .type = NLA_U64 },
	[TCA_WALE_TRACE] = { .type = NLA_BINARY },
	[TCA_WALE_TRACE_END] = { .type = NLA_U32 },
	[TCA_WALE_TRACE_STEPS] = {
		.type = NLA_REJECT,
		.reject_message = "wale: trace_steps is only shown",
	},
	[TCA_WALE_SESSIONS] = { .type = NLA_NESTED },
	[TCA_WALE_FEEDBACK] = { .type = NLA_NESTED },
	[TCA_WALE_LIMIT_CELLS] = { .type = NLA_U32 },
	[TCA_WALE_POLICY] = { .type = NLA_U32 },
	[TCA_WALE_THRESHOLD] = { .type = NLA_U64 },
	[TCA_WALE_THRESHOLD_SHARE] = { .type = NLA_U32 },
	[TCA_WALE_Z] = { .type = NLA_U32 },
	[TCA_WALE_LAST] = { .type = NLA_U32 },
	[TCA_WALE_FLOWS] = { .type = NLA_U32 },
	[TCA_WALE_INPUT_RATE64] = { .type = NLA_U64 },
	[TCA_WALE_MARK] = { .type = NLA_U32 },
	[TCA_WALE_REM] = { .type = NLA_NESTED },
	[TCA_WALE_LOSS_GEMODEL] = { .type = NLA_NESTED },
	[TCA_WALE_LOSS_STATE] = { .type = NLA_NESTED },
	[TCA_WALE_LOSS_ECN] = { .type = NLA_U32 },
	[TCA_WALE_JITTER] = { .type = NLA_NESTED },
	[TCA_WALE_REORDER] = { .type = NLA_U32 },
	[TCA_WALE_REORDER_GAP] = { .type = NLA_U32 },
	[TCA_WALE_DUPLICATE] = { .type = NLA_U32 },
	[TCA_WALE_CORRUPT] = { .type = NLA_U32 },
	[TCA_WALE_DROP_LIST] = { .type = NLA_BINARY },
	[TCA_WALE_SLOT] = { .type = NLA_NESTED },
	[TCA_WALE_TRACE_FD] = { .type = NLA_U32 },
	[TCA_WALE_START] = { .type = NLA_U64 },
	[TCA_WALE_SLACK] = { .type = NLA_U32 },
	[TCA_WALE_GSO] = { .type = NLA_U32 },
	[TCA_WALE_LINE_PACKETS] = { .type = NLA_U32 },
	[TCA_WALE_LINE_BYTES] = { .type = NLA_U64 },
	[TCA_WALE_TRACE_COLUMNS] = { .type = NLA_U32 },
	[TCA_WALE_DOWN_DROPS] = { .type = NLA_U32 },
	[TCA_WALE_OVERHEAD_BYTES] = { .type = NLA_S32 },
	[TCA_WALE_MPU] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_CORRELATION] = { .type = NLA_U32 },
	[TCA_WALE_JITTER_CORRELATION] = { .type = NLA_U32 },
	[TCA_WALE_CORRUPT_FIX] = { .type = NLA_U32 },
	[TCA_WALE_POLICER] = { .type = NLA_NESTED },
	[TCA_WALE_BREAKER] = { .type = NLA_NESTED },
	[TCA_WALE_SCONE] = { .type = NLA_NESTED },
};

static const struct wale_range wale_options_ranges[] = {
	{
		.attr = TCA_WALE_RATE64,
		.min = 1,
		.max = WALE_RATE_MAX,
		.also = WALE_RATE_UNLIMITED,
		.refusal =
			"wale: rate must be 1 to 10^15 bytes/s, or unlimited",
	},
	{
		.attr = TCA_WALE_DELAY64,
		.min = 0,
		.max = WALE_TIME_MAX,
		.refusal = "wale: delay must be 0 to 1 day",
	},
	{
		.attr = TCA_WALE_LIMIT_PACKETS,
		.min = 1,
		.max = U32_MAX,
		.refusal =
			"wale: limit must be 1 to 4294967295 packets: the one in service counts",
	},
	{
		.attr = TCA_WALE_LIMIT_BYTES,
		.min = 1,
		.max = WALE_LIMIT_BYTES_MAX,
		.refusal = "wale: limit in bytes must be 1 to 2^64 - 2 bytes",
	},
	{
		.attr = TCA_WALE_OVERHEAD,
		.min = 0,
		.max = __WALE_OVERHEAD_MAX - 1,
		.refusal =
			"wale: overhead must be 0 to 2: raw, ethernet or atm",
	},
	{
		.attr = TCA_WALE_DROPS,
		.min = 0,
		.max = __WALE_DROPS_MAX - 1,
		.refusal = "wale: drop_report must be 0 or 1: remote or local",
	},
	{
		.attr = TCA_WALE_TRACE_END,
		.min = 0,
		.max = __WALE_TRACE_END_MAX - 1,
		.refusal =
			"wale: end of trace must be 0 to 2: loop, hold or stop",
	},
	{
		.attr = TCA_WALE_LIMIT_CELLS,
		.min = 1,
		.max = WALE_LIMIT_CELLS_MAX,
		.refusal = "wale: limit must be 1 to 4194304 cells",
	},
	{
		.attr = TCA_WALE_POLICY,
		.min = 0,
		.max = __WALE_POLICY_MAX - 1,
		.refusal =
			"wale: policy must be 0 to 5: tail, epd, seldrop, fba, random_tail or rem",
	},
	{
		.attr = TCA_WALE_THRESHOLD,
		.min = 0,
		.max = WALE_LIMIT_BYTES_MAX,
		.refusal = "wale: threshold must be at most the limit",
	},
	{
		.attr = TCA_WALE_THRESHOLD_SHARE,
		.min = 1,
		.max = WALE_POLICY_UNIT,
		.refusal =
			"wale: threshold must be 1 to 1000000 millionths of the limit",
	},
	{
		.attr = TCA_WALE_Z,
		.min = 0,
		.max = WALE_POLICY_Z_MAX,
		.refusal =
			"wale: share_factor must be 0 to 1000, in millionths",
	},
	{
		.attr = TCA_WALE_LAST,
		.min = 1,
		.max = WALE_POLICY_LAST_MAX,
		.refusal = "wale: victims must be 1 to 1024",
	},
	{
		.attr = TCA_WALE_FLOWS,
		.min = 1,
		.max = WALE_CLASSES_MAX,
		.refusal = "wale: flows must be 1 to 65534",
	},
	{
		.attr = TCA_WALE_INPUT_RATE64,
		.min = WALE_INPUT_RATE_MIN,
		.max = WALE_INPUT_RATE_MAX,
		.also = WALE_RATE_UNLIMITED,
		.refusal =
			"wale: input_rate must be 1000 to 53000000000 bytes/s, or unlimited",
	},
	{
		.attr = TCA_WALE_MARK,
		.min = 0,
		.max = 1,
		.refusal = "wale: policy_ecn must be 0 or 1",
	},
	{
		.attr = TCA_WALE_LOSS_ECN,
		.min = 0,
		.max = 1,
		.refusal = "wale: loss_ecn must be 0 or 1",
	},
	{
		.attr = TCA_WALE_REORDER_GAP,
		.min = 1,
		.max = U32_MAX,
		.refusal = "wale: gap of reorder must be 1 to 4294967295",
	},
	{
		.attr = TCA_WALE_START,
		.min = 1,
		.max = U64_MAX,
		.refusal =
			"wale: start must be a time in ns since 1970, above 0 and at most 366 days from now",
	},
	{
		.attr = TCA_WALE_SLACK,
		.min = 0,
		.max = WALE_SLACK_MAX,
		.refusal = "wale: slack must be 0 to 1 s",
	},
	{
		.attr = TCA_WALE_GSO,
		.min = 0,
		.max = __WALE_GSO_MAX - 1,
		.refusal = "wale: gso must be 0 or 1: split or keep",
	},
	{
		.attr = TCA_WALE_LINE_PACKETS,
		.min = 1,
		.max = U32_MAX,
		.refusal = "wale: line must be 1 to 4294967295 packets",
	},
	{
		.attr = TCA_WALE_LINE_BYTES,
		.min = 1,
		.max = WALE_LIMIT_BYTES_MAX,
		.also = WALE_LINE_UNLIMITED,
		.refusal =
			"wale: line in bytes must be 1 to 2^64 - 2 bytes, or unlimited",
	},
	{
		.attr = TCA_WALE_TRACE_COLUMNS,
		.min = 1,
		.max = WALE_TRACE_COLUMNS_MAX,
		.refusal = "wale: trace_columns must be 1 to 31",
	},
	{
		.attr = TCA_WALE_DOWN_DROPS,
		.min = 0,
		.max = __WALE_DOWN_DROPS_MAX - 1,
		.refusal = "wale: down_drops must be 0 or 1: arrivals or all",
	},
	{
		.attr = TCA_WALE_MPU,
		.min = 0,
		.max = WALE_MPU_MAX,
		.refusal = "wale: mpu must be 0 to 65535",
	},
	{
		.attr = TCA_WALE_CORRUPT_FIX,
		.min = 0,
		.max = 1,
		.refusal = "wale: corrupt_fix must be 0 or 1",
	},
};

const struct wale_nest wale_options_nest = {
	.policy = wale_options_policy,
	.max = TCA_WALE_MAX,
	.ranges = wale_options_ranges,
	.n_ranges = ARRAY_SIZE(wale_options_ranges),
};

static const struct nla_policy wale_sessions_policy[TCA_WALE_SESSIONS_MAX + 1] = {
	[TCA_WALE_SESSIONS_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_SESSIONS_ARRIVAL] = { .type = NLA_U32 },
	[TCA_WALE_SESSIONS_MEAN] = { .type = NLA_U64 },
	[TCA_WALE_SESSIONS_LIMIT] = { .type = NLA_U32 },
	[TCA_WALE_SESSIONS_STEP] = { .type = NLA_U64 },
};

static const struct wale_range wale_sessions_ranges[] = {
	{
		.attr = TCA_WALE_SESSIONS_MEAN,
		.min = WALE_SESSIONS_MEAN_MIN,
		.max = WALE_SESSIONS_MEAN_MAX,
		.refusal =
			"wale: mean of sessions must be 0.001 to 1000000 (times rate times step)",
	},
	{
		.attr = TCA_WALE_SESSIONS_LIMIT,
		.min = 1,
		.max = WALE_SESSIONS_MAX,
		.refusal = "wale: max of sessions must be 1 to 63",
	},
	{
		.attr = TCA_WALE_SESSIONS_STEP,
		.min = WALE_SESSIONS_STEP_MIN,
		.max = WALE_TIME_MAX,
		.refusal = "wale: step of sessions must be 1 ms to 1 day",
	},
};

const struct wale_nest wale_sessions_nest = {
	.policy = wale_sessions_policy,
	.max = TCA_WALE_SESSIONS_MAX,
	.ranges = wale_sessions_ranges,
	.n_ranges = ARRAY_SIZE(wale_sessions_ranges),
	.needed = BIT(TCA_WALE_SESSIONS_ARRIVAL) |
		  BIT(TCA_WALE_SESSIONS_MEAN) |
		  BIT(TCA_WALE_SESSIONS_LIMIT) |
		  BIT(TCA_WALE_SESSIONS_STEP),
	.needs = "wale: sessions needs all of arrival, mean, max and step",
};

static const struct nla_policy wale_feedback_policy[TCA_WALE_FEEDBACK_MAX + 1] = {
	[TCA_WALE_FEEDBACK_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_FEEDBACK_IDLE] = { .type = NLA_U64 },
};

static const struct wale_range wale_feedback_ranges[] = {
	{
		.attr = TCA_WALE_FEEDBACK_IDLE,
		.min = WALE_FEEDBACK_IDLE_MIN,
		.max = WALE_FEEDBACK_IDLE_MAX,
		.refusal = "wale: idle of feedback must be 1 ms to 1 hour",
	},
};

const struct wale_nest wale_feedback_nest = {
	.policy = wale_feedback_policy,
	.max = TCA_WALE_FEEDBACK_MAX,
	.ranges = wale_feedback_ranges,
	.n_ranges = ARRAY_SIZE(wale_feedback_ranges),
	.needed = BIT(TCA_WALE_FEEDBACK_IDLE),
	.needs = "wale: feedback needs idle",
};

static const struct nla_policy wale_rem_policy[TCA_WALE_REM_MAX + 1] = {
	[TCA_WALE_REM_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_REM_INTERVAL] = { .type = NLA_U64 },
	[TCA_WALE_REM_GAMMA] = { .type = NLA_U32 },
	[TCA_WALE_REM_ALPHA] = { .type = NLA_U32 },
	[TCA_WALE_REM_TARGET] = { .type = NLA_U64 },
	[TCA_WALE_REM_PHI] = { .type = NLA_U32 },
};

static const struct wale_range wale_rem_ranges[] = {
	{
		.attr = TCA_WALE_REM_INTERVAL,
		.min = WALE_REM_INTERVAL_MIN,
		.max = WALE_REM_INTERVAL_MAX,
		.refusal = "wale: interval of rem must be 1 ms to 1 s",
	},
	{
		.attr = TCA_WALE_REM_GAMMA,
		.min = 1,
		.max = WALE_REM_GAMMA_MAX,
		.refusal =
			"wale: gamma of rem must be 0.000001 to 1000, in millionths",
	},
	{
		.attr = TCA_WALE_REM_ALPHA,
		.min = 0,
		.max = WALE_POLICY_UNIT,
		.refusal = "wale: alpha of rem must be 0 to 1, in millionths",
	},
	{
		.attr = TCA_WALE_REM_TARGET,
		.min = 0,
		.max = WALE_REM_TARGET_MAX,
		.refusal =
			"wale: target of rem must be 0 to 1099511627776 bytes",
	},
	{
		.attr = TCA_WALE_REM_PHI,
		.min = WALE_REM_PHI_MIN,
		.max = WALE_REM_PHI_MAX,
		.refusal =
			"wale: phi of rem must be 1.001 to 1000, in millionths",
	},
};

const struct wale_nest wale_rem_nest = {
	.policy = wale_rem_policy,
	.max = TCA_WALE_REM_MAX,
	.ranges = wale_rem_ranges,
	.n_ranges = ARRAY_SIZE(wale_rem_ranges),
};

static const struct nla_policy wale_gemodel_policy[TCA_WALE_LOSS_GEMODEL_MAX + 1] = {
	[TCA_WALE_LOSS_GEMODEL_P] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_GEMODEL_R] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_GEMODEL_BAD] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_GEMODEL_GOOD] = { .type = NLA_U32 },
};

const struct wale_nest wale_gemodel_nest = {
	.policy = wale_gemodel_policy,
	.max = TCA_WALE_LOSS_GEMODEL_MAX,
	.needed = BIT(TCA_WALE_LOSS_GEMODEL_P),
	.needs = "wale: gemodel needs p",
};

static const struct nla_policy wale_state_policy[TCA_WALE_LOSS_STATE_MAX + 1] = {
	[TCA_WALE_LOSS_STATE_P13] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P31] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P32] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P23] = { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P14] = { .type = NLA_U32 },
};

const struct wale_nest wale_state_nest = {
	.policy = wale_state_policy,
	.max = TCA_WALE_LOSS_STATE_MAX,
	.needed = BIT(TCA_WALE_LOSS_STATE_P13),
	.needs = "wale: state needs p13",
};

static const struct nla_policy wale_jitter_policy[TCA_WALE_JITTER_MAX + 1] = {
	[TCA_WALE_JITTER_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_JITTER_TIME64] = { .type = NLA_U64 },
	[TCA_WALE_JITTER_TABLE] = { .type = NLA_BINARY },
	[TCA_WALE_JITTER_NAME] = {
		.type = NLA_NUL_STRING,
		.len = WALE_JITTER_NAME_MAX - 1,
	},
	[TCA_WALE_JITTER_REORDERING] = { .type = NLA_U32 },
};

static const struct wale_range wale_jitter_ranges[] = {
	{
		.attr = TCA_WALE_JITTER_TIME64,
		.min = 0,
		.max = WALE_TIME_MAX,
		.refusal = "wale: jitter must be 0 to 1 day",
	},
	{
		.attr = TCA_WALE_JITTER_REORDERING,
		.min = 0,
		.max = 1,
		.refusal = "wale: overtaking of jitter must be 0 or 1",
	},
};

const struct wale_nest wale_jitter_nest = {
	.policy = wale_jitter_policy,
	.max = TCA_WALE_JITTER_MAX,
	.ranges = wale_jitter_ranges,
	.n_ranges = ARRAY_SIZE(wale_jitter_ranges),
};

static const struct nla_policy wale_slot_policy[TCA_WALE_SLOT_MAX + 1] = {
	[TCA_WALE_SLOT_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_SLOT_MIN64] = { .type = NLA_U64 },
	[TCA_WALE_SLOT_MAX64] = { .type = NLA_U64 },
	[TCA_WALE_SLOT_PACKETS] = { .type = NLA_U32 },
	[TCA_WALE_SLOT_BYTES] = { .type = NLA_U32 },
};

static const struct wale_range wale_slot_ranges[] = {
	{
		.attr = TCA_WALE_SLOT_MIN64,
		.min = 0,
		.max = WALE_TIME_MAX,
		.refusal = "wale: min of slot must be 0 to 1 day",
	},
	{
		.attr = TCA_WALE_SLOT_MAX64,
		.min = 1,
		.max = WALE_TIME_MAX,
		.refusal = "wale: max of slot must be 1 ns to 1 day",
	},
};

const struct wale_nest wale_slot_nest = {
	.policy = wale_slot_policy,
	.max = TCA_WALE_SLOT_MAX,
	.ranges = wale_slot_ranges,
	.n_ranges = ARRAY_SIZE(wale_slot_ranges),
	.needed = BIT(TCA_WALE_SLOT_MIN64),
	.needs = "wale: slot needs min",
};

static const struct nla_policy wale_policer_policy[TCA_WALE_POLICER_MAX + 1] = {
	[TCA_WALE_POLICER_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_POLICER_RATE] = { .type = NLA_U64 },
	[TCA_WALE_POLICER_BURST] = { .type = NLA_U64 },
	[TCA_WALE_POLICER_EXCESS] = { .type = NLA_U32 },
};

static const struct wale_range wale_policer_ranges[] = {
	{
		.attr = TCA_WALE_POLICER_RATE,
		.min = 1,
		.max = WALE_RATE_MAX,
		.refusal = "wale: rate of policer must be 1 to 10^15 bytes/s",
	},
	{
		.attr = TCA_WALE_POLICER_BURST,
		.min = 1,
		.max = WALE_POLICER_BURST_MAX,
		.refusal =
			"wale: burst of policer must be 1 to 4294967295 bytes",
	},
	{
		.attr = TCA_WALE_POLICER_EXCESS,
		.min = 0,
		.max = __WALE_POLICER_EXCESS_MAX - 1,
		.refusal =
			"wale: excess of policer must be 0 or 1: drop or mark",
	},
};

const struct wale_nest wale_policer_nest = {
	.policy = wale_policer_policy,
	.max = TCA_WALE_POLICER_MAX,
	.ranges = wale_policer_ranges,
	.n_ranges = ARRAY_SIZE(wale_policer_ranges),
	.needed = BIT(TCA_WALE_POLICER_RATE) |
		  BIT(TCA_WALE_POLICER_BURST),
	.needs = "wale: policer needs all of rate and burst",
};

static const struct nla_policy wale_breaker_policy[TCA_WALE_BREAKER_MAX + 1] = {
	[TCA_WALE_BREAKER_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_BREAKER_RATE] = { .type = NLA_U64 },
	[TCA_WALE_BREAKER_AFTER] = { .type = NLA_U64 },
};

static const struct wale_range wale_breaker_ranges[] = {
	{
		.attr = TCA_WALE_BREAKER_RATE,
		.min = 1,
		.max = WALE_RATE_MAX,
		.refusal = "wale: rate of breaker must be 1 to 10^15 bytes/s",
	},
	{
		.attr = TCA_WALE_BREAKER_AFTER,
		.min = 1,
		.max = WALE_TIME_MAX,
		.refusal = "wale: after of breaker must be 1 ns to 1 day",
	},
};

const struct wale_nest wale_breaker_nest = {
	.policy = wale_breaker_policy,
	.max = TCA_WALE_BREAKER_MAX,
	.ranges = wale_breaker_ranges,
	.n_ranges = ARRAY_SIZE(wale_breaker_ranges),
	.needed = BIT(TCA_WALE_BREAKER_RATE) |
		  BIT(TCA_WALE_BREAKER_AFTER),
	.needs = "wale: breaker needs all of rate and after",
};

static const struct nla_policy wale_scone_policy[TCA_WALE_SCONE_MAX + 1] = {
	[TCA_WALE_SCONE_PAD] = { .type = NLA_BINARY },
	[TCA_WALE_SCONE_OF] = { .type = NLA_U32 },
	[TCA_WALE_SCONE_RATE] = { .type = NLA_U64 },
	[TCA_WALE_SCONE_PERIOD] = { .type = NLA_U64 },
	[TCA_WALE_SCONE_AVERAGE] = { .type = NLA_U64 },
};

static const struct wale_range wale_scone_ranges[] = {
	{
		.attr = TCA_WALE_SCONE_OF,
		.min = 0,
		.max = __WALE_SCONE_OF_MAX - 1,
		.refusal =
			"wale: rate source of scone must be 0 or 1: link or share",
	},
	{
		.attr = TCA_WALE_SCONE_RATE,
		.min = WALE_SCONE_RATE_MIN,
		.max = WALE_RATE_MAX,
		.refusal =
			"wale: rate of scone must be 100 kbit/s, the lowest rate that SCONE can tell, to 10^15 bytes/s",
	},
	{
		.attr = TCA_WALE_SCONE_PERIOD,
		.min = WALE_SCONE_PERIOD_MIN,
		.max = WALE_SCONE_PERIOD_MAX,
		.refusal = "wale: period of scone must be 100 ms to 600 s",
	},
	{
		.attr = TCA_WALE_SCONE_AVERAGE,
		.min = 0,
		.max = WALE_SCONE_PERIOD_MAX,
		.refusal = "wale: average of scone must be 0 to 600 s",
	},
};

const struct wale_nest wale_scone_nest = {
	.policy = wale_scone_policy,
	.max = TCA_WALE_SCONE_MAX,
	.ranges = wale_scone_ranges,
	.n_ranges = ARRAY_SIZE(wale_scone_ranges),
};
