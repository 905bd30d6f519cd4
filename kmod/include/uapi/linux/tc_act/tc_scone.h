/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * tc_scone.h - the action "scone": rate advice in QUIC packets, beside any qdisc
 *
 * Lowers the signal of SCONE packets (net/scone.h) to a rate that is said, or to that of
 * a path of rate_feedback, and passes every packet on.  TCA_SCONE_OF without
 * TCA_SCONE_RATE, or the other way round.  A request without TCA_SCONE_PERIOD has a
 * period of WALE_SCONE_PERIOD_DEFAULT.
 */
#ifndef __LINUX_TC_SCONE_H
#define __LINUX_TC_SCONE_H

#include <linux/pkt_cls.h>
#include <linux/pkt_sched_wale.h>

/* Beyond those of linux/pkt_cls.h; at most TCA_ID_MAX. */
#define TCA_ID_SCONE 0x5c

struct tc_scone {
	tc_gen;
};

/* Which rate of a path is told. */
enum tc_scone_of {
	TC_SCONE_OF_PATH,	/* all of it */
	TC_SCONE_OF_SHARE,	/* the share of a flow */
	__TC_SCONE_OF_MAX
};

enum {
	TCA_SCONE_UNSPEC,
	TCA_SCONE_PAD,
	TCA_SCONE_TM,		/* struct tcf_t */
	TCA_SCONE_PARMS,	/* struct tc_scone */
	TCA_SCONE_OF,		/* u32, enum tc_scone_of */
	TCA_SCONE_DEVICE,	/* u32, whose path it is; 0: that which packets leave by */
	TCA_SCONE_RATE,		/* u64, bytes/s; WALE_SCONE_RATE_MIN .. WALE_RATE_MAX */
	/* u64, ns; WALE_SCONE_PERIOD_MIN .. WALE_SCONE_PERIOD_MAX */
	TCA_SCONE_PERIOD,
	/* in dumps: u64, as TCA_WALE_STATS_SCONE_*; the signal is the last one */
	TCA_SCONE_SEEN,
	TCA_SCONE_LOWERED,
	TCA_SCONE_LIMITED,
	TCA_SCONE_MALFORMED,
	TCA_SCONE_SIGNAL,
	__TCA_SCONE_MAX
};

#define TCA_SCONE_MAX (__TCA_SCONE_MAX - 1)

#endif /* __LINUX_TC_SCONE_H */
