// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_scone.c - SCONE, in requests and dumps
 */

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_scone.h"

static int wale_netlink_scone_check_rate(struct nlattr *const *tb,
					 const struct nlattr *attr,
					 struct netlink_ext_ack *extack)
{
	if (!tb[TCA_WALE_SCONE_OF] == !tb[TCA_WALE_SCONE_RATE])
		return wale_netlink_attr_refuse(extack, attr,
						"wale: scone must have a rate, or say which: one of the two",
						-EINVAL);
	if (tb[TCA_WALE_SCONE_AVERAGE] && tb[TCA_WALE_SCONE_RATE])
		return wale_netlink_attr_refuse(extack,
						tb[TCA_WALE_SCONE_AVERAGE],
						"wale: average of scone needs link or share: a rate that is said is its own mean",
						-EINVAL);
	return 0;
}

/**
 * wale_netlink_scone_parse() - what a request says of SCONE
 * @request: set
 * @attr: TCA_WALE_SCONE, or NULL
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_netlink_scone_parse(struct wale_scone_request *request,
			     const struct nlattr *attr,
			     struct netlink_ext_ack *extack)
{
	struct wale_element_params *params = &request->params;
	struct nlattr *tb[TCA_WALE_SCONE_MAX + 1];
	int err;

	request->given = attr;
	if (!attr || !nla_len(attr))
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_scone_nest, attr, extack) ?:
	      wale_netlink_scone_check_rate(tb, attr, extack);
	if (err)
		return err;
	request->on = true;
	params->rate = wale_attr_get(tb[TCA_WALE_SCONE_RATE], 0);
	params->share = wale_attr_get(tb[TCA_WALE_SCONE_OF],
				      WALE_SCONE_OF_LINK) ==
			WALE_SCONE_OF_SHARE;
	params->period_ns = wale_attr_get(tb[TCA_WALE_SCONE_PERIOD],
					  WALE_SCONE_PERIOD_DEFAULT);
	params->average_ns = wale_attr_get(tb[TCA_WALE_SCONE_AVERAGE],
					   params->period_ns);
	return 0;
}

/**
 * wale_netlink_scone_check() - does a request fit to feedback?
 * @q: the link
 * @request: what it says of SCONE
 * @feedback: will the link have feedback?
 * @extack: what was expected
 *
 * Return: 0 or -EINVAL.
 */
int wale_netlink_scone_check(const struct wale_sched_data *q,
			     const struct wale_scone_request *request,
			     bool feedback, struct netlink_ext_ack *extack)
{
	const struct wale_element_params *params = NULL;

	if (request->given)
		params = request->on ? &request->params : NULL;
	else if (q->element)
		params = wale_element_params(q->element);
	if (!params || !params->share || feedback)
		return 0;
	NL_SET_ERR_MSG(extack,
		       "wale: scone share needs feedback, which counts the flows");
	return -EINVAL;
}

/**
 * wale_netlink_scone_prepare() - what a valid request needs
 * @q: the link
 * @request: what it says of SCONE
 *
 * Return: 0 or -ENOMEM.
 */
int wale_netlink_scone_prepare(const struct wale_sched_data *q,
			       struct wale_scone_request *request)
{
	if (!request->on || q->element)
		return 0;
	request->element = wale_element_new();
	return request->element ? 0 : -ENOMEM;
}

/**
 * wale_netlink_scone_apply() - apply a valid request
 * @q: the link, run up to @now; all else of it is as it will be
 * @request: what it says of SCONE; what is replaced goes into it
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_netlink_scone_apply(struct wale_sched_data *q,
			      struct wale_scone_request *request, u64 now)
{
	if (request->given && request->on != !!q->element)
		swap(q->element, request->element);
	if (request->on)
		wale_element_start(q, &request->params, now);
	else if (q->element)
		wale_element_update(q, now);
}

/**
 * wale_netlink_scone_dump() - put what a request would say
 * @q: the link
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_scone_dump(const struct wale_sched_data *q,
			    struct sk_buff *skb)
{
	const struct wale_nest *set = &wale_scone_nest;
	const struct wale_element_params *params;
	struct nlattr *nest;

	if (!q->element)
		return 0;
	params = wale_element_params(q->element);
	nest = nla_nest_start_noflag(skb, TCA_WALE_SCONE);
	if (!nest)
		return -EMSGSIZE;
	if (params->rate ?
	    wale_netlink_attr_put(skb, set, TCA_WALE_SCONE_RATE, params->rate) :
	    wale_netlink_attr_put(skb, set, TCA_WALE_SCONE_OF, params->share))
		return -EMSGSIZE;
	if (wale_netlink_attr_put(skb, set, TCA_WALE_SCONE_PERIOD,
				  params->period_ns))
		return -EMSGSIZE;
	if (!params->rate &&
	    wale_netlink_attr_put(skb, set, TCA_WALE_SCONE_AVERAGE,
				  params->average_ns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
