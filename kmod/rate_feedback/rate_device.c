// SPDX-License-Identifier: GPL-2.0
/*
 * rate_device.c - values of devices, which the paths of any namespace may follow
 *
 * A device has one source, and all paths that follow the device use it too.  So a
 * change of its value is made once, however many paths there are; only listeners for
 * events have to be told about each path (rate_tell.c):
 *
 *	path "dev r0" in R ---+
 *	path "dev a0" in A ---+--> source of r0 ---> value
 *	path "10.0.0.0/8" ----+
 */

#include <linux/netdevice.h>
#include <linux/rbtree.h>

#include "rate.h"

static int rate_device_compare(const void *key, const struct rb_node *node)
{
	u32 ifindex = *(const u32 *)key;
	u32 other = rb_entry(node, struct rate_source, node)->ifindex;

	return ifindex < other ? -1 : ifindex > other;
}

/**
 * rate_device_find() - the source of a device
 * @rn: its namespace
 * @ifindex: the device
 *
 * Context: rate_mutex is held.
 * Return: the source; NULL: it has no path of its own, and none follows it.
 */
struct rate_source *rate_device_find(const struct rate_net *rn, u32 ifindex)
{
	struct rb_node *node = rb_find(&ifindex, &rn->devices,
				       rate_device_compare);

	return node ? rb_entry(node, struct rate_source, node) : NULL;
}

static bool rate_device_less(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct rate_source, node)->ifindex <
	       rb_entry(other, struct rate_source, node)->ifindex;
}

/**
 * rate_device_add() - a device gets a source
 * @rn: its namespace
 * @ifindex: the device, which has none
 * @source: a new source, about to be attached to a path
 *
 * Context: rate_mutex is held.
 */
void rate_device_add(struct rate_net *rn, u32 ifindex,
		     struct rate_source *source)
{
	source->rn = rate_net_get(rn);
	source->ifindex = ifindex;
	rb_add(&source->node, &rn->devices, rate_device_less);
}

/**
 * rate_device_del() - a device loses its source
 * @source: the source, whose device is not gone
 *
 * Context: rate_mutex is held.
 */
void rate_device_del(struct rate_source *source)
{
	rb_erase(&source->node, &source->rn->devices);
}

/**
 * rate_device_is_there() - is there such a device?
 * @net: the namespace
 * @ifindex: the device
 *
 * If it is being deleted right now, it was found before it left the list, and the
 * notifier is waiting for rate_mutex to delete its path and its source.
 *
 * Context: rate_mutex is held.
 * Return: true if there is.
 */
bool rate_device_is_there(struct net *net, u32 ifindex)
{
	bool there;

	rcu_read_lock();
	there = dev_get_by_index_rcu(net, ifindex);
	rcu_read_unlock();
	return there;
}
