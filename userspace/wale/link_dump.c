// SPDX-License-Identifier: GPL-2.0
/*
 * link_dump.c - a wale qdisc, out of a message of the kernel
 */
#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "link.h"

static void read_stats(struct link_stats *stats, const struct nlattr *stats2)
{
	const struct nlattr *app;

	app = nla_find(nla_data(stats2), nla_len(stats2), TCA_STATS_APP);
	if (app)
		link_stats_decode(stats, nla_data(app), nla_len(app));
}

bool link_qdisc_read(const struct nlmsghdr *message, struct link_qdisc *q)
{
	const struct tcmsg *tc = nlmsg_data(message);
	const struct nlattr *kind, *options, *stats;

	if (message->nlmsg_type != RTM_NEWQDISC)
		return false;
	kind = nlmsg_find_attr((struct nlmsghdr *)message, sizeof(*tc),
			       TCA_KIND);
	if (!kind || nla_strcmp(kind, "wale"))
		return false;
	options = nlmsg_find_attr((struct nlmsghdr *)message, sizeof(*tc),
				  TCA_OPTIONS);
	stats = nlmsg_find_attr((struct nlmsghdr *)message, sizeof(*tc),
				TCA_STATS2);

	memset(q, 0, sizeof(*q));
	q->ifindex = tc->tcm_ifindex;
	q->parent = tc->tcm_parent;
	q->handle = tc->tcm_handle;
	if (options) {
		q->options = nla_data(options);
		q->options_length = nla_len(options);
	}
	if (stats)
		read_stats(&q->stats, stats);
	return true;
}
