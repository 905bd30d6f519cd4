/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_run.h - how far a link is replayed, and how much at a time
 */
#ifndef _WALE_RUN_H
#define _WALE_RUN_H

#include <linux/types.h>
#include <linux/time64.h>
#include <net/sch_generic.h>

/* So long a request for a change waits for a link that is behind, and one to see it. */
#define WALE_CHANGE_PATIENCE_NS	(50 * NSEC_PER_MSEC)
#define WALE_DUMP_PATIENCE_NS	NSEC_PER_MSEC

#define WALE_BEHIND \
	"wale: more is due on the link than a request waits for: try again"

/* So many steps of sessions are drawn at a time. */
#define WALE_RUN_STEPS	256

/**
 * struct wale_run - how far a link is replayed
 * @budget: so many more events may be replayed by this run
 * @behind: a run had to stop, and what was due then is not all replayed yet
 * @reached_ns: if it is: what happened before this instant is replayed
 * @late: packets that came since, in their order; they arrive when the link is at
 *	the time at which they did
 * @late_bytes: of them, on the wire
 * @arrive: called for each of them then
 */
struct wale_run {
	int budget;
	bool behind;
	u64 reached_ns;
	struct qdisc_skb_head late;
	u64 late_bytes;
	void (*arrive)(struct Qdisc *sch, struct sk_buff *skb);
};

/* An event was replayed.  Return: false if that was the last one of this run. */
static inline bool wale_run_goes_on(struct wale_run *run, u64 at_ns)
{
	if (--run->budget > 0)
		return true;
	run->reached_ns = at_ns;
	return false;
}

#endif /* _WALE_RUN_H */
