// SPDX-License-Identifier: GPL-2.0
/*
 * rate_netlink.c - the generic netlink family "rate_feedback"
 *
 * It implements Documentation/netlink/specs/rate_feedback.yaml, from which
 * linux/rate_feedback.h is generated.
 */

#include <linux/netdevice.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched/signal.h>
#include <net/genetlink.h>

#include "../compat.h"
#include "rate.h"
#include "rate_netlink.h"

/* Unprivileged readers see their own sockets only. */
static bool rate_netlink_may_see(const struct sk_buff *skb,
				 const struct rate_path *path)
{
	return path->key.kind != RATE_KEY_FLOW ||
	       netlink_net_capable(skb, CAP_NET_ADMIN);
}

static int rate_netlink_no_path(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "rate_feedback: there is no such path");
	return -ENOENT;
}

static int rate_netlink_del_one(struct rate_net *rn, struct genl_info *info)
{
	struct rate_path *path;
	struct rate_key key;
	int err;

	err = rate_request_parse_key(info->attrs, &key, info->extack);
	if (err)
		return err;
	path = rate_path_find(rn, &key);
	if (!path)
		return rate_netlink_no_path(info->extack);
	if (rate_path_published(path)) {
		NL_SET_ERR_MSG(info->extack,
			       "rate_feedback: a link publishes the rate of this path: it cannot be deleted");
		return -EBUSY;
	}
	rate_path_delete(path);
	return 0;
}

/* Was it there when this many had been created? */
static bool rate_netlink_born_before(unsigned long born, unsigned long births)
{
	return (long)(born - births) < 0;
}

static bool rate_netlink_has_attrs(struct nlattr **tb)
{
	int attr;

	for (attr = 0; tb && attr <= RATE_FEEDBACK_A_PATH_DPORT; attr++) {
		if (tb[attr])
			return true;
	}
	return false;
}

static int rate_netlink_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rate_net *rn = rate_net(genl_info_net(info));
	struct rate_path *path;
	unsigned long births, id;
	int err = 0;

	mutex_lock(&rate_mutex);
	if (rate_netlink_has_attrs(info->attrs)) {
		err = rate_netlink_del_one(rn, info);
		goto out;
	}
	births = rn->path_births;
	xa_for_each(&rn->paths, id, path) {
		if (rate_netlink_born_before(path->born, births) &&
		    !rate_path_published(path))
			rate_path_delete(path);
		/* other namespaces and holders of RTNL wait for it */
		mutex_unlock(&rate_mutex);
		cond_resched();
		mutex_lock(&rate_mutex);
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
	}
out:
	mutex_unlock(&rate_mutex);
	return err;
}

static int rate_netlink_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct rate_net *rn = rate_net(genl_info_net(info));
	const struct rate_path *path;
	struct sk_buff *reply;
	struct rate_key key;
	int err;

	err = rate_request_parse_key(info->attrs, &key, info->extack);
	if (err)
		return err;
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	rcu_read_lock();
	path = rate_path_find(rn, &key);
	if (!path || !rate_netlink_may_see(skb, path))
		err = rate_netlink_no_path(info->extack);
	else
		err = rate_put_path(reply, path, NULL, info->snd_portid,
				    info->snd_seq, 0, RATE_FEEDBACK_CMD_GET);
	rcu_read_unlock();
	if (!err)
		return genlmsg_reply(reply, info);
	nlmsg_free(reply);
	return err;
}

/*
 * A dump shows what is there when it begins; otherwise it might never end.
 * cb->args: where to continue; how many had been created when it began; whether that
 * is known.
 */
static bool rate_netlink_dump_wants(struct netlink_callback *cb,
				    unsigned long born)
{
	return rate_netlink_born_before(born, cb->args[1]);
}

static void rate_netlink_dump_begin(struct netlink_callback *cb,
				    unsigned long births)
{
	if (!cb->args[2])
		cb->args[1] = births;
	cb->args[2] = 1;
}

/*
 * In the order of their numbers, which are not reused until all numbers have been
 * used: a path that exists throughout is met exactly once, wherever the dump
 * resumes.  If paths were created or deleted meanwhile, the messages say so.
 */
static int rate_netlink_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb)
{
	struct rate_net *rn = rate_net(sock_net(skb->sk));
	const struct rate_path *path;
	unsigned long id;
	int err = 0;

	if (rate_netlink_has_attrs(wale_compat_dump_attrs(cb))) {
		NL_SET_ERR_MSG(cb->extack,
			       "rate_feedback: a dump is of all paths: it takes no key");
		return -EINVAL;
	}
	rate_netlink_dump_begin(cb, READ_ONCE(rn->path_births));
	/* 0 would mean that it is not checked */
	cb->seq = atomic_read(&rn->table_gen) | BIT(31);
	rcu_read_lock();
	xa_for_each_start(&rn->paths, id, path, cb->args[0]) {
		if (!rate_netlink_dump_wants(cb, path->born) ||
		    !rate_netlink_may_see(cb->skb, path)) {
			cond_resched_rcu();
			continue;
		}
		err = rate_put_path(skb, path, cb, NETLINK_CB(cb->skb).portid,
				    cb->nlh->nlmsg_seq, NLM_F_MULTI,
				    RATE_FEEDBACK_CMD_GET);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err && !skb->len ? err : skb->len;
}

static bool rate_netlink_flow_wanted(const struct rate_flow *flow, u32 path_id)
{
	const struct rate_path *path = rcu_dereference(flow->path);

	return !path_id || (path && path->id == path_id);
}

static int rate_netlink_flow_get_dumpit(struct sk_buff *skb,
					struct netlink_callback *cb)
{
	struct nlattr **tb = wale_compat_dump_attrs(cb);
	struct rate_net *rn = rate_net(sock_net(skb->sk));
	bool all = netlink_net_capable(cb->skb, CAP_NET_ADMIN);
	kuid_t uid = NETLINK_CB(cb->skb).creds.uid;
	const struct rate_flow *flow;
	unsigned long id;
	u32 path_id = 0;
	int err = 0;

	if (tb && tb[RATE_FEEDBACK_A_FLOW_PATH])
		path_id = nla_get_u32(tb[RATE_FEEDBACK_A_FLOW_PATH]);
	rate_netlink_dump_begin(cb, atomic_long_read(&rn->flow_births));
	rcu_read_lock();
	xa_for_each_start(&rn->flows, id, flow, cb->args[0]) {
		if (!rate_netlink_dump_wants(cb, flow->born) ||
		    (!all && !uid_eq(READ_ONCE(flow->uid), uid)) ||
		    !rate_netlink_flow_wanted(flow, path_id)) {
			cond_resched_rcu();
			continue;
		}
		err = rate_put_flow(skb, flow, sk_user_ns(NETLINK_CB(cb->skb).sk),
				    NETLINK_CB(cb->skb).portid,
				    cb->nlh->nlmsg_seq, NLM_F_MULTI,
				    RATE_FEEDBACK_CMD_FLOW_GET);
		if (err)
			break;
		cb->args[0] = id + 1;
	}
	rcu_read_unlock();
	return err && !skb->len ? err : skb->len;
}

static const struct genl_ops rate_ops[] = {
	{
		.cmd = RATE_FEEDBACK_CMD_SET,
		.doit = rate_request_set,
		.policy = rate_set_policy,
		.maxattr = ARRAY_SIZE(rate_set_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = RATE_FEEDBACK_CMD_DEL,
		.doit = rate_netlink_del_doit,
		.policy = rate_key_policy,
		.maxattr = ARRAY_SIZE(rate_key_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = RATE_FEEDBACK_CMD_GET,
		.doit = rate_netlink_get_doit,
		.dumpit = rate_netlink_get_dumpit,
		.policy = rate_key_policy,
		.maxattr = ARRAY_SIZE(rate_key_policy) - 1,
	},
	{
		.cmd = RATE_FEEDBACK_CMD_FLOW_GET,
		.dumpit = rate_netlink_flow_get_dumpit,
		.policy = rate_flow_policy,
		.maxattr = ARRAY_SIZE(rate_flow_policy) - 1,
	},
};

/* Both groups show other users' flows. */
static const struct genl_multicast_group rate_groups[] = {
	[RATE_GROUP_PATHS] = {
		.name = RATE_FEEDBACK_MCGRP_PATHS,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
	[RATE_GROUP_FLOWS] = {
		.name = RATE_FEEDBACK_MCGRP_FLOWS,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

static struct genl_family rate_netlink_family __ro_after_init = {
	.name = RATE_FEEDBACK_FAMILY_NAME,
	.version = RATE_FEEDBACK_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = rate_ops,
	.n_ops = ARRAY_SIZE(rate_ops),
	.mcgrps = rate_groups,
	.n_mcgrps = ARRAY_SIZE(rate_groups),
};

/**
 * rate_netlink_init() - register the family
 *
 * Return: 0 or an error.
 */
int rate_netlink_init(void)
{
	int err;

	rate_message_set_family(&rate_netlink_family);
	err = genl_register_family(&rate_netlink_family);
	if (!err)
		rate_message_allow_events(true);
	return err;
}

/**
 * rate_netlink_exit() - unregister it
 */
void rate_netlink_exit(void)
{
	rate_message_allow_events(false);
	genl_unregister_family(&rate_netlink_family);
}
