/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_impair.h - the part of a request that is about impairments
 *
 * wale_netlink.c takes it through the same steps as the rest.
 */
#ifndef _WALE_NETLINK_IMPAIR_H
#define _WALE_NETLINK_IMPAIR_H

#include "wale_impair.h"

struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct wale_sched_data;

/**
 * struct wale_impair_request - what a request makes of the impairments
 * @given: it says something of them
 * @loss_begins: the model of losses starts
 * @params: as they will be
 * @table_given: the distribution of jitter changes
 * @table_name: what it is called, or NULL
 * @table: that distribution, or the one that it replaced; NULL: uniform
 * @impair: new, for a link that had none, or NULL
 */
struct wale_impair_request {
	bool given;
	bool loss_begins;
	struct wale_impair_params params;
	bool table_given;
	struct wale_jitter_table *table;
	const struct nlattr *table_name;
	struct wale_impair *impair;
};

int wale_netlink_impair_parse(const struct wale_sched_data *q,
			      struct wale_impair_request *request, u32 flows,
			      struct nlattr **tb,
			      struct netlink_ext_ack *extack);
int wale_netlink_impair_prepare(const struct wale_sched_data *q,
				struct wale_impair_request *request);
void wale_netlink_impair_apply(struct wale_sched_data *q,
			       struct wale_impair_request *request);
void wale_netlink_impair_request_free(struct wale_impair_request *request);
int wale_netlink_dump_impair(const struct wale_sched_data *q,
			     struct sk_buff *skb);

#endif /* _WALE_NETLINK_IMPAIR_H */
