// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink.c - configuration, as in linux/pkt_sched_wale.h
 *
 * A request is parsed and checked whole, what it needs is allocated, and only
 * then, under the root lock, is the configuration replaced: a request that fails
 * changes nothing.  No request touches a packet that the link holds, a counter,
 * or (unless it says so) a random stream.
 */

#include "wale.h"
#include "wale_netlink_buffer.h"
#include "wale_netlink_impair.h"
#include "wale_netlink_schedule.h"

/* What a request sets; a bit of @given for each attribute. */
struct wale_request {
	u64 given;
	u64 delay_ns;
	u64 seed;
	u32 loss;
	u32 overhead;
	u32 drops;
	u32 slack_ns;
	u32 gso;
	u64 feedback_idle_ns;			/* 0 if given: none */
	struct wale_feedback *feedback;
	struct wale_schedule_request schedule;
	struct wale_buffer_request buffer;
	struct wale_impair_request impair;
};

static const struct nla_policy
wale_feedback_policy[TCA_WALE_FEEDBACK_MAX + 1] = {
	[TCA_WALE_FEEDBACK_PAD]		= { .type = NLA_BINARY },
	[TCA_WALE_FEEDBACK_IDLE]	= { .type = NLA_U64 },
};

static const struct nla_policy wale_policy[TCA_WALE_MAX + 1] = {
	[TCA_WALE_PAD]			= { .type = NLA_BINARY },
	[TCA_WALE_RATE64]		= { .type = NLA_U64 },
	[TCA_WALE_DELAY64]		= { .type = NLA_U64 },
	[TCA_WALE_LIMIT_PACKETS]	= { .type = NLA_U32 },
	[TCA_WALE_LIMIT_BYTES]		= { .type = NLA_U64 },
	[TCA_WALE_LOSS]			= { .type = NLA_U32 },
	[TCA_WALE_OVERHEAD]		= { .type = NLA_U32 },
	[TCA_WALE_DROPS]		= { .type = NLA_U32 },
	[TCA_WALE_SEED]			= { .type = NLA_U64 },
	[TCA_WALE_TRACE]		= { .type = NLA_BINARY },
	[TCA_WALE_TRACE_END]		= { .type = NLA_U32 },
	[TCA_WALE_SESSIONS]		= { .type = NLA_NESTED },
	[TCA_WALE_FEEDBACK]		= { .type = NLA_NESTED },
	[TCA_WALE_LIMIT_CELLS]		= { .type = NLA_U32 },
	[TCA_WALE_POLICY]		= { .type = NLA_U32 },
	[TCA_WALE_THRESHOLD]		= { .type = NLA_U64 },
	[TCA_WALE_THRESHOLD_SHARE]	= { .type = NLA_U32 },
	[TCA_WALE_Z]			= { .type = NLA_U32 },
	[TCA_WALE_LAST]			= { .type = NLA_U32 },
	[TCA_WALE_FLOWS]		= { .type = NLA_U32 },
	[TCA_WALE_INPUT_RATE64]		= { .type = NLA_U64 },
	[TCA_WALE_MARK]			= { .type = NLA_U32 },
	[TCA_WALE_REM]			= { .type = NLA_NESTED },
	[TCA_WALE_LOSS_GEMODEL]		= { .type = NLA_NESTED },
	[TCA_WALE_LOSS_STATE]		= { .type = NLA_NESTED },
	[TCA_WALE_LOSS_ECN]		= { .type = NLA_U32 },
	[TCA_WALE_JITTER]		= { .type = NLA_NESTED },
	[TCA_WALE_REORDER]		= { .type = NLA_U32 },
	[TCA_WALE_REORDER_GAP]		= { .type = NLA_U32 },
	[TCA_WALE_DUPLICATE]		= { .type = NLA_U32 },
	[TCA_WALE_CORRUPT]		= { .type = NLA_U32 },
	[TCA_WALE_DROP_LIST]		= { .type = NLA_BINARY },
	[TCA_WALE_SLOT]			= { .type = NLA_NESTED },
	[TCA_WALE_TRACE_FD]		= { .type = NLA_U32 },
	[TCA_WALE_START]		= { .type = NLA_U64 },
	[TCA_WALE_SLACK]		= { .type = NLA_U32 },
	[TCA_WALE_GSO]			= { .type = NLA_U32 },
};

/**
 * wale_parse() - attributes of a nest
 * @tb: set
 * @max: largest type
 * @nest: the nest
 * @policy: their types
 * @extack: what was expected
 *
 * Strict, but for the NLA_F_NESTED flag, which tc does not set.
 *
 * Return: 0 or an error.
 */
int wale_parse(struct nlattr **tb, int max, const struct nlattr *nest,
	       const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	return __nla_parse(tb, max, nla_data(nest), nla_len(nest), policy,
			   NL_VALIDATE_STRICT & ~NL_VALIDATE_NESTED, extack);
}

static bool wale_given(const struct wale_request *request, int attr)
{
	return request->given & BIT_ULL(attr);
}

static u64 wale_get_u64(struct wale_request *request, struct nlattr **tb,
			int attr)
{
	if (!tb[attr])
		return 0;
	request->given |= BIT_ULL(attr);
	return nla_get_u64(tb[attr]);
}

static u32 wale_get_u32(struct wale_request *request, struct nlattr **tb,
			int attr)
{
	if (!tb[attr])
		return 0;
	request->given |= BIT_ULL(attr);
	return nla_get_u32(tb[attr]);
}

static int wale_parse_feedback(struct wale_request *request,
			       const struct nlattr *attr,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_FEEDBACK_MAX + 1];
	int err;

	request->given |= BIT(TCA_WALE_FEEDBACK);
	if (!nla_len(attr))
		return 0;
	err = wale_parse(tb, TCA_WALE_FEEDBACK_MAX, attr,
			 wale_feedback_policy, extack);
	if (err)
		return err;
	if (!tb[TCA_WALE_FEEDBACK_IDLE]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: feedback needs idle");
		return -EINVAL;
	}
	request->feedback_idle_ns = nla_get_u64(tb[TCA_WALE_FEEDBACK_IDLE]);
	if (request->feedback_idle_ns < WALE_FEEDBACK_IDLE_MIN ||
	    request->feedback_idle_ns > WALE_FEEDBACK_IDLE_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_FEEDBACK_IDLE],
				    "wale: idle of feedback must be 1 ms to 1 hour");
		return -ERANGE;
	}
	return 0;
}

/* Each attribute by itself. */
static int wale_parse_request(struct wale_request *request,
			      struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	int err;

	request->delay_ns = wale_get_u64(request, tb, TCA_WALE_DELAY64);
	request->loss = wale_get_u32(request, tb, TCA_WALE_LOSS);
	request->overhead = wale_get_u32(request, tb, TCA_WALE_OVERHEAD);
	request->drops = wale_get_u32(request, tb, TCA_WALE_DROPS);
	request->seed = wale_get_u64(request, tb, TCA_WALE_SEED);
	request->slack_ns = wale_get_u32(request, tb, TCA_WALE_SLACK);
	request->gso = wale_get_u32(request, tb, TCA_WALE_GSO);

	if (request->delay_ns > WALE_TIME_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_DELAY64],
				    "wale: delay must be 0 to 1 day");
		return -ERANGE;
	}
	if (request->overhead >= __WALE_OVERHEAD_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_OVERHEAD],
				    "wale: overhead must be 0 to 2: raw, ethernet or atm");
		return -ERANGE;
	}
	if (request->drops >= __WALE_DROPS_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_DROPS],
				    "wale: drops must be 0 or 1: remote or local");
		return -ERANGE;
	}
	if (request->slack_ns > WALE_SLACK_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_SLACK],
				    "wale: slack must be 0 to 1 s");
		return -ERANGE;
	}
	if (request->gso >= __WALE_GSO_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_GSO],
				    "wale: gso must be 0 or 1: split or keep");
		return -ERANGE;
	}
	err = wale_buffer_parse(&request->buffer, tb, extack) ?:
	      wale_schedule_parse(&request->schedule, tb, extack);
	if (err)
		return err;
	if (tb[TCA_WALE_FEEDBACK])
		return wale_parse_feedback(request, tb[TCA_WALE_FEEDBACK],
					   extack);
	return 0;
}

/* What is about packets of the wire, as it will be, needs them. */
static int wale_check_gso(const struct wale_sched_data *q,
			  const struct wale_request *request,
			  struct nlattr **tb, struct netlink_ext_ack *extack)
{
	u32 gso = tb[TCA_WALE_GSO] ? request->gso : q->gso;

	if (gso != WALE_GSO_KEEP)
		return 0;
	if (request->buffer.limit_cells != U32_MAX) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_LIMIT_CELLS] ?:
				    tb[TCA_WALE_GSO],
				    "wale: cells are those of packets of the wire: a limit in cells needs gso split");
		return -EINVAL;
	}
	if (request->impair.params.corrupt) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_CORRUPT] ?: tb[TCA_WALE_GSO],
				    "wale: corrupt turns a bit of a packet of the wire: it needs gso split");
		return -EINVAL;
	}
	return 0;
}

/* What a valid request needs beside its values. */
static int wale_prepare(struct Qdisc *sch, struct wale_request *request,
			struct netlink_ext_ack *extack)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_feedback *feedback;
	int err;

	err = wale_buffer_prepare(sch, &request->buffer, extack) ?:
	      wale_impair_prepare(q, &request->impair);
	if (err)
		return err;
	if (!request->feedback_idle_ns || q->feedback)
		return 0;
	feedback = wale_feedback_new(sch, request->feedback_idle_ns, extack);
	if (IS_ERR(feedback))
		return PTR_ERR(feedback);
	request->feedback = feedback;
	return 0;
}

/* The rest is as it will be; what is replaced goes into the request. */
static void wale_apply_feedback(struct Qdisc *sch,
				struct wale_request *request, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (request->feedback) {
		wale_feedback_start(sch, request->feedback, now);
		request->feedback = NULL;
	} else if (wale_given(request, TCA_WALE_FEEDBACK) && q->feedback) {
		if (request->feedback_idle_ns) {
			wale_feedback_set_idle(q->feedback,
					       request->feedback_idle_ns, now);
		} else {
			request->feedback = q->feedback;
			q->feedback = NULL;
		}
	}
	if (q->feedback)
		wale_feedback_update(q, now);
}

/* Return: 0; or -EBUSY: the buffer holds packets, and nothing has changed. */
static int wale_apply(struct Qdisc *sch, struct wale_request *request,
		      struct netlink_ext_ack *extack)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	int err;

	wale_link_run(sch, now);
	wale_link_settle(sch);
	err = wale_buffer_apply(sch, &request->buffer, now, extack);
	if (err)
		return err;
	if (wale_given(request, TCA_WALE_DELAY64))
		q->delay_ns = request->delay_ns;
	if (wale_given(request, TCA_WALE_LOSS))
		q->loss = request->loss;
	if (wale_given(request, TCA_WALE_OVERHEAD))
		q->overhead = request->overhead;
	if (wale_given(request, TCA_WALE_DROPS))
		q->drops = request->drops;
	if (wale_given(request, TCA_WALE_SLACK))
		q->alarm.slack_ns = request->slack_ns;
	if (wale_given(request, TCA_WALE_GSO))
		q->gso = request->gso;
	wale_impair_apply(q, &request->impair);
	if (wale_given(request, TCA_WALE_SEED))
		wale_link_seed(q, request->seed);
	wale_schedule_apply(q, &request->schedule,
			    wale_given(request, TCA_WALE_SEED), now);
	wale_apply_feedback(sch, request, now);
	wale_link_set_plain(q);
	wale_link_set_line_limit(q);
	wale_link_set_alarm(sch);
	wale_timer_set(sch, now);
	return 0;
}

/**
 * wale_configure() - apply a request to a new or a running link
 * @sch: the qdisc
 * @opt: TCA_OPTIONS
 * @extack: what was expected, if it is refused
 *
 * Context: RTNL is held.
 * Return: 0; or -EINVAL, -ERANGE, -EBUSY, -ENOMEM, or of the file of a trace
 * -EBADF or what reading it says; and nothing has changed.
 */
int wale_configure(struct Qdisc *sch, struct nlattr *opt,
		   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_MAX + 1];
	struct wale_request request = {};
	int err;

	err = wale_parse(tb, TCA_WALE_MAX, opt, wale_policy, extack);
	if (err)
		return err;
	err = wale_parse_request(&request, tb, extack);
	if (!err)
		err = wale_buffer_check(sch, &request.buffer, tb, extack);
	if (!err)
		err = wale_schedule_check(qdisc_priv(sch), &request.schedule,
					  tb, extack);
	if (!err)
		err = wale_impair_parse(qdisc_priv(sch), &request.impair,
					request.buffer.flows, tb, extack);
	if (!err)
		err = wale_check_gso(qdisc_priv(sch), &request, tb, extack);
	if (!err)
		err = wale_prepare(sch, &request, extack);
	if (!err) {
		sch_tree_lock(sch);
		err = wale_apply(sch, &request, extack);
		sch_tree_unlock(sch);
	}
	/* the new ones of a refused request, or the old ones of another */
	wale_schedule_request_free(&request.schedule);
	wale_buffer_request_free(&request.buffer);
	wale_impair_request_free(&request.impair);
	wale_feedback_free(request.feedback);
	return err;
}

static int wale_dump_feedback(const struct wale_feedback *feedback,
			      struct sk_buff *skb)
{
	struct nlattr *nest;

	if (!feedback)
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_WALE_FEEDBACK);
	if (!nest ||
	    nla_put_u64_64bit(skb, TCA_WALE_FEEDBACK_IDLE,
			      wale_feedback_idle(feedback),
			      TCA_WALE_FEEDBACK_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * wale_dump() - put the configuration
 * @sch: the qdisc
 * @skb: the message
 *
 * It is what comes first of what is shown of the link.  Then sch_api.c looks how many
 * packets the link holds, and only then asks for statistics: so it is run here.
 *
 * Context: RTNL is held, so that the configuration stands still; takes the root lock.
 * Return: length of the message, or -EMSGSIZE.
 */
int wale_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;

	sch_tree_lock(sch);
	wale_link_run(sch, ktime_get_ns());
	wale_link_settle(sch);
	sch_tree_unlock(sch);

	nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (wale_dump_schedule(&q->schedule, skb) ||
	    nla_put_u64_64bit(skb, TCA_WALE_DELAY64, q->delay_ns,
			      TCA_WALE_PAD) ||
	    wale_dump_buffer(q, skb) ||
	    wale_dump_impair(q, skb) ||
	    nla_put_u32(skb, TCA_WALE_OVERHEAD, q->overhead) ||
	    nla_put_u32(skb, TCA_WALE_DROPS, q->drops) ||
	    (q->alarm.slack_ns &&
	     nla_put_u32(skb, TCA_WALE_SLACK, q->alarm.slack_ns)) ||
	    (q->gso != WALE_GSO_SPLIT &&
	     nla_put_u32(skb, TCA_WALE_GSO, q->gso)) ||
	    nla_put_u64_64bit(skb, TCA_WALE_SEED, q->seed, TCA_WALE_PAD) ||
	    wale_dump_feedback(q->feedback, skb)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}
