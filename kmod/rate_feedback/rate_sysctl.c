// SPDX-License-Identifier: GPL-2.0
/*
 * rate_sysctl.c - limits of a network namespace
 *
 *	net.rate_feedback.max_paths	paths
 *	net.rate_feedback.max_followers	paths, anywhere, that follow its devices
 *
 * Each namespace has its own limits, and begins with those of the initial one.
 * Anyone who may configure a namespace may lower them; raising one above that of the
 * initial namespace takes CAP_NET_ADMIN in the initial user namespace.
 */

#include <linux/capability.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "../compat.h"
#include "rate.h"

#define RATE_SYSCTLS	2

/* More than the connections of a machine, each with a path of its own. */
#define RATE_LIMIT_DEFAULT	BIT(20)

static int rate_sysctl_limit(wale_compat_ctl_table *table, int write,
			     void *buffer, size_t *lenp, loff_t *ppos)
{
	const unsigned int *initial = table->extra1;
	unsigned int *limit = table->data;
	unsigned int value = READ_ONCE(*limit);
	struct ctl_table copy = *table;
	int err;

	copy.data = &value;
	err = proc_douintvec(&copy, write, buffer, lenp, ppos);
	if (err || !write)
		return err;
	if (value > INT_MAX)
		return -EINVAL;
	if (value > READ_ONCE(*limit) && value > READ_ONCE(*initial) &&
	    !capable(CAP_NET_ADMIN))
		return -EPERM;
	WRITE_ONCE(*limit, value);
	return 0;
}

static void rate_sysctl_set(struct ctl_table *entry, const char *name,
			    unsigned int *limit, unsigned int *initial)
{
	*limit = limit == initial ? RATE_LIMIT_DEFAULT : READ_ONCE(*initial);
	*entry = (struct ctl_table) {
		.procname = name,
		.data = limit,
		.maxlen = sizeof(*limit),
		.mode = 0644,
		.proc_handler = rate_sysctl_limit,
		.extra1 = initial,
	};
}

/**
 * rate_sysctl_init() - register the limits of a new namespace
 * @rn: the namespace
 *
 * Return: 0 or -ENOMEM.
 */
int rate_sysctl_init(struct rate_net *rn)
{
	/* the initial namespace is set up first, and torn down last */
	struct rate_net *initial = rate_net(&init_net) ?: rn;
	struct ctl_table *table;

	/* the last entry ends the table */
	table = kcalloc(RATE_SYSCTLS + 1, sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	rate_sysctl_set(&table[0], "max_paths", &rn->max_paths,
			&initial->max_paths);
	rate_sysctl_set(&table[1], "max_followers", &rn->max_followers,
			&initial->max_followers);
	rn->sysctl = register_net_sysctl_sz(rn->net, "net/rate_feedback",
					    table, RATE_SYSCTLS);
	if (!rn->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * rate_sysctl_exit() - unregister the limits of a namespace
 * @rn: the namespace
 */
void rate_sysctl_exit(struct rate_net *rn)
{
	const struct ctl_table *table = rn->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(rn->sysctl);
	kfree(table);
}
