/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_trace.h - tracepoint of rate_feedback: what a link publishes
 *
 * It fires for each rate or number of flows that a link publishes for its
 * device, and when it ends, with RATE_FEEDBACK_UNLIMITED, as a link without a
 * rate has.  rate is in bytes/s, since_ns is when it took effect.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rate_feedback

#if !defined(_RATE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RATE_TRACE_H

#include <linux/tracepoint.h>
#include <net/net_namespace.h>

TRACE_EVENT(rate_published,
	TP_PROTO(const struct net *net, u32 ifindex, u64 since_ns, u64 rate,
		 u8 layer, u32 flows),
	TP_ARGS(net, ifindex, since_ns, rate, layer, flows),
	TP_STRUCT__entry(
		__field(u64, netns_cookie)
		__field(u32, ifindex)
		__field(u64, since_ns)
		__field(u64, rate)
		__field(u8, layer)
		__field(u32, flows)
	),
	TP_fast_assign(
		__entry->netns_cookie = net->net_cookie;
		__entry->ifindex = ifindex;
		__entry->since_ns = since_ns;
		__entry->rate = rate;
		__entry->layer = layer;
		__entry->flows = flows;
	),
	TP_printk("netns_cookie=%llu ifindex=%u since_ns=%llu rate=%llu layer=%u flows=%u",
		  __entry->netns_cookie, __entry->ifindex, __entry->since_ns,
		  __entry->rate, __entry->layer, __entry->flows)
);

#endif /* _RATE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rate_trace
#include <trace/define_trace.h>
