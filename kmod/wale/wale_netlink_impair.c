// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_impair.c - the part of a request that is about impairments
 */

#include <linux/mm.h>
#include <net/netlink.h>

#include "../compat.h"
#include "wale.h"
#include "wale_netlink_buffer.h"
#include "wale_netlink_impair.h"

static const struct nla_policy
wale_gemodel_policy[TCA_WALE_LOSS_GEMODEL_MAX + 1] = {
	[TCA_WALE_LOSS_GEMODEL_P]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_GEMODEL_R]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_GEMODEL_BAD]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_GEMODEL_GOOD]	= { .type = NLA_U32 },
};

static const struct nla_policy
wale_state_policy[TCA_WALE_LOSS_STATE_MAX + 1] = {
	[TCA_WALE_LOSS_STATE_P13]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P31]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P32]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P23]	= { .type = NLA_U32 },
	[TCA_WALE_LOSS_STATE_P14]	= { .type = NLA_U32 },
};

/* A model of losses; its nest has the numbers from 1 on, without a gap. */
struct wale_loss_model {
	u32 kind;
	int max;
	const struct nla_policy *policy;
	u32 usual[WALE_LOSS_NUMBERS];	/* but for the second: 1 - the first */
};

static const struct wale_loss_model wale_gemodel = {
	.kind = WALE_LOSS_GEMODEL,
	.max = TCA_WALE_LOSS_GEMODEL_MAX,
	.policy = wale_gemodel_policy,
	.usual = { 0, 0, WALE_LOSS_ALWAYS, 0 },
};

static const struct wale_loss_model wale_state = {
	.kind = WALE_LOSS_STATE,
	.max = TCA_WALE_LOSS_STATE_MAX,
	.policy = wale_state_policy,
	.usual = { 0, 0, 0, WALE_LOSS_ALWAYS, 0 },
};

static int wale_parse_model(struct wale_impair_request *request,
			    const struct wale_loss_model *model,
			    const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	struct wale_loss_params *loss = &request->params.loss;
	struct nlattr *tb[TCA_WALE_LOSS_STATE_MAX + 1];
	int err, i;

	err = wale_parse(tb, model->max, attr, model->policy, extack);
	if (err)
		return err;
	if (!tb[1]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: a model of losses needs its first probability: p, or p13");
		return -EINVAL;
	}
	loss->kind = model->kind;
	for (i = 0; i < WALE_LOSS_NUMBERS; i++)
		loss->number[i] = i < model->max && tb[i + 1] ?
				  nla_get_u32(tb[i + 1]) : model->usual[i];
	if (!tb[2])	/* 2^32 is WALE_LOSS_ALWAYS too */
		loss->number[1] = min_t(u64, (1ULL << 32) -
					     wale_chance(loss->number[0]),
					U32_MAX);
	request->loss_begins = true;
	if (wale_loss_is_valid(loss))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "wale: probabilities of a state must not exceed 1 together: p13 and p14, p31 and p32");
	return -ERANGE;
}

static int wale_parse_loss(struct wale_impair_request *request,
			   struct nlattr **tb, struct netlink_ext_ack *extack)
{
	const struct nlattr *gemodel = tb[TCA_WALE_LOSS_GEMODEL];
	const struct nlattr *state = tb[TCA_WALE_LOSS_STATE];

	if (!!tb[TCA_WALE_LOSS] + !!gemodel + !!state > 1) {
		NL_SET_ERR_MSG_ATTR(extack, state ?: gemodel,
				    "wale: loss must be a probability, a gemodel or a state, one of them");
		return -EINVAL;
	}
	if (tb[TCA_WALE_LOSS])
		request->params.loss.kind = WALE_LOSS_INDEPENDENT;
	if (gemodel)
		return wale_parse_model(request, &wale_gemodel, gemodel,
					extack);
	if (state)
		return wale_parse_model(request, &wale_state, state, extack);
	return 0;
}

/* Those that say something of impairments. */
static const u8 wale_impair_attrs[] = {
	TCA_WALE_LOSS_GEMODEL, TCA_WALE_LOSS_STATE, TCA_WALE_LOSS_ECN,
};

/**
 * wale_impair_parse() - what a request says of impairments
 * @q: the link, as it is
 * @request: zeroed; what came, and what it makes of the rest
 * @tb: the attributes
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_impair_parse(const struct wale_sched_data *q,
		      struct wale_impair_request *request, struct nlattr **tb,
		      struct netlink_ext_ack *extack)
{
	struct wale_impair_params *params = &request->params;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wale_impair_attrs); i++)
		request->given |= !!tb[wale_impair_attrs[i]];
	if (q->impair)
		*params = q->impair->params;
	if (tb[TCA_WALE_LOSS_ECN]) {
		params->ecn = nla_get_u32(tb[TCA_WALE_LOSS_ECN]);
		if (params->ecn > 1) {
			NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_LOSS_ECN],
					    "wale: ecn must be 0 or 1");
			return -ERANGE;
		}
	}
	return wale_parse_loss(request, tb, extack);
}

/**
 * wale_impair_prepare() - what a valid request needs beside its values
 * @q: the link
 * @request: the request
 *
 * Return: 0 or -ENOMEM.
 */
int wale_impair_prepare(const struct wale_sched_data *q,
			struct wale_impair_request *request)
{
	if (q->impair || !request->given)
		return 0;
	request->impair = kvzalloc_obj(*request->impair, GFP_KERNEL);
	return request->impair ? 0 : -ENOMEM;
}

/**
 * wale_impair_apply() - the impairments are replaced
 * @q: the link, run up to now
 * @request: the request
 *
 * Context: the root lock is held.
 */
void wale_impair_apply(struct wale_sched_data *q,
		       struct wale_impair_request *request)
{
	if (request->impair) {
		q->impair = request->impair;
		request->impair = NULL;
	}
	if (!q->impair)
		return;
	q->impair->params = request->params;
	if (!request->loss_begins)
		return;
	q->loss = 0;
	wale_loss_start(&q->impair->loss, &request->params.loss);
}

/**
 * wale_impair_request_free() - free what was not used
 * @request: the request
 */
void wale_impair_request_free(struct wale_impair_request *request)
{
	kvfree(request->impair);
}

static int wale_dump_model(const struct wale_loss_params *loss,
			   struct sk_buff *skb)
{
	bool gemodel = loss->kind == WALE_LOSS_GEMODEL;
	int i, max = gemodel ? wale_gemodel.max : wale_state.max;
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, gemodel ? TCA_WALE_LOSS_GEMODEL :
						    TCA_WALE_LOSS_STATE);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < max; i++)
		if (nla_put_u32(skb, i + 1, loss->number[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * wale_dump_impair() - put the losses, and what there is of other impairments
 * @q: the link
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_dump_impair(const struct wale_sched_data *q, struct sk_buff *skb)
{
	const struct wale_impair_params *params;

	if (!q->impair)
		return nla_put_u32(skb, TCA_WALE_LOSS, q->loss);
	params = &q->impair->params;
	if (params->loss.kind == WALE_LOSS_INDEPENDENT ?
	    nla_put_u32(skb, TCA_WALE_LOSS, q->loss) :
	    wale_dump_model(&params->loss, skb))
		return -EMSGSIZE;
	return nla_put_u32(skb, TCA_WALE_LOSS_ECN, params->ecn);
}
