/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_breaker.h - the part of a request that is about the circuit breaker
 */
#ifndef _WALE_NETLINK_BREAKER_H
#define _WALE_NETLINK_BREAKER_H

#include "wale_breaker.h"

struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct wale_sched_data;

/**
 * struct wale_breaker_request - the circuit breaker of a request
 * @params: as it says
 * @breaker: the new one; then the old one
 */
struct wale_breaker_request {
	struct wale_breaker_params params;
	struct wale_breaker *breaker;
};

int wale_netlink_breaker_parse(const struct wale_sched_data *q,
			       struct wale_breaker_request *request, u32 flows,
			       const struct nlattr *attr,
			       struct netlink_ext_ack *extack);
int wale_netlink_breaker_prepare(const struct wale_sched_data *q,
				 struct wale_breaker_request *request,
				 u32 flows);
int wale_netlink_dump_breaker(const struct wale_breaker *breaker,
			      struct sk_buff *skb);

#endif /* _WALE_NETLINK_BREAKER_H */
