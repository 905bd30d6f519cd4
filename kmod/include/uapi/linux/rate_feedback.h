/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rate_feedback.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_RATE_FEEDBACK_H
#define _UAPI_LINUX_RATE_FEEDBACK_H

#define RATE_FEEDBACK_FAMILY_NAME	"rate_feedback"
#define RATE_FEEDBACK_FAMILY_VERSION	1

/**
 * enum rate_feedback_meaning - What a rate applies to.
 * @RATE_FEEDBACK_MEANING_SHARE: each flow that listens
 * @RATE_FEEDBACK_MEANING_LINK: the link; it is divided by the number of flows
 *   active on it
 * @RATE_FEEDBACK_MEANING_WEIGHT: each flow at price 1: its rate is this weight
 *   divided by the price of the path, which the sender reads from the marks
 *   (ECN) that random exponential marking (REM) sets on its packets
 */
enum rate_feedback_meaning {
	RATE_FEEDBACK_MEANING_SHARE,
	RATE_FEEDBACK_MEANING_LINK,
	RATE_FEEDBACK_MEANING_WEIGHT,
};

/**
 * enum rate_feedback_lag - Which rate a sender reads, since feedback in a
 *   network takes time.
 * @RATE_FEEDBACK_LAG_NOW: the present rate
 * @RATE_FEEDBACK_LAG_RTT: the rate one base round-trip time of the reading
 *   socket ago
 * @RATE_FEEDBACK_LAG_FIXED: the rate lag-time ago
 */
enum rate_feedback_lag {
	RATE_FEEDBACK_LAG_NOW,
	RATE_FEEDBACK_LAG_RTT,
	RATE_FEEDBACK_LAG_FIXED,
};

/**
 * enum rate_feedback_rise - How a window grows in congestion avoidance after
 *   the advice has risen.
 * @RATE_FEEDBACK_RISE_FAST: to the rate window at once, with packets paced at
 *   the rate meanwhile
 * @RATE_FEEDBACK_RISE_ADDITIVE: by one packet per window, as in Karnik and
 *   Kumar (2005)
 */
enum rate_feedback_rise {
	RATE_FEEDBACK_RISE_FAST,
	RATE_FEEDBACK_RISE_ADDITIVE,
};

/**
 * enum rate_feedback_layer - Which bytes of a packet a rate counts.
 * @RATE_FEEDBACK_LAYER_IP: the IP packet
 * @RATE_FEEDBACK_LAYER_ETHERNET: with preamble, header, FCS and gap; at least
 *   84 bytes in total
 * @RATE_FEEDBACK_LAYER_ATM: 53 bytes for each cell of 48, with LLC and AAL5
 * @RATE_FEEDBACK_LAYER_PAYLOAD: the TCP payload only
 */
enum rate_feedback_layer {
	RATE_FEEDBACK_LAYER_IP,
	RATE_FEEDBACK_LAYER_ETHERNET,
	RATE_FEEDBACK_LAYER_ATM,
	RATE_FEEDBACK_LAYER_PAYLOAD,
};

/**
 * enum rate_feedback_phase - What a listening sender is doing.
 * @RATE_FEEDBACK_PHASE_RENO: plain Reno, since there is no advice or it is too
 *   old
 * @RATE_FEEDBACK_PHASE_SLOW_START: slow start, after the start or a timeout,
 *   up to the rate window
 * @RATE_FEEDBACK_PHASE_AVOIDANCE: congestion avoidance, up to the rate window
 * @RATE_FEEDBACK_PHASE_INACTIVE: no growth, since more is in flight than the
 *   reduced window
 * @RATE_FEEDBACK_PHASE_RECOVERY: retransmitting what was lost
 */
enum rate_feedback_phase {
	RATE_FEEDBACK_PHASE_RENO,
	RATE_FEEDBACK_PHASE_SLOW_START,
	RATE_FEEDBACK_PHASE_AVOIDANCE,
	RATE_FEEDBACK_PHASE_INACTIVE,
	RATE_FEEDBACK_PHASE_RECOVERY,
};

#define RATE_FEEDBACK_BETA_MAX	1000000
#define RATE_FEEDBACK_SWING_MAX	100
#define RATE_FEEDBACK_PHI_MIN	1001000
#define RATE_FEEDBACK_PHI_MAX	1000000000
#define RATE_FEEDBACK_TIME_MAX	86400000000000
#define RATE_FEEDBACK_RTT_MAX	60000000000

enum {
	RATE_FEEDBACK_A_PATH_IFINDEX = 1,
	RATE_FEEDBACK_A_PATH_SADDR,
	RATE_FEEDBACK_A_PATH_DADDR,
	RATE_FEEDBACK_A_PATH_PREFIX_LEN,
	RATE_FEEDBACK_A_PATH_SPORT,
	RATE_FEEDBACK_A_PATH_DPORT,
	RATE_FEEDBACK_A_PATH_RATE,
	RATE_FEEDBACK_A_PATH_MEANING,
	RATE_FEEDBACK_A_PATH_TIME,
	RATE_FEEDBACK_A_PATH_AGE_LIMIT,
	RATE_FEEDBACK_A_PATH_LAG,
	RATE_FEEDBACK_A_PATH_LAG_TIME,
	RATE_FEEDBACK_A_PATH_BETA,
	RATE_FEEDBACK_A_PATH_RISE,
	RATE_FEEDBACK_A_PATH_PACE,
	RATE_FEEDBACK_A_PATH_BASE_RTT,
	RATE_FEEDBACK_A_PATH_LAYER,
	RATE_FEEDBACK_A_PATH_FOLLOW,
	RATE_FEEDBACK_A_PATH_ID,
	RATE_FEEDBACK_A_PATH_FLOWS,
	RATE_FEEDBACK_A_PATH_LISTENERS,
	RATE_FEEDBACK_A_PATH_PUBLISHER,
	RATE_FEEDBACK_A_PATH_AGE,
	RATE_FEEDBACK_A_PATH_UPDATES,
	RATE_FEEDBACK_A_PATH_SWING,
	RATE_FEEDBACK_A_PATH_PHI,

	__RATE_FEEDBACK_A_PATH_MAX,
	RATE_FEEDBACK_A_PATH_MAX = (__RATE_FEEDBACK_A_PATH_MAX - 1)
};

enum {
	RATE_FEEDBACK_A_FOLLOW_NETNS_FD = 1,
	RATE_FEEDBACK_A_FOLLOW_IFINDEX,

	__RATE_FEEDBACK_A_FOLLOW_MAX,
	RATE_FEEDBACK_A_FOLLOW_MAX = (__RATE_FEEDBACK_A_FOLLOW_MAX - 1)
};

enum {
	RATE_FEEDBACK_A_FLOW_ID = 1,
	RATE_FEEDBACK_A_FLOW_SADDR,
	RATE_FEEDBACK_A_FLOW_DADDR,
	RATE_FEEDBACK_A_FLOW_SPORT,
	RATE_FEEDBACK_A_FLOW_DPORT,
	RATE_FEEDBACK_A_FLOW_IFINDEX,
	RATE_FEEDBACK_A_FLOW_UID,
	RATE_FEEDBACK_A_FLOW_PATH,
	RATE_FEEDBACK_A_FLOW_CONGESTION,
	RATE_FEEDBACK_A_FLOW_PHASE,
	RATE_FEEDBACK_A_FLOW_RATE,
	RATE_FEEDBACK_A_FLOW_BASE_RTT,
	RATE_FEEDBACK_A_FLOW_RATE_WINDOW,
	RATE_FEEDBACK_A_FLOW_CWND,
	RATE_FEEDBACK_A_FLOW_IN_FLIGHT,
	RATE_FEEDBACK_A_FLOW_PACKET_SIZE,
	RATE_FEEDBACK_A_FLOW_MSS,
	RATE_FEEDBACK_A_FLOW_BYTES_ACKED,
	RATE_FEEDBACK_A_FLOW_LOST_ADVICE,
	RATE_FEEDBACK_A_FLOW_FOUND_ADVICE,
	RATE_FEEDBACK_A_FLOW_PRICE,

	__RATE_FEEDBACK_A_FLOW_MAX,
	RATE_FEEDBACK_A_FLOW_MAX = (__RATE_FEEDBACK_A_FLOW_MAX - 1)
};

enum {
	RATE_FEEDBACK_CMD_SET = 1,
	RATE_FEEDBACK_CMD_DEL,
	RATE_FEEDBACK_CMD_GET,
	RATE_FEEDBACK_CMD_FLOW_GET,
	RATE_FEEDBACK_CMD_PATH_NTF,
	RATE_FEEDBACK_CMD_PATH_DEL_NTF,
	RATE_FEEDBACK_CMD_FLOW_NTF,
	RATE_FEEDBACK_CMD_FLOW_DEL_NTF,

	__RATE_FEEDBACK_CMD_MAX,
	RATE_FEEDBACK_CMD_MAX = (__RATE_FEEDBACK_CMD_MAX - 1)
};

#define RATE_FEEDBACK_MCGRP_PATHS	"paths"
#define RATE_FEEDBACK_MCGRP_FLOWS	"flows"

#endif /* _UAPI_LINUX_RATE_FEEDBACK_H */
