// SPDX-License-Identifier: GPL-2.0
/*
 * rate_request.c - requests: checking them and carrying them out
 *
 * A request is checked as a whole and its memory is allocated before anything is
 * changed, so that a refused one leaves no trace.  How much memory it needs is known
 * only after the check, under rate_mutex; it is then allocated without the mutex, and
 * the check starts over.
 */

#include <linux/netdevice.h>
#include <net/genetlink.h>

#include "rate.h"
#include "rate_netlink.h"

/* An address of 4 or 16 bytes; an IPv4-mapped one counts as IPv4. */
static int rate_request_parse_addr(const struct nlattr *attr,
				   struct in6_addr *addr, u8 *family,
				   struct netlink_ext_ack *extack)
{
	*addr = in6addr_any;
	switch (nla_len(attr)) {
	case 4:
		addr->s6_addr32[0] = nla_get_in_addr(attr);
		*family = AF_INET;
		return 0;
	case 16:
		*addr = nla_get_in6_addr(attr);
		*family = AF_INET6;
		if (!ipv6_addr_v4mapped(addr))
			return 0;
		addr->s6_addr32[0] = addr->s6_addr32[3];
		memset(&addr->s6_addr32[1], 0, 12);
		*family = AF_INET;
		return 0;
	default:
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: an address must be of 4 or 16 bytes");
		return -EINVAL;
	}
}

static int rate_request_parse_flow(struct nlattr **tb, struct rate_key *key,
				   struct netlink_ext_ack *extack)
{
	u8 family;
	int err;

	key->kind = RATE_KEY_FLOW;
	if (!tb[RATE_FEEDBACK_A_PATH_SADDR] ||
	    !tb[RATE_FEEDBACK_A_PATH_DADDR] ||
	    !tb[RATE_FEEDBACK_A_PATH_SPORT] ||
	    !tb[RATE_FEEDBACK_A_PATH_DPORT] ||
	    tb[RATE_FEEDBACK_A_PATH_PREFIX_LEN]) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: a flow is named by all of saddr, daddr, sport and dport, and nothing else");
		return -EINVAL;
	}
	err = rate_request_parse_addr(tb[RATE_FEEDBACK_A_PATH_SADDR],
				      &key->saddr, &family, extack);
	if (!err)
		err = rate_request_parse_addr(tb[RATE_FEEDBACK_A_PATH_DADDR],
					      &key->daddr, &key->family,
					      extack);
	if (err)
		return err;
	key->sport = nla_get_be16(tb[RATE_FEEDBACK_A_PATH_SPORT]);
	key->dport = nla_get_be16(tb[RATE_FEEDBACK_A_PATH_DPORT]);
	if (family != key->family || !key->sport || !key->dport) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: saddr and daddr must be of one family, and no port 0");
		return -EINVAL;
	}
	return 0;
}

static int rate_request_parse_prefix(struct nlattr **tb, struct rate_key *key,
				     struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = tb[RATE_FEEDBACK_A_PATH_DADDR];
	const struct nlattr *given = tb[RATE_FEEDBACK_A_PATH_PREFIX_LEN];
	struct in6_addr prefix;
	u32 len, bits, mapped;
	int err;

	key->kind = RATE_KEY_PREFIX;
	err = rate_request_parse_addr(attr, &key->daddr, &key->family, extack);
	if (err)
		return err;
	bits = nla_len(attr) * BITS_PER_BYTE;
	mapped = key->family == AF_INET && bits == 128 ? 96 : 0;
	len = given ? nla_get_u32(given) : bits;
	if (len > bits || len < mapped) {
		NL_SET_ERR_MSG_ATTR(extack, given,
				    "rate_feedback: prefix-len must be 0 to 32 for IPv4, 0 to 128 for IPv6, and 96 to 128 for IPv4 in IPv6");
		return -ERANGE;
	}
	len -= mapped;
	key->prefix_len = len;
	ipv6_addr_prefix(&prefix, &key->daddr, len);
	if (!ipv6_addr_equal(&prefix, &key->daddr)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: the bits of daddr beyond prefix-len must be 0");
		return -EINVAL;
	}
	return 0;
}

static u64 rate_request_get_number(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(u64) ? nla_get_u64(attr) :
					      nla_get_u32(attr);
}

static int rate_request_check_ranges(struct nlattr **tb,
				     const struct rate_range *range,
				     struct netlink_ext_ack *extack)
{
	u64 value;

	for (; range->refusal; range++) {
		if (!tb[range->attr])
			continue;
		value = rate_request_get_number(tb[range->attr]);
		if (value >= range->min && value <= range->max)
			continue;
		if (extack)
			extack->_msg = range->refusal;
		NL_SET_BAD_ATTR(extack, tb[range->attr]);
		return -ERANGE;
	}
	return 0;
}

/**
 * rate_request_parse_key() - parse the name of a path
 * @tb: attributes
 * @key: set
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int rate_request_parse_key(struct nlattr **tb, struct rate_key *key,
			   struct netlink_ext_ack *extack)
{
	bool dev = tb[RATE_FEEDBACK_A_PATH_IFINDEX];
	bool flow = tb[RATE_FEEDBACK_A_PATH_SADDR] ||
		    tb[RATE_FEEDBACK_A_PATH_SPORT] ||
		    tb[RATE_FEEDBACK_A_PATH_DPORT];
	bool prefix = tb[RATE_FEEDBACK_A_PATH_DADDR];

	memset(key, 0, sizeof(*key));
	if (flow && !dev)
		return rate_request_parse_flow(tb, key, extack);
	if (prefix && !dev)
		return rate_request_parse_prefix(tb, key, extack);
	if (dev && !flow && !prefix && !tb[RATE_FEEDBACK_A_PATH_PREFIX_LEN]) {
		key->kind = RATE_KEY_DEV;
		key->ifindex = nla_get_u32(tb[RATE_FEEDBACK_A_PATH_IFINDEX]);
		return rate_request_check_ranges(tb, rate_key_ranges, extack);
	}
	NL_SET_ERR_MSG(extack,
		       "rate_feedback: a path is named by one of: ifindex; daddr and prefix-len; saddr, daddr, sport and dport");
	return -EINVAL;
}

/**
 * struct rate_spare - memory for a request, allocated before it is known to be needed
 * @path: a new path
 * @source: a new source
 * @ring: a larger ring for the history
 * @ring_size: size that @ring needs; 0: none is needed
 * @no_ring: there was no memory for @ring; do without it
 * @wants_path: @path is needed
 * @wants_source: @source is needed
 */
struct rate_spare {
	struct rate_path *path;
	struct rate_source *source;
	struct rate_ring *ring;
	u32 ring_size;
	bool no_ring;
	bool wants_path;
	bool wants_source;
};

/**
 * struct rate_request - a request to set a path
 * @tb: attributes
 * @now: ns; the same however often the request is checked
 * @settings: the settings that the path will have
 * @step: the step of its rate
 * @follow_net: namespace of the device to follow, with a reference; or NULL
 * @follow_ifindex: that device
 * @device_net: namespace of the device that @source belongs to; NULL: none
 * @device: that device
 * @source: the source that the path will have; NULL: it has the right one
 * @spare: memory
 */
struct rate_request {
	struct nlattr **tb;
	u64 now;
	struct rate_settings settings;
	struct rate_step step;
	struct rate_net *follow_net;
	u32 follow_ifindex;
	struct rate_net *device_net;
	u32 device;
	struct rate_source *source;
	struct rate_spare spare;
};

static bool rate_request_sets_value(struct nlattr **tb)
{
	return tb[RATE_FEEDBACK_A_PATH_RATE] ||
	       tb[RATE_FEEDBACK_A_PATH_MEANING] ||
	       tb[RATE_FEEDBACK_A_PATH_TIME] || tb[RATE_FEEDBACK_A_PATH_LAYER];
}

static u64 rate_request_setting(const struct nlattr *attr, u64 before)
{
	return attr ? rate_request_get_number(attr) : before;
}

static int rate_request_parse_settings(struct nlattr **tb,
				       struct rate_settings *settings,
				       struct netlink_ext_ack *extack)
{
	const struct nlattr *lag_time = tb[RATE_FEEDBACK_A_PATH_LAG_TIME];
	const struct nlattr *lag = tb[RATE_FEEDBACK_A_PATH_LAG];

	settings->lag = rate_request_setting(lag, settings->lag);
	settings->lag_time = rate_request_setting(lag_time, settings->lag_time);
	settings->age_limit =
		rate_request_setting(tb[RATE_FEEDBACK_A_PATH_AGE_LIMIT],
				     settings->age_limit);
	settings->base_rtt =
		rate_request_setting(tb[RATE_FEEDBACK_A_PATH_BASE_RTT],
				     settings->base_rtt);
	settings->beta = rate_request_setting(tb[RATE_FEEDBACK_A_PATH_BETA],
					      settings->beta);
	settings->rise = rate_request_setting(tb[RATE_FEEDBACK_A_PATH_RISE],
					      settings->rise);
	settings->swing = rate_request_setting(tb[RATE_FEEDBACK_A_PATH_SWING],
					       settings->swing);
	settings->pace = rate_request_setting(tb[RATE_FEEDBACK_A_PATH_PACE],
					      settings->pace);
	settings->phi = rate_request_setting(tb[RATE_FEEDBACK_A_PATH_PHI],
					     settings->phi);
	if (lag_time ? settings->lag != RATE_FEEDBACK_LAG_FIXED :
		       lag && settings->lag == RATE_FEEDBACK_LAG_FIXED) {
		NL_SET_ERR_MSG_ATTR(extack, lag_time ?: lag,
				    "rate_feedback: lag fixed and lag-time belong together");
		return -EINVAL;
	}
	return 0;
}

/* Compute the step of the rate; @old: the steps so far, or NULL. */
static int rate_request_parse_value(struct rate_request *request,
				    const struct rate_history *old,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *meaning = request->tb[RATE_FEEDBACK_A_PATH_MEANING];
	const struct nlattr *layer = request->tb[RATE_FEEDBACK_A_PATH_LAYER];
	const struct nlattr *time = request->tb[RATE_FEEDBACK_A_PATH_TIME];
	const struct nlattr *rate = request->tb[RATE_FEEDBACK_A_PATH_RATE];
	struct rate_step *step = &request->step;
	u64 now = request->now;

	if (!rate && (time || !old) && rate_request_sets_value(request->tb)) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: time, and meaning and layer of a path without a rate of its own, must come with rate");
		return -EINVAL;
	}
	if (old)
		*step = old->last;
	step->since = now;
	if (rate)
		step->rate = nla_get_u64(rate);
	if (meaning)
		step->meaning = nla_get_u32(meaning);
	if (layer)
		step->layer = nla_get_u32(layer);
	if (!time)
		return 0;
	step->since = nla_get_u64(time);
	if (step->since > now || (old && step->since < old->last.since)) {
		NL_SET_ERR_MSG_ATTR(extack, time,
				    "rate_feedback: time must not lie in the future, nor before the last change of the rate");
		return -ERANGE;
	}
	return 0;
}

static struct net *rate_request_follow_net(const struct sk_buff *skb,
					   const struct nlattr *fd,
					   struct net *own,
					   struct netlink_ext_ack *extack)
{
	struct net *net;

	if (!fd)
		return get_net(own);
	net = get_net_ns_by_fd(nla_get_u32(fd));
	if (IS_ERR(net)) {
		NL_SET_ERR_MSG_ATTR(extack, fd,
				    "rate_feedback: netns-fd must be a file descriptor of a network namespace");
		return net;
	}
	if (!netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(extack, fd,
				    "rate_feedback: following a path needs CAP_NET_ADMIN in its namespace, too");
		put_net(net);
		return ERR_PTR(-EPERM);
	}
	return net;
}

/* Sets follow_net, with a reference; rate_mutex is not held yet. */
static int rate_request_parse_follow(struct rate_request *request,
				     const struct sk_buff *skb,
				     struct genl_info *info)
{
	struct nlattr *attr = request->tb[RATE_FEEDBACK_A_PATH_FOLLOW];
	struct nlattr *tb[RATE_FEEDBACK_A_FOLLOW_MAX + 1];
	struct netlink_ext_ack *extack = info->extack;
	struct net *net;
	int err;

	if (!attr)
		return 0;
	if (rate_request_sets_value(request->tb)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: a path has a rate of its own or follows another, not both");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, RATE_FEEDBACK_A_FOLLOW_MAX, attr,
			       rate_follow_policy, extack);
	if (err)
		return err;
	if (!tb[RATE_FEEDBACK_A_FOLLOW_IFINDEX]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: follow needs the ifindex of a device");
		return -EINVAL;
	}
	err = rate_request_check_ranges(tb, rate_follow_ranges, extack);
	if (err)
		return err;
	net = rate_request_follow_net(skb, tb[RATE_FEEDBACK_A_FOLLOW_NETNS_FD],
				      genl_info_net(info), extack);
	if (IS_ERR(net))
		return PTR_ERR(net);
	request->follow_ifindex = nla_get_u32(tb[RATE_FEEDBACK_A_FOLLOW_IFINDEX]);
	request->follow_net = rate_net_get(rate_net(net));
	put_net(net);
	return 0;
}

/* Does any path follow the one with this name? */
static bool rate_request_is_followed(const struct rate_net *rn,
				     const struct rate_key *key)
{
	const struct rate_source *source;

	if (key->kind != RATE_KEY_DEV)
		return false;
	source = rate_device_find(rn, key->ifindex);
	return source && source->followers;
}

/* A path that is followed must not follow another one itself. */
static int rate_request_check_chain(const struct rate_request *request,
				    const struct rate_net *rn,
				    const struct rate_key *key,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = request->tb[RATE_FEEDBACK_A_PATH_FOLLOW];
	const struct rate_key device = {
		.kind = RATE_KEY_DEV,
		.ifindex = request->follow_ifindex,
	};
	const struct rate_path *leader;

	leader = rate_path_find(request->follow_net, &device);
	if (rn == request->follow_net && !memcmp(key, &device, sizeof(*key)))
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: a path cannot follow itself");
	else if (leader && rate_source_followed(leader, rate_path_source(leader)))
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: the path to follow follows another: follow that one");
	else if (rate_request_is_followed(rn, key))
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: a path that others follow cannot follow another");
	else
		return 0;
	return -ELOOP;
}

/* May another path follow a device of that namespace? */
static int rate_request_check_followers(const struct rate_request *request,
					const struct rate_path *path,
					struct netlink_ext_ack *extack)
{
	const struct rate_source *source = rate_path_source(path);
	const struct rate_net *rn = request->follow_net;

	if (rn->follower_count < READ_ONCE(rn->max_followers) ||
	    (rate_source_followed(path, source) && source->rn == rn))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, request->tb[RATE_FEEDBACK_A_PATH_FOLLOW],
			    "rate_feedback: as many paths follow devices of the namespace as its net.rate_feedback.max_followers allows");
	return -ENOSPC;
}

static int rate_request_check_follow(const struct rate_request *request,
				     const struct rate_net *rn,
				     const struct rate_key *key,
				     const struct rate_path *path,
				     struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = request->tb[RATE_FEEDBACK_A_PATH_FOLLOW];

	if (!attr)
		return 0;
	if (request->follow_net->dead) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: the namespace to follow is going");
		return -ENODEV;
	}
	if (!rate_device_is_there(request->follow_net->net,
				  request->follow_ifindex)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "rate_feedback: no device has the ifindex to follow");
		return -ENODEV;
	}
	return rate_request_check_chain(request, rn, key, extack) ?:
		       rate_request_check_followers(request, path, extack);
}

/* Check what a new path needs: a value, and its device. */
static int rate_request_check_new(const struct rate_request *request,
				  const struct rate_net *rn,
				  const struct rate_key *key,
				  struct netlink_ext_ack *extack)
{
	struct nlattr **tb = request->tb;

	if (!tb[RATE_FEEDBACK_A_PATH_RATE] && !tb[RATE_FEEDBACK_A_PATH_FOLLOW]) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: there is no such path, and a new one needs rate or follow");
		return -ENOENT;
	}
	if (key->kind == RATE_KEY_DEV &&
	    !rate_device_is_there(rn->net, key->ifindex)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[RATE_FEEDBACK_A_PATH_IFINDEX],
				    "rate_feedback: no device has this ifindex");
		return -ENODEV;
	}
	return rate_path_check_room(rn, extack);
}

/* Check everything that can be refused. */
static int rate_request_check(struct rate_request *request,
			      const struct rate_net *rn,
			      const struct rate_key *key,
			      const struct rate_path *path,
			      struct netlink_ext_ack *extack)
{
	const struct rate_source *source = rate_own_source(path);
	const struct rate_history *old = NULL;
	struct nlattr **tb = request->tb;
	int err;

	err = path ? 0 : rate_request_check_new(request, rn, key, extack);
	if (err)
		return err;
	if (rate_path_published(path) &&
	    (rate_request_sets_value(tb) || tb[RATE_FEEDBACK_A_PATH_FOLLOW])) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: a link publishes the rate of this path: it cannot be set");
		return -EBUSY;
	}
	/* a new path that follows has the default of one that a link publishes */
	request->settings = path ? path->settings :
		rate_default_settings(tb[RATE_FEEDBACK_A_PATH_FOLLOW] ?
				      RATE_FEEDBACK_LAG_RTT :
				      RATE_FEEDBACK_LAG_NOW);
	if (source && source->value.history.begun)
		old = &source->value.history;
	err = rate_request_parse_settings(tb, &request->settings, extack);
	if (!err)
		err = rate_request_parse_value(request, old, extack);
	return err ?: rate_request_check_follow(request, rn, key, path, extack);
}

/* Choose the source for the path; a new one if there is none yet. */
static void rate_request_choose_source(struct rate_request *request,
				       struct rate_net *rn,
				       const struct rate_key *key,
				       const struct rate_path *path)
{
	struct nlattr **tb = request->tb;

	request->source = NULL;
	request->device_net = NULL;
	if (tb[RATE_FEEDBACK_A_PATH_FOLLOW]) {
		request->device_net = request->follow_net;
		request->device = request->follow_ifindex;
	} else if (!tb[RATE_FEEDBACK_A_PATH_RATE] || rate_own_source(path)) {
		return;
	} else if (key->kind == RATE_KEY_DEV) {
		request->device_net = rn;
		request->device = key->ifindex;
	}
	if (request->device_net)
		request->source = rate_device_find(request->device_net,
						   request->device);
	if (!request->source) {
		request->spare.wants_source = true;
		request->source = request->spare.source;
	}
}

/* Does the history of the path need a larger ring? */
static void rate_request_choose_ring(struct rate_request *request,
				     const struct rate_path *path)
{
	struct rate_source *source = rate_own_source(path);
	struct rate_spare *spare = &request->spare;

	spare->ring_size = 0;
	if (source && rate_request_sets_value(request->tb) && !spare->no_ring)
		spare->ring_size =
			rate_source_wants(source,
					  rate_keep_ns(&request->settings));
}

static bool rate_request_spare_suffices(const struct rate_spare *spare)
{
	return (!spare->wants_path || spare->path) &&
	       (!spare->wants_source || spare->source) &&
	       (!spare->ring_size ||
		(spare->ring && spare->ring->size >= spare->ring_size));
}

/* Context: rate_mutex is not held. */
static int rate_request_spare_fill(struct rate_spare *spare,
				   struct rate_net *rn,
				   const struct rate_key *key)
{
	if (spare->wants_path && !spare->path)
		spare->path = rate_path_new(rn, key);
	if (spare->wants_source && !spare->source)
		spare->source = rate_source_new(GFP_KERNEL_ACCOUNT, rate_tell_work);
	if (spare->ring_size) {
		kfree(spare->ring);
		spare->ring = rate_ring_new(spare->ring_size,
					    GFP_KERNEL_ACCOUNT);
		spare->no_ring = !spare->ring;
		spare->ring_size = 0;
	}
	return rate_request_spare_suffices(spare) ? 0 : -ENOMEM;
}

static void rate_request_spare_free(const struct rate_spare *spare)
{
	rate_path_discard(spare->path);
	if (spare->source)
		rate_source_put(spare->source);
	kfree(spare->ring);
}

/* Return: true if any of them has changed. */
static bool rate_request_apply_settings(struct rate_path *path,
					const struct rate_settings *new)
{
	struct rate_source *source = rate_path_source(path);
	struct rate_settings *settings = &path->settings;
	bool changed = memcmp(settings, new, sizeof(*new));

	WRITE_ONCE(settings->lag, new->lag);
	WRITE_ONCE(settings->lag_time, new->lag_time);
	WRITE_ONCE(settings->age_limit, new->age_limit);
	WRITE_ONCE(settings->base_rtt, new->base_rtt);
	WRITE_ONCE(settings->beta, new->beta);
	WRITE_ONCE(settings->rise, new->rise);
	WRITE_ONCE(settings->swing, new->swing);
	WRITE_ONCE(settings->pace, new->pace);
	WRITE_ONCE(settings->phi, new->phi);
	if (source)
		rate_source_keep(source, rate_keep_ns(new));
	return changed;
}

/* Return: true if it has changed. */
static bool rate_request_apply_source(struct rate_path *path,
				      struct rate_request *request)
{
	struct rate_source *source = request->source;

	if (!source || source == rate_path_source(path))
		return false;
	if (source == request->spare.source && request->device_net)
		rate_device_add(request->device_net, request->device, source);
	rate_path_attach(path, source);
	return true;
}

/* There is no event for a rate that is merely renewed. */
static void rate_request_apply(struct rate_path *path,
			       struct rate_request *request, bool created)
{
	bool value = false, other = created;

	other |= rate_request_apply_settings(path, &request->settings);
	other |= rate_request_apply_source(path, request);
	if (rate_request_sets_value(request->tb)) {
		value = rate_source_set(rate_own_source(path), &request->step,
					request->spare.ring);
		request->spare.ring = NULL;
	}

	/* followers share the value, and have had an event when the path was new */
	if (value)
		rate_tell(rate_own_source(path));
	else if (other)
		rate_notify_path(path, RATE_FEEDBACK_CMD_PATH_NTF);
}

static int rate_request_set_locked(struct rate_net *rn,
				   const struct rate_key *key,
				   struct rate_request *request,
				   struct netlink_ext_ack *extack)
{
	struct rate_path *path = rate_path_find(rn, key);
	struct rate_spare *spare = &request->spare;
	bool created = !path;
	int err;

	err = rate_request_check(request, rn, key, path, extack);
	if (err)
		return err;
	spare->wants_path = created;
	spare->wants_source = false;
	rate_request_choose_source(request, rn, key, path);
	rate_request_choose_ring(request, path);
	if (!rate_request_spare_suffices(spare))
		return -EAGAIN;
	if (created) {
		path = spare->path;
		err = rate_path_insert(path, &request->settings);
		if (err) {
			NL_SET_ERR_MSG(extack,
				       "rate_feedback: no room for another path");
			return err;
		}
		spare->path = NULL;
	}
	rate_request_apply(path, request, created);
	return 0;
}

static int rate_request_set_path(struct rate_net *rn,
				 const struct rate_key *key,
				 struct rate_request *request,
				 struct netlink_ext_ack *extack)
{
	int err;

	for (;;) {
		mutex_lock(&rate_mutex);
		err = rate_request_set_locked(rn, key, request, extack);
		mutex_unlock(&rate_mutex);
		if (err != -EAGAIN)
			return err;
		err = rate_request_spare_fill(&request->spare, rn, key);
		if (err) {
			NL_SET_ERR_MSG(extack,
				       "rate_feedback: no memory for a path");
			return err;
		}
	}
}

/**
 * rate_request_set() - RATE_FEEDBACK_CMD_SET
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or an error, and then nothing has changed.
 */
int rate_request_set(struct sk_buff *skb, struct genl_info *info)
{
	struct rate_net *rn = rate_net(genl_info_net(info));
	struct rate_request request = { .tb = info->attrs };
	struct rate_key key;
	int err;

	err = rate_request_parse_key(info->attrs, &key, info->extack);
	if (!err)
		err = rate_request_check_ranges(info->attrs, rate_set_ranges,
						info->extack);
	if (!err)
		err = rate_request_parse_follow(&request, skb, info);
	if (err)
		return err;
	request.now = ktime_get_ns();
	err = rate_request_set_path(rn, &key, &request, info->extack);
	rate_request_spare_free(&request.spare);
	if (request.follow_net)
		rate_net_put(request.follow_net);
	return err;
}
