// SPDX-License-Identifier: GPL-2.0
/*
 * link_options.c - the options of a link, as words, attributes and JSON
 *
 * Written by `make generate` from Documentation/netlink/specs/sch_wale.yaml.
 */
#include "link_options.h"

/* clang-format off */

static const char *const policer_excess_names[] = { "drop", "mark", NULL };

static const char *const scone_of_names[] = { "link", "share", NULL };

static const char *const overhead_names[] = { "raw", "ethernet", "atm", NULL };

static const char *const drops_names[] = { "remote", "local", NULL };

static const char *const trace_end_names[] = { "loop", "hold", "stop", NULL };

static const char *const policy_names[] = { "tail", "epd", "seldrop", "fba", "random_tail", "rem", NULL };

static const char *const gso_names[] = { "split", "keep", NULL };

static const char *const down_drops_names[] = { "arrivals", "all", NULL };

static const struct link_attribute sessions_attributes[TCA_WALE_SESSIONS_MAX + 1] = {
	[TCA_WALE_SESSIONS_ARRIVAL] = {
		.form = LINK_PROBABILITY, .word = "arrival", .key = "arrival",
		.expected = "an arrival probability from 0 to 1, such as 0.2 or 20%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_SESSIONS_MEAN] = {
		.form = LINK_FIXED32, .word = "mean", .key = "mean",
		.expected = "a mean (a number times rate times step) from 0.001 to 1000000",
		.width = 8, .min = 0, .max = 18446744073709551615ULL },
	[TCA_WALE_SESSIONS_LIMIT] = {
		.form = LINK_COUNT, .word = "max", .key = "max",
		.expected = "a max from 1 to 63",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_SESSIONS_STEP] = {
		.form = LINK_TIME, .word = "step", .key = "step_ns",
		.expected = "a step from 1ms to 86400s, such as 50ms",
		.width = 8, .min = 0, .max = 18446744073709551615ULL },
};

static const struct link_set sessions_set = {
	sessions_attributes, TCA_WALE_SESSIONS_MAX
};

static const struct link_attribute feedback_attributes[TCA_WALE_FEEDBACK_MAX + 1] = {
	[TCA_WALE_FEEDBACK_IDLE] = {
		.form = LINK_TIME, .word = "idle", .key = "idle_ns",
		.expected = "an idle time from 1ms to 3600s, such as 2s",
		.width = 8, .min = 1, .max = 18446744073709551615ULL, .assumed = 2000000000ULL },
};

static const struct link_set feedback_set = {
	feedback_attributes, TCA_WALE_FEEDBACK_MAX
};

static const struct link_attribute rem_attributes[TCA_WALE_REM_MAX + 1] = {
	[TCA_WALE_REM_INTERVAL] = {
		.form = LINK_TIME, .word = "interval", .key = "interval_ns",
		.expected = "an interval from 1ms to 1s, such as 10ms",
		.width = 8, .min = 1000000, .max = 1000000000ULL, .usual = 10000000ULL },
	[TCA_WALE_REM_GAMMA] = {
		.form = LINK_MILLIONTHS, .word = "gamma", .key = "gamma",
		.expected = "a gamma (price for each kB) from 0.000001 to 1000, such as 0.001",
		.width = 4, .min = 1, .max = 1000000000ULL, .usual = 1000ULL },
	[TCA_WALE_REM_ALPHA] = {
		.form = LINK_MILLIONTHS, .word = "alpha", .key = "alpha",
		.expected = "an alpha from 0 to 1, such as 0.1",
		.width = 4, .min = 0, .max = 1000000ULL, .usual = 100000ULL },
	[TCA_WALE_REM_TARGET] = {
		.form = LINK_SIZE, .word = "target", .key = "target_bytes",
		.expected = "a target backlog, a size from 0 to 1024gb, such as 20kb",
		.width = 8, .min = 0, .max = 1099511627776ULL, .usual = 20000ULL },
	[TCA_WALE_REM_PHI] = {
		.form = LINK_MILLIONTHS, .word = "phi", .key = "phi",
		.expected = "a phi from 1.001 to 1000, such as 1.1",
		.width = 4, .min = 1001000, .max = 1000000000ULL, .usual = 1100000ULL },
};

static const struct link_set rem_set = {
	rem_attributes, TCA_WALE_REM_MAX
};

static const struct link_attribute gemodel_attributes[TCA_WALE_LOSS_GEMODEL_MAX + 1] = {
	[TCA_WALE_LOSS_GEMODEL_P] = {
		.form = LINK_PERCENT, .word = "p", .key = "p",
		.expected = "a p from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_LOSS_GEMODEL_R] = {
		.form = LINK_PERCENT, .word = "r", .key = "r",
		.expected = "a r from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_LOSS_GEMODEL_BAD] = {
		.form = LINK_PERCENT, .word = "1-h", .key = "1-h",
		.expected = "a 1-h from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL, .usual = 4294967295ULL },
	[TCA_WALE_LOSS_GEMODEL_GOOD] = {
		.form = LINK_PERCENT, .word = "1-k", .key = "1-k",
		.expected = "a 1-k from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
};

static const struct link_set gemodel_set = {
	gemodel_attributes, TCA_WALE_LOSS_GEMODEL_MAX
};

static const struct link_attribute state_attributes[TCA_WALE_LOSS_STATE_MAX + 1] = {
	[TCA_WALE_LOSS_STATE_P13] = {
		.form = LINK_PERCENT, .word = "p13", .key = "p13",
		.expected = "a p13 from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_LOSS_STATE_P31] = {
		.form = LINK_PERCENT, .word = "p31", .key = "p31",
		.expected = "a p31 from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_LOSS_STATE_P32] = {
		.form = LINK_PERCENT, .word = "p32", .key = "p32",
		.expected = "a p32 from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_LOSS_STATE_P23] = {
		.form = LINK_PERCENT, .word = "p23", .key = "p23",
		.expected = "a p23 from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL, .usual = 4294967295ULL },
	[TCA_WALE_LOSS_STATE_P14] = {
		.form = LINK_PERCENT, .word = "p14", .key = "p14",
		.expected = "a p14 from 0% to 100%",
		.width = 4, .min = 0, .max = 4294967295ULL },
};

static const struct link_set state_set = {
	state_attributes, TCA_WALE_LOSS_STATE_MAX
};

static const struct link_attribute jitter_attributes[TCA_WALE_JITTER_MAX + 1] = {
	[TCA_WALE_JITTER_TIME64] = {
		.form = LINK_TIME, .word = "jitter", .key = "time_ns",
		.expected = "a jitter from 0 to 86400s, such as 5ms",
		.width = 8, .min = 0, .max = 86400000000000ULL },
	[TCA_WALE_JITTER_REORDERING] = {
		.form = LINK_FLAG, .word = "overtaking", .key = "overtaking",
		.width = 4, .min = 0, .max = 1ULL },
};

static const struct link_set jitter_set = {
	jitter_attributes, TCA_WALE_JITTER_MAX
};

static const struct link_attribute slot_attributes[TCA_WALE_SLOT_MAX + 1] = {
	[TCA_WALE_SLOT_MIN64] = {
		.form = LINK_TIME, .word = "min", .key = "min_ns",
		.expected = "a min from 0 to 86400s",
		.width = 8, .min = 0, .max = 86400000000000ULL },
	[TCA_WALE_SLOT_MAX64] = {
		.form = LINK_TIME, .word = "max", .key = "max_ns",
		.expected = "a max from 1ns to 86400s",
		.width = 8, .min = 1, .max = 86400000000000ULL },
	[TCA_WALE_SLOT_PACKETS] = {
		.form = LINK_COUNT, .word = "packets", .key = "packets",
		.expected = "a number from 0 to 4294967295",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_SLOT_BYTES] = {
		.form = LINK_COUNT, .word = "bytes", .key = "bytes",
		.expected = "a number from 0 to 4294967295",
		.width = 4, .min = 0, .max = 4294967295ULL },
};

static const struct link_set slot_set = {
	slot_attributes, TCA_WALE_SLOT_MAX
};

static const struct link_attribute policer_attributes[TCA_WALE_POLICER_MAX + 1] = {
	[TCA_WALE_POLICER_RATE] = {
		.form = LINK_RATE, .word = "rate", .key = "rate",
		.expected = "a rate from 8bit to 8000tbit, such as 10mbit",
		.width = 8, .min = 1, .max = 1000000000000000ULL },
	[TCA_WALE_POLICER_BURST] = {
		.form = LINK_SIZE, .word = "burst", .key = "burst_bytes",
		.expected = "a burst, a size from 1b to 4294967295b, such as 30kb",
		.width = 8, .min = 1, .max = 4294967295ULL },
	[TCA_WALE_POLICER_EXCESS] = {
		.form = LINK_ENUM, .word = "excess", .key = "excess", .names = policer_excess_names,
		.expected = "excess drop or excess mark",
		.width = 4, .min = 0, .max = 1ULL },
};

static const struct link_set policer_set = {
	policer_attributes, TCA_WALE_POLICER_MAX
};

static const struct link_attribute breaker_attributes[TCA_WALE_BREAKER_MAX + 1] = {
	[TCA_WALE_BREAKER_RATE] = {
		.form = LINK_RATE, .word = "rate", .key = "rate",
		.expected = "a rate from 8bit to 8000tbit, such as 10mbit",
		.width = 8, .min = 1, .max = 1000000000000000ULL },
	[TCA_WALE_BREAKER_AFTER] = {
		.form = LINK_TIME, .word = "after", .key = "after_ns",
		.expected = "a time from 1ns to 86400s, such as 5s",
		.width = 8, .min = 1, .max = 86400000000000ULL },
};

static const struct link_set breaker_set = {
	breaker_attributes, TCA_WALE_BREAKER_MAX
};

static const struct link_attribute scone_attributes[TCA_WALE_SCONE_MAX + 1] = {
	[TCA_WALE_SCONE_OF] = {
		.form = LINK_ENUM, .word = "of", .key = "of", .names = scone_of_names,
		.expected = "of link or of share",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_SCONE_RATE] = {
		.form = LINK_RATE, .word = "rate", .key = "rate",
		.expected = "a rate from 100kbit to 8000tbit, such as 10mbit",
		.width = 8, .min = 12500, .max = 1000000000000000ULL },
	[TCA_WALE_SCONE_PERIOD] = {
		.form = LINK_TIME, .word = "period", .key = "period_ns",
		.expected = "a period from 100ms to 600s, such as 67s",
		.width = 8, .min = 100000000, .max = 600000000000ULL, .usual = 67000000000ULL },
	[TCA_WALE_SCONE_AVERAGE] = {
		.form = LINK_TIME, .word = "average", .key = "average_ns",
		.expected = "an average from 0 to 600s, such as 67s",
		.width = 8, .min = 0, .max = 600000000000ULL },
};

static const struct link_set scone_set = {
	scone_attributes, TCA_WALE_SCONE_MAX
};

static const struct link_attribute options_attributes[TCA_WALE_MAX + 1] = {
	[TCA_WALE_RATE64] = {
		.form = LINK_RATE, .word = "rate", .key = "rate",
		.expected = "a rate from 8bit to 8000tbit, such as 10mbit, or unlimited",
		.width = 8, .min = 0, .max = 18446744073709551615ULL, .also = 18446744073709551615ULL, .usual = 18446744073709551615ULL },
	[TCA_WALE_DELAY64] = {
		.form = LINK_TIME, .word = "delay", .key = "delay_ns",
		.expected = "a delay from 0 to 86400s, such as 50ms",
		.width = 8, .min = 0, .max = 18446744073709551615ULL },
	[TCA_WALE_LIMIT_PACKETS] = {
		.form = LINK_AMOUNT, .word = "limit", .key = "limit_packets", .unit = LINK_PACKETS,
		.expected = "a limit from 1p to 4294967295p (packets), or a size of at least one packet, such as 30kb, or 1000 cells",
		.width = 4, .min = 0, .max = 4294967295ULL, .usual = 1000ULL },
	[TCA_WALE_LIMIT_BYTES] = {
		.form = LINK_AMOUNT, .word = "limit", .key = "limit_bytes", .unit = LINK_BYTES,
		.expected = "a limit from 1p to 4294967295p (packets), or a size of at least one packet, such as 30kb, or 1000 cells",
		.width = 8, .min = 0, .max = 18446744073709551615ULL },
	[TCA_WALE_LOSS] = {
		.form = LINK_PERCENT, .word = "loss", .key = "loss",
		.expected = "a loss from 0% to 100%, such as 1%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_OVERHEAD] = {
		.form = LINK_OVERHEAD, .word = "overhead", .key = "overhead", .names = overhead_names,
		.width = 4, .min = 0, .max = 2ULL },
	[TCA_WALE_DROPS] = {
		.form = LINK_ENUM, .word = "drop_report", .key = "drop_report", .names = drops_names,
		.expected = "drop_report remote or drop_report local",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_SEED] = {
		.form = LINK_SEED, .word = "seed", .key = "seed",
		.expected = "a seed, a whole number from 0 to 18446744073709551615",
		.width = 8, .min = 0, .max = 18446744073709551615ULL },
	[TCA_WALE_TRACE] = {
		.form = LINK_TRACE, .word = "trace", .key = "trace" },
	[TCA_WALE_TRACE_END] = {
		.form = LINK_WORDS, .word = "end of trace", .key = "trace_end", .names = trace_end_names,
		.width = 4, .min = 0, .max = 2ULL },
	[TCA_WALE_TRACE_STEPS] = {
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_SESSIONS] = {
		.form = LINK_NEST, .word = "sessions", .key = "sessions", .nest = &sessions_set, .index = LINK_NEST_SESSIONS,
		.expected = "off, or arrival, mean, max and step" },
	[TCA_WALE_FEEDBACK] = {
		.form = LINK_NEST, .word = "feedback", .key = "feedback", .nest = &feedback_set, .index = LINK_NEST_FEEDBACK },
	[TCA_WALE_LIMIT_CELLS] = {
		.form = LINK_AMOUNT, .word = "limit", .key = "limit_cells", .unit = LINK_CELLS,
		.expected = "a limit from 1p to 4294967295p (packets), or a size of at least one packet, such as 30kb, or 1000 cells",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_POLICY] = {
		.form = LINK_ENUM, .word = "policy", .key = "policy", .names = policy_names,
		.expected = "a policy: tail, epd, seldrop, fba, random_tail or rem",
		.width = 4, .min = 0, .max = 5ULL, .unsaid_in_text = true, .unsaid_in_json = true },
	[TCA_WALE_THRESHOLD] = {
		.form = LINK_THRESHOLD, .word = "threshold", .key = "threshold",
		.width = 8, .min = 0, .max = 18446744073709551614ULL },
	[TCA_WALE_THRESHOLD_SHARE] = {
		.form = LINK_THRESHOLD, .word = "threshold", .key = "threshold_share",
		.width = 4, .min = 1, .max = 1000000ULL, .usual = 900000ULL },
	[TCA_WALE_Z] = {
		.form = LINK_MILLIONTHS, .word = "share_factor", .key = "share_factor",
		.expected = "a share_factor from 0 to 1000, such as 0.8",
		.width = 4, .min = 0, .max = 1000000000ULL, .usual = 800000ULL },
	[TCA_WALE_LAST] = {
		.form = LINK_COUNT, .word = "victims", .key = "victims",
		.expected = "a number from 1 to 1024",
		.width = 4, .min = 1, .max = 1024ULL, .usual = 1ULL },
	[TCA_WALE_FLOWS] = {
		.form = LINK_COUNT, .word = "flows", .key = "flows",
		.expected = "a number of flows from 1 to 65534",
		.width = 4, .min = 1, .max = 65534ULL },
	[TCA_WALE_INPUT_RATE64] = {
		.form = LINK_RATE, .word = "input_rate", .key = "input_rate",
		.expected = "a rate from 8kbit to 424gbit, such as 155mbit, or unlimited",
		.width = 8, .min = 0, .max = 18446744073709551615ULL, .also = 18446744073709551615ULL, .usual = 18446744073709551615ULL, .unsaid_in_text = true, .unsaid_in_json = true },
	[TCA_WALE_MARK] = {
		.form = LINK_FLAG, .word = "policy_ecn", .key = "policy_ecn",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_REM] = {
		.form = LINK_NEST, .word = "rem", .key = "rem", .nest = &rem_set, .index = LINK_NEST_REM,
		.expected = "interval, gamma, alpha, target or phi" },
	[TCA_WALE_LOSS_GEMODEL] = {
		.form = LINK_LOSSES, .word = "gemodel", .key = "loss_gemodel", .nest = &gemodel_set, .index = LINK_NEST_GEMODEL },
	[TCA_WALE_LOSS_STATE] = {
		.form = LINK_LOSSES, .word = "state", .key = "loss_state", .nest = &state_set, .index = LINK_NEST_STATE },
	[TCA_WALE_LOSS_ECN] = {
		.form = LINK_FLAG, .word = "loss_ecn", .key = "loss_ecn",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_JITTER] = {
		.form = LINK_JITTER, .word = "jitter", .key = "jitter", .nest = &jitter_set, .index = LINK_NEST_JITTER },
	[TCA_WALE_REORDER] = {
		.form = LINK_PERCENT, .word = "reorder", .key = "reorder",
		.expected = "a share from 0% to 100%, such as 1%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_REORDER_GAP] = {
		.form = LINK_COUNT, .word = "gap", .key = "reorder_gap", .behind = TCA_WALE_REORDER,
		.expected = "a gap from 1 to 4294967295",
		.width = 4, .min = 1, .max = 4294967295ULL, .usual = 1ULL, .unsaid_in_text = true },
	[TCA_WALE_DUPLICATE] = {
		.form = LINK_PERCENT, .word = "duplicate", .key = "duplicate",
		.expected = "a share from 0% to 100%, such as 1%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_CORRUPT] = {
		.form = LINK_PERCENT, .word = "corrupt", .key = "corrupt",
		.expected = "a share from 0% to 100%, such as 1%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_DROP_LIST] = {
		.form = LINK_DROP, .word = "drop_list", .key = "drop_list" },
	[TCA_WALE_SLOT] = {
		.form = LINK_SLOT, .word = "slot", .key = "slot", .nest = &slot_set, .index = LINK_NEST_SLOT },
	[TCA_WALE_TRACE_FD] = {
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_START] = {
		.form = LINK_START, .word = "start", .key = "start_ns",
		.width = 8, .min = 1, .max = 18446744073709551615ULL },
	[TCA_WALE_SLACK] = {
		.form = LINK_TIME, .word = "slack", .key = "slack_ns",
		.expected = "a time from 0 to 1s, such as 10us",
		.width = 4, .min = 0, .max = 1000000000ULL, .unsaid_in_text = true },
	[TCA_WALE_GSO] = {
		.form = LINK_ENUM, .word = "gso", .key = "gso", .names = gso_names,
		.expected = "gso split or gso keep",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_LINE_PACKETS] = {
		.form = LINK_AMOUNT, .word = "line", .key = "line_packets", .unit = LINK_PACKETS,
		.expected = "a line from 1p to 4294967295p (packets), or a size, such as 30kb, or unlimited",
		.width = 4, .min = 1, .max = 4294967295ULL },
	[TCA_WALE_LINE_BYTES] = {
		.form = LINK_AMOUNT, .word = "line", .key = "line_bytes", .unit = LINK_BYTES,
		.expected = "a line from 1p to 4294967295p (packets), or a size, such as 30kb, or unlimited",
		.width = 8, .min = 1, .max = 18446744073709551614ULL, .also = 18446744073709551615ULL, .usual = 18446744073709551615ULL },
	[TCA_WALE_TRACE_COLUMNS] = {
		.width = 4, .min = 1, .max = 31ULL },
	[TCA_WALE_DOWN_DROPS] = {
		.form = LINK_ENUM, .word = "down_drops", .key = "down_drops", .names = down_drops_names,
		.expected = "down_drops arrivals or down_drops all",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_OVERHEAD_BYTES] = {
		.width = 4, .min = 0, .max = 4096ULL },
	[TCA_WALE_MPU] = {
		.form = LINK_COUNT, .word = "mpu", .key = "mpu",
		.expected = "a number of bytes from 0 to 65535, such as 64",
		.width = 4, .min = 0, .max = 65535ULL },
	[TCA_WALE_LOSS_CORRELATION] = {
		.form = LINK_PERCENT, .word = "loss_correlation", .key = "loss_correlation",
		.expected = "a correlation from 0% to 100%, such as 25%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_JITTER_CORRELATION] = {
		.form = LINK_PERCENT, .word = "jitter_correlation", .key = "jitter_correlation",
		.expected = "a correlation from 0% to 100%, such as 25%",
		.width = 4, .min = 0, .max = 4294967295ULL },
	[TCA_WALE_CORRUPT_FIX] = {
		.form = LINK_FLAG, .word = "corrupt_fix", .key = "corrupt_fix", .part_of = TCA_WALE_CORRUPT, .part = "fix",
		.width = 4, .min = 0, .max = 1ULL },
	[TCA_WALE_POLICER] = {
		.form = LINK_NEST, .word = "policer", .key = "policer", .nest = &policer_set, .index = LINK_NEST_POLICER,
		.expected = "off, or rate, burst or excess" },
	[TCA_WALE_BREAKER] = {
		.form = LINK_NEST, .word = "breaker", .key = "breaker", .nest = &breaker_set, .index = LINK_NEST_BREAKER,
		.expected = "off, or rate and after" },
	[TCA_WALE_SCONE] = {
		.form = LINK_SCONE, .word = "scone", .key = "scone", .nest = &scone_set, .index = LINK_NEST_SCONE },
};

const struct link_set link_options_set = {
	options_attributes, TCA_WALE_MAX
};

const unsigned char link_order[] = {
	TCA_WALE_RATE64,
	TCA_WALE_TRACE,
	TCA_WALE_TRACE_END,
	TCA_WALE_DELAY64,
	TCA_WALE_JITTER,
	TCA_WALE_JITTER_CORRELATION,
	TCA_WALE_LIMIT_PACKETS,
	TCA_WALE_LIMIT_BYTES,
	TCA_WALE_LIMIT_CELLS,
	TCA_WALE_LINE_PACKETS,
	TCA_WALE_LINE_BYTES,
	TCA_WALE_DOWN_DROPS,
	TCA_WALE_POLICY,
	TCA_WALE_THRESHOLD,
	TCA_WALE_THRESHOLD_SHARE,
	TCA_WALE_Z,
	TCA_WALE_LAST,
	TCA_WALE_MARK,
	TCA_WALE_REM,
	TCA_WALE_POLICER,
	TCA_WALE_FLOWS,
	TCA_WALE_BREAKER,
	TCA_WALE_INPUT_RATE64,
	TCA_WALE_LOSS,
	TCA_WALE_LOSS_GEMODEL,
	TCA_WALE_LOSS_STATE,
	TCA_WALE_LOSS_CORRELATION,
	TCA_WALE_LOSS_ECN,
	TCA_WALE_DROP_LIST,
	TCA_WALE_SLOT,
	TCA_WALE_REORDER,
	TCA_WALE_REORDER_GAP,
	TCA_WALE_DUPLICATE,
	TCA_WALE_CORRUPT,
	TCA_WALE_CORRUPT_FIX,
	TCA_WALE_OVERHEAD,
	TCA_WALE_MPU,
	TCA_WALE_DROPS,
	TCA_WALE_GSO,
	TCA_WALE_SEED,
	TCA_WALE_SLACK,
	TCA_WALE_SESSIONS,
	TCA_WALE_START,
	TCA_WALE_FEEDBACK,
	TCA_WALE_SCONE,
	0,
};

const struct link_option link_options[] = {
	{ .syntax = "rate RATE",
		.help = "such as 10mbit, or unlimited",
		.type = TCA_WALE_RATE64, .form = LINK_RATE,
		.bits = LINK_BIT(TCA_WALE_RATE64) },
	{ .syntax = "trace STEPS|file PATH|off",
		.help = "STEPS: 5s:8mbit,20ms,0.1%,100p 1s:down",
		.type = TCA_WALE_TRACE, .form = LINK_TRACE,
		.bits = LINK_BIT(TCA_WALE_TRACE) },
	{ .syntax = "loop",
		.help = "after the last step of a trace: the first step again",
		.type = TCA_WALE_TRACE_END, .form = LINK_WORD, .bare = true,
		.bits = LINK_BIT(TCA_WALE_TRACE_END) },
	{ .syntax = "hold",
		.help = "after the last step of a trace: the last step, for ever",
		.type = TCA_WALE_TRACE_END, .form = LINK_WORD, .value = 1, .bare = true,
		.bits = LINK_BIT(TCA_WALE_TRACE_END) },
	{ .syntax = "stop",
		.help = "after the last step of a trace: rate zero, for ever",
		.type = TCA_WALE_TRACE_END, .form = LINK_WORD, .value = 2, .bare = true,
		.bits = LINK_BIT(TCA_WALE_TRACE_END) },
	{ .syntax = "delay TIME",
		.help = "propagation delay, such as 50ms",
		.type = TCA_WALE_DELAY64, .form = LINK_TIME,
		.bits = LINK_BIT(TCA_WALE_DELAY64) },
	{ .syntax = "jitter TIME [distribution uniform|NAME|PATH] [overtaking|noovertaking]",
		.type = TCA_WALE_JITTER, .form = LINK_JITTER,
		.bits = LINK_BIT(TCA_WALE_JITTER) },
	{ .syntax = "jitter_correlation PERCENT",
		.help = "of jitter, or behind its time",
		.type = TCA_WALE_JITTER_CORRELATION, .form = LINK_PERCENT,
		.bits = LINK_BIT(TCA_WALE_JITTER_CORRELATION) },
	{ .syntax = "limit SIZE|PACKETS|N cells",
		.help = "the buffer: 30kb, 20p, 1000 cells",
		.type = TCA_WALE_LIMIT_PACKETS, .form = LINK_AMOUNT,
		.bits = LINK_BIT(TCA_WALE_LIMIT_PACKETS) |
			LINK_BIT(TCA_WALE_LIMIT_BYTES) |
			LINK_BIT(TCA_WALE_LIMIT_CELLS) },
	{ .syntax = "line SIZE|PACKETS|unlimited",
		.help = "most that is in flight: 30kb, 20p, unlimited",
		.type = TCA_WALE_LINE_PACKETS, .form = LINK_AMOUNT,
		.bits = LINK_BIT(TCA_WALE_LINE_PACKETS) |
			LINK_BIT(TCA_WALE_LINE_BYTES) },
	{ .syntax = "down_drops arrivals|all",
		.help = "what a link that is down drops:",
		.type = TCA_WALE_DOWN_DROPS, .form = LINK_ENUM,
		.bits = LINK_BIT(TCA_WALE_DOWN_DROPS) },
	{ .syntax = "policy tail|epd|seldrop|fba|random_tail|rem",
		.help = "how it is shared",
		.type = TCA_WALE_POLICY, .form = LINK_ENUM,
		.bits = LINK_BIT(TCA_WALE_POLICY) },
	{ .syntax = "threshold R",
		.help = "epd, seldrop, fba: 90% (of the limit), 900 cells ...",
		.type = TCA_WALE_THRESHOLD, .form = LINK_THRESHOLD,
		.bits = LINK_BIT(TCA_WALE_THRESHOLD) |
			LINK_BIT(TCA_WALE_THRESHOLD_SHARE) },
	{ .syntax = "share_factor Z",
		.help = "seldrop, fba: such as 0.8",
		.type = TCA_WALE_Z, .form = LINK_MILLIONTHS,
		.bits = LINK_BIT(TCA_WALE_Z) },
	{ .syntax = "victims N",
		.help = "random_tail: drop one of the last N",
		.type = TCA_WALE_LAST, .form = LINK_COUNT,
		.bits = LINK_BIT(TCA_WALE_LAST) },
	{ .syntax = "policy_ecn",
		.help = "epd, seldrop, fba, rem: mark (ECN) what can be",
		.type = TCA_WALE_MARK, .form = LINK_WORD, .value = 1, .bare = true,
		.bits = LINK_BIT(TCA_WALE_MARK) },
	{ .syntax = "nopolicy_ecn",
		.help = "refuse it",
		.type = TCA_WALE_MARK, .form = LINK_WORD, .bare = true,
		.bits = LINK_BIT(TCA_WALE_MARK) },
	{ .syntax = "rem [interval TIME] [gamma G] [alpha A] [target SIZE] [phi PHI]",
		.help = "its price",
		.type = TCA_WALE_REM, .form = LINK_NEST,
		.bits = LINK_BIT(TCA_WALE_REM) },
	{ .syntax = "policer off|rate RATE burst SIZE [excess drop|mark]",
		.help = "drop or mark what exceeds a rate, before the buffer",
		.type = TCA_WALE_POLICER, .form = LINK_NEST,
		.bits = LINK_BIT(TCA_WALE_POLICER) },
	{ .syntax = "flows N",
		.help = "how many are told apart, as classes",
		.type = TCA_WALE_FLOWS, .form = LINK_COUNT,
		.bits = LINK_BIT(TCA_WALE_FLOWS) },
	{ .syntax = "breaker off|rate RATE after TIME",
		.help = "cut a flow that stays above a rate for so long",
		.type = TCA_WALE_BREAKER, .form = LINK_NEST,
		.bits = LINK_BIT(TCA_WALE_BREAKER) },
	{ .syntax = "input_rate RATE",
		.help = "of each flow's input link, with cells",
		.type = TCA_WALE_INPUT_RATE64, .form = LINK_RATE,
		.bits = LINK_BIT(TCA_WALE_INPUT_RATE64) },
	{ .syntax = "loss PERCENT",
		.help = "random loss, such as 1%; or in bursts:",
		.type = TCA_WALE_LOSS, .form = LINK_LOSSES,
		.bits = LINK_BIT(TCA_WALE_LOSS) |
			LINK_BIT(TCA_WALE_LOSS_GEMODEL) |
			LINK_BIT(TCA_WALE_LOSS_STATE) },
	{ .syntax = "loss gemodel P [R [1-H [1-K]]]",
		.help = "Gilbert-Elliott",
		.type = TCA_WALE_LOSS_GEMODEL, .form = LINK_LOSSES,
		.bits = LINK_BIT(TCA_WALE_LOSS) |
			LINK_BIT(TCA_WALE_LOSS_GEMODEL) |
			LINK_BIT(TCA_WALE_LOSS_STATE) },
	{ .syntax = "loss state P13 [P31 [P32 [P23 [P14]]]]",
		.help = "4 states",
		.type = TCA_WALE_LOSS_STATE, .form = LINK_LOSSES,
		.bits = LINK_BIT(TCA_WALE_LOSS) |
			LINK_BIT(TCA_WALE_LOSS_GEMODEL) |
			LINK_BIT(TCA_WALE_LOSS_STATE) },
	{ .syntax = "loss_correlation PERCENT",
		.help = "of independent losses, or behind them",
		.type = TCA_WALE_LOSS_CORRELATION, .form = LINK_PERCENT,
		.bits = LINK_BIT(TCA_WALE_LOSS_CORRELATION) },
	{ .syntax = "loss_ecn",
		.help = "mark (ECN) instead of losing, where possible",
		.type = TCA_WALE_LOSS_ECN, .form = LINK_WORD, .value = 1, .bare = true,
		.bits = LINK_BIT(TCA_WALE_LOSS_ECN) },
	{ .syntax = "noloss_ecn",
		.help = "lose it",
		.type = TCA_WALE_LOSS_ECN, .form = LINK_WORD, .bare = true,
		.bits = LINK_BIT(TCA_WALE_LOSS_ECN) },
	{ .syntax = "drop_list off|[flow F] packets 10,20-25 ...",
		.help = "lose these, counted from 1",
		.type = TCA_WALE_DROP_LIST, .form = LINK_DROP,
		.bits = LINK_BIT(TCA_WALE_DROP_LIST) },
	{ .syntax = "slot off|MIN [MAX] [packets N] [bytes N]",
		.help = "packets leave in slots",
		.type = TCA_WALE_SLOT, .form = LINK_SLOT,
		.bits = LINK_BIT(TCA_WALE_SLOT) },
	{ .syntax = "reorder PERCENT [gap N]",
		.help = "of packets skip the delay, one of N at most",
		.type = TCA_WALE_REORDER, .form = LINK_PERCENT,
		.bits = LINK_BIT(TCA_WALE_REORDER) |
			LINK_BIT(TCA_WALE_REORDER_GAP) },
	{ .syntax = "duplicate PERCENT",
		.help = "of packets leave twice",
		.type = TCA_WALE_DUPLICATE, .form = LINK_PERCENT,
		.bits = LINK_BIT(TCA_WALE_DUPLICATE) },
	{ .syntax = "corrupt PERCENT [fix]",
		.help = "of packets have a bit flipped",
		.type = TCA_WALE_CORRUPT, .form = LINK_PERCENT,
		.bits = LINK_BIT(TCA_WALE_CORRUPT) },
	{ .syntax = "corrupt_fix",
		.help = "flip one of the data of TCP or UDP, and mend the checksum",
		.type = TCA_WALE_CORRUPT_FIX, .form = LINK_WORD, .value = 1, .bare = true,
		.bits = LINK_BIT(TCA_WALE_CORRUPT_FIX) },
	{ .syntax = "nocorrupt_fix",
		.help = "flip any bit",
		.type = TCA_WALE_CORRUPT_FIX, .form = LINK_WORD, .bare = true,
		.bits = LINK_BIT(TCA_WALE_CORRUPT_FIX) },
	{ .syntax = "overhead raw|ethernet|atm|pppoe|vlan|BYTES",
		.help = "what a packet takes on the wire",
		.type = TCA_WALE_OVERHEAD, .form = LINK_OVERHEAD,
		.bits = LINK_BIT(TCA_WALE_OVERHEAD) },
	{ .syntax = "mpu N",
		.help = "bytes that a packet has at least",
		.type = TCA_WALE_MPU, .form = LINK_COUNT,
		.bits = LINK_BIT(TCA_WALE_MPU) },
	{ .syntax = "drop_report remote|local",
		.help = "is the sender told of a full buffer?",
		.type = TCA_WALE_DROPS, .form = LINK_ENUM,
		.bits = LINK_BIT(TCA_WALE_DROPS) },
	{ .syntax = "gso split|keep",
		.help = "is a GSO packet split into those of the wire?",
		.type = TCA_WALE_GSO, .form = LINK_ENUM,
		.bits = LINK_BIT(TCA_WALE_GSO) },
	{ .syntax = "seed N",
		.help = "of every random draw",
		.type = TCA_WALE_SEED, .form = LINK_SEED,
		.bits = LINK_BIT(TCA_WALE_SEED) },
	{ .syntax = "slack TIME",
		.help = "how late packets may leave: fewer timers",
		.type = TCA_WALE_SLACK, .form = LINK_TIME,
		.bits = LINK_BIT(TCA_WALE_SLACK) },
	{ .syntax = "sessions off|arrival PROB mean M max N step TIME",
		.type = TCA_WALE_SESSIONS, .form = LINK_NEST,
		.bits = LINK_BIT(TCA_WALE_SESSIONS) },
	{ .syntax = "start at TIME",
		.help = "of trace or sessions: 2026-11-22T10:00:00Z, @SECONDS, +5s",
		.type = TCA_WALE_START, .form = LINK_START,
		.bits = LINK_BIT(TCA_WALE_START) },
	{ .syntax = "feedback [idle TIME]",
		.help = "advertise the rate to senders that listen",
		.type = TCA_WALE_FEEDBACK, .form = LINK_NEST, .bare = true,
		.bits = LINK_BIT(TCA_WALE_FEEDBACK) },
	{ .syntax = "nofeedback",
		.help = "do not",
		.type = TCA_WALE_FEEDBACK, .form = LINK_OFF, .bare = true,
		.bits = LINK_BIT(TCA_WALE_FEEDBACK) },
	{ .syntax = "scone off|link|share|RATE [period TIME] [average TIME]",
		.help = "tell QUIC endpoints a rate",
		.type = TCA_WALE_SCONE, .form = LINK_SCONE,
		.bits = LINK_BIT(TCA_WALE_SCONE) },
	{},
};

const struct link_former_word link_former_words[] = {
	{ "drops", "drop_report" },
	{ "z", "share_factor" },
	{ "last", "victims" },
	{ "mark", "policy_ecn" },
	{ "nomark", "nopolicy_ecn" },
	{ "ecn", "loss_ecn" },
	{ "noecn", "noloss_ecn" },
	{ "drop", "drop_list" },
	{ "reordering", "overtaking" },
	{ "noreordering", "noovertaking" },
	{},
};

const char *const link_stats_names[TCA_WALE_STATS_MAX + 1] = {
	[TCA_WALE_STATS_OFFERED_PACKETS] = "offered_packets",
	[TCA_WALE_STATS_OFFERED_BYTES] = "offered_bytes",
	[TCA_WALE_STATS_SENT_PACKETS] = "sent_packets",
	[TCA_WALE_STATS_SENT_BYTES] = "sent_bytes",
	[TCA_WALE_STATS_DROPPED_BUFFER_PACKETS] = "dropped_buffer_packets",
	[TCA_WALE_STATS_DROPPED_BUFFER_BYTES] = "dropped_buffer_bytes",
	[TCA_WALE_STATS_DROPPED_LOSS_PACKETS] = "dropped_loss_packets",
	[TCA_WALE_STATS_DROPPED_LOSS_BYTES] = "dropped_loss_bytes",
	[TCA_WALE_STATS_DROPPED_MEMORY_PACKETS] = "dropped_memory_packets",
	[TCA_WALE_STATS_DROPPED_MEMORY_BYTES] = "dropped_memory_bytes",
	[TCA_WALE_STATS_BACKLOG_PACKETS] = "backlog_packets",
	[TCA_WALE_STATS_BACKLOG_BYTES] = "backlog_bytes",
	[TCA_WALE_STATS_PEAK_BACKLOG_PACKETS] = "peak_backlog_packets",
	[TCA_WALE_STATS_PEAK_BACKLOG_BYTES] = "peak_backlog_bytes",
	[TCA_WALE_STATS_LINE_PACKETS] = "line_packets",
	[TCA_WALE_STATS_LINE_BYTES] = "line_bytes",
	[TCA_WALE_STATS_RATE] = "rate",
	[TCA_WALE_STATS_SESSIONS] = "sessions",
	[TCA_WALE_STATS_NOW_NS] = "now_ns",
	[TCA_WALE_STATS_EPOCH_NS] = "epoch_ns",
	[TCA_WALE_STATS_DROPPED_PURGE_PACKETS] = "dropped_purge_packets",
	[TCA_WALE_STATS_DROPPED_PURGE_BYTES] = "dropped_purge_bytes",
	[TCA_WALE_STATS_ACTIVE_FLOWS] = "active_flows",
	[TCA_WALE_STATS_UNCOUNTED_PACKETS] = "uncounted_packets",
	[TCA_WALE_STATS_PUBLISHED] = "published",
	[TCA_WALE_STATS_ATTACHED] = "attached",
	[TCA_WALE_STATS_DROPPED_EARLY_PACKETS] = "dropped_early_packets",
	[TCA_WALE_STATS_DROPPED_EARLY_BYTES] = "dropped_early_bytes",
	[TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS] = "dropped_partial_packets",
	[TCA_WALE_STATS_DROPPED_PARTIAL_BYTES] = "dropped_partial_bytes",
	[TCA_WALE_STATS_BACKLOG_CELLS] = "backlog_cells",
	[TCA_WALE_STATS_PEAK_BACKLOG_CELLS] = "peak_backlog_cells",
	[TCA_WALE_STATS_DROPPED_CELLS] = "dropped_cells",
	[TCA_WALE_STATS_WASTED_CELLS] = "wasted_cells",
	[TCA_WALE_STATS_BUSY_FLOWS] = "busy_flows",
	[TCA_WALE_STATS_CROWDED_PACKETS] = "crowded_packets",
	[TCA_WALE_STATS_MARKED_PACKETS] = "marked_packets",
	[TCA_WALE_STATS_MARKED_BYTES] = "marked_bytes",
	[TCA_WALE_STATS_UNMARKABLE_PACKETS] = "unmarkable_packets",
	[TCA_WALE_STATS_UNMARKABLE_BYTES] = "unmarkable_bytes",
	[TCA_WALE_STATS_PRICE] = "price",
	[TCA_WALE_STATS_MARK_PROBABILITY] = "mark_probability",
	[TCA_WALE_STATS_PRICE_NEXT_NS] = "price_next_ns",
	[TCA_WALE_STATS_DUPLICATED_PACKETS] = "duplicated_packets",
	[TCA_WALE_STATS_DUPLICATED_BYTES] = "duplicated_bytes",
	[TCA_WALE_STATS_CORRUPTED_PACKETS] = "corrupted_packets",
	[TCA_WALE_STATS_CORRUPTED_BYTES] = "corrupted_bytes",
	[TCA_WALE_STATS_REORDERED_PACKETS] = "reordered_packets",
	[TCA_WALE_STATS_REORDERED_BYTES] = "reordered_bytes",
	[TCA_WALE_STATS_DROPPED_CHILD_PACKETS] = "dropped_child_packets",
	[TCA_WALE_STATS_DROPPED_CHILD_BYTES] = "dropped_child_bytes",
	[TCA_WALE_STATS_DROPPED_LINE_PACKETS] = "dropped_line_packets",
	[TCA_WALE_STATS_DROPPED_LINE_BYTES] = "dropped_line_bytes",
	[TCA_WALE_STATS_LINE_LIMIT] = "line_limit",
	[TCA_WALE_STATS_MEMORY] = "memory",
	[TCA_WALE_STATS_DROPPED_DOWN_PACKETS] = "dropped_down_packets",
	[TCA_WALE_STATS_DROPPED_DOWN_BYTES] = "dropped_down_bytes",
	[TCA_WALE_STATS_DROPPED_POLICER_PACKETS] = "dropped_policer_packets",
	[TCA_WALE_STATS_DROPPED_POLICER_BYTES] = "dropped_policer_bytes",
	[TCA_WALE_STATS_DROPPED_BREAKER_PACKETS] = "dropped_breaker_packets",
	[TCA_WALE_STATS_DROPPED_BREAKER_BYTES] = "dropped_breaker_bytes",
	[TCA_WALE_STATS_CUT_FLOWS] = "cut_flows",
	[TCA_WALE_STATS_SCONE_SEEN] = "scone_seen",
	[TCA_WALE_STATS_SCONE_LOWERED] = "scone_lowered",
	[TCA_WALE_STATS_SCONE_LIMITED] = "scone_limited",
	[TCA_WALE_STATS_SCONE_MALFORMED] = "scone_malformed",
	[TCA_WALE_STATS_SCONE_SIGNAL] = "scone_signal",
};

/* clang-format on */
