/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_scone.h - SCONE, in requests and dumps
 */
#ifndef _WALE_NETLINK_SCONE_H
#define _WALE_NETLINK_SCONE_H

#include "wale_element.h"

struct netlink_ext_ack;
struct nlattr;

/**
 * struct wale_scone_request - what a request says of SCONE
 * @given: it says something
 * @on: there is to be an element
 * @params: of it
 * @element: a new one, or one that is not used any more; or NULL
 */
struct wale_scone_request {
	bool given;
	bool on;
	struct wale_element_params params;
	struct wale_element *element;
};

int wale_netlink_scone_parse(struct wale_scone_request *request,
			     const struct nlattr *attr,
			     struct netlink_ext_ack *extack);
int wale_netlink_scone_check(const struct wale_sched_data *q,
			     const struct wale_scone_request *request,
			     bool feedback, struct netlink_ext_ack *extack);
int wale_netlink_scone_prepare(const struct wale_sched_data *q,
			       struct wale_scone_request *request);
void wale_netlink_scone_apply(struct wale_sched_data *q,
			      struct wale_scone_request *request, u64 now);
int wale_netlink_scone_dump(const struct wale_sched_data *q,
			    struct sk_buff *skb);

#endif /* _WALE_NETLINK_SCONE_H */
