// SPDX-License-Identifier: GPL-2.0
/*
 * wale_action.c - the action "scone" of tc: rate advice in QUIC packets, beside any qdisc
 *
 *	rate, or the path of a device --> signal --+
 *	                                           +--> wale_advisor --> packet
 *	filter --> wale_datagram ------------------+
 *
 * The rate is read when a SCONE packet is there, and only then is the lock taken.
 */

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/tc_act/tc_scone.h>
#include <net/act_api.h>
#include <net/netns/generic.h>
#include <net/pkt_cls.h>
#include <net/rate_feedback.h>

#include "../compat.h"
#include "wale_action.h"
#include "wale_advisor.h"
#include "wale_scone.h"
#include "wale_stat.h"

/**
 * struct wale_action_params - which rate is told
 * @rate: as the request gives it, bytes/s; 0: that of a path
 * @period_ns: the monitoring period
 * @device: whose path it is; 0: that which the packet leaves by
 * @share: the share of a flow
 */
struct wale_action_params {
	u64 rate;
	u64 period_ns;
	u32 device;
	bool share;
};

/**
 * struct wale_action - an action
 * @common: what all actions have; its lock protects the rest
 * @params: which rate
 * @channel: where paths are; NULL: it was never needed
 * @advisor: what writes the signal
 * @signal: that was told last; SCONE_UNKNOWN: none
 */
struct wale_action {
	struct tc_action common;
	struct wale_action_params params;
	const struct rate_feedback_publisher_ops *channel;
	struct wale_advisor *advisor;
	u8 signal;
};

static struct tc_action_ops wale_action_ops;

static struct wale_action *wale_action_of(const struct tc_action *a)
{
	return container_of(a, struct wale_action, common);
}

static u8 wale_action_signal(const struct wale_action *action,
			     const struct net_device *dev, u64 now)
{
	const struct wale_action_params *params = &action->params;
	u64 rate = params->rate;

	if (!rate)
		rate = action->channel->rate(dev_net(dev),
					     params->device ?: dev->ifindex,
					     now, params->share);
	return rate == RATE_FEEDBACK_UNLIMITED ? SCONE_UNKNOWN :
						 wale_scone_encode(rate);
}

static noinline void wale_action_advise(struct wale_action *action,
					struct sk_buff *skb,
					const struct wale_datagram *datagram)
{
	u64 now = ktime_get_ns();

	spin_lock(&action->common.tcfa_lock);
	action->signal = wale_action_signal(action, skb->dev, now);
	wale_advisor_advise(action->advisor, skb, datagram, action->signal,
			    now);
	spin_unlock(&action->common.tcfa_lock);
}

static noinline void wale_action_look(struct wale_action *action,
				      struct sk_buff *skb)
{
	struct wale_datagram datagram;
	struct wale_tuple tuple;

	if (wale_tuple_find(skb, &tuple) &&
	    wale_datagram_begin(skb, &tuple, &datagram))
		while (wale_datagram_next(skb, &datagram))
			wale_action_advise(action, skb, &datagram);
}

/* Context: RCU and softirqs are off. */
static int wale_action_act(struct sk_buff *skb, const struct tc_action *a,
			   struct tcf_result *result)
{
	struct wale_action *action = wale_action_of(a);

	tcf_lastuse_update(&action->common.tcfa_tm);
	tcf_action_update_bstats(&action->common, skb);
	if (wale_datagram_may_be(skb))
		wale_action_look(action, skb);
	return READ_ONCE(action->common.tcfa_action);
}

/* Not const, because the policies of Linux 6.1 take no constant ranges. */
static struct netlink_range_validation wale_action_rates = {
	.min = WALE_SCONE_RATE_MIN, .max = WALE_RATE_MAX,
};

static struct netlink_range_validation wale_action_periods = {
	.min = WALE_SCONE_PERIOD_MIN, .max = WALE_SCONE_PERIOD_MAX,
};

static const struct nla_policy wale_action_policy[TCA_SCONE_MAX + 1] = {
	[TCA_SCONE_PARMS] = NLA_POLICY_EXACT_LEN(sizeof(struct tc_scone)),
	[TCA_SCONE_OF] = NLA_POLICY_MAX(NLA_U32, __TC_SCONE_OF_MAX - 1),
	[TCA_SCONE_DEVICE] = { .type = NLA_U32 },
	[TCA_SCONE_RATE] = NLA_POLICY_FULL_RANGE(NLA_U64, &wale_action_rates),
	[TCA_SCONE_PERIOD] = NLA_POLICY_FULL_RANGE(NLA_U64,
						   &wale_action_periods),
};

static int wale_action_parse(struct nlattr **tb, struct nlattr *nla,
			     struct wale_action_params *params,
			     struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int err;

	err = nla_parse_nested(tb, TCA_SCONE_MAX, nla, wale_action_policy,
			       extack);
	if (err)
		return err;
	if (!tb[TCA_SCONE_PARMS]) {
		NL_SET_ERR_MSG(extack, "scone: no parameters of the action");
		return -EINVAL;
	}
	if (!tb[TCA_SCONE_OF] == !tb[TCA_SCONE_RATE]) {
		NL_SET_ERR_MSG(extack,
			       "scone: expected a rate, or a path, and not both");
		return -EINVAL;
	}
	if (tb[TCA_SCONE_DEVICE] && tb[TCA_SCONE_RATE]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_SCONE_DEVICE],
				    "scone: the device of a path needs a path, not a rate");
		return -EINVAL;
	}
	attr = tb[TCA_SCONE_RATE];
	params->rate = attr ? nla_get_u64(attr) : 0;
	attr = tb[TCA_SCONE_PERIOD];
	params->period_ns = attr ? nla_get_u64(attr) :
				   WALE_SCONE_PERIOD_DEFAULT;
	attr = tb[TCA_SCONE_DEVICE];
	params->device = attr ? nla_get_u32(attr) : 0;
	attr = tb[TCA_SCONE_OF];
	params->share = attr && nla_get_u32(attr) == TC_SCONE_OF_SHARE;
	return 0;
}

/* What a path needs; once there, it stays as long as the action. */
static int wale_action_get_channel(struct wale_action *action,
				   const struct wale_action_params *params,
				   struct netlink_ext_ack *extack)
{
	if (params->rate || action->channel)
		return 0;
	action->channel = symbol_get(rate_feedback_publisher_ops);
	if (action->channel)
		return 0;
	NL_SET_ERR_MSG(extack,
		       "scone: a path needs the module rate_feedback, which is not loaded");
	return -ENOENT;
}

static int wale_action_new(struct wale_action *action)
{
	action->advisor = kvzalloc_obj(*action->advisor, GFP_KERNEL_ACCOUNT);
	if (!action->advisor)
		return -ENOMEM;
	wale_advisor_init(action->advisor);
	return 0;
}

static void wale_action_set(struct wale_action *action,
			    const struct wale_action_params *params,
			    int verdict, struct tcf_chain **goto_chain)
{
	spin_lock_bh(&action->common.tcfa_lock);
	*goto_chain = tcf_action_set_ctrlact(&action->common, verdict,
					     *goto_chain);
	action->params = *params;
	action->signal = params->rate ? wale_scone_encode(params->rate) :
					SCONE_UNKNOWN;
	wale_quota_set_period(&action->advisor->quota, params->period_ns);
	spin_unlock_bh(&action->common.tcfa_lock);
}

static int wale_action_configure(struct wale_action *action,
				 const struct wale_action_params *params,
				 struct tcf_proto *tp, int verdict,
				 struct netlink_ext_ack *extack)
{
	struct tcf_chain *goto_chain = NULL;
	int err;

	err = tcf_action_check_ctrlact(verdict, tp, &goto_chain, extack);
	if (err < 0)
		return err;
	err = wale_action_get_channel(action, params, extack);
	if (!err && !action->advisor)
		err = wale_action_new(action);
	if (!err)
		wale_action_set(action, params, verdict, &goto_chain);
	if (goto_chain)
		tcf_chain_put_by_act(goto_chain);
	return err;
}

/* With the action that has the index of the request, or a new one. */
static int wale_action_find(struct tc_action_net *actions, u32 index,
			    struct nlattr *est, struct tc_action **a,
			    u32 flags)
{
	bool bind = flags & TCA_ACT_FLAGS_BIND;
	int err;

	err = tcf_idr_check_alloc(actions, &index, a, bind);
	if (err < 0)
		return err;
	if (!err) {
		err = tcf_idr_create(actions, index, est, a, &wale_action_ops,
				     bind, true, flags);
		if (err)
			tcf_idr_cleanup(actions, index);
		return err ?: ACT_P_CREATED;
	}
	if (bind || flags & TCA_ACT_FLAGS_REPLACE)
		return 0;
	tcf_idr_release(*a, bind);
	return -EEXIST;
}

static int wale_action_init(struct net *net, struct nlattr *nla,
			    struct nlattr *est, struct tc_action **a,
			    struct tcf_proto *tp, u32 flags,
			    struct netlink_ext_ack *extack)
{
	struct tc_action_net *actions = net_generic(net,
						    wale_action_ops.net_id);
	bool bind = flags & TCA_ACT_FLAGS_BIND;
	struct nlattr *tb[TCA_SCONE_MAX + 1];
	struct wale_action_params params;
	const struct tc_scone *parms;
	int found, err;

	if (!nla) {
		NL_SET_ERR_MSG(extack, "scone: no parameters of the action");
		return -EINVAL;
	}
	err = wale_action_parse(tb, nla, &params, extack);
	if (err)
		return err;
	parms = nla_data(tb[TCA_SCONE_PARMS]);
	found = wale_action_find(actions, parms->index, est, a, flags);
	if (found < 0 || (!found && bind))
		return found;
	err = wale_action_configure(wale_action_of(*a), &params, tp,
				    parms->action, extack);
	if (err) {
		tcf_idr_release(*a, bind);
		return err;
	}
	return found;
}

static int wale_action_put_params(struct sk_buff *skb,
				  const struct wale_action_params *params)
{
	const struct wale_stat rate = { TCA_SCONE_RATE, params->rate };
	const struct wale_stat period = { TCA_SCONE_PERIOD, params->period_ns };
	int err;

	if (params->rate)
		err = wale_stat_put(skb, &rate, 1, TCA_SCONE_PAD);
	else
		err = nla_put_u32(skb, TCA_SCONE_OF,
				  params->share ? TC_SCONE_OF_SHARE :
						  TC_SCONE_OF_PATH) ?:
		      nla_put_u32(skb, TCA_SCONE_DEVICE, params->device);
	return err ?: wale_stat_put(skb, &period, 1, TCA_SCONE_PAD);
}

static int wale_action_put_stats(struct sk_buff *skb,
				 const struct wale_action *action)
{
	const struct wale_advisor *advisor = action->advisor;
	const struct wale_stat stats[] = {
		{ TCA_SCONE_SEEN, advisor->seen },
		{ TCA_SCONE_LOWERED, advisor->lowered },
		{ TCA_SCONE_LIMITED, advisor->limited },
		{ TCA_SCONE_MALFORMED, advisor->malformed },
		{ TCA_SCONE_SIGNAL, action->signal },
	};

	return wale_stat_put(skb, stats, ARRAY_SIZE(stats), TCA_SCONE_PAD);
}

static int wale_action_dump(struct sk_buff *skb, struct tc_action *a, int bind,
			    int ref)
{
	const struct wale_action *action = wale_action_of(a);
	unsigned char *start = skb_tail_pointer(skb);
	struct tc_scone parms = {
		.index = a->tcfa_index,
		.refcnt = refcount_read(&a->tcfa_refcnt) - ref,
		.bindcnt = atomic_read(&a->tcfa_bindcnt) - bind,
	};
	struct tcf_t times;
	int err;

	spin_lock_bh(&a->tcfa_lock);
	parms.action = a->tcfa_action;
	tcf_tm_dump(&times, &a->tcfa_tm);
	err = nla_put(skb, TCA_SCONE_PARMS, sizeof(parms), &parms) ?:
	      wale_action_put_params(skb, &action->params) ?:
	      wale_action_put_stats(skb, action) ?:
	      nla_put_64bit(skb, TCA_SCONE_TM, sizeof(times), &times,
			    TCA_SCONE_PAD);
	spin_unlock_bh(&a->tcfa_lock);
	if (!err)
		return skb->len;
	nlmsg_trim(skb, start);
	return -1;
}

/* Of what a dump has and other actions have not. */
static size_t wale_action_fill_size(const struct tc_action *a)
{
	const unsigned int numbers = TCA_SCONE_MAX - TCA_SCONE_RATE + 1;

	return nla_total_size(sizeof(struct tc_scone)) +
	       2 * nla_total_size(sizeof(u32)) + /* of, device */
	       numbers * nla_total_size_64bit(sizeof(u64));
}

static void wale_action_cleanup(struct tc_action *a)
{
	struct wale_action *action = wale_action_of(a);

	if (action->channel)
		symbol_put(rate_feedback_publisher_ops);
	kvfree(action->advisor);
}

static struct tc_action_ops wale_action_ops = {
	.kind = "scone",
	.id = (enum tca_id)TCA_ID_SCONE,
	.owner = THIS_MODULE,
	.act = wale_action_act,
	.dump = wale_action_dump,
	.get_fill_size = wale_action_fill_size,
	.init = wale_action_init,
	.cleanup = wale_action_cleanup,
	.size = sizeof(struct wale_action),
};

static int __net_init wale_action_net_init(struct net *net)
{
	struct tc_action_net *actions = net_generic(net,
						    wale_action_ops.net_id);

	return tc_action_net_init(net, actions, &wale_action_ops);
}

static void __net_exit wale_action_net_exit(struct list_head *nets)
{
	tc_action_net_exit(nets, wale_action_ops.net_id);
}

static struct pernet_operations wale_action_net_ops = {
	.init = wale_action_net_init,
	.exit_batch = wale_action_net_exit,
	.id = &wale_action_ops.net_id,
	.size = sizeof(struct tc_action_net),
};

/**
 * wale_action_register() - offer the action to tc
 *
 * Return: 0, or an error.
 */
int __init wale_action_register(void)
{
	return tcf_register_action(&wale_action_ops, &wale_action_net_ops);
}

/**
 * wale_action_unregister() - take it back
 */
void wale_action_unregister(void)
{
	tcf_unregister_action(&wale_action_ops, &wale_action_net_ops);
}
