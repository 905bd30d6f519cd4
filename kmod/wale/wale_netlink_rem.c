// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_rem.c - the part of a request that is about the price of policy rem
 */

#include <net/netlink.h>
#include <net/rem.h>

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_buffer.h"

/**
 * wale_netlink_rem_parse() - what a request says of the price
 * @params: what it is; then what it will be
 * @attr: TCA_WALE_REM; or NULL
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_netlink_rem_parse(struct wale_rem_params *params,
			   const struct nlattr *attr,
			   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_REM_MAX + 1];
	int err;

	if (!attr)
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_rem_nest, attr, extack);
	if (err)
		return err;
	params->interval_ns = wale_attr_get(tb[TCA_WALE_REM_INTERVAL],
					    params->interval_ns);
	params->gamma = wale_attr_get(tb[TCA_WALE_REM_GAMMA], params->gamma);
	params->alpha = wale_attr_get(tb[TCA_WALE_REM_ALPHA], params->alpha);
	params->target = wale_attr_get(tb[TCA_WALE_REM_TARGET],
				       params->target);
	params->phi = wale_attr_get(tb[TCA_WALE_REM_PHI], params->phi);
	return 0;
}

/**
 * wale_netlink_rem_apply() - the parameters are replaced
 * @q: the link, run up to now
 * @params: the parameters
 * @begins: the policy was another
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_netlink_rem_apply(struct wale_sched_data *q,
			    const struct wale_rem_params *params, bool begins,
			    u64 now)
{
	wale_rem_set(&q->rem, params, now);
	if (begins)
		wale_rem_start(&q->rem, q->counts.offered.bytes, now);
}

/**
 * wale_netlink_dump_rem() - put the parameters
 * @params: the parameters
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_dump_rem(const struct wale_rem_params *params,
			  struct sk_buff *skb)
{
	const struct wale_nest *set = &wale_rem_nest;
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_WALE_REM);

	if (!nest ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_REM_INTERVAL,
				  params->interval_ns) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_REM_GAMMA,
				  params->gamma) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_REM_ALPHA,
				  params->alpha) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_REM_TARGET,
				  params->target) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_REM_PHI, params->phi))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
