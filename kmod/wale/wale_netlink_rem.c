// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_rem.c - the part of a request that is about the price of policy rem
 */

#include <net/netlink.h>
#include <net/wale_rem.h>

#include "wale.h"
#include "wale_netlink_buffer.h"

static const struct nla_policy wale_rem_policy[TCA_WALE_REM_MAX + 1] = {
	[TCA_WALE_REM_PAD]	= { .type = NLA_BINARY },
	[TCA_WALE_REM_INTERVAL]	= { .type = NLA_U64 },
	[TCA_WALE_REM_GAMMA]	= { .type = NLA_U32 },
	[TCA_WALE_REM_ALPHA]	= { .type = NLA_U32 },
	[TCA_WALE_REM_TARGET]	= { .type = NLA_U64 },
	[TCA_WALE_REM_PHI]	= { .type = NLA_U32 },
};

static int wale_rem_check(const struct wale_rem_params *params,
			  struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (params->interval_ns < WALE_REM_INTERVAL_MIN ||
	    params->interval_ns > WALE_REM_INTERVAL_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_REM_INTERVAL],
				    "wale: interval of rem must be 1 ms to 1 s");
		return -ERANGE;
	}
	if (!params->gamma || params->gamma > WALE_REM_GAMMA_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_REM_GAMMA],
				    "wale: gamma of rem must be 0.000001 to 1000, in millionths");
		return -ERANGE;
	}
	if (params->alpha > WALE_POLICY_UNIT) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_REM_ALPHA],
				    "wale: alpha of rem must be 0 to 1, in millionths");
		return -ERANGE;
	}
	if (params->target > WALE_REM_TARGET_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_REM_TARGET],
				    "wale: target of rem must be 0 to 2^40 bytes");
		return -ERANGE;
	}
	if (params->phi < WALE_REM_PHI_MIN || params->phi > WALE_REM_PHI_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_REM_PHI],
				    "wale: phi of rem must be 1.001 to 1000, in millionths");
		return -ERANGE;
	}
	return 0;
}

/**
 * wale_rem_parse() - what a request says of the price
 * @params: what it is; then what it will be
 * @attr: TCA_WALE_REM; or NULL
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_rem_parse(struct wale_rem_params *params, const struct nlattr *attr,
		   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_REM_MAX + 1];
	int err;

	if (!attr)
		return 0;
	err = wale_parse(tb, TCA_WALE_REM_MAX, attr, wale_rem_policy, extack);
	if (err)
		return err;
	if (tb[TCA_WALE_REM_INTERVAL])
		params->interval_ns = nla_get_u64(tb[TCA_WALE_REM_INTERVAL]);
	if (tb[TCA_WALE_REM_GAMMA])
		params->gamma = nla_get_u32(tb[TCA_WALE_REM_GAMMA]);
	if (tb[TCA_WALE_REM_ALPHA])
		params->alpha = nla_get_u32(tb[TCA_WALE_REM_ALPHA]);
	if (tb[TCA_WALE_REM_TARGET])
		params->target = nla_get_u64(tb[TCA_WALE_REM_TARGET]);
	if (tb[TCA_WALE_REM_PHI])
		params->phi = nla_get_u32(tb[TCA_WALE_REM_PHI]);
	return wale_rem_check(params, tb, extack);
}

/**
 * wale_rem_apply() - the parameters are replaced
 * @q: the link, run up to now
 * @params: the parameters
 * @begins: the policy was another
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_rem_apply(struct wale_sched_data *q,
		    const struct wale_rem_params *params, bool begins, u64 now)
{
	wale_rem_set(&q->rem, params, now);
	if (begins)
		wale_rem_start(&q->rem, q->counts.offered.bytes, now);
}

/**
 * wale_dump_rem() - put the parameters
 * @params: the parameters
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_dump_rem(const struct wale_rem_params *params, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start_noflag(skb, TCA_WALE_REM);

	if (!nest ||
	    nla_put_u64_64bit(skb, TCA_WALE_REM_INTERVAL, params->interval_ns,
			      TCA_WALE_REM_PAD) ||
	    nla_put_u32(skb, TCA_WALE_REM_GAMMA, params->gamma) ||
	    nla_put_u32(skb, TCA_WALE_REM_ALPHA, params->alpha) ||
	    nla_put_u64_64bit(skb, TCA_WALE_REM_TARGET, params->target,
			      TCA_WALE_REM_PAD) ||
	    nla_put_u32(skb, TCA_WALE_REM_PHI, params->phi))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
