/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * pkt_sched_wale.h - rtnetlink interface of the "wale" queueing discipline
 *
 * A wale qdisc is one direction of a wide-area link.  It is created, changed
 * and deleted with RTM_NEWQDISC and RTM_DELQDISC, TCA_KIND "wale", and attributes
 * TCA_WALE_* nested in TCA_OPTIONS.
 *
 * What is between "generated" lines is written by `make generate`, from
 * Documentation/netlink/specs/sch_wale.yaml.
 *
 * A new link without an attribute has: no rate limit, no delay, a buffer of
 * 1000 packets, no loss, overhead raw, drops remote, a seed drawn at random
 * below 2^53, no feedback, policy tail (of the others: a threshold of nine tenths, a Z of 0.8),
 * flows not told apart, no input links, no marks, gso split.
 * A change without an attribute leaves what it sets as it is.  The rate is
 * constant, or follows a trace, or is modulated by sessions:
 *
 *   - TCA_WALE_TRACE starts a trace now, and ends sessions; it may not come with
 *     TCA_WALE_SESSIONS.  An empty one ends the trace.
 *   - TCA_WALE_TRACE_COLUMNS says what steps have: a step is an array of __u64, its
 *     duration and then, in the order of WALE_TRACE_RATE, _DELAY, _LOSS and _LIMIT_*,
 *     those that it has.  WALE_TRACE_SAME stands for one that it has not: it is then
 *     that of TCA_WALE_RATE64, _DELAY64, _LOSS (or _LOSS_*) or _LIMIT_*.  Limits are
 *     in packets or in bytes.  Without it, a step is a struct wale_trace_step.
 *   - If each step has a rate, TCA_WALE_RATE64 may not come with the trace, and ends it
 *     later.  If not, it sets the rate of the other steps, then and later.
 *   - WALE_TRACE_DOWN, for a rate, is a rate of zero, and what arrives is dropped.
 *     TCA_WALE_DOWN_DROPS says if what is on the line when the link goes down is, too;
 *     that is decided when the service of a packet ends.
 *   - The delay of a packet is that of the step in which its service ends, the limit that
 *     of the step in which it arrives, the loss that of the step in which it is drawn:
 *     at the arrival of the packet, of its last cell, or when a child gives it back.  A
 *     step applies to what arrives from its begin on, and to services that end after it.
 *   - TCA_WALE_SESSIONS starts the chain of sessions now, at zero sessions;
 *     it needs a rate (then or before), which the sessions share.  A later
 *     TCA_WALE_RATE64 changes the rate that they share and leaves the chain
 *     alone; an empty TCA_WALE_SESSIONS nest ends the chain.
 *   - A trace of more than WALE_TRACE_STEPS_MAX steps comes in a file: an array of
 *     steps.  Up to WALE_TRACE_FILE_STEPS_MAX of them may come in a
 *     file in memory (memfd_create(), or of a tmpfs) that the sender has open for
 *     reading; it is read once, and need not exist when the request is done.  More
 *     of them, up to WALE_TRACE_FD_STEPS_MAX, are written to a file of the family
 *     WALE_GENL_NAME: see there.
 *   - With TCA_WALE_START, a trace or a chain starts then, and not now; alone, it
 *     moves the start of the one that runs.  1 .. WALE_START_AHEAD_MAX from now.
 *     If that is to come, the rate is until then that of the first step, or
 *     without sessions.  If it was, the trace is where it would be by now; a chain
 *     too, which must not have moved more than WALE_START_MOVES_MAX times.  Links
 *     with the same start are in step.  It is turned into CLOCK_MONOTONIC once,
 *     when it is given: who sets the time of day later does not move a link.
 *   - TCA_WALE_LOSS, _LOSS_GEMODEL and _LOSS_STATE exclude each other, and each
 *     ends what was before.  The chain of a model begins when it is given.
 *   - TCA_WALE_OVERHEAD without TCA_WALE_OVERHEAD_BYTES ends those.  With
 *     WALE_OVERHEAD_ETHERNET, each VLAN tag of a packet is four bytes of it.
 *   - TCA_WALE_SEED restarts every random stream, and the chains.
 *   - TCA_WALE_LIMIT_CELLS needs overhead atm.  From cells to another unit, or
 *     back, it can be changed while the link's buffer is empty, or -EBUSY.
 *   - WALE_GSO_KEEP excludes TCA_WALE_LIMIT_CELLS and TCA_WALE_CORRUPT: both are
 *     about packets of the wire.  A change holds for packets that come from then on.
 *   - TCA_WALE_FLOWS can be given once; where flows are needed (policies seldrop
 *     and fba, a limit in cells) there are WALE_FLOWS_DEFAULT without it.
 *   - TCA_WALE_FEEDBACK has the link tell rate_feedback its rate and how many
 *     flows share it; an empty nest ends that.  A change of the overhead is
 *     told too, as the layer of the rate.
 *
 * A child qdisc can be the buffer: it is grafted to the one class of a link, with
 * minor number WALE_CHILD_CLASS, if the link has policy tail and does not tell flows
 * apart (-EINVAL), and it is none of the kinds wale and netem.  It gets each wire
 * packet as it arrives, with its length on the wire as qdisc_pkt_len(), and gives the
 * next one when a service ends or, if it had none to give, when it has the qdisc tree
 * run.  It bounds what waits; TCA_WALE_LIMIT_* are not used and, as all that is about
 * the buffer, not dumped, and a request with them is refused (-EBUSY); they hold again
 * without the child.  What waits when a child is grafted, replaced or removed
 * is served first, but for what the old child holds back (counted as purge).  Random
 * losses and duplicates are drawn in the order in which the child gives packets back;
 * those of TCA_WALE_DROP_LIST are numbered in the order of their arrival, as always.
 * What the child marks (ECN), it counts itself.  If it splits a GSO packet that was
 * kept, what it makes of it is what was offered.
 *
 * No change moves a packet that is on the line, and none overtakes another, unless
 * TCA_WALE_REORDER or TCA_WALE_JITTER_REORDERING says so: one that is served after
 * the delay was made shorter leaves with the packets ahead of it, or later.  The same
 * holds where the steps of a trace have delays: with TCA_WALE_JITTER_REORDERING, each
 * packet leaves when its own delay is over.
 *
 * The steps of a trace are dumped if there are at most WALE_TRACE_DUMP_MAX of
 * them; TCA_WALE_TRACE_STEPS is always dumped with a trace.  TCA_WALE_START is
 * dumped as it was given, if it was.
 *
 * Statistics are nested in TCA_STATS_APP (see TCA_WALE_STATS_*).  At every
 * instant, in packets:
 *
 *   offered + duplicated = sent + dropped (all reasons) + backlog + line
 *
 * A duplicate is made at the end of a packet's service, so that it takes no place
 * in the buffer and no service, and leaves with it.  Bits are turned in the IP
 * packet, before that.  Probabilities are fractions of 2^32, WALE_LOSS_ALWAYS is one.
 *
 * The line is full with TCA_WALE_STATS_LINE_LIMIT bytes, which follow from the rate
 * and the delay: twice what such a link has on its way, and 64 MiB.  What the packets
 * of all links take of the machine's memory (TCA_WALE_STATS_MEMORY) is at most half of
 * it, and a quarter for those of other user namespaces than the first.  A packet beyond
 * either is refused, as DROPPED_LINE if more packets of the link are on the line than
 * in the buffer, or else as DROPPED_BUFFER.
 *
 * With TCA_WALE_FLOWS, each flow is a class (RTM_GETTCLASS) with such statistics
 * of its own.  A packet's flow is the class that a filter of the qdisc or the
 * packet's priority names, 1 to TCA_WALE_FLOWS; else that of its addresses,
 * protocol and ports, which gets a class that no packet on the link belongs to,
 * with statistics from zero: one that nobody had yet, or the one that has held
 * nothing for longest.  When there is none, the packet goes to class
 * WALE_CLASS_CROWD, whose packets count as one flow.
 */
#ifndef _UAPI_LINUX_PKT_SCHED_WALE_H
#define _UAPI_LINUX_PKT_SCHED_WALE_H

#include <linux/types.h>

/* generated: constants */
#define WALE_RATE_MAX			1000000000000000ULL	/* bytes/s, of a finite rate */
#define WALE_RATE_UNLIMITED		(~0ULL)			/* no limit */
#define WALE_LINE_UNLIMITED		(~0ULL)			/* no bound */
/* one day, in ns: of a delay, or of a step */
#define WALE_TIME_MAX			86400000000000ULL
#define WALE_LOSS_ALWAYS		0xffffffffU		/* every packet is lost */
#define WALE_LIMIT_BYTES_MAX		18446744073709551614ULL
#define WALE_LIMIT_CELLS_MAX		4194304U
/* any limit, with seldrop and fba */
#define WALE_POLICY_LIMIT_MAX		0xffffffffULL
#define WALE_POLICY_UNIT		1000000U		/* one */
#define WALE_POLICY_Z_MAX		1000000000U		/* 1000 */
#define WALE_POLICY_LAST_MAX		1024U
#define WALE_CLASSES_MAX		65534U			/* flows that are told apart */
#define WALE_FLOWS_DEFAULT		1024U			/* where flows are needed */
/* of flows for which there is no other class */
#define WALE_CLASS_CROWD		65535U
/* where flows are not told apart, its qdisc is the buffer */
#define WALE_CHILD_CLASS		1U
#define WALE_INPUT_RATE_MIN		1000ULL
#define WALE_INPUT_RATE_MAX		53000000000ULL		/* a cell in a ns */
#define WALE_REM_INTERVAL_MIN		1000000ULL		/* 1 ms */
#define WALE_REM_INTERVAL_MAX		1000000000ULL		/* 1 s */
#define WALE_REM_GAMMA_MAX		1000000000U		/* 1000 */
#define WALE_REM_TARGET_MAX		1099511627776ULL	/* 2^40 */
#define WALE_REM_PHI_MIN		1001000U		/* 1.001 */
#define WALE_REM_PHI_MAX		1000000000U		/* 1000 */
#define WALE_REM_PRICE_UNIT		1000000000U		/* of the price in statistics */
#define WALE_JITTER_TABLE_MAX		16384U			/* entries */
#define WALE_JITTER_UNIT		8192			/* one, of an entry */
#define WALE_JITTER_NAME_MAX		128			/* with its end */
#define WALE_DROP_RANGES_MAX		32
#define WALE_TRACE_STEP_MIN		1000ULL			/* 1 us */
/* what TCA_OPTIONS, 64 kB, can carry */
#define WALE_TRACE_STEPS_MAX		4000
#define WALE_TRACE_DUMP_MAX		100			/* steps that are shown */
#define WALE_TRACE_FILE_STEPS_MAX	65536U			/* read while RTNL is held */
#define WALE_TRACE_FD_STEPS_MAX		16777216U		/* 256 MB of rates */
#define WALE_TRACE_PERIOD_MAX		345600000000000000ULL	/* 4000 days, in ns */
/* of a step: as the option says */
#define WALE_TRACE_SAME			(~0ULL)
/* rate of a step: the link is down */
#define WALE_TRACE_DOWN			18446744073709551614ULL
/* steps have a rate, in bytes/s */
#define WALE_TRACE_RATE			1U
#define WALE_TRACE_DELAY		2U			/* a delay, in ns */
/* a loss probability, fraction of 2^32 */
#define WALE_TRACE_LOSS			4U
#define WALE_TRACE_LIMIT_PACKETS	8U			/* a limit, in packets; or */
#define WALE_TRACE_LIMIT_BYTES		16U			/* in bytes */
#define WALE_TRACE_COLUMNS_MAX		31U
#define WALE_OVERHEAD_BYTES_MIN		(-4096)
#define WALE_OVERHEAD_BYTES_MAX		4096
#define WALE_MPU_MAX			65535U
#define WALE_SLACK_MAX			1000000000U		/* 1 s, in ns */
#define WALE_START_AHEAD_MAX		31622400000000000ULL	/* 366 days, in ns */
/* of a chain, drawn while the qdisc waits */
#define WALE_START_MOVES_MAX		100000U
#define WALE_SESSIONS_MAX		63
#define WALE_SESSIONS_MEAN_MIN		4294968ULL		/* 0.001, in 2^-32 */
#define WALE_SESSIONS_MEAN_MAX		4294967296000000ULL	/* 10^6, in 2^-32 */
#define WALE_SESSIONS_STEP_MIN		1000000ULL		/* 1 ms */
#define WALE_FEEDBACK_IDLE_MIN		1000000ULL		/* 1 ms */
#define WALE_FEEDBACK_IDLE_MAX		3600000000000ULL	/* 1 hour */
#define WALE_FEEDBACK_IDLE_DEFAULT	2000000000ULL		/* 2 s; what tc sends */
/* active flows that feedback tells apart */
#define WALE_FLOWS_MAX			16384
#define WALE_POLICER_BURST_MAX		0xffffffffULL
/* bytes/s; the lowest rate that SCONE can tell */
#define WALE_SCONE_RATE_MIN		12500ULL
#define WALE_SCONE_PERIOD_MIN		100000000ULL		/* 100 ms */
#define WALE_SCONE_PERIOD_MAX		600000000000ULL		/* 10 minutes */
#define WALE_SCONE_PERIOD_DEFAULT	67000000000ULL		/* 67 s; what tc sends */
/* generated: end */

/* generated: enums */
/* What happens to a packet that exceeds the policer. */
enum wale_policer_excess {
	WALE_POLICER_EXCESS_DROP,	/* it is dropped */
	/* it is marked (ECN) and admitted, if it can be marked */
	WALE_POLICER_EXCESS_MARK,
	__WALE_POLICER_EXCESS_MAX
};

/* What a packet of n bytes of IP takes on the wire, in bytes. */
enum wale_overhead {
	WALE_OVERHEAD_RAW,		/* n */
	WALE_OVERHEAD_ETHERNET,		/* max(n + 38, 84): preamble, FCS, gap */
	WALE_OVERHEAD_ATM,		/* 53 per cell of 48; LLC and AAL5: n + 16 */
	__WALE_OVERHEAD_MAX
};

/* Who is told of a packet that does not fit into the buffer. */
enum wale_drops {
	WALE_DROPS_REMOTE,		/* nobody, as at a distant router */
	WALE_DROPS_LOCAL,		/* the sender, as from any other qdisc */
	__WALE_DROPS_MAX
};

/*
 * What happens to a GSO packet, which stands for several packets on the wire.  One that
 * is kept is treated as one packet throughout: it takes one place in a buffer
 * in packets, is admitted, marked, duplicated and lost as a whole, counts as one, and
 * leaves when the last packet it stands for would.  Its length on the wire is the sum
 * of theirs, each with its headers and the overhead; that also determines its service
 * and its share of a buffer in bytes.
 *
 * Packets whose lengths are not known in advance are always split: those of protocols
 * other than TCP and UDP, and those of more than 64 kB except TCP over IPv4.
 */
enum wale_gso_mode {
	WALE_GSO_SPLIT,			/* it is split when it arrives */
	WALE_GSO_KEEP,			/* it stays in one piece */
	__WALE_GSO_MAX
};

/*
 * Which packets are dropped: those that do not fit and, with X in the buffer,
 * Y of it from the packet's flow, and N flows with any,
 */
enum wale_policy_kind {
	WALE_POLICY_TAIL,		/* no others */
	WALE_POLICY_EPD,		/* if X > R */
	WALE_POLICY_SELDROP,		/* if X > R, Y N > Z X */
	WALE_POLICY_FBA,		/* if X > R, Y N (X - R) > Z X (K - R) */
	WALE_POLICY_RANDOM_TAIL,	/* or one of the last n, at random */
	WALE_POLICY_REM,		/* with probability 1 - PHI^-price */
	__WALE_POLICY_MAX
};

/* What comes after the last step of a trace. */
enum wale_trace_end {
	WALE_TRACE_LOOP,		/* the first step again */
	WALE_TRACE_HOLD,		/* the last step, for ever */
	WALE_TRACE_STOP,		/* rate zero, for ever */
	__WALE_TRACE_END_MAX
};

/* What is dropped of a link that is down. */
enum wale_down_drops {
	WALE_DOWN_DROPS_ARRIVALS,	/* what arrives then */
	/* and what is on its way, after service, when it goes down */
	WALE_DOWN_DROPS_ALL,
	__WALE_DOWN_DROPS_MAX
};

/* Which rate a link writes into SCONE packets. */
enum wale_scone_of {
	WALE_SCONE_OF_LINK,		/* that of the link */
	WALE_SCONE_OF_SHARE,		/* that, divided by the number of active flows */
	__WALE_SCONE_OF_MAX
};

/* generated: end */

/**
 * struct wale_trace_step - the link has this rate for this long (WALE_TRACE_RATE)
 * @duration_ns: WALE_TRACE_STEP_MIN .. WALE_TIME_MAX
 * @rate: bytes/s, 0 .. WALE_RATE_MAX; 0 is an outage
 */
struct wale_trace_step {
	__u64 duration_ns;
	__u64 rate;
};

/**
 * struct wale_drop_range - packets that are lost, by their numbers
 * @flow: minor number of the flow's class; 0: of the whole link
 * @first: the first, 1 ..
 * @last: the last, @first ..
 *
 * Packets are those of the wire, numbered from 1 in the order of their arrival
 * since the link, or the flow's class, began to count (the n-th is that with which
 * offered becomes n).  One that enters the buffer is lost at the end of its service,
 * and counted as a random loss.
 */
struct wale_drop_range {
	__u32 flow;
	__u32 first;
	__u32 last;
};

/* generated: options */
enum {
	TCA_WALE_UNSPEC,
	TCA_WALE_PAD,
	/* u64, bytes/s; the rate C of the link; 1 .. WALE_RATE_MAX */
	TCA_WALE_RATE64,
	/* u64, ns; propagation delay after service; 0 .. WALE_TIME_MAX */
	TCA_WALE_DELAY64,
	TCA_WALE_LIMIT_PACKETS,		/* u32, buffer, in wire packets, or */
	/* u64, buffer, in wire bytes, or; 1 .. WALE_LIMIT_BYTES_MAX */
	TCA_WALE_LIMIT_BYTES,
	TCA_WALE_LOSS,			/* u32, loss probability, fraction of 2^32 */
	TCA_WALE_OVERHEAD,		/* u32, enum wale_overhead */
	TCA_WALE_DROPS,			/* u32, enum wale_drops */
	TCA_WALE_SEED,			/* u64, seed of every random draw */
	TCA_WALE_TRACE,			/* array of struct wale_trace_step */
	TCA_WALE_TRACE_END,		/* u32, enum wale_trace_end */
	TCA_WALE_TRACE_STEPS,		/* u32, (dump only) steps of the running trace */
	TCA_WALE_SESSIONS,		/* nest of TCA_WALE_SESSIONS_* */
	TCA_WALE_FEEDBACK,		/* nest of TCA_WALE_FEEDBACK_* */
	/* u32, buffer, in cells of ATM; 1 .. WALE_LIMIT_CELLS_MAX */
	TCA_WALE_LIMIT_CELLS,
	TCA_WALE_POLICY,		/* u32, enum wale_policy_kind */
	/* u64, R of the policy, in the unit of the limit, or; 0 .. WALE_LIMIT_BYTES_MAX */
	TCA_WALE_THRESHOLD,
	/* u32, R, in millionths of the limit; 1 .. WALE_POLICY_UNIT */
	TCA_WALE_THRESHOLD_SHARE,
	/* u32, Z of the policy, in millionths; 0 .. WALE_POLICY_Z_MAX */
	TCA_WALE_Z,
	/* u32, n of the policy random_tail; 1 .. WALE_POLICY_LAST_MAX */
	TCA_WALE_LAST,
	/* u32, number of flows that are told apart; 1 .. WALE_CLASSES_MAX */
	TCA_WALE_FLOWS,
	/*
	 * u64, bytes/s; rate of each flow's input link; WALE_INPUT_RATE_MIN ..
	 * WALE_INPUT_RATE_MAX
	 */
	TCA_WALE_INPUT_RATE64,
	/* u32, 1: mark (ECN) what epd, seldrop, fba or rem would refuse, if it can be marked */
	TCA_WALE_MARK,
	TCA_WALE_REM,			/* nest of TCA_WALE_REM_* */
	TCA_WALE_LOSS_GEMODEL,		/* nest of TCA_WALE_LOSS_GEMODEL_*, or */
	TCA_WALE_LOSS_STATE,		/* nest of TCA_WALE_LOSS_STATE_*: losses in bursts */
	/* u32, 1: mark (ECN) what would be lost at random, if it can be marked */
	TCA_WALE_LOSS_ECN,
	TCA_WALE_JITTER,		/* nest of TCA_WALE_JITTER_* */
	TCA_WALE_REORDER,		/* u32, probability that a packet skips the delay */
	TCA_WALE_REORDER_GAP,		/* u32, but only the n-th since the last that did */
	TCA_WALE_DUPLICATE,		/* u32, probability that a packet is duplicated */
	TCA_WALE_CORRUPT,		/* u32, probability that a bit of a packet is flipped */
	/* array of struct wale_drop_range: packets that are lost; empty: none */
	TCA_WALE_DROP_LIST,
	TCA_WALE_SLOT,			/* nest of TCA_WALE_SLOT_* */
	/* u32, (request only) like TCA_WALE_TRACE, as the descriptor of a file */
	TCA_WALE_TRACE_FD,
	/*
	 * u64, when the trace or the chain of sessions starts: ns since 1970 (CLOCK_REALTIME)
	 */
	TCA_WALE_START,
	/*
	 * u32, ns; packets may leave this much late, so that one timer serves several; 0 ..
	 * WALE_SLACK_MAX
	 */
	TCA_WALE_SLACK,
	TCA_WALE_GSO,			/* u32, enum wale_gso_mode */
	TCA_WALE_LINE_PACKETS,		/* u32, most packets on their way after service, or */
	/* u64, most bytes on their way after service; 1 .. WALE_LIMIT_BYTES_MAX */
	TCA_WALE_LINE_BYTES,
	/*
	 * u32, (with a trace) WALE_TRACE_RATE and others: what steps have; 1 ..
	 * WALE_TRACE_COLUMNS_MAX
	 */
	TCA_WALE_TRACE_COLUMNS,
	TCA_WALE_DOWN_DROPS,		/* u32, enum wale_down_drops */
	/*
	 * s32, bytes more of each packet, or fewer, within the layer of overhead;
	 * WALE_OVERHEAD_BYTES_MIN .. WALE_OVERHEAD_BYTES_MAX
	 */
	TCA_WALE_OVERHEAD_BYTES,
	/*
	 * u32, bytes that a packet has at least, with overhead-bytes, within the layer; 0 ..
	 * WALE_MPU_MAX
	 */
	TCA_WALE_MPU,
	/* u32, probability that the draw of a loss is the one before it */
	TCA_WALE_LOSS_CORRELATION,
	/* u32, probability that the draw of jitter is the one before it */
	TCA_WALE_JITTER_CORRELATION,
	/* u32, 1: turn a bit of the data of TCP or UDP, and make the checksum right */
	TCA_WALE_CORRUPT_FIX,
	TCA_WALE_POLICER,		/* nest of TCA_WALE_POLICER_* */
	TCA_WALE_BREAKER,		/* nest of TCA_WALE_BREAKER_* */
	TCA_WALE_SCONE,			/* nest of TCA_WALE_SCONE_* */
	__TCA_WALE_MAX
};

#define TCA_WALE_MAX (__TCA_WALE_MAX - 1)
/* generated: end */

/*
 * Files for long traces.  While a request to a qdisc is dealt with, all configuration
 * of networks waits (RTNL): too long for reading millions of steps.  So these are handed
 * over before.  WALE_CMD_TRACE_NEW of this family of generic netlink, which may have
 * WALE_A_COLUMNS as in TCA_WALE_TRACE_COLUMNS, is answered by WALE_A_FD: a descriptor of
 * the sender's.  Steps are written to it with write(), in their order, whole ones
 * (-EINVAL), in as many calls as one likes; each must be as in TCA_WALE_TRACE (-ERANGE),
 * and all together, too (-EFBIG).
 *
 * The file is then named by TCA_WALE_TRACE_FD.  If that request succeeds, the link has
 * the steps, and the file none: it can be closed, or filled again.
 */
#define WALE_GENL_NAME		"wale"
#define WALE_GENL_VERSION	1

enum {
	WALE_CMD_UNSPEC,
	WALE_CMD_TRACE_NEW,
	__WALE_CMD_MAX
};

enum {
	WALE_A_UNSPEC,
	WALE_A_FD,	/* u32 */
	WALE_A_COLUMNS,	/* u32; without it, WALE_TRACE_RATE */
	__WALE_A_MAX
};

/*
 * The chain M_k of Karnik and Kumar (2005), section III-A: the number of
 * ephemeral sessions that share the link with the packets that pass it, which
 * are served at rate C / (M_k + 1).  It moves every STEP:
 *
 *   up by one with probability ARRIVAL (at MAX: stay),
 *   down by d with probability binomial(M, d) p^d (1-p)^(M-d),
 *   where p = 1 - exp(-1 / (MEAN (M + 1))).
 *
 * All four are needed.  Arrival and departure exclude each other in a step, so
 * ARRIVAL and the departures of any M must not add up to more than one.
 */
/* generated: sessions */
enum {
	TCA_WALE_SESSIONS_UNSPEC,
	TCA_WALE_SESSIONS_PAD,
	TCA_WALE_SESSIONS_ARRIVAL,	/* u32, fraction of 2^32, per step */
	/* u64, in 2^-32 of C * STEP bytes; WALE_SESSIONS_MEAN_MIN .. WALE_SESSIONS_MEAN_MAX */
	TCA_WALE_SESSIONS_MEAN,
	TCA_WALE_SESSIONS_LIMIT,	/* u32; 1 .. WALE_SESSIONS_MAX */
	TCA_WALE_SESSIONS_STEP,		/* u64, ns; WALE_SESSIONS_STEP_MIN .. WALE_TIME_MAX */
	__TCA_WALE_SESSIONS_MAX
};

#define TCA_WALE_SESSIONS_MAX (__TCA_WALE_SESSIONS_MAX - 1)
/* generated: end */

/*
 * The link publishes its rate, in bytes of its overhead's layer, and the number
 * of TCP flows that are active on it, as the path of its device in rate_feedback
 * (linux/rate_feedback.h), with meaning link and lag rtt.
 *
 * A flow begins with a SYN or a segment with payload, and is over with a FIN or
 * RST, or when neither a SYN nor payload was seen for IDLE.  Of more than
 * WALE_FLOWS_MAX flows, the others are not counted; nor are those for which there
 * is no memory.
 *
 * If rate_feedback is not loaded, the request succeeds, with a warning in the
 * extended ACK; the link then publishes within two seconds after it is.  One
 * link of a device can publish; a second is refused with -EBUSY.
 */
/* generated: feedback */
enum {
	TCA_WALE_FEEDBACK_UNSPEC,
	TCA_WALE_FEEDBACK_PAD,
	/* u64, ns; WALE_FEEDBACK_IDLE_MIN .. WALE_FEEDBACK_IDLE_MAX */
	TCA_WALE_FEEDBACK_IDLE,
	__TCA_WALE_FEEDBACK_MAX
};

#define TCA_WALE_FEEDBACK_MAX (__TCA_WALE_FEEDBACK_MAX - 1)
/* generated: end */

/*
 * Policy rem, random exponential marking: a packet that would fit is refused with
 * probability 1 - PHI^-p, where p is the price of the link.  It is zero when the
 * policy begins, and every INTERVAL
 *
 *	p <- max(0, p + GAMMA (ALPHA (b - TARGET) + x - c))
 *
 * with b bytes in the buffer then, x that arrived in the interval and c that the
 * rate of then could serve in it; but never above the price at which all packets
 * but one in 2^32 are refused.  With TCA_WALE_MARK, a packet that can be marked
 * is marked instead of being refused, and one that cannot be is let in.
 *
 * What is not given stays as it is; of a new link, 10 ms, 0.001, 0.1, 20000 bytes
 * and 1.1.  A change keeps the price.  Other policies keep the parameters, but
 * not the price.
 */
/* generated: rem */
enum {
	TCA_WALE_REM_UNSPEC,
	TCA_WALE_REM_PAD,
	/* u64, ns; WALE_REM_INTERVAL_MIN .. WALE_REM_INTERVAL_MAX */
	TCA_WALE_REM_INTERVAL,
	TCA_WALE_REM_GAMMA,		/* u32, per kB, millionths; 1 .. WALE_REM_GAMMA_MAX */
	TCA_WALE_REM_ALPHA,		/* u32, millionths; 0 .. WALE_POLICY_UNIT */
	TCA_WALE_REM_TARGET,		/* u64, bytes; 0 .. WALE_REM_TARGET_MAX */
	/* u32, millionths; WALE_REM_PHI_MIN .. WALE_REM_PHI_MAX */
	TCA_WALE_REM_PHI,
	__TCA_WALE_REM_MAX
};

#define TCA_WALE_REM_MAX (__TCA_WALE_REM_MAX - 1)
/* generated: end */

/*
 * A policer: a bucket of tokens, before the buffer.  A token is worth a byte.  They come
 * in at RATE, and the bucket holds at most BURST of them: the rest is lost.  A packet
 * takes as many as it has bytes on the wire.  If there are fewer, it takes none and is
 * dropped, or with WALE_POLICER_EXCESS_MARK marked and let in, if it can be marked.
 * Packets that the policer lets in may still find the buffer full.
 *
 * RATE and BURST are needed; EXCESS is to drop if it is not given.  A new bucket is
 * full; a change keeps the tokens, as far as they have room.
 */
/* generated: policer */
enum {
	TCA_WALE_POLICER_UNSPEC,
	TCA_WALE_POLICER_PAD,
	TCA_WALE_POLICER_RATE,		/* u64, bytes/s; 1 .. WALE_RATE_MAX */
	TCA_WALE_POLICER_BURST,		/* u64, bytes; 1 .. WALE_POLICER_BURST_MAX */
	TCA_WALE_POLICER_EXCESS,	/* u32, enum wale_policer_excess */
	__TCA_WALE_POLICER_MAX
};

#define TCA_WALE_POLICER_MAX (__TCA_WALE_POLICER_MAX - 1)
/* generated: end */

/*
 * A circuit breaker: a flow is above RATE from a packet with which it begins to send
 * more, until it has sent no more than RATE on average since then.  A flow whose packet
 * comes when it has been above RATE for AFTER is cut: this packet and all later ones are
 * dropped, before the policer and the buffer.  The flow stays cut until the breaker is
 * set again or ended, or another flow gets its class.  Bytes are those on the wire.
 *
 * Both are needed, and flows are told apart.  Those that share WALE_CLASS_CROWD are not
 * cut.
 */
/* generated: breaker */
enum {
	TCA_WALE_BREAKER_UNSPEC,
	TCA_WALE_BREAKER_PAD,
	TCA_WALE_BREAKER_RATE,		/* u64, bytes/s; 1 .. WALE_RATE_MAX */
	TCA_WALE_BREAKER_AFTER,		/* u64, ns; 1 .. WALE_TIME_MAX */
	__TCA_WALE_BREAKER_MAX
};

#define TCA_WALE_BREAKER_MAX (__TCA_WALE_BREAKER_MAX - 1)
/* generated: end */

/*
 * Losses in bursts.  Probabilities are u32, fractions of 2^32; WALE_LOSS_ALWAYS
 * is one.  Before each packet that enters the buffer, a chain moves once; the
 * packet is lost, at the end of its service, with the probability of its state.
 *
 * The model of Gilbert and Elliott: from good to bad with probability P, back
 * with R; packets are lost with probability BAD (1-h) in bad and GOOD (1-k) in
 * good.  P is needed; of the others, what is not given is R = 1 - P, BAD = 1,
 * GOOD = 0.  It begins in good.
 */
/* generated: gemodel */
enum {
	TCA_WALE_LOSS_GEMODEL_UNSPEC,
	TCA_WALE_LOSS_GEMODEL_P,	/* u32 */
	TCA_WALE_LOSS_GEMODEL_R,	/* u32 */
	TCA_WALE_LOSS_GEMODEL_BAD,	/* u32 */
	TCA_WALE_LOSS_GEMODEL_GOOD,	/* u32 */
	__TCA_WALE_LOSS_GEMODEL_MAX
};

#define TCA_WALE_LOSS_GEMODEL_MAX (__TCA_WALE_LOSS_GEMODEL_MAX - 1)
/* generated: end */

/*
 * Four states: 1, packets come through; 3, a burst, they are lost; 2, they come
 * through amid a burst; 4, one is lost alone, and the next state is 1.  From 1 to
 * 3 with probability P13, and so on.  P13 is needed; of the others, what is not
 * given is P31 = 1 - P13, P32 = 0, P23 = 1, P14 = 0.  It begins in 1.  P13 + P14
 * and P31 + P32 must not exceed one.
 */
/* generated: state */
enum {
	TCA_WALE_LOSS_STATE_UNSPEC,
	TCA_WALE_LOSS_STATE_P13,	/* u32 */
	TCA_WALE_LOSS_STATE_P31,	/* u32 */
	TCA_WALE_LOSS_STATE_P32,	/* u32 */
	TCA_WALE_LOSS_STATE_P23,	/* u32 */
	TCA_WALE_LOSS_STATE_P14,	/* u32 */
	__TCA_WALE_LOSS_STATE_MAX
};

#define TCA_WALE_LOSS_STATE_MAX (__TCA_WALE_LOSS_STATE_MAX - 1)
/* generated: end */

/*
 * Jitter J: to the delay of each packet is added a random time, and the sum is
 * never negative.  It is uniform in -J .. J, or J / WALE_JITTER_UNIT times an entry
 * of TABLE, which has the quantiles of a distribution, all equally likely.  (Tables
 * of tc are such.)  A packet that would overtake another leaves with it instead,
 * unless REORDERING is 1.
 *
 * What is not given stays as it is.  An empty TABLE is the uniform distribution.
 * NAME is what TABLE is called by people; it alone is shown.
 */
/* generated: jitter */
enum {
	TCA_WALE_JITTER_UNSPEC,
	TCA_WALE_JITTER_PAD,
	TCA_WALE_JITTER_TIME64,		/* u64, ns; J; 0 .. WALE_TIME_MAX */
	TCA_WALE_JITTER_TABLE,		/* array of __s16 */
	TCA_WALE_JITTER_NAME,		/* string */
	TCA_WALE_JITTER_REORDERING,	/* u32, 0 or 1 */
	__TCA_WALE_JITTER_MAX
};

#define TCA_WALE_JITTER_MAX (__TCA_WALE_JITTER_MAX - 1)
/* generated: end */

/*
 * Packets leave in slots.  One that is to leave, by its delay, waits for the next
 * slot, and leaves there with all others that wait, in their order, but for those
 * for which it has no room: PACKETS of them, or BYTES of the wire; one packet always
 * has.  The next slot is a random time between MIN and MAX after the one before, or
 * after the first packet that waits for it was to leave, whichever is later.
 *
 * MIN is needed.  Without MAX, it is MIN; without PACKETS or BYTES, or if they are 0,
 * there is room for any number.  An empty nest ends the slots.
 */
/* generated: slot */
enum {
	TCA_WALE_SLOT_UNSPEC,
	TCA_WALE_SLOT_PAD,
	TCA_WALE_SLOT_MIN64,		/* u64, ns; 0 .. MAX; 0 .. WALE_TIME_MAX */
	TCA_WALE_SLOT_MAX64,		/* u64, ns; 1 .. WALE_TIME_MAX */
	TCA_WALE_SLOT_PACKETS,		/* u32 */
	TCA_WALE_SLOT_BYTES,		/* u32 */
	__TCA_WALE_SLOT_MAX
};

#define TCA_WALE_SLOT_MAX (__TCA_WALE_SLOT_MAX - 1)
/* generated: end */

/*
 * The link writes a signal, its rate or another, into SCONE packets of QUIC in IPv4 and
 * IPv6 (net/scone.h), where that lowers the one that they have.  RATE is a rate that is
 * said; without it, OF says which one, and the signal is that of its mean over the last
 * AVERAGE.  No packet is changed while that rate is unlimited.  A flow, by addresses
 * and ports, has a few of its packets changed in a PERIOD, more if the signal changes.
 *
 * OF share needs feedback.  Feedback counts flows of QUIC, too, for as long as the link
 * has SCONE.  Without PERIOD, it is 67 s; without AVERAGE, it is as long as PERIOD.  An
 * empty nest ends SCONE.
 */
/* generated: scone */
enum {
	TCA_WALE_SCONE_UNSPEC,
	TCA_WALE_SCONE_PAD,
	TCA_WALE_SCONE_OF,		/* u32, enum wale_scone_of */
	/* u64, bytes/s; a rate that is said; WALE_SCONE_RATE_MIN .. WALE_RATE_MAX */
	TCA_WALE_SCONE_RATE,
	/* u64, ns; the monitoring period; WALE_SCONE_PERIOD_MIN .. WALE_SCONE_PERIOD_MAX */
	TCA_WALE_SCONE_PERIOD,
	/*
	 * u64, ns; the rate is the mean over so long, 0: that at the instant; 0 ..
	 * WALE_SCONE_PERIOD_MAX
	 */
	TCA_WALE_SCONE_AVERAGE,
	__TCA_WALE_SCONE_MAX
};

#define TCA_WALE_SCONE_MAX (__TCA_WALE_SCONE_MAX - 1)
/* generated: end */

/*
 * Statistics.  All are u64.  Packets and bytes are those of the wire: after
 * GSO splitting (one that is kept is one packet), with the overhead.  Counters start
 * at zero when the qdisc is created, and no change resets them.
 */
/* generated: stats */
enum {
	TCA_WALE_STATS_UNSPEC,
	TCA_WALE_STATS_PAD,
	TCA_WALE_STATS_OFFERED_PACKETS,	/* u64 */
	TCA_WALE_STATS_OFFERED_BYTES,	/* u64 */
	TCA_WALE_STATS_SENT_PACKETS,	/* u64 */
	TCA_WALE_STATS_SENT_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_BUFFER_PACKETS,	/* u64, the buffer was full */
	TCA_WALE_STATS_DROPPED_BUFFER_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_LOSS_PACKETS,	/* u64, random loss, after service */
	TCA_WALE_STATS_DROPPED_LOSS_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_MEMORY_PACKETS,	/* u64, could not be split */
	TCA_WALE_STATS_DROPPED_MEMORY_BYTES,	/* u64 */
	TCA_WALE_STATS_BACKLOG_PACKETS,	/* u64, waiting or in service now */
	TCA_WALE_STATS_BACKLOG_BYTES,	/* u64 */
	TCA_WALE_STATS_PEAK_BACKLOG_PACKETS,	/* u64, largest backlog so far */
	TCA_WALE_STATS_PEAK_BACKLOG_BYTES,	/* u64 */
	TCA_WALE_STATS_LINE_PACKETS,	/* u64, on their way, after service */
	TCA_WALE_STATS_LINE_BYTES,	/* u64 */
	TCA_WALE_STATS_RATE,		/* u64, bytes/s now, rounded down; or unlimited */
	TCA_WALE_STATS_SESSIONS,	/* u64, M now; absent without sessions */
	TCA_WALE_STATS_NOW_NS,		/* u64, CLOCK_MONOTONIC of this report */
	TCA_WALE_STATS_EPOCH_NS,	/* s64, start of trace or chain; absent without */
	/* u64, held at device down, or by a replaced child */
	TCA_WALE_STATS_DROPPED_PURGE_PACKETS,
	TCA_WALE_STATS_DROPPED_PURGE_BYTES,	/* u64 */
	TCA_WALE_STATS_ACTIVE_FLOWS,	/* u64, now */
	TCA_WALE_STATS_UNCOUNTED_PACKETS,	/* u64, of flows without a place */
	TCA_WALE_STATS_PUBLISHED,	/* u64, updates that rate_feedback took */
	TCA_WALE_STATS_ATTACHED,	/* u64, 1 if rate_feedback is there, else 0 */
	TCA_WALE_STATS_DROPPED_EARLY_PACKETS,	/* u64 */
	TCA_WALE_STATS_DROPPED_EARLY_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS,	/* u64, damaged: some cells did not fit */
	TCA_WALE_STATS_DROPPED_PARTIAL_BYTES,	/* u64 */
	TCA_WALE_STATS_BACKLOG_CELLS,	/* u64, in the buffer now */
	TCA_WALE_STATS_PEAK_BACKLOG_CELLS,	/* u64 */
	TCA_WALE_STATS_DROPPED_CELLS,	/* u64, not admitted */
	TCA_WALE_STATS_WASTED_CELLS,	/* u64, served, of packets dropped as partial */
	TCA_WALE_STATS_BUSY_FLOWS,	/* u64, with something in the buffer now */
	TCA_WALE_STATS_CROWDED_PACKETS,	/* u64, for which there was no class */
	TCA_WALE_STATS_MARKED_PACKETS,	/* u64, got a mark: not refused, not lost */
	TCA_WALE_STATS_MARKED_BYTES,	/* u64 */
	TCA_WALE_STATS_UNMARKABLE_PACKETS,	/* u64, rem: drawn, but not ECT */
	TCA_WALE_STATS_UNMARKABLE_BYTES,	/* u64 */
	TCA_WALE_STATS_PRICE,		/* u64, now, 1 / WALE_REM_PRICE_UNIT */
	TCA_WALE_STATS_MARK_PROBABILITY,	/* u64, now, fraction of 2^32 */
	TCA_WALE_STATS_PRICE_NEXT_NS,	/* u64, CLOCK_MONOTONIC of its next update */
	TCA_WALE_STATS_DUPLICATED_PACKETS,	/* u64, copies that were made */
	TCA_WALE_STATS_DUPLICATED_BYTES,	/* u64 */
	TCA_WALE_STATS_CORRUPTED_PACKETS,	/* u64, a bit was flipped */
	TCA_WALE_STATS_CORRUPTED_BYTES,	/* u64 */
	TCA_WALE_STATS_REORDERED_PACKETS,	/* u64, overtook others */
	TCA_WALE_STATS_REORDERED_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_CHILD_PACKETS,	/* u64, by the child qdisc */
	TCA_WALE_STATS_DROPPED_CHILD_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_LINE_PACKETS,	/* u64, the line was full */
	TCA_WALE_STATS_DROPPED_LINE_BYTES,	/* u64 */
	TCA_WALE_STATS_LINE_LIMIT,	/* u64, bytes on the line with which it is full */
	TCA_WALE_STATS_MEMORY,		/* u64, bytes of memory that packets take now */
	TCA_WALE_STATS_DROPPED_DOWN_PACKETS,	/* u64, the link was down, or went down */
	TCA_WALE_STATS_DROPPED_DOWN_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_POLICER_PACKETS,	/* u64, exceeded the policer */
	TCA_WALE_STATS_DROPPED_POLICER_BYTES,	/* u64 */
	TCA_WALE_STATS_DROPPED_BREAKER_PACKETS,	/* u64, their flow was cut */
	TCA_WALE_STATS_DROPPED_BREAKER_BYTES,	/* u64 */
	TCA_WALE_STATS_CUT_FLOWS,	/* u64, that a breaker cut */
	TCA_WALE_STATS_SCONE_SEEN,	/* u64, SCONE packets that are whole */
	TCA_WALE_STATS_SCONE_LOWERED,	/* u64, whose signal was lowered */
	/* u64, left as they were, although it was above: too many */
	TCA_WALE_STATS_SCONE_LIMITED,
	TCA_WALE_STATS_SCONE_MALFORMED,	/* u64, left as they were: not whole */
	TCA_WALE_STATS_SCONE_SIGNAL,	/* u64, that is written now, 0 .. 126; 127: none */
	__TCA_WALE_STATS_MAX
};

#define TCA_WALE_STATS_MAX (__TCA_WALE_STATS_MAX - 1)
/* generated: end */

#endif /* _UAPI_LINUX_PKT_SCHED_WALE_H */
