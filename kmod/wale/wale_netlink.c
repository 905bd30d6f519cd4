// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink.c - configuration, as in linux/pkt_sched_wale.h
 *
 * A request is parsed and checked whole, what it needs is allocated, and only
 * then, under the root lock, is the configuration replaced: a request that fails
 * changes nothing.  No request touches a packet that the link holds, a counter,
 * or (unless it says so) a random stream.
 */

#include <linux/mm.h>

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_breaker.h"
#include "wale_netlink_buffer.h"
#include "wale_netlink_impair.h"
#include "wale_netlink_policer.h"
#include "wale_netlink_schedule.h"
#include "wale_netlink_scone.h"

/* What a request sets beside the numbers of its attributes. */
struct wale_request {
	struct nlattr *tb[TCA_WALE_MAX + 1];
	u64 feedback_idle_ns;			/* 0 if given: none */
	struct wale_feedback *feedback;
	struct wale_policer_params policer;
	struct wale_breaker_request breaker;
	struct wale_scone_request scone;
	struct wale_schedule_request schedule;
	struct wale_buffer_request buffer;
	struct wale_impair_request impair;
};

static int wale_netlink_parse_feedback(struct wale_request *request,
				       struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = request->tb[TCA_WALE_FEEDBACK];
	struct nlattr *tb[TCA_WALE_FEEDBACK_MAX + 1];
	int err;

	if (!attr || !nla_len(attr))
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_feedback_nest, attr, extack);
	if (!err)
		request->feedback_idle_ns =
			nla_get_u64(tb[TCA_WALE_FEEDBACK_IDLE]);
	return err;
}

static int wale_netlink_check_scone(const struct wale_sched_data *q,
				    const struct wale_request *request,
				    struct netlink_ext_ack *extack)
{
	bool feedback = request->tb[TCA_WALE_FEEDBACK] ?
			request->feedback_idle_ns : !!q->feedback;

	return wale_netlink_scone_check(q, &request->scone, feedback, extack);
}

/* What is about packets of the wire, as it will be, needs them. */
static int wale_netlink_check_gso(const struct wale_sched_data *q,
				  const struct wale_request *request,
				  struct netlink_ext_ack *extack)
{
	struct nlattr *const *tb = request->tb;

	if (wale_attr_get(tb[TCA_WALE_GSO], q->gso) != WALE_GSO_KEEP)
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

static int wale_netlink_check_line(struct nlattr *const *tb,
				   struct netlink_ext_ack *extack)
{
	if (!tb[TCA_WALE_LINE_PACKETS] || !tb[TCA_WALE_LINE_BYTES])
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_LINE_BYTES],
			    "wale: line must be in packets or in bytes, not both");
	return -EINVAL;
}

/* One that is given ends the other. */
static void wale_netlink_apply_line(struct wale_line_bound *bound,
				    struct nlattr **tb)
{
	bool given = tb[TCA_WALE_LINE_PACKETS] || tb[TCA_WALE_LINE_BYTES];

	bound->packets = wale_attr_get(tb[TCA_WALE_LINE_PACKETS],
				       given ? U32_MAX : bound->packets);
	bound->bytes = wale_attr_get(tb[TCA_WALE_LINE_BYTES],
				     given ? U64_MAX : bound->bytes);
}

/* What a valid request needs beside its values. */
static int wale_netlink_prepare(struct Qdisc *sch, struct wale_request *request,
				struct netlink_ext_ack *extack)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_feedback *feedback;
	int err;

	err = wale_netlink_buffer_prepare(sch, &request->buffer, extack) ?:
	      wale_netlink_impair_prepare(q, &request->impair) ?:
	      wale_netlink_breaker_prepare(q, &request->breaker,
					   request->buffer.flows) ?:
	      wale_netlink_scone_prepare(q, &request->scone);
	if (err)
		return err;
	if (!request->feedback_idle_ns || q->feedback)
		return 0;
	feedback = wale_feedback_new(sch, request->feedback_idle_ns, wale_run,
				     extack);
	if (IS_ERR(feedback))
		return PTR_ERR(feedback);
	request->feedback = feedback;
	return 0;
}

/* The rest is as it will be; what is replaced goes into the request. */
static void wale_netlink_apply_feedback(struct Qdisc *sch,
					struct wale_request *request, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (request->feedback) {
		wale_feedback_start(sch, request->feedback, now);
		request->feedback = NULL;
	} else if (request->tb[TCA_WALE_FEEDBACK] && q->feedback) {
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

/*
 * The link is run up to @now.
 *
 * Return: 0; or -EBUSY: the buffer holds packets, and nothing has changed.
 */
static int wale_netlink_apply(struct Qdisc *sch, struct wale_request *request,
			      u64 now, struct netlink_ext_ack *extack)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct nlattr **tb = request->tb;
	int err;

	wale_parents_settle(sch);
	err = wale_netlink_buffer_apply(sch, &request->buffer, now, extack);
	if (err)
		return err;
	q->follow.delay_ns = wale_attr_get(tb[TCA_WALE_DELAY64],
					   q->follow.delay_ns);
	q->follow.loss = wale_attr_get(tb[TCA_WALE_LOSS], q->follow.loss);
	q->follow.cuts = wale_attr_get(tb[TCA_WALE_DOWN_DROPS],
				       q->follow.cuts);
	q->framing = request->buffer.framing;
	q->drops = wale_attr_get(tb[TCA_WALE_DROPS], q->drops);
	q->gso = wale_attr_get(tb[TCA_WALE_GSO], q->gso);
	q->alarm.slack_ns = wale_attr_get(tb[TCA_WALE_SLACK],
					  q->alarm.slack_ns);
	wale_netlink_apply_line(&q->line_bound, tb);
	if (tb[TCA_WALE_POLICER])
		wale_policer_set(&q->policer, &request->policer, now);
	if (tb[TCA_WALE_BREAKER])
		swap(q->breaker, request->breaker.breaker);
	wale_netlink_impair_apply(q, &request->impair);
	if (tb[TCA_WALE_SEED])
		wale_link_seed(q, nla_get_u64(tb[TCA_WALE_SEED]));
	wale_netlink_schedule_apply(q, &request->schedule, tb, now);
	wale_follow_restart(q);
	wale_netlink_apply_feedback(sch, request, now);
	wale_netlink_scone_apply(q, &request->scone, now);
	wale_link_set_plain(q);
	wale_link_set_line_limit(q);
	wale_link_set_alarm(sch);
	wale_timer_set(sch, now);
	return 0;
}

static int wale_netlink_apply_locked(struct Qdisc *sch,
				     struct wale_request *request,
				     struct netlink_ext_ack *extack)
{
	int err = -EBUSY;
	u64 now;

	sch_tree_lock(sch);
	if (wale_run_patiently(sch, WALE_CHANGE_PATIENCE_NS, &now))
		err = wale_netlink_apply(sch, request, now, extack);
	else
		NL_SET_ERR_MSG(extack, WALE_BEHIND);
	sch_tree_unlock(sch);
	return err;
}

/**
 * wale_netlink_configure() - apply a request to a new or a running link
 * @sch: the qdisc
 * @opt: TCA_OPTIONS
 * @extack: what was expected, if it is refused
 *
 * Context: RTNL is held.
 * Return: 0; or -EINVAL, -ERANGE, -EBUSY, -ENOMEM, or of the file of a trace
 * -EBADF or what reading it says; and nothing has changed.
 */
int wale_netlink_configure(struct Qdisc *sch, struct nlattr *opt,
			   struct netlink_ext_ack *extack)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_request request = {};
	struct nlattr **tb = request.tb;
	int err;

	err = wale_netlink_attr_parse(tb, &wale_options_nest, opt, extack) ?:
	      wale_netlink_schedule_parse(&request.schedule, tb, extack) ?:
	      wale_netlink_parse_feedback(&request, extack) ?:
	      wale_netlink_policer_parse(&request.policer,
					 tb[TCA_WALE_POLICER], extack) ?:
	      wale_netlink_buffer_check(sch, &request.buffer, tb, extack) ?:
	      wale_netlink_schedule_check(q, &request.schedule, tb, extack) ?:
	      wale_netlink_buffer_check_steps(sch, &request.buffer,
					      wale_netlink_schedule_request_trace
					      (q, &request.schedule, tb),
					      tb, extack) ?:
	      wale_netlink_impair_parse(q, &request.impair,
					request.buffer.flows, tb, extack) ?:
	      wale_netlink_breaker_parse(q, &request.breaker,
					 request.buffer.flows,
					 tb[TCA_WALE_BREAKER], extack) ?:
	      wale_netlink_check_gso(q, &request, extack) ?:
	      wale_netlink_check_line(tb, extack) ?:
	      wale_netlink_scone_parse(&request.scone, tb[TCA_WALE_SCONE],
				       extack) ?:
	      wale_netlink_check_scone(q, &request, extack) ?:
	      wale_netlink_prepare(sch, &request, extack) ?:
	      wale_netlink_apply_locked(sch, &request, extack);
	/* the new ones of a refused request, or the old ones of another */
	wale_netlink_schedule_request_free(&request.schedule);
	wale_netlink_buffer_request_free(&request.buffer);
	wale_netlink_impair_request_free(&request.impair);
	kvfree(request.breaker.breaker);
	wale_feedback_free(request.feedback);
	wale_element_free(request.scone.element);
	return err;
}

static int wale_netlink_dump_feedback(const struct wale_feedback *feedback,
				      struct sk_buff *skb)
{
	struct nlattr *nest;

	if (!feedback)
		return 0;
	nest = nla_nest_start_noflag(skb, TCA_WALE_FEEDBACK);
	if (!nest || wale_netlink_attr_put(skb, &wale_feedback_nest,
					   TCA_WALE_FEEDBACK_IDLE,
					   wale_feedback_idle(feedback)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * wale_netlink_dump() - put the configuration
 * @sch: the qdisc
 * @skb: the message
 *
 * It is what comes first of what is shown of the link.  Then sch_api.c looks how many
 * packets the link holds, and only then asks for statistics: so it is run here.
 *
 * Context: RTNL is held, so that the configuration stands still; takes the root lock.
 * Return: length of the message, or -EMSGSIZE.
 */
int wale_netlink_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct nlattr *nest;
	u64 now;

	sch_tree_lock(sch);
	wale_run_patiently(sch, WALE_DUMP_PATIENCE_NS, &now);
	wale_parents_settle(sch);
	sch_tree_unlock(sch);

	nest = nla_nest_start_noflag(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (wale_netlink_dump_schedule(&q->schedule, skb) ||
	    wale_option_put(skb, TCA_WALE_DELAY64, q->follow.delay_ns) ||
	    wale_netlink_dump_buffer(q, skb) ||
	    wale_netlink_dump_policer(&q->policer.params, skb) ||
	    wale_netlink_dump_breaker(q->breaker, skb) ||
	    wale_netlink_dump_impair(q, skb) ||
	    wale_option_put(skb, TCA_WALE_OVERHEAD, q->framing.layer) ||
	    (q->framing.bytes &&
	     nla_put_s32(skb, TCA_WALE_OVERHEAD_BYTES, q->framing.bytes)) ||
	    wale_option_put_unless(skb, TCA_WALE_MPU, q->framing.least, 0) ||
	    wale_option_put(skb, TCA_WALE_DROPS, q->drops) ||
	    wale_option_put_unless(skb, TCA_WALE_SLACK, q->alarm.slack_ns, 0) ||
	    wale_option_put_unless(skb, TCA_WALE_LINE_PACKETS,
				   q->line_bound.packets, U32_MAX) ||
	    wale_option_put_unless(skb, TCA_WALE_LINE_BYTES,
				   q->line_bound.bytes, WALE_LINE_UNLIMITED) ||
	    wale_option_put_unless(skb, TCA_WALE_DOWN_DROPS, q->follow.cuts,
				   WALE_DOWN_DROPS_ARRIVALS) ||
	    wale_option_put_unless(skb, TCA_WALE_GSO, q->gso, WALE_GSO_SPLIT) ||
	    wale_option_put(skb, TCA_WALE_SEED, q->seed) ||
	    wale_netlink_dump_feedback(q->feedback, skb) ||
	    wale_netlink_scone_dump(q, skb)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}
