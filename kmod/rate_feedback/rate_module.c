// SPDX-License-Identifier: GPL-2.0
/*
 * rate_feedback - the channel: who may send how fast on which path
 *
 *	sch_wale (feedback) --+                     +-- tcp_ratcp: each ACK
 *	                      +--> paths, values ---+
 *	netlink (wale rate) --+                     +-- netlink: dumps, events
 *
 * After the rate feedback of A. Karnik and A. Kumar, "Performance of TCP
 * Congestion Control With Explicit Rate Feedback", IEEE/ACM Transactions on
 * Networking 13(1), 2005, where a system call hands the sender its fair rate,
 * delayed by a round trip.  The interface is that of
 * Documentation/netlink/specs/rate_feedback.yaml.
 *
 * Everything belongs to a network namespace and disappears with it.  Advice is only
 * advice: this module limits nobody.
 *
 * This file handles namespaces, devices and the module coming and going.
 */

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "../compat.h"
#include "rate.h"

/*
 * Delete its paths, some at a time, so that other namespaces being deleted and modules
 * being loaded do not wait for all of them.
 */
static void rate_module_clear(struct work_struct *work)
{
	struct rate_net *rn = container_of(work, struct rate_net, clear);
	bool more;

	mutex_lock(&rate_mutex);
	more = rate_table_clear(rn);
	mutex_unlock(&rate_mutex);
	if (more) {
		queue_work(rate_workqueue, &rn->clear);
		return;
	}
	rate_table_destroy(rn);
	rate_net_put(rn);
}

static int __net_init rate_module_net_init(struct net *net)
{
	struct rate_net_slot *slot = net_generic(net, rate_net_id);
	struct rate_net *rn = kzalloc_obj(*rn, GFP_KERNEL_ACCOUNT);
	int err;

	if (!rn)
		return -ENOMEM;
	rn->net = net;
	refcount_set(&rn->refs, 1);
	xa_init_flags(&rn->flows, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH |
				  XA_FLAGS_ACCOUNT);
	INIT_DELAYED_WORK(&rn->idle, rate_flow_find_idle);
	INIT_WORK(&rn->clear, rate_module_clear);
	err = rate_table_init(rn);
	if (err)
		goto out_free;
	err = rate_sysctl_init(rn);
	if (err)
		goto out_table;
	slot->rn = rn;
	return 0;

out_table:
	rate_table_destroy(rn);
out_free:
	kfree(rn);
	return err;
}

/* There is an RCU grace period between this and the exit. */
static void __net_exit rate_module_net_pre_exit(struct net *net)
{
	struct rate_net *rn = rate_net(net);

	mutex_lock(&rate_mutex);
	WRITE_ONCE(rn->dead, true);
	mutex_unlock(&rate_mutex);
}

/* Its devices are gone already, and since then nobody follows them. */
static void __net_exit rate_module_net_exit(struct net *net)
{
	struct rate_net_slot *slot = net_generic(net, rate_net_id);
	struct rate_net *rn = slot->rn;

	/* nobody starts it any more: they check dead under RCU */
	cancel_delayed_work_sync(&rn->idle);
	rate_sysctl_exit(rn);
	WRITE_ONCE(slot->rn, NULL);
	queue_work(rate_workqueue, &rn->clear);
}

static struct pernet_operations rate_module_net_ops = {
	.init		= rate_module_net_init,
	.pre_exit	= rate_module_net_pre_exit,
	.exit		= rate_module_net_exit,
	.id		= &rate_net_id,
	.size		= sizeof(struct rate_net_slot),
};

/*
 * A device is deleted, and its path and value with it.  The path of a link that publishes
 * is deleted with the link.
 */
static void rate_module_device_goes(struct rate_net *rn, u32 ifindex)
{
	const struct rate_key key = { .kind = RATE_KEY_DEV, .ifindex = ifindex };
	struct rate_path *path = rate_path_find(rn, &key);
	struct rate_source *source;

	if (path && !rate_path_published(path))
		rate_path_remove(path);
	source = rate_device_find(rn, ifindex);
	if (!source)
		return;
	rate_device_del(source);
	WRITE_ONCE(source->gone, true);
	rn->follower_count -= source->followers;
	if (source->value.published)
		rate_tell(source);
	else
		rate_tell_withdrawn(source);
}

/* An ifindex can be used again, so a device's path is deleted with the device. */
static int rate_module_netdev_event(struct notifier_block *nb, unsigned long event,
				    void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	mutex_lock(&rate_mutex);
	rate_module_device_goes(rate_net(dev_net(dev)), dev->ifindex);
	mutex_unlock(&rate_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block rate_module_netdev_notifier = {
	.notifier_call = rate_module_netdev_event,
};

/* Clean up after deleted namespaces: first their paths, then the memory. */
static void rate_module_last(void)
{
	destroy_workqueue(rate_workqueue);
	rcu_barrier();
	rate_flow_exit();
}

static int __init rate_feedback_init(void)
{
	int err;

	/* one at a time: all of its work takes rate_mutex */
	rate_workqueue = alloc_ordered_workqueue("rate_feedback", 0);
	if (!rate_workqueue)
		return -ENOMEM;
	err = rate_flow_init();
	if (err)
		goto out_workqueue;
	err = register_pernet_subsys(&rate_module_net_ops);
	if (err)
		goto out_workqueue;
	err = rate_netlink_init();
	if (err)
		goto out_pernet;
	err = register_netdevice_notifier(&rate_module_netdev_notifier);
	if (err)
		goto out_netlink;
	return 0;

out_netlink:
	rate_netlink_exit();
out_pernet:
	unregister_pernet_subsys(&rate_module_net_ops);
out_workqueue:
	rate_module_last();
	return err;
}

static void __exit rate_feedback_exit(void)
{
	unregister_netdevice_notifier(&rate_module_netdev_notifier);
	flush_workqueue(rate_workqueue);	/* the last events have been sent */
	rate_netlink_exit();
	unregister_pernet_subsys(&rate_module_net_ops);
	rate_module_last();
}

module_init(rate_feedback_init);
module_exit(rate_feedback_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(WALE_VERSION);
MODULE_DESCRIPTION("Rate advice for senders: the channel between links and congestion controls");
