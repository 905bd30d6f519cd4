// SPDX-License-Identifier: GPL-2.0
/*
 * rate_net.c - what the channel has in a network namespace, and what it has once
 */

#include <linux/slab.h>
#include <net/netns/generic.h>

#include "../compat.h"
#include "rate.h"

DEFINE_MUTEX(rate_mutex);	/* see rate.h */
struct workqueue_struct *rate_workqueue;

unsigned int rate_net_id __read_mostly;

/**
 * rate_net() - what the channel has in a namespace
 * @net: the namespace
 *
 * Return: it; or NULL, under RCU, of a namespace that is gone.
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
 * Return: it.
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
 * Sockets of the kernel's own may outlive what this module has in their
 * namespace: their flows keep this, and nothing else.
 */
void rate_net_put(struct rate_net *rn)
{
	if (!refcount_dec_and_test(&rn->refs))
		return;
	xa_destroy(&rn->flows);
	kfree_rcu(rn, rcu);
}
