/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire_trace.h - a tracepoint: a packet of another guest has arrived
 *
 * It is to the events that follow it what wale:wale_release is within a guest: they happen then
 * and there.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wale_wire

#if !defined(_WIRE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _WIRE_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

TRACE_EVENT(wire_arrival,
	TP_PROTO(const struct net_device *dev, u64 now),
	TP_ARGS(dev, now),
	TP_STRUCT__entry(
		__field(u64, netns_cookie)
		__field(u64, now)
	),
	TP_fast_assign(
		__entry->netns_cookie = dev_net(dev)->net_cookie;
		__entry->now = now;
	),
	TP_printk("netns_cookie=%llu now_ns=%llu", __entry->netns_cookie,
		  __entry->now)
);

#endif /* _WIRE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE wire_trace
#include <trace/define_trace.h>
