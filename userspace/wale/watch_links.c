// SPDX-License-Identifier: GPL-2.0
/*
 * watch_links.c - samples the statistics of every wale qdisc
 */
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "watch.h"

struct watch_device {
	int ifindex;
	char name[IF_NAMESIZE];
};

/* Statistics, in the order of their columns, from the third column on. */
static const int fields[] = {
	TCA_WALE_STATS_OFFERED_PACKETS,
	TCA_WALE_STATS_OFFERED_BYTES,
	TCA_WALE_STATS_SENT_PACKETS,
	TCA_WALE_STATS_SENT_BYTES,
	TCA_WALE_STATS_DROPPED_BUFFER_PACKETS,
	TCA_WALE_STATS_DROPPED_LOSS_PACKETS,
	TCA_WALE_STATS_DROPPED_MEMORY_PACKETS,
	TCA_WALE_STATS_DROPPED_PURGE_PACKETS,
	TCA_WALE_STATS_BACKLOG_PACKETS,
	TCA_WALE_STATS_BACKLOG_BYTES,
	TCA_WALE_STATS_PEAK_BACKLOG_PACKETS,
	TCA_WALE_STATS_PEAK_BACKLOG_BYTES,
	TCA_WALE_STATS_LINE_PACKETS,
	TCA_WALE_STATS_LINE_BYTES,
	TCA_WALE_STATS_RATE,
	TCA_WALE_STATS_SESSIONS,
	TCA_WALE_STATS_DROPPED_EARLY_PACKETS,
	TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS,
	TCA_WALE_STATS_MARKED_PACKETS,
	TCA_WALE_STATS_BACKLOG_CELLS,
	TCA_WALE_STATS_WASTED_CELLS,
	TCA_WALE_STATS_DUPLICATED_PACKETS,
	TCA_WALE_STATS_DUPLICATED_BYTES,
	TCA_WALE_STATS_CORRUPTED_PACKETS,
	TCA_WALE_STATS_REORDERED_PACKETS,
	TCA_WALE_STATS_DROPPED_CHILD_PACKETS,
	TCA_WALE_STATS_DROPPED_LINE_PACKETS,
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

_Static_assert(N_FIELDS + 2 == WATCH_LINK_COLUMNS, "a column for each field");

const char *const *watch_link_columns(void)
{
	static const char *columns[WATCH_LINK_COLUMNS] = { "t_ns", "link" };
	size_t i;

	for (i = 0; i < N_FIELDS; i++)
		columns[i + 2] = fields[i] == TCA_WALE_STATS_RATE
					 ? "rate_Bps"
					 : link_stats_name(fields[i]);
	return columns;
}

/* The name is looked up once; NULL if the device is gone. */
static const char *device_name(struct watch_links *w, int ifindex)
{
	struct watch_device *d;
	char name[IF_NAMESIZE];
	size_t i;

	for (i = 0; i < w->n_devices; i++)
		if (w->devices[i].ifindex == ifindex)
			return w->devices[i].name;

	if (!if_indextoname(ifindex, name))
		return NULL;
	d = realloc(w->devices, (w->n_devices + 1) * sizeof(*d));
	if (!d)
		return NULL;
	w->devices = d;
	d += w->n_devices++;
	d->ifindex = ifindex;
	memcpy(d->name, name, sizeof(d->name));
	return d->name;
}

static bool wanted(const struct watch_links *w, int ifindex)
{
	size_t i;

	for (i = 0; i < w->n_only; i++)
		if (w->only[i] == ifindex)
			return true;
	return !w->n_only;
}

static bool has_policy(const struct link_qdisc *q)
{
	const struct nlattr *policy =
		nla_find(q->options, (int)q->options_length, TCA_WALE_POLICY);

	return policy && nla_get_u32(policy) != WALE_POLICY_TAIL;
}

/* The kernel counts for every link what only a policy, or cells, can make. */
static bool can_be(const struct link_qdisc *q, int field)
{
	switch (field) {
	case TCA_WALE_STATS_DROPPED_EARLY_PACKETS:
	case TCA_WALE_STATS_MARKED_PACKETS:
		return q->stats.value[field] || has_policy(q);
	case TCA_WALE_STATS_DROPPED_PARTIAL_PACKETS:
		return q->stats.value[field] ||
		       q->stats.known[TCA_WALE_STATS_BACKLOG_CELLS];
	default:
		return true;
	}
}

static struct watch_value field_value(const struct link_qdisc *q, int field)
{
	struct watch_value v = { .number = q->stats.value[field] };

	if (!q->stats.known[field] || !can_be(q, field))
		v.kind = WATCH_NONE;
	else if (field == TCA_WALE_STATS_RATE &&
		 v.number == WALE_RATE_UNLIMITED)
		v.kind = WATCH_INFINITE;
	else
		v.kind = WATCH_NUMBER;
	return v;
}

static void sample_one(const struct nlmsghdr *message, void *arg)
{
	struct watch_value row[WATCH_LINK_COLUMNS];
	char link[IF_NAMESIZE + 16];
	struct watch_links *w = arg;
	struct link_qdisc q;
	const char *name;
	size_t i;

	if (!link_qdisc_read(message, &q) || !wanted(w, q.ifindex))
		return;
	name = device_name(w, q.ifindex);
	if (!name)
		return;
	if (q.parent == TC_H_ROOT)
		snprintf(link, sizeof(link), "%s", name);
	else
		snprintf(link, sizeof(link), "%s/%x:%x", name,
			 TC_H_MAJ(q.parent) >> 16, TC_H_MIN(q.parent));

	row[0] = (struct watch_value){ WATCH_NUMBER, w->t_ns, NULL };
	row[1] = (struct watch_value){ WATCH_TEXT, 0, link };
	for (i = 0; i < N_FIELDS; i++)
		row[i + 2] = field_value(&q, fields[i]);
	watch_row(&w->out, row);
}

int watch_links_sample(struct watch_links *w, uint64_t t_ns)
{
	w->t_ns = t_ns;
	return rtnl_dump(&w->rtnl, rtnl_tc_message(RTM_GETQDISC, 0, 0, 0, 0),
			 sample_one, w);
}
