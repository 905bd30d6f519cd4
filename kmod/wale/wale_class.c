// SPDX-License-Identifier: GPL-2.0
/*
 * wale_class.c - flows as classes of tc: which one a packet is of, and which
 * there are
 *
 * A class is a place of wale_classes.c; its minor number is that of the place,
 * but for the crowd.
 */

#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <net/flow_dissector.h>
#include <net/pkt_cls.h>

#include "wale.h"

/* A flow's packets have these alike; without ports in fragments. */
struct wale_class_tuple {
	struct in6_addr source;
	struct in6_addr destination;
	__be32 ports;
	__be16 ethertype;
	u8 protocol;
	u8 unused;
} __aligned(SIPHASH_ALIGNMENT);

static u64 wale_flow_key(const struct wale_classes *classes,
			 const struct sk_buff *skb)
{
	const siphash_key_t secret = {
		.key = { classes->secret[0], classes->secret[1] },
	};
	struct wale_class_tuple tuple = {};
	struct flow_keys keys;

	skb_flow_dissect_flow_keys(skb, &keys, 0);
	if (keys.control.addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS) {
		tuple.source.s6_addr32[0] = keys.addrs.v4addrs.src;
		tuple.destination.s6_addr32[0] = keys.addrs.v4addrs.dst;
	} else if (keys.control.addr_type == FLOW_DISSECTOR_KEY_IPV6_ADDRS) {
		tuple.source = keys.addrs.v6addrs.src;
		tuple.destination = keys.addrs.v6addrs.dst;
	}
	tuple.ports = keys.ports.ports;
	tuple.ethertype = keys.basic.n_proto;
	tuple.protocol = keys.basic.ip_proto;
	return siphash(&tuple, sizeof(tuple), &secret) | WALE_KEY_HASH;
}

/*
 * What the filters say; false: they took the packet, see @verdict.  A packet that was
 * consumed is not the link's any more, and may be gone already.
 */
static bool wale_filter(struct Qdisc *sch, struct sk_buff *skb, u32 *classid,
			int *verdict, struct sk_buff **to_free)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	const struct tcf_proto *filters = rcu_dereference_bh(q->filter_list);
	struct tcf_result result;

	if (!filters)
		return true;
	*verdict = NET_XMIT_SUCCESS | __NET_XMIT_STOLEN;
	switch (tcf_classify(skb, NULL, filters, &result, false)) {
	case TC_ACT_UNSPEC:
		return true;
	case TC_ACT_CONSUMED:
		return false;
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		__qdisc_drop(skb, to_free);
		return false;
	case TC_ACT_SHOT:
	case TC_ACT_REDIRECT:
		*verdict = NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
		qdisc_qstats_drop(sch);
		__qdisc_drop(skb, to_free);
		return false;
	default:
		*classid = TC_H_MIN(result.classid);
		return true;
	}
}

/**
 * wale_classify() - which flow is a packet of?
 * @sch: the qdisc, which tells flows apart
 * @skb: the packet; its class is set
 * @verdict: what becomes of it, if a filter took it
 * @to_free: list of packets that the caller frees
 *
 * Return: false if a filter took it; it is not the caller's any more then.
 */
bool wale_classify(struct Qdisc *sch, struct sk_buff *skb, int *verdict,
		   struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_classes *classes = q->classes;
	u32 named = 0;
	u16 class;

	if (TC_H_MAJ(skb->priority) == sch->handle)
		named = TC_H_MIN(skb->priority);
	if ((!named || named > classes->count) &&
	    !wale_filter(sch, skb, &named, verdict, to_free))
		return false;
	if (named && named <= classes->count)
		class = wale_classes_name(classes, named);
	else
		class = wale_classes_find(classes,
					  wale_flow_key(classes, skb));
	qdisc_skb_cb(skb)->tc_classid = class;
	return true;
}

/*
 * Where flows are not told apart, the one class is the buffer: there is a place for
 * a child, whether one is there or not.
 */
static struct Qdisc *wale_class_leaf(struct Qdisc *sch, unsigned long cl)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	return q->child.qdisc;
}

/* Return: minor number of a class that there is, or 0. */
static unsigned long wale_class_find(struct Qdisc *sch, u32 classid)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	if (!q->classes)
		return minor == WALE_CHILD_CLASS ? minor : 0;
	return minor <= q->classes->count || minor == WALE_CLASS_CROWD ?
	       minor : 0;
}

static unsigned long wale_class_bind(struct Qdisc *sch, unsigned long parent,
				     u32 classid)
{
	return 0;	/* classes stay as long as the qdisc */
}

static void wale_class_unbind(struct Qdisc *sch, unsigned long cl)
{
}

static struct tcf_block *wale_class_block(struct Qdisc *sch, unsigned long cl,
					  struct netlink_ext_ack *extack)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (cl)
		return NULL;
	if (!q->classes)
		NL_SET_ERR_MSG(extack,
			       "wale: filters name flows, which this link does not tell apart: give it flows");
	return q->classes ? q->block : NULL;
}

static int wale_class_dump(struct Qdisc *sch, unsigned long cl,
			   struct sk_buff *skb, struct tcmsg *tcm)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (!q->classes && !q->child.qdisc)
		return -ENOENT;
	tcm->tcm_handle |= TC_H_MIN(cl);
	if (q->child.qdisc)
		tcm->tcm_info = q->child.qdisc->handle;
	return 0;
}

/* Those that a flow has or had; or that of a child. */
static void wale_class_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	u32 i, skip;

	if (arg->stop)
		return;
	if (q->child.qdisc)
		tc_qdisc_stats_dump(sch, WALE_CHILD_CLASS, arg);
	if (!q->classes)
		return;
	/* a long dump comes here many times: go on where it was */
	skip = clamp_t(int, arg->skip - arg->count, 0, q->classes->count);
	arg->count += skip;
	for (i = 1 + skip; i <= q->classes->count; i++) {
		if (!READ_ONCE(q->classes->place[i].key))
			arg->count++;
		else if (!tc_qdisc_stats_dump(sch, i, arg))
			return;
	}
	if (q->classes->class[0].counts.offered.packets)
		tc_qdisc_stats_dump(sch, WALE_CLASS_CROWD, arg);
}

const struct Qdisc_class_ops wale_class_ops = {
	.graft		= wale_graft,
	.leaf		= wale_class_leaf,
	.find		= wale_class_find,
	.walk		= wale_class_walk,
	.tcf_block	= wale_class_block,
	.bind_tcf	= wale_class_bind,
	.unbind_tcf	= wale_class_unbind,
	.dump		= wale_class_dump,
	.dump_stats	= wale_dump_class_stats,
};
