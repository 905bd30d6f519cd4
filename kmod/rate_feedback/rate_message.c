// SPDX-License-Identifier: GPL-2.0
/*
 * rate_message.c - messages about paths and flows: replies and events
 */

#include <linux/netdevice.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "rate.h"
#include "rate_netlink.h"

static const struct genl_family *rate_message_family;
static bool rate_message_events;	/* under rate_mutex */

/**
 * rate_message_set_family() - set the family that messages belong to
 * @family: the family, before it is registered
 */
void rate_message_set_family(const struct genl_family *family)
{
	rate_message_family = family;
}

/**
 * rate_message_allow_events() - may events about paths be sent?
 * @allow: the family is registered
 */
void rate_message_allow_events(bool allow)
{
	mutex_lock(&rate_mutex);
	rate_message_events = allow;
	mutex_unlock(&rate_mutex);
}

static int rate_put_addr(struct sk_buff *skb, int attr, u8 family,
			 const struct in6_addr *addr)
{
	return nla_put(skb, attr, family == AF_INET ? 4 : 16, addr);
}

static int rate_put_path_key(struct sk_buff *skb, const struct rate_key *key)
{
	switch (key->kind) {
	case RATE_KEY_DEV:
		return nla_put_u32(skb, RATE_FEEDBACK_A_PATH_IFINDEX,
				   key->ifindex);
	case RATE_KEY_PREFIX:
		return rate_put_addr(skb, RATE_FEEDBACK_A_PATH_DADDR,
				     key->family, &key->daddr) ?:
		       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_PREFIX_LEN,
				   key->prefix_len);
	default:
		return rate_put_addr(skb, RATE_FEEDBACK_A_PATH_SADDR,
				     key->family, &key->saddr) ?:
		       rate_put_addr(skb, RATE_FEEDBACK_A_PATH_DADDR,
				     key->family, &key->daddr) ?:
		       nla_put_be16(skb, RATE_FEEDBACK_A_PATH_SPORT,
				    key->sport) ?:
		       nla_put_be16(skb, RATE_FEEDBACK_A_PATH_DPORT,
				    key->dport);
	}
}

/*
 * Without padding, as in newer families; their type uint would be shorter, but
 * Linux 6.1 does not have it.
 */
static int rate_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

static int rate_put_settings(struct sk_buff *skb,
			     const struct rate_settings *settings)
{
	u8 lag = READ_ONCE(settings->lag);

	if (nla_put_u32(skb, RATE_FEEDBACK_A_PATH_LAG, lag) ||
	    (lag == RATE_FEEDBACK_LAG_FIXED &&
	     rate_put_u64(skb, RATE_FEEDBACK_A_PATH_LAG_TIME,
			  READ_ONCE(settings->lag_time))))
		return -EMSGSIZE;
	return rate_put_u64(skb, RATE_FEEDBACK_A_PATH_AGE_LIMIT,
			    READ_ONCE(settings->age_limit)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_BETA,
			   READ_ONCE(settings->beta)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_RISE,
			   READ_ONCE(settings->rise)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_SWING,
			   READ_ONCE(settings->swing)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_PHI,
			   READ_ONCE(settings->phi)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_PACE,
			   READ_ONCE(settings->pace)) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_PATH_BASE_RTT,
			    READ_ONCE(settings->base_rtt));
}

static int rate_put_source(struct sk_buff *skb,
			   const struct rate_source *source)
{
	bool published = READ_ONCE(source->value.published);
	u64 renewed, updates, now = ktime_get_ns();
	struct rate_step step;

	if (READ_ONCE(source->gone))
		return 0;
	rate_source_snapshot(source, &step, &renewed, &updates);
	if ((published || updates) &&
	    nla_put_u32(skb, RATE_FEEDBACK_A_PATH_PUBLISHER, published))
		return -EMSGSIZE;
	if (!updates)
		return 0;	/* or it is a link that has not published yet */
	return rate_put_u64(skb, RATE_FEEDBACK_A_PATH_RATE, step.rate) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_MEANING, step.meaning) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_PATH_TIME, step.since) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_LAYER, step.layer) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_PATH_FLOWS,
			   rate_source_flows(source, &step)) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_PATH_AGE,
			    now > renewed ? now - renewed : 0) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_PATH_UPDATES, updates);
}

static int rate_put_follow(struct sk_buff *skb, u32 ifindex)
{
	struct nlattr *nest = nla_nest_start(skb, RATE_FEEDBACK_A_PATH_FOLLOW);

	if (!nest || nla_put_u32(skb, RATE_FEEDBACK_A_FOLLOW_IFINDEX, ifindex))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * rate_put_path() - a message about a path
 * @skb: where to
 * @path: the path
 * @cb: the dump that it is part of; or NULL
 * @portid: of whom asked; 0: nobody did
 * @seq: of the request
 * @flags: NLM_F_MULTI in a dump
 * @cmd: of the message
 *
 * Context: RCU read side.
 * Return: 0 or -EMSGSIZE.
 */
int rate_put_path(struct sk_buff *skb, const struct rate_path *path,
		  struct netlink_callback *cb, u32 portid, u32 seq, int flags,
		  u8 cmd)
{
	const struct rate_source *source = rcu_dereference(path->source);
	u32 follow = rate_source_followed(path, source);
	void *header;

	header = genlmsg_put(skb, portid, seq, rate_message_family, flags, cmd);
	if (!header)
		return -EMSGSIZE;
	if (cb)
		genl_dump_check_consistent(cb, header);
	if (nla_put_u32(skb, RATE_FEEDBACK_A_PATH_ID, path->id) ||
	    rate_put_path_key(skb, &path->key) ||
	    (source && rate_put_source(skb, source)) ||
	    rate_put_settings(skb, &path->settings) ||
	    (follow && rate_put_follow(skb, follow)) ||
	    nla_put_u32(skb, RATE_FEEDBACK_A_PATH_LISTENERS,
			atomic_read(&path->listeners))) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/**
 * rate_notify_path() - tell those who look about a path
 * @path: the path
 * @cmd: what happened to it
 *
 * Context: rate_mutex is held.
 * Return: false if nobody looks.
 */
bool rate_notify_path(const struct rate_path *path, u8 cmd)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct net *net = path->rn->net;
	struct sk_buff *skb;
	int err;

	if (path->rn->dead || !rate_message_events ||
	    !genl_has_listeners(rate_message_family, net, RATE_GROUP_PATHS))
		return false;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, gfp);	/* see rate.h */
	if (!skb)
		return true;
	rcu_read_lock();
	err = rate_put_path(skb, path, NULL, 0, 0, 0, cmd);
	rcu_read_unlock();
	if (err)
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(rate_message_family, net, skb, 0,
					RATE_GROUP_PATHS, gfp);
	return true;
}

static int rate_put_flow_key(struct sk_buff *skb, const struct rate_key *key)
{
	return rate_put_addr(skb, RATE_FEEDBACK_A_FLOW_SADDR, key->family,
			     &key->saddr) ?:
	       rate_put_addr(skb, RATE_FEEDBACK_A_FLOW_DADDR, key->family,
			     &key->daddr) ?:
	       nla_put_be16(skb, RATE_FEEDBACK_A_FLOW_SPORT, key->sport) ?:
	       nla_put_be16(skb, RATE_FEEDBACK_A_FLOW_DPORT, key->dport);
}

static int rate_put_state(struct sk_buff *skb,
			  const struct rate_flow_state *state)
{
	return nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_PHASE,
			   READ_ONCE(state->phase)) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_FLOW_RATE,
			    READ_ONCE(state->rate)) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_FLOW_BASE_RTT,
			    READ_ONCE(state->base_rtt_ns)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_RATE_WINDOW,
			   READ_ONCE(state->rate_window)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_CWND,
			   READ_ONCE(state->cwnd)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_IN_FLIGHT,
			   READ_ONCE(state->in_flight)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_PACKET_SIZE,
			   READ_ONCE(state->packet_size)) ?:
	       nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_MSS,
			   READ_ONCE(state->mss)) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_FLOW_BYTES_ACKED,
			    READ_ONCE(state->bytes_acked));
}

static int rate_put_advice(struct sk_buff *skb, const struct rate_flow *flow)
{
	u64 price = READ_ONCE(flow->state.price);

	if (price && rate_put_u64(skb, RATE_FEEDBACK_A_FLOW_PRICE, price))
		return -EMSGSIZE;
	return rate_put_u64(skb, RATE_FEEDBACK_A_FLOW_LOST_ADVICE,
			    READ_ONCE(flow->lost)) ?:
	       rate_put_u64(skb, RATE_FEEDBACK_A_FLOW_FOUND_ADVICE,
			    READ_ONCE(flow->found));
}

/**
 * rate_put_flow() - a message about a socket that listens
 * @skb: where to
 * @flow: the socket
 * @user_ns: of the reader
 * @portid: of whom asked; 0: nobody did
 * @seq: of the request
 * @flags: NLM_F_MULTI in a dump
 * @cmd: of the message
 *
 * Context: RCU read side.
 * Return: 0 or -EMSGSIZE.
 */
int rate_put_flow(struct sk_buff *skb, const struct rate_flow *flow,
		  struct user_namespace *user_ns, u32 portid, u32 seq,
		  int flags, u8 cmd)
{
	const struct rate_path *path = rcu_dereference(flow->path);
	u32 ifindex = READ_ONCE(flow->ifindex);
	void *header;

	header = genlmsg_put(skb, portid, seq, rate_message_family, flags, cmd);
	if (!header)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_ID, flow->id) ||
	    rate_put_flow_key(skb, &flow->key) ||
	    (ifindex &&
	     nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_IFINDEX, ifindex)) ||
	    nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_UID,
			from_kuid_munged(user_ns, READ_ONCE(flow->uid))) ||
	    (path && nla_put_u32(skb, RATE_FEEDBACK_A_FLOW_PATH, path->id)) ||
	    nla_put_string(skb, RATE_FEEDBACK_A_FLOW_CONGESTION,
			   flow->congestion) ||
	    rate_put_state(skb, &flow->state) ||
	    rate_put_advice(skb, flow)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/**
 * rate_notify_flow() - tell those who look about a socket
 * @flow: the socket
 * @cmd: what happened to it
 *
 * Context: RCU read side.
 */
void rate_notify_flow(const struct rate_flow *flow, u8 cmd)
{
	struct net *net = flow->rn->net;
	struct sk_buff *skb;

	if (READ_ONCE(flow->rn->dead) ||
	    !genl_has_listeners(rate_message_family, net, RATE_GROUP_FLOWS))
		return;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	if (rate_put_flow(skb, flow, net->user_ns, 0, 0, 0, cmd))
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(rate_message_family, net, skb, 0,
					RATE_GROUP_FLOWS, GFP_ATOMIC);
}
