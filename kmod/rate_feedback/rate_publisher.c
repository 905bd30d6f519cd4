// SPDX-License-Identifier: GPL-2.0
/*
 * rate_publisher.c - links of the kernel that publish their rate
 */

#include <linux/export.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/slab.h>

#include "../compat.h"
#include "rate.h"

/**
 * struct rate_publisher - a link that publishes
 * @rn: the namespace of its device
 * @key: the path of its device
 * @source: its rate
 * @replaced: the value that the path had before, with a reference; NULL: none
 * @follow_net: with a reference, if it followed a path there
 * @follow_ifindex: whose it was; 0: it did not follow
 * @found: there was such a path
 * @published: once or more
 */
struct rate_publisher {
	struct rate_net *rn;
	struct rate_key key;
	struct rate_source *source;
	struct rate_source *replaced;
	struct rate_net *follow_net;
	u32 follow_ifindex;
	bool found;
	bool published;
};

/**
 * rate_publisher_notify() - tell those who look that a link's rate changed
 * @work: of the source
 */
void rate_publisher_notify(struct work_struct *work)
{
	struct rate_source *source = container_of(work, struct rate_source,
						  notify);

	mutex_lock(&rate_mutex);
	rate_notify_source(source, GFP_KERNEL);
	mutex_unlock(&rate_mutex);
	rate_source_put(source);
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
	if (!rate_source_set(source, &step, GFP_ATOMIC))
		return;
	refcount_inc(&source->refs);
	if (!queue_work(rate_workqueue, &source->notify))
		rate_source_put(source);	/* pending, with its own */
}

/* What the path is to have again if the link is not made. */
static void rate_publisher_remember(struct rate_publisher *publisher,
				    const struct rate_path *path)
{
	publisher->found = true;
	publisher->replaced = rate_own_source(path);
	if (publisher->replaced)
		refcount_inc(&publisher->replaced->refs);
	publisher->follow_ifindex = path->follow_ifindex;
	if (path->follow_ifindex)
		publisher->follow_net = rate_net_get(path->follow_net);
}

/* The path of the device becomes the link's; its settings stay. */
static int rate_publisher_take(struct rate_publisher *publisher,
			       struct netlink_ext_ack *extack)
{
	const struct rate_settings settings =
		rate_default_settings(RATE_FEEDBACK_LAG_RTT);
	struct rate_path *path;

	path = rate_path_find(publisher->rn, &publisher->key);
	if (path && rate_path_published(path)) {
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: another link publishes the rate of this device");
		return -EBUSY;
	}
	if (path) {
		rate_publisher_remember(publisher, path);
		if (path->follow_ifindex)
			rate_path_leave(path);
	} else {
		path = rate_path_create(publisher->rn, &publisher->key,
					&settings);
		if (IS_ERR(path))
			return PTR_ERR(path);
	}
	rate_path_attach(path, publisher->source);
	rate_notify_path(path, RATE_FEEDBACK_CMD_PATH_NTF, GFP_KERNEL);
	return 0;
}

static struct rate_publisher *
rate_publisher_open(const struct net_device *dev,
		    struct netlink_ext_ack *extack)
{
	struct rate_publisher *publisher;
	int err = -ENOMEM;

	publisher = kzalloc_obj(*publisher, GFP_KERNEL);
	if (!publisher)
		goto out;
	publisher->source = rate_source_new(GFP_KERNEL);
	if (!publisher->source)
		goto out;
	publisher->source->published = true;
	publisher->key.kind = RATE_KEY_DEV;
	publisher->key.ifindex = dev->ifindex;
	publisher->rn = rate_net_get(rate_net(dev_net(dev)));

	mutex_lock(&rate_mutex);
	err = publisher->rn->dead ? -ENODEV :
	      rate_publisher_take(publisher, extack);
	mutex_unlock(&rate_mutex);
	if (!err)
		return publisher;
	rate_net_put(publisher->rn);
	rate_source_put(publisher->source);
out:
	if (err != -EBUSY)
		NL_SET_ERR_MSG(extack,
			       "rate_feedback: no memory for a path, or the namespace is going");
	kfree(publisher);
	return ERR_PTR(err);
}

/* The link was refused in the end: the path is as it was. */
static void rate_publisher_give_back(const struct rate_publisher *publisher,
				     struct rate_path *path)
{
	if (publisher->follow_ifindex && !publisher->follow_net->dead &&
	    rate_device_is_there(publisher->follow_net->net,
				 publisher->follow_ifindex) &&
	    !rate_key_followed(publisher->rn, &publisher->key))
		rate_path_follow(path, publisher->follow_net,
				 publisher->follow_ifindex);
	else
		rate_path_attach(path, publisher->replaced);
	rate_notify_path(path, RATE_FEEDBACK_CMD_PATH_NTF, GFP_KERNEL);
}

static void rate_publisher_close(struct rate_publisher *publisher)
{
	struct rate_path *path;

	mutex_lock(&rate_mutex);
	if (!publisher->rn->dead) {
		path = rate_path_find(publisher->rn, &publisher->key);
		if (publisher->found && !publisher->published)
			rate_publisher_give_back(publisher, path);
		else
			rate_path_delete(path);
	}
	mutex_unlock(&rate_mutex);
	if (publisher->replaced)
		rate_source_put(publisher->replaced);
	if (publisher->follow_net)
		rate_net_put(publisher->follow_net);
	rate_net_put(publisher->rn);
	rate_source_put(publisher->source);
	kfree(publisher);
}

const struct rate_publisher_ops rate_publisher_ops = {
	.open = rate_publisher_open,
	.publish = rate_publisher_publish,
	.close = rate_publisher_close,
};
EXPORT_SYMBOL_GPL(rate_publisher_ops);
