// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_policer.c - the part of a request that is about the policer
 */

#include <net/netlink.h>

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_policer.h"

/**
 * wale_netlink_policer_parse() - what a request says of the policer
 * @params: zeroed
 * @attr: TCA_WALE_POLICER, empty for none; or NULL
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_netlink_policer_parse(struct wale_policer_params *params,
			       const struct nlattr *attr,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_POLICER_MAX + 1];
	int err;

	if (!attr || !nla_len(attr))
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_policer_nest, attr, extack);
	if (err)
		return err;
	params->rate = nla_get_u64(tb[TCA_WALE_POLICER_RATE]);
	params->burst = nla_get_u64(tb[TCA_WALE_POLICER_BURST]);
	params->excess = wale_attr_get(tb[TCA_WALE_POLICER_EXCESS],
				       WALE_POLICER_EXCESS_DROP);
	return 0;
}

/**
 * wale_netlink_dump_policer() - put the parameters, if there is a policer
 * @params: the parameters
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_dump_policer(const struct wale_policer_params *params,
			      struct sk_buff *skb)
{
	const struct wale_nest *set = &wale_policer_nest;
	struct nlattr *nest;

	if (!params->rate)
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_WALE_POLICER);
	if (!nest ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_POLICER_RATE,
				  params->rate) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_POLICER_BURST,
				  params->burst) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_POLICER_EXCESS,
				  params->excess))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
