// SPDX-License-Identifier: GPL-2.0
/*
 * rate_net.c - the state of the channel: for each network namespace, and global
 */

#include <linux/slab.h>
#include <net/netns/generic.h>

#include "../compat.h"
#include "rate.h"

DEFINE_MUTEX(rate_mutex);	/* see rate.h */
struct workqueue_struct *rate_workqueue;

unsigned int rate_net_id __read_mostly;

/**
 * rate_net() - the state of the channel in a namespace
 * @net: the namespace
 *
 * Return: the state; or NULL, under RCU, if the namespace is gone.
 */
struct rate_net *rate_net(const struct net *net)
{
	struct rate_net_slot *slot = net_generic(net, rate_net_id);

	return READ_ONCE(slot->rn);
}

/**
 * rate_net_get() - take a reference
 * @rn: the namespace, which may be dead
 *
 * Return: @rn.
 */
struct rate_net *rate_net_get(struct rate_net *rn)
{
	refcount_inc(&rn->refs);
	return rn;
}

/**
 * rate_net_put() - drop a reference
 * @rn: the namespace
 *
 * Kernel sockets may outlive the rest of this module's state in their namespace:
 * their flows keep only this structure alive.
 */
void rate_net_put(struct rate_net *rn)
{
	if (!refcount_dec_and_test(&rn->refs))
		return;
	xa_destroy(&rn->flows);
	kfree_rcu(rn, rcu);
}
