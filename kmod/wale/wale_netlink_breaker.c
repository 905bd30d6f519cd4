// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_breaker.c - the part of a request that is about the circuit breaker
 */

#include <linux/mm.h>
#include <linux/overflow.h>
#include <net/netlink.h>

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_breaker.h"

/**
 * wale_netlink_breaker_parse() - what a request says of the circuit breaker
 * @q: the link
 * @request: zeroed
 * @flows: number of flows that the link will tell apart, if it does not yet
 * @attr: TCA_WALE_BREAKER, empty for none; or NULL
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_netlink_breaker_parse(const struct wale_sched_data *q,
			       struct wale_breaker_request *request, u32 flows,
			       const struct nlattr *attr,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_BREAKER_MAX + 1];
	int err;

	if (!attr || !nla_len(attr))
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_breaker_nest, attr, extack);
	if (err)
		return err;
	request->params.rate = nla_get_u64(tb[TCA_WALE_BREAKER_RATE]);
	request->params.after_ns = nla_get_u64(tb[TCA_WALE_BREAKER_AFTER]);
	if (q->classes || flows)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "wale: breaker cuts flows: it needs flows, the number that are told apart");
	return -EINVAL;
}

/**
 * wale_netlink_breaker_prepare() - memory for a new circuit breaker
 * @q: the link
 * @request: the request
 * @flows: number of flows that the link will tell apart, if it does not yet
 *
 * Return: 0 or -ENOMEM.
 */
int wale_netlink_breaker_prepare(const struct wale_sched_data *q,
				 struct wale_breaker_request *request,
				 u32 flows)
{
	u32 count = q->classes ? q->classes->count : flows;
	struct wale_breaker *breaker;

	if (!request->params.rate)
		return 0;
	breaker = kvzalloc(struct_size(breaker, flow, count + 1),
			   GFP_KERNEL_ACCOUNT);
	if (!breaker)
		return -ENOMEM;
	breaker->params = request->params;
	request->breaker = breaker;
	return 0;
}

/**
 * wale_netlink_dump_breaker() - put the parameters, if there is a circuit breaker
 * @breaker: the circuit breaker, or NULL
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_dump_breaker(const struct wale_breaker *breaker,
			      struct sk_buff *skb)
{
	const struct wale_nest *set = &wale_breaker_nest;
	struct nlattr *nest;

	if (!breaker)
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_WALE_BREAKER);
	if (!nest ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_BREAKER_RATE,
				  breaker->params.rate) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_BREAKER_AFTER,
				  breaker->params.after_ns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
