// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_impair.c - the part of a request that is about impairments
 */

#include <linux/mm.h>
#include <net/netlink.h>

#include "../compat.h"
#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_impair.h"

/* A model of losses; its nest has the numbers from 1 on, without a gap. */
struct wale_loss_model {
	u32 kind;
	const struct wale_nest *nest;
	u32 usual[WALE_LOSS_NUMBERS];	/* but for the second: 1 - the first */
};

static const struct wale_loss_model wale_loss_gemodel = {
	.kind = WALE_LOSS_GEMODEL,
	.nest = &wale_gemodel_nest,
	.usual = { 0, 0, WALE_LOSS_ALWAYS, 0 },
};

static const struct wale_loss_model wale_loss_state = {
	.kind = WALE_LOSS_STATE,
	.nest = &wale_state_nest,
	.usual = { 0, 0, 0, WALE_LOSS_ALWAYS, 0 },
};

static int wale_netlink_parse_model(struct wale_impair_request *request,
				    const struct wale_loss_model *model,
				    const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	struct wale_loss_params *loss = &request->params.loss;
	struct nlattr *tb[TCA_WALE_LOSS_STATE_MAX + 1];
	int err, i;

	err = wale_netlink_attr_parse(tb, model->nest, attr, extack);
	if (err)
		return err;
	loss->kind = model->kind;
	for (i = 0; i < WALE_LOSS_NUMBERS; i++)
		loss->number[i] = i < model->nest->max ?
				  wale_attr_get(tb[i + 1], model->usual[i]) : 0;
	if (!tb[2])	/* 2^32 is WALE_LOSS_ALWAYS too */
		loss->number[1] = min_t(u64, WALE_CHANCE_ALL -
					     wale_chance(loss->number[0]),
					U32_MAX);
	request->loss_begins = true;
	if (wale_loss_is_valid(loss))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "wale: probabilities of a state must not exceed 1 together: p13 and p14, p31 and p32");
	return -ERANGE;
}

static int wale_netlink_parse_loss(struct wale_impair_request *request,
				   struct nlattr **tb,
				   struct netlink_ext_ack *extack)
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
		return wale_netlink_parse_model(request, &wale_loss_gemodel,
						gemodel, extack);
	if (state)
		return wale_netlink_parse_model(request, &wale_loss_state,
						state, extack);
	return 0;
}

static int wale_netlink_parse_table(struct wale_impair_request *request,
				    const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	u32 count = nla_len(attr) / sizeof(request->table->entry[0]);
	struct wale_jitter_table *table;

	request->table_given = true;
	if (!nla_len(attr))
		return 0;
	if (count > WALE_JITTER_TABLE_MAX ||
	    nla_len(attr) % sizeof(table->entry[0])) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: table of jitter must be up to 16384 numbers of 16 bits");
		return -EINVAL;
	}
	table = kvzalloc(struct_size(table, entry, count), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	request->table = table;
	table->count = count;
	strscpy(table->name, "table", sizeof(table->name));
	memcpy(table->entry, nla_data(attr), nla_len(attr));
	return 0;
}

static int wale_netlink_parse_jitter(const struct wale_sched_data *q,
				     struct wale_impair_request *request,
				     const struct nlattr *attr,
				     struct netlink_ext_ack *extack)
{
	struct wale_impair_params *params = &request->params;
	struct nlattr *tb[TCA_WALE_JITTER_MAX + 1];
	bool has_table = q->impair && q->impair->table;
	int err;

	if (!attr)
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_jitter_nest, attr, extack);
	if (err)
		return err;
	params->jitter_ns = wale_attr_get(tb[TCA_WALE_JITTER_TIME64],
					  params->jitter_ns);
	params->reordering = wale_attr_get(tb[TCA_WALE_JITTER_REORDERING],
					   params->reordering);
	if (tb[TCA_WALE_JITTER_TABLE]) {
		err = wale_netlink_parse_table(request,
					       tb[TCA_WALE_JITTER_TABLE],
					       extack);
		if (err)
			return err;
		has_table = request->table;
	}
	request->table_name = tb[TCA_WALE_JITTER_NAME];
	if (!request->table_name || has_table)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, request->table_name,
			    "wale: name of jitter is that of a table: it needs one");
	return -EINVAL;
}

/* Of a new link. */
static const struct wale_impair_params wale_impair_none = { .gap = 1 };

/* Those that say something of impairments. */
static const u8 wale_impair_attrs[] = {
	TCA_WALE_LOSS_GEMODEL, TCA_WALE_LOSS_STATE, TCA_WALE_LOSS_ECN,
	TCA_WALE_JITTER, TCA_WALE_REORDER, TCA_WALE_REORDER_GAP,
	TCA_WALE_DUPLICATE, TCA_WALE_CORRUPT, TCA_WALE_DROP_LIST,
	TCA_WALE_SLOT, TCA_WALE_LOSS_CORRELATION, TCA_WALE_JITTER_CORRELATION,
	TCA_WALE_CORRUPT_FIX,
};

/* Those that are a number each. */
static void wale_netlink_merge_numbers(struct wale_impair_params *params,
				       struct nlattr **tb)
{
	params->ecn = wale_attr_get(tb[TCA_WALE_LOSS_ECN], params->ecn);
	params->reorder = wale_attr_get(tb[TCA_WALE_REORDER], params->reorder);
	params->gap = wale_attr_get(tb[TCA_WALE_REORDER_GAP], params->gap);
	params->duplicate = wale_attr_get(tb[TCA_WALE_DUPLICATE],
					  params->duplicate);
	params->corrupt = wale_attr_get(tb[TCA_WALE_CORRUPT], params->corrupt);
	params->corrupt_fix = wale_attr_get(tb[TCA_WALE_CORRUPT_FIX],
					    params->corrupt_fix);
	params->loss_again = wale_attr_get(tb[TCA_WALE_LOSS_CORRELATION],
					   params->loss_again);
	params->jitter_again = wale_attr_get(tb[TCA_WALE_JITTER_CORRELATION],
					     params->jitter_again);
}

static int wale_netlink_parse_slot(struct wale_slot_params *slot,
				   const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_SLOT_MAX + 1];
	int err;

	if (!attr)
		return 0;
	*slot = (struct wale_slot_params){};
	if (!nla_len(attr))
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_slot_nest, attr, extack);
	if (err)
		return err;
	slot->min_ns = nla_get_u64(tb[TCA_WALE_SLOT_MIN64]);
	slot->max_ns = wale_attr_get(tb[TCA_WALE_SLOT_MAX64], slot->min_ns);
	slot->packets = wale_attr_get(tb[TCA_WALE_SLOT_PACKETS], 0);
	slot->bytes = wale_attr_get(tb[TCA_WALE_SLOT_BYTES], 0);
	if (slot->min_ns <= slot->max_ns && slot->max_ns)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "wale: slot must have a min of at most max, and a max of 1 ns to 1 day");
	return -ERANGE;
}

/* A range must be one, and of a flow that the link can tell from others. */
static int wale_netlink_check_range(const struct wale_drop_range *range,
				    u32 flows, const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	if (!range->first || range->last < range->first) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: packets that are dropped are numbered from 1, and the last of a range is not before its first");
		return -ERANGE;
	}
	if (range->flow > flows && !(flows && range->flow == WALE_CLASS_CROWD)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: drop_list names a flow that the link does not tell apart: give it as many flows");
		return -ERANGE;
	}
	return 0;
}

static int wale_netlink_parse_drops(struct wale_drop_list *drops, u32 flows,
				    const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	u32 i, count;
	int err;

	if (!attr)
		return 0;
	count = nla_len(attr) / sizeof(drops->range[0]);
	if (count > WALE_DROP_RANGES_MAX ||
	    nla_len(attr) % sizeof(drops->range[0])) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: drop_list must be up to 32 ranges of 12 bytes: a flow, and the numbers of a first and a last packet, all u32");
		return -EINVAL;
	}
	drops->count = count;
	memcpy(drops->range, nla_data(attr), nla_len(attr));
	for (i = 0; i < count; i++) {
		err = wale_netlink_check_range(&drops->range[i], flows, attr,
					       extack);
		if (err)
			return err;
	}
	return 0;
}

/**
 * wale_netlink_impair_parse() - what a request says of impairments
 * @q: the link, as it is
 * @request: zeroed; what came, and what it makes of the rest
 * @flows: number of flows that the link will tell apart, if it does not yet
 * @tb: the attributes
 * @extack: what was expected
 *
 * Return: 0, -EINVAL, -ERANGE or -ENOMEM.
 */
int wale_netlink_impair_parse(const struct wale_sched_data *q,
			      struct wale_impair_request *request, u32 flows,
			      struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	struct wale_impair_params *params = &request->params;
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(wale_impair_attrs); i++)
		request->given |= !!tb[wale_impair_attrs[i]];
	*params = q->impair ? q->impair->params : wale_impair_none;
	if (q->classes)
		flows = q->classes->count;
	wale_netlink_merge_numbers(params, tb);
	err = wale_netlink_parse_drops(&params->drops, flows,
				       tb[TCA_WALE_DROP_LIST], extack) ?:
	      wale_netlink_parse_slot(&params->slot, tb[TCA_WALE_SLOT],
				      extack) ?:
	      wale_netlink_parse_loss(request, tb, extack);
	if (err)
		return err;
	return wale_netlink_parse_jitter(q, request, tb[TCA_WALE_JITTER],
					 extack);
}

/**
 * wale_netlink_impair_prepare() - what a valid request needs beside its values
 * @q: the link
 * @request: the request
 *
 * Return: 0 or -ENOMEM.
 */
int wale_netlink_impair_prepare(const struct wale_sched_data *q,
				struct wale_impair_request *request)
{
	if (q->impair || !request->given)
		return 0;
	request->impair = kvzalloc_obj(*request->impair, GFP_KERNEL_ACCOUNT);
	if (!request->impair)
		return -ENOMEM;
	wale_impair_seed(request->impair, q->seed);
	return 0;
}

/**
 * wale_netlink_impair_apply() - the impairments are replaced
 * @q: the link, run up to now
 * @request: the request
 *
 * Context: the root lock is held.
 */
void wale_netlink_impair_apply(struct wale_sched_data *q,
			       struct wale_impair_request *request)
{
	if (request->impair) {
		q->impair = request->impair;
		request->impair = NULL;
	}
	if (!q->impair)
		return;
	q->impair->params = request->params;
	if (request->table_given)
		swap(q->impair->table, request->table);
	if (request->table_name)
		nla_strscpy(q->impair->table->name, request->table_name,
			    sizeof(q->impair->table->name));
	if (!request->loss_begins)
		return;
	q->follow.loss = 0;
	wale_loss_start(&q->impair->loss, &request->params.loss);
}

/**
 * wale_netlink_impair_request_free() - free what was not used
 * @request: the request
 */
void wale_netlink_impair_request_free(struct wale_impair_request *request)
{
	kvfree(request->table);
	kvfree(request->impair);
}

static int wale_netlink_dump_model(const struct wale_loss_params *loss,
				   struct sk_buff *skb)
{
	bool gemodel = loss->kind == WALE_LOSS_GEMODEL;
	const struct wale_nest *set = gemodel ? &wale_gemodel_nest :
						&wale_state_nest;
	struct nlattr *nest;
	int i;

	nest = nla_nest_start_noflag(skb, gemodel ? TCA_WALE_LOSS_GEMODEL :
						    TCA_WALE_LOSS_STATE);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < set->max; i++)
		if (nla_put_u32(skb, i + 1, loss->number[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int wale_netlink_dump_jitter(const struct wale_impair *impair,
				    struct sk_buff *skb)
{
	struct nlattr *nest;

	if (!impair->params.jitter_ns && !impair->table &&
	    !impair->params.reordering)
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_WALE_JITTER);
	if (!nest ||
	    wale_netlink_attr_put(skb, &wale_jitter_nest,
				  TCA_WALE_JITTER_TIME64,
				  impair->params.jitter_ns) ||
	    (impair->table &&
	     nla_put_string(skb, TCA_WALE_JITTER_NAME, impair->table->name)) ||
	    nla_put_u32(skb, TCA_WALE_JITTER_REORDERING,
			impair->params.reordering))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int wale_netlink_dump_slot(const struct wale_slot_params *slot,
				  struct sk_buff *skb)
{
	const struct wale_nest *set = &wale_slot_nest;
	struct nlattr *nest;

	if (!slot->max_ns)
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_WALE_SLOT);
	if (!nest ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SLOT_MIN64,
				  slot->min_ns) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SLOT_MAX64,
				  slot->max_ns) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SLOT_PACKETS,
				  slot->packets) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SLOT_BYTES, slot->bytes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * wale_netlink_dump_impair() - put the losses, and what there is of other impairments
 * @q: the link
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_dump_impair(const struct wale_sched_data *q,
			     struct sk_buff *skb)
{
	const struct wale_impair_params *params;

	if (!q->impair)
		return wale_option_put(skb, TCA_WALE_LOSS, q->follow.loss);
	params = &q->impair->params;
	if (params->loss.kind == WALE_LOSS_INDEPENDENT ?
		    wale_option_put(skb, TCA_WALE_LOSS, q->follow.loss) :
		    wale_netlink_dump_model(&params->loss, skb))
		return -EMSGSIZE;
	if (wale_option_put_unless(skb, TCA_WALE_LOSS_ECN, params->ecn, 0) ||
	    wale_option_put_unless(skb, TCA_WALE_REORDER, params->reorder, 0) ||
	    (params->reorder &&
	     wale_option_put(skb, TCA_WALE_REORDER_GAP, params->gap)) ||
	    wale_option_put_unless(skb, TCA_WALE_DUPLICATE,
				   params->duplicate, 0) ||
	    wale_option_put_unless(skb, TCA_WALE_CORRUPT, params->corrupt, 0) ||
	    wale_option_put_unless(skb, TCA_WALE_CORRUPT_FIX,
				   params->corrupt_fix, 0) ||
	    wale_option_put_unless(skb, TCA_WALE_LOSS_CORRELATION,
				   params->loss_again, 0) ||
	    wale_option_put_unless(skb, TCA_WALE_JITTER_CORRELATION,
				   params->jitter_again, 0) ||
	    (params->drops.count &&
	     nla_put(skb, TCA_WALE_DROP_LIST, params->drops.count *
		     sizeof(params->drops.range[0]), params->drops.range)))
		return -EMSGSIZE;
	return wale_netlink_dump_slot(&params->slot, skb) ?:
		       wale_netlink_dump_jitter(q->impair, skb);
}
