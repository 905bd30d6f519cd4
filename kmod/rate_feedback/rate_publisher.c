// SPDX-License-Identifier: GPL-2.0
/*
 * rate_publisher.c - kernel links that publish their rate
 */

#include <linux/export.h>
#include <linux/memcontrol.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "../compat.h"
#include "rate.h"
#include "rate_trace.h"

/**
 * struct rate_publisher - a link that publishes
 * @rn: the namespace of its device
 * @key: the path of its device
 * @source: the source of its device
 * @replaced: the value that the path had before
 * @followed: what the path followed before, with a reference; NULL: nothing
 * @payer: the control group that its memory is charged to, with a reference
 * @found: the path existed already
 * @published: it has published at least once
 */
struct rate_publisher {
	struct rate_net *rn;
	struct rate_key key;
	struct rate_source *source;
	struct rate_value replaced;
	struct rate_source *followed;
	struct mem_cgroup *payer;
	bool found;
	bool published;
};

/* Get a larger ring if one is needed, which is rare. */
static struct rate_ring *
rate_publisher_ring(const struct rate_publisher *publisher)
{
	u32 size = rate_source_wants(publisher->source, 0);
	struct mem_cgroup *old;
	struct rate_ring *ring;

	if (!size)
		return NULL;
	old = set_active_memcg(publisher->payer);
	ring = rate_ring_new(size, GFP_ATOMIC | __GFP_ACCOUNT);
	set_active_memcg(old);
	return ring;
}

static void rate_publisher_publish(struct rate_publisher *publisher, u64 since,
				   u64 rate, u8 layer, u32 flows)
{
	const struct rate_step step = {
		.since = since,
		.rate = rate,
		.flows = flows,
		.meaning = RATE_FEEDBACK_MEANING_LINK,
		.layer = layer,
	};
	struct rate_source *source = publisher->source;

	publisher->published = true;
	trace_rate_published(publisher->rn->net, publisher->key.ifindex, since,
			     rate, layer, flows);
	if (rate_source_set(source, &step, rate_publisher_ring(publisher)))
		rate_tell_later(source);
}

/* Remember what to restore if the link is not created after all. */
static void rate_publisher_remember(struct rate_publisher *publisher,
				    const struct rate_path *path)
{
	struct rate_source *source = rate_path_source(path);

	publisher->found = true;
	if (!rate_source_followed(path, source))
		return;
	publisher->followed = source;
	refcount_inc(&source->refs);
}

/* The link takes over the source of the device, with its followers. */
static void rate_publisher_fill(struct rate_publisher *publisher)
{
	struct rate_source *source;

	source = rate_device_find(publisher->rn, publisher->key.ifindex);
	if (source) {
		refcount_inc(&source->refs);
		rate_source_put(publisher->source);
		publisher->source = source;
	} else {
		rate_device_add(publisher->rn, publisher->key.ifindex,
				publisher->source);
	}
	publisher->replaced.published = true;
	rate_source_exchange(publisher->source, &publisher->replaced);
}

/* The link takes over the path of the device, with its settings. */
static int rate_publisher_take(struct rate_publisher *publisher,
			       struct rate_path **spare,
			       struct netlink_ext_ack *extack)
{
	const struct rate_settings settings =
		rate_default_settings(RATE_FEEDBACK_LAG_RTT);
	struct rate_path *path;
	int err;

	path = rate_path_find(publisher->rn, &publisher->key);
	if (rate_path_published(path)) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: another link publishes the rate of this device");
		return -EBUSY;
	}
	if (path) {
		rate_publisher_remember(publisher, path);
	} else {
		path = *spare;
		err = rate_path_check_room(publisher->rn, extack) ?:
		      rate_path_insert(path, &settings);
		if (err)
			return err;
		*spare = NULL;
	}
	rate_publisher_fill(publisher);
	rate_path_attach(path, publisher->source);
	rate_tell(publisher->source);
	return 0;
}

static int rate_publisher_begin(struct rate_publisher *publisher,
				const struct net_device *dev,
				struct netlink_ext_ack *extack)
{
	struct rate_net *rn = rate_net(dev_net(dev));
	struct rate_path *spare;
	int err;

	publisher->key.kind = RATE_KEY_DEV;
	publisher->key.ifindex = dev->ifindex;
	publisher->source = rate_source_new(GFP_KERNEL_ACCOUNT, rate_tell_work);
	if (!publisher->source)
		return -ENOMEM;
	spare = rate_path_new(rn, &publisher->key);
	if (!spare) {
		rate_source_put(publisher->source);
		return -ENOMEM;
	}
	publisher->rn = rate_net_get(rn);

	mutex_lock(&rate_mutex);
	err = rn->dead ? -ENODEV :
	      rate_publisher_take(publisher, &spare, extack);
	mutex_unlock(&rate_mutex);
	rate_path_discard(spare);
	if (err) {
		rate_net_put(rn);
		rate_source_put(publisher->source);
	}
	return err;
}

static struct rate_publisher *
rate_publisher_open(const struct net_device *dev,
		    struct netlink_ext_ack *extack)
{
	struct rate_publisher *publisher;
	int err = -ENOMEM;

	publisher = kzalloc_obj(*publisher, GFP_KERNEL_ACCOUNT);
	if (publisher)
		err = rate_publisher_begin(publisher, dev, extack);
	if (!err) {
		publisher->payer = get_mem_cgroup_from_mm(current->mm);
		return publisher;
	}
	if (err == -ENOMEM || err == -ENODEV)
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: no memory for a path, or the namespace is going");
	kfree(publisher);
	return ERR_PTR(err);
}

/* Can the path again follow what it followed before? */
static bool rate_publisher_may_follow(const struct rate_publisher *publisher)
{
	return publisher->followed && !publisher->followed->gone &&
	       !publisher->source->followers;
}

/* The link was refused in the end: restore the path. */
static void rate_publisher_give_back(struct rate_publisher *publisher,
				     struct rate_path *path)
{
	rate_source_exchange(publisher->source, &publisher->replaced);
	if (rate_publisher_may_follow(publisher)) {
		rate_path_attach(path, publisher->followed);
		rate_notify_path(path, RATE_FEEDBACK_CMD_PATH_NTF);
	} else {
		rate_tell(publisher->source);
	}
}

static void rate_publisher_trace_end(const struct rate_publisher *publisher)
{
	if (trace_rate_published_enabled())
		trace_rate_published(publisher->rn->net, publisher->key.ifindex,
				     ktime_get_ns(), RATE_FEEDBACK_UNLIMITED,
				     RATE_FEEDBACK_LAYER_IP, 0);
}

static void rate_publisher_close(struct rate_publisher *publisher)
{
	struct rate_path *path;

	mutex_lock(&rate_mutex);
	if (!publisher->rn->dead) {
		path = rate_path_find(publisher->rn, &publisher->key);
		if (publisher->published)
			rate_publisher_trace_end(publisher);
		if (publisher->found && !publisher->published &&
		    !publisher->source->gone)
			rate_publisher_give_back(publisher, path);
		else
			rate_path_delete(path);
	}
	mutex_unlock(&rate_mutex);
	rate_value_free(&publisher->replaced);
	if (publisher->followed)
		rate_source_put(publisher->followed);
	rate_net_put(publisher->rn);
	rate_source_put(publisher->source);
	mem_cgroup_put(publisher->payer);
	kfree(publisher);
}

static u64 rate_publisher_rate(const struct net *net, u32 ifindex, u64 now,
			       bool share)
{
	const struct rate_key key = {
		.kind = RATE_KEY_DEV, .ifindex = ifindex
	};
	const struct rate_path *path = NULL;
	u64 rate = RATE_FEEDBACK_UNLIMITED;
	struct rate_net *rn;

	rcu_read_lock();
	rn = rate_net(net);
	if (rn && !READ_ONCE(rn->dead))
		path = rate_path_find(rn, &key);
	if (path)
		rate = rate_path_rate(path, now, share);
	rcu_read_unlock();
	return rate;
}

const struct rate_feedback_publisher_ops rate_feedback_publisher_ops = {
	.open = rate_publisher_open,
	.publish = rate_publisher_publish,
	.close = rate_publisher_close,
	.rate = rate_publisher_rate,
};
EXPORT_SYMBOL_GPL(rate_feedback_publisher_ops);
