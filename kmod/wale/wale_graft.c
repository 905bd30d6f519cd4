// SPDX-License-Identifier: GPL-2.0
/*
 * wale_graft.c - another child qdisc, or none
 */

#include <linux/sched.h>

#include "../compat.h"
#include "wale.h"

static int wale_graft_check(const struct wale_sched_data *q,
			    const struct Qdisc *new,
			    struct netlink_ext_ack *extack)
{
	if (q->classes) {
		NL_SET_ERR_MSG(extack,
			       "wale: a child qdisc is the buffer of all packets: it needs a link that does not tell flows apart");
		return -EINVAL;
	}
	if (q->policy.kind != WALE_POLICY_TAIL) {
		NL_SET_ERR_MSG(extack,
			       "wale: a child qdisc decides who is refused: it needs a link with policy tail");
		return -EINVAL;
	}
	if (!strcmp(new->ops->id, "netem") || !strcmp(new->ops->id, "wale")) {
		NL_SET_ERR_MSG(extack,
			       "wale: wale and netem are links themselves: they cannot be the buffer of one");
		return -EINVAL;
	}
	if (new->flags & TCQ_F_CPUSTATS) {
		NL_SET_ERR_MSG(extack,
			       "wale: the child qdisc must count its packets in one place, and not by CPU");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* So many packets of a child that goes are taken at a time. */
#define WALE_GRAFT_TAKEN	1024

/* Return: true if it gives nothing more. */
static bool wale_graft_empty(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	int left = WALE_GRAFT_TAKEN;

	while (q->child.qdisc && wale_child_next(sch, now))
		if (!--left)
			return false;
	return true;
}

/*
 * The child goes, if there is one.  What it had waits where it would without a child.
 *
 * Return: true if the link is run up to @now, and the child gives nothing more.
 */
static bool wale_graft_drain(struct Qdisc *sch, u64 *now)
	__must_hold(root_lock)
{
	while (wale_run_patiently(sch, WALE_CHANGE_PATIENCE_NS, now)) {
		if (wale_graft_empty(sch, *now))
			return true;
		sch_tree_unlock(sch);
		cond_resched();
		sch_tree_lock(sch);
	}
	return false;
}

/**
 * wale_graft() - another child, or none
 * @sch: the qdisc
 * @cl: the class, WALE_CHILD_CLASS where flows are not told apart
 * @new: the child; NULL: none
 * @old: set to the child so far
 * @extack: why not
 *
 * What waits in the link's own buffer, or did in the old child, is served before
 * what @new gets.  Only what the old child does not give back now is dropped.
 *
 * Context: RTNL is held.
 * Return: 0; or -EINVAL, -EOPNOTSUPP or -EBUSY, and nothing has changed.
 */
int wale_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
	       struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 now;
	int err;

	err = new ? wale_graft_check(q, new, extack) : 0;
	if (err)
		return err;
	sch_tree_lock(sch);
	if (!wale_graft_drain(sch, &now)) {
		sch_tree_unlock(sch);
		NL_SET_ERR_MSG(extack, WALE_BEHIND);
		return -EBUSY;
	}
	*old = q->child.qdisc;
	if (*old) {
		wale_child_purge(sch, now);
		(*old)->flags &= ~TCQ_F_NOPARENT;
	}
	if (new)
		new->flags |= TCQ_F_NOPARENT;
	q->child = (struct wale_child){
		.qdisc = new,
		.drops = new ? new->qstats.drops : 0,
	};
	if (!q->server.busy && !skb_queue_empty(&q->waiting))
		wale_server_start(&q->server, &q->schedule, now,
				  wale_skb_cb(q->waiting.next)->wire_len);
	wale_parents_settle(sch);
	wale_link_set_plain(q);
	wale_link_set_alarm(sch);
	sch_tree_unlock(sch);
	return 0;
}
