// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_buffer.c - the part of a request that is about the buffer: limit,
 * policy, flows and input links
 */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/wale_wire.h>

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_buffer.h"

/* No wire has longer packets. */
#define WALE_JUMBO_MTU	9216

/* What is limited. */
enum wale_netlink_unit {
	WALE_UNIT_PACKETS,
	WALE_UNIT_BYTES,
	WALE_UNIT_CELLS,
};

/* Each alternative excludes the others. */
static int wale_netlink_check_alternatives(struct nlattr **tb,
					   struct netlink_ext_ack *extack)
{
	if (!!tb[TCA_WALE_LIMIT_PACKETS] + !!tb[TCA_WALE_LIMIT_BYTES] +
	    !!tb[TCA_WALE_LIMIT_CELLS] > 1) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_LIMIT_BYTES] ?:
				    tb[TCA_WALE_LIMIT_CELLS],
				    "wale: limit must be in packets, in bytes or in cells, in one of them");
		return -EINVAL;
	}
	if (tb[TCA_WALE_THRESHOLD] && tb[TCA_WALE_THRESHOLD_SHARE]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_THRESHOLD_SHARE],
				    "wale: threshold must be a number or a share of the limit, not both");
		return -EINVAL;
	}
	return 0;
}

static enum wale_netlink_unit wale_netlink_unit(u64 limit_bytes,
						u32 limit_cells)
{
	if (limit_cells != U32_MAX)
		return WALE_UNIT_CELLS;
	return limit_bytes != U64_MAX ? WALE_UNIT_BYTES : WALE_UNIT_PACKETS;
}

/* The limits as they will be: one that is given ends the others. */
static void wale_netlink_merge_limit(const struct wale_sched_data *q,
				     struct wale_buffer_request *request,
				     struct nlattr **tb)
{
	bool given = tb[TCA_WALE_LIMIT_PACKETS] || tb[TCA_WALE_LIMIT_BYTES] ||
		     tb[TCA_WALE_LIMIT_CELLS];

	request->limit_packets =
		wale_attr_get(tb[TCA_WALE_LIMIT_PACKETS],
			      given ? U32_MAX : q->follow.limit_packets);
	request->limit_bytes =
		wale_attr_get(tb[TCA_WALE_LIMIT_BYTES],
			      given ? U64_MAX : q->follow.limit_bytes);
	request->limit_cells =
		wale_attr_get(tb[TCA_WALE_LIMIT_CELLS],
			      given ? U32_MAX : q->buffer.limit_cells);
}

static u64 wale_netlink_request_limit(const struct wale_buffer_request *request)
{
	switch (wale_netlink_unit(request->limit_bytes, request->limit_cells)) {
	case WALE_UNIT_CELLS:
		return request->limit_cells;
	case WALE_UNIT_BYTES:
		return request->limit_bytes;
	default:
		return request->limit_packets;
	}
}

static bool wale_netlink_policy_by_flow(const struct wale_policy *policy)
{
	return policy->kind == WALE_POLICY_SELDROP ||
	       policy->kind == WALE_POLICY_FBA;
}

static bool wale_netlink_policy_has_threshold(const struct wale_policy *policy)
{
	return policy->kind == WALE_POLICY_EPD ||
	       wale_netlink_policy_by_flow(policy);
}

/* Is the limit in another unit from now on, and with it a threshold? */
static bool wale_netlink_changes_unit(const struct wale_sched_data *q,
				      const struct wale_buffer_request *request)
{
	return wale_netlink_unit(request->limit_bytes, request->limit_cells) !=
	       wale_netlink_unit(q->follow.limit_bytes, q->buffer.limit_cells);
}

/* Is there a threshold that nobody sees, and that cannot be one with this limit? */
static bool
wale_netlink_threshold_is_stale(const struct wale_sched_data *q,
				const struct wale_buffer_request *request)
{
	const struct wale_policy *policy = &request->policy;

	return !policy->share &&
	       (!wale_netlink_policy_has_threshold(&q->policy) ||
		!wale_netlink_policy_has_threshold(policy)) &&
	       (wale_netlink_changes_unit(q, request) ||
		policy->threshold > wale_netlink_request_limit(request));
}

/* The policy as it will be. */
static void wale_netlink_merge_policy(const struct wale_sched_data *q,
				      struct wale_buffer_request *request,
				      struct nlattr **tb)
{
	struct wale_policy *policy = &request->policy;

	*policy = q->policy;
	policy->kind = wale_attr_get(tb[TCA_WALE_POLICY], policy->kind);
	policy->z = wale_attr_get(tb[TCA_WALE_Z], policy->z);
	policy->last = wale_attr_get(tb[TCA_WALE_LAST], policy->last);
	policy->mark = wale_attr_get(tb[TCA_WALE_MARK], policy->mark);
	if (wale_netlink_threshold_is_stale(q, request))
		policy->share = WALE_POLICY_SHARE_DEFAULT;
	if (tb[TCA_WALE_THRESHOLD]) {
		policy->threshold = nla_get_u64(tb[TCA_WALE_THRESHOLD]);
		policy->share = 0;
	}
	policy->share = wale_attr_get(tb[TCA_WALE_THRESHOLD_SHARE],
				      policy->share);
	policy->threshold =
		wale_policy_threshold(policy,
				      wale_netlink_request_limit(request));
}

/*
 * What one packet takes on the wire: of the MTU, but for devices such as lo and ifb
 * whose MTU is that of no wire.
 */
static u32 wale_netlink_packet_len(struct Qdisc *sch,
				   const struct wale_framing *framing)
{
	u32 mtu = qdisc_dev(sch)->mtu;

	return wale_framing_len(framing, mtu <= WALE_JUMBO_MTU ? mtu :
								 ETH_DATA_LEN);
}

/* The first attribute that changes it; or NULL. */
static const struct nlattr *wale_netlink_framing_attr(struct nlattr **tb)
{
	return tb[TCA_WALE_OVERHEAD] ?: tb[TCA_WALE_OVERHEAD_BYTES] ?:
	       tb[TCA_WALE_MPU];
}

/* What packets take on the wire beside, as it will be. */
static int wale_netlink_merge_framing(const struct wale_sched_data *q,
				      struct wale_buffer_request *request,
				      struct nlattr **tb,
				      struct netlink_ext_ack *extack)
{
	const struct nlattr *bytes = tb[TCA_WALE_OVERHEAD_BYTES];
	struct wale_framing *framing = &request->framing;

	*framing = q->framing;
	framing->layer = wale_attr_get(tb[TCA_WALE_OVERHEAD], framing->layer);
	framing->least = wale_attr_get(tb[TCA_WALE_MPU], framing->least);
	if (bytes)
		framing->bytes = nla_get_s32(bytes);
	else if (tb[TCA_WALE_OVERHEAD])
		framing->bytes = 0;
	if (framing->bytes >= WALE_OVERHEAD_BYTES_MIN &&
	    framing->bytes <= WALE_OVERHEAD_BYTES_MAX)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, bytes,
			    "wale: overhead must be -4096 to 4096 bytes");
	return -ERANGE;
}

static int wale_netlink_check_limit(struct Qdisc *sch,
				    const struct wale_buffer_request *request,
				    struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	u32 packet = wale_netlink_packet_len(sch, &request->framing);
	const struct nlattr *framing = wale_netlink_framing_attr(tb);
	bool cells = request->limit_cells != U32_MAX;

	if (cells && request->framing.layer != WALE_OVERHEAD_ATM) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_LIMIT_CELLS] ?:
				    tb[TCA_WALE_OVERHEAD],
				    "wale: limit in cells needs overhead atm");
		return -EINVAL;
	}
	if ((tb[TCA_WALE_LIMIT_BYTES] || framing) &&
	    request->limit_bytes < packet) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_LIMIT_BYTES] ?: framing,
				    "wale: limit in bytes must be at least what one packet takes on the wire (of the device's MTU, or of 1500 bytes if that is above 9216)");
		return -ERANGE;
	}
	if ((tb[TCA_WALE_LIMIT_CELLS] || framing) &&
	    request->limit_cells < packet / WALE_ATM_CELL) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_LIMIT_CELLS] ?: framing,
				    "wale: limit in cells must be at least those of one packet (of the device's MTU, or of 1500 bytes if that is above 9216)");
		return -ERANGE;
	}
	if (!cells && tb[TCA_WALE_INPUT_RATE64] &&
	    request->input_rate != WALE_RATE_UNLIMITED) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_INPUT_RATE64],
				    "wale: input_rate is that of cells: it needs a limit in cells");
		return -EINVAL;
	}
	return 0;
}

static int wale_netlink_check_policy(const struct wale_sched_data *q,
				     const struct wale_buffer_request *request,
				     struct nlattr **tb,
				     struct netlink_ext_ack *extack)
{
	const struct wale_policy *policy = &request->policy;
	bool by_flow = wale_netlink_policy_by_flow(policy);
	bool threshold = wale_netlink_policy_has_threshold(policy);
	u64 limit = wale_netlink_request_limit(request);

	if (!threshold &&
	    (tb[TCA_WALE_THRESHOLD] || tb[TCA_WALE_THRESHOLD_SHARE])) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_THRESHOLD] ?:
				    tb[TCA_WALE_THRESHOLD_SHARE],
				    "wale: threshold is a parameter of policy epd, seldrop and fba");
		return -EINVAL;
	}
	if (!by_flow && tb[TCA_WALE_Z]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_Z],
				    "wale: share_factor is a parameter of policy seldrop and fba");
		return -EINVAL;
	}
	if (policy->kind != WALE_POLICY_RANDOM_TAIL && tb[TCA_WALE_LAST]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_LAST],
				    "wale: victims is a parameter of policy random_tail");
		return -EINVAL;
	}
	if (policy->kind != WALE_POLICY_REM && tb[TCA_WALE_REM]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_REM],
				    "wale: rem has the parameters of policy rem");
		return -EINVAL;
	}
	if (wale_attr_get(tb[TCA_WALE_MARK], 0) && !threshold &&
	    policy->kind != WALE_POLICY_REM) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_MARK],
				    "wale: policy_ecn needs a policy that decides before the buffer is full: epd, seldrop, fba or rem");
		return -EINVAL;
	}
	if (by_flow && limit > WALE_POLICY_LIMIT_MAX) {
		NL_SET_ERR_MSG(extack,
			       "wale: with policy seldrop and fba, limit must be at most 4294967295");
		return -ERANGE;
	}
	if (!threshold || policy->share)
		return 0;
	if (policy->threshold > limit) {
		NL_SET_ERR_MSG(extack,
			       "wale: threshold must be at most the limit");
		return -ERANGE;
	}
	if (wale_netlink_changes_unit(q, request) && !tb[TCA_WALE_THRESHOLD]) {
		NL_SET_ERR_MSG(extack,
			       "wale: threshold is in the unit of the limit: with another unit, it must be given too");
		return -EINVAL;
	}
	return 0;
}

/* With a child, these are its own business. */
static int wale_netlink_check_child(const struct wale_sched_data *q,
				    struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	static const u16 attrs[] = {
		TCA_WALE_LIMIT_PACKETS, TCA_WALE_LIMIT_BYTES,
		TCA_WALE_LIMIT_CELLS, TCA_WALE_POLICY, TCA_WALE_THRESHOLD,
		TCA_WALE_THRESHOLD_SHARE, TCA_WALE_Z, TCA_WALE_LAST,
		TCA_WALE_FLOWS, TCA_WALE_INPUT_RATE64, TCA_WALE_MARK,
		TCA_WALE_REM,
	};
	size_t i;

	if (!q->child.qdisc)
		return 0;
	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		if (!tb[attrs[i]])
			continue;
		NL_SET_ERR_MSG_ATTR(extack, tb[attrs[i]],
				    "wale: the child qdisc is the buffer: it has the limit, the policy and the flows");
		return -EBUSY;
	}
	return 0;
}

static int wale_netlink_check_flows(const struct wale_sched_data *q,
				    struct wale_buffer_request *request,
				    struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	bool needed = wale_netlink_policy_by_flow(&request->policy) ||
		      request->limit_cells != U32_MAX;

	if (q->classes && request->flows &&
	    request->flows != q->classes->count) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_FLOWS],
				    "wale: flows cannot be changed once flows are told apart");
		return -EBUSY;
	}
	if (q->classes)
		request->flows = 0;
	else if (!request->flows && needed)
		request->flows = WALE_FLOWS_DEFAULT;
	return 0;
}

/**
 * wale_netlink_buffer_check() - the attributes together, and with what the link is
 * @sch: the qdisc
 * @request: the request; then it says what will be
 * @tb: the attributes
 * @extack: what was expected
 *
 * Return: 0, or -EINVAL, -ERANGE or -EBUSY.
 */
int wale_netlink_buffer_check(struct Qdisc *sch,
			      struct wale_buffer_request *request,
			      struct nlattr **tb,
			      struct netlink_ext_ack *extack)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	int err;

	err = wale_netlink_check_alternatives(tb, extack) ?:
		      wale_netlink_check_child(q, tb, extack);
	if (err)
		return err;
	request->flows = wale_attr_get(tb[TCA_WALE_FLOWS], 0);
	wale_netlink_merge_limit(q, request, tb);
	wale_netlink_merge_policy(q, request, tb);
	request->input_rate = wale_attr_get(tb[TCA_WALE_INPUT_RATE64],
					    q->input_rate);
	request->rem = q->rem.params;
	err = wale_netlink_rem_parse(&request->rem, tb[TCA_WALE_REM], extack);
	if (err)
		return err;
	err = wale_netlink_merge_framing(q, request, tb, extack) ?:
		      wale_netlink_check_limit(sch, request, tb, extack);
	if (!err)
		err = wale_netlink_check_policy(q, request, tb, extack);
	if (!err)
		err = wale_netlink_check_flows(q, request, tb, extack);
	if (request->limit_cells == U32_MAX)
		request->input_rate = WALE_RATE_UNLIMITED;
	return err;
}

/**
 * wale_netlink_buffer_check_steps() - the limits of the steps of a trace
 * @sch: the qdisc
 * @request: checked; the buffer as it will be
 * @trace: that the link will follow, or NULL
 * @tb: the attributes
 * @extack: what was expected
 *
 * Return: 0, or -EINVAL, -ERANGE or -EBUSY.
 */
int wale_netlink_buffer_check_steps(struct Qdisc *sch,
				    const struct wale_buffer_request *request,
				    const struct wale_trace *trace,
				    struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = tb[TCA_WALE_TRACE] ?: tb[TCA_WALE_TRACE_FD];
	const struct wale_sched_data *q = qdisc_priv(sch);
	const struct wale_policy *policy = &request->policy;
	const struct nlattr *framing;
	u32 packet;

	if (!trace || !trace->limit_at)
		return 0;
	if (q->child.qdisc && attr) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: the child qdisc is the buffer: steps of a trace cannot have a limit");
		return -EBUSY;
	}
	if (request->limit_cells != U32_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr ?: tb[TCA_WALE_LIMIT_CELLS],
				    "wale: the limits of steps of a trace are in packets or bytes: the limit must not be in cells");
		return -EINVAL;
	}
	if (wale_netlink_policy_has_threshold(policy) && !policy->share) {
		NL_SET_ERR_MSG_ATTR(extack, attr ?: tb[TCA_WALE_THRESHOLD],
				    "wale: while the limit follows a trace, threshold must be a share of it");
		return -EINVAL;
	}
	if (wale_netlink_policy_by_flow(policy) &&
	    trace->peak_limit > WALE_POLICY_LIMIT_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr ?: tb[TCA_WALE_POLICY],
				    "wale: with policy seldrop and fba, each limit in trace must be at most 4294967295");
		return -ERANGE;
	}
	packet = wale_netlink_packet_len(sch, &request->framing);
	framing = wale_netlink_framing_attr(tb);
	if (wale_trace_limits_packets(trace) || trace->least_limit >= packet ||
	    (!attr && !framing))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr ?: framing,
			    "wale: each limit in trace must be at least what one packet takes on the wire (of the device's MTU, or of 1500 bytes if that is above 9216)");
	return -ERANGE;
}

/**
 * wale_netlink_buffer_prepare() - the memory that a valid request needs
 * @sch: the qdisc
 * @request: the request
 * @extack: unused so far
 *
 * Return: 0 or -ENOMEM.
 */
int wale_netlink_buffer_prepare(struct Qdisc *sch,
				struct wale_buffer_request *request,
				struct netlink_ext_ack *extack)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	u32 size;

	if (request->flows) {
		request->classes = kvzalloc(wale_classes_size(request->flows),
					    GFP_KERNEL_ACCOUNT);
		if (!request->classes)
			return -ENOMEM;
		wale_classes_init(request->classes, request->flows);
		/* not of the seed, which is shown */
		get_random_bytes(request->classes->secret,
				 sizeof(request->classes->secret));
	}
	if (request->limit_cells == U32_MAX)
		return 0;
	size = max_t(u32, roundup_pow_of_two(request->limit_cells),
		     WALE_RING_MIN);
	if (q->cells.ends && size <= q->cells.mask + 1)
		return 0;
	request->ring = kvzalloc(wale_cells_ring_size(size),
				 GFP_KERNEL_ACCOUNT);
	if (!request->ring)
		return -ENOMEM;
	request->ring_size = size;
	return 0;
}

static void wale_netlink_apply_flows(struct Qdisc *sch,
				     struct wale_buffer_request *request)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_classes *classes = request->classes;

	if (!classes)
		return;
	wale_classes_begin(classes, &q->buffer, &q->counts.line);
	q->classes = classes;
	request->classes = NULL;
}

/**
 * wale_netlink_buffer_apply() - the configuration is replaced
 * @sch: the qdisc, run up to now
 * @request: a valid request, prepared; then what was replaced is in it
 * @now: ns
 * @extack: why not
 *
 * Context: the root lock is held.
 * Return: 0; or -EBUSY, and nothing has changed.
 */
int wale_netlink_buffer_apply(struct Qdisc *sch,
			      struct wale_buffer_request *request, u64 now,
			      struct netlink_ext_ack *extack)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_buffer *buffer = &q->buffer;
	bool cells = request->limit_cells != U32_MAX;
	u64 *ring = q->cells.ends;

	if (cells != wale_buffer_counts_cells(buffer) && buffer->packets) {
		NL_SET_ERR_MSG(extack,
			       "wale: limit can change between cells and another unit only while the buffer is empty");
		return -EBUSY;
	}
	wale_netlink_apply_flows(sch, request);
	if (request->ring) {
		wale_cells_set_ring(&q->cells, request->ring,
				    request->ring_size);
		request->ring = ring;
	}
	if (request->input_rate != q->input_rate) {
		q->input_rate = request->input_rate;
		wale_cells_set_rate(&q->cells, q->input_rate);
		if (q->classes)
			wale_ends_forget(&q->classes->ends);
	}
	q->follow.limit_packets = request->limit_packets;
	q->follow.limit_bytes = request->limit_bytes;
	buffer->limit_cells = request->limit_cells;
	wale_netlink_rem_apply(q, &request->rem,
			       request->policy.kind == WALE_POLICY_REM &&
				       q->policy.kind != WALE_POLICY_REM,
			       now);
	q->policy = request->policy;
	return 0;
}

/**
 * wale_netlink_buffer_request_free() - free what a request did not use, or replaced
 * @request: applied, or refused
 */
void wale_netlink_buffer_request_free(struct wale_buffer_request *request)
{
	kvfree(request->classes);
	kvfree(request->ring);
}

static int wale_netlink_dump_limit(const struct wale_sched_data *q,
				   struct sk_buff *skb)
{
	switch (wale_netlink_unit(q->follow.limit_bytes,
				  q->buffer.limit_cells)) {
	case WALE_UNIT_CELLS:
		return wale_option_put(skb, TCA_WALE_LIMIT_CELLS,
				       q->buffer.limit_cells);
	case WALE_UNIT_BYTES:
		return wale_option_put(skb, TCA_WALE_LIMIT_BYTES,
				       q->follow.limit_bytes);
	default:
		return wale_option_put(skb, TCA_WALE_LIMIT_PACKETS,
				       q->follow.limit_packets);
	}
}

static int wale_netlink_dump_threshold(const struct wale_policy *policy,
				       struct sk_buff *skb)
{
	if (policy->share)
		return wale_option_put(skb, TCA_WALE_THRESHOLD_SHARE,
				       policy->share);
	return wale_option_put(skb, TCA_WALE_THRESHOLD, policy->threshold);
}

/* The policy, with the parameters that it has. */
static int wale_netlink_dump_policy(const struct wale_policy *policy,
				    const struct wale_rem_params *rem,
				    struct sk_buff *skb)
{
	if (wale_option_put(skb, TCA_WALE_POLICY, policy->kind))
		return -EMSGSIZE;
	if (policy->mark && policy->kind != WALE_POLICY_TAIL &&
	    policy->kind != WALE_POLICY_RANDOM_TAIL &&
	    wale_option_put(skb, TCA_WALE_MARK, policy->mark))
		return -EMSGSIZE;
	switch (policy->kind) {
	case WALE_POLICY_TAIL:
		return 0;
	case WALE_POLICY_REM:
		return wale_netlink_dump_rem(rem, skb);
	case WALE_POLICY_RANDOM_TAIL:
		return wale_option_put(skb, TCA_WALE_LAST, policy->last);
	case WALE_POLICY_EPD:
		return wale_netlink_dump_threshold(policy, skb);
	default:
		return wale_netlink_dump_threshold(policy, skb) ?:
			       wale_option_put(skb, TCA_WALE_Z, policy->z);
	}
}

/**
 * wale_netlink_dump_buffer() - put the configuration of the buffer, if there is no child
 * @q: the link
 * @skb: the message
 *
 * Context: RTNL is held, so that the configuration stands still.
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_dump_buffer(const struct wale_sched_data *q,
			     struct sk_buff *skb)
{
	if (q->child.qdisc)
		return 0;
	if (wale_netlink_dump_limit(q, skb) ||
	    wale_netlink_dump_policy(&q->policy, &q->rem.params, skb))
		return -EMSGSIZE;
	if (q->classes &&
	    wale_option_put(skb, TCA_WALE_FLOWS, q->classes->count))
		return -EMSGSIZE;
	return wale_option_put(skb, TCA_WALE_INPUT_RATE64, q->input_rate);
}
