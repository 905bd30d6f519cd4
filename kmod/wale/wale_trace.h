/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_trace.h - tracepoints of sch_wale: a packet comes, is dropped, leaves
 *
 * len is bytes on the wire; times are ns of CLOCK_MONOTONIC; backlog is what
 * waits or is served right after the event.  With a child qdisc, a packet enters
 * (wale_enqueue) before it is known whether the child takes it; which packets the
 * child drops is not known (wale_child_drop has their number), nor when those came
 * that it gives back: their arrival is 0.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wale

#if !defined(_WALE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _WALE_TRACE_H

#include <linux/tracepoint.h>

#include "wale.h"

TRACE_DEFINE_ENUM(WALE_DROP_BUFFER);
TRACE_DEFINE_ENUM(WALE_DROP_LOSS);
TRACE_DEFINE_ENUM(WALE_DROP_MEMORY);
TRACE_DEFINE_ENUM(WALE_DROP_PURGE);
TRACE_DEFINE_ENUM(WALE_DROP_EARLY);
TRACE_DEFINE_ENUM(WALE_DROP_PARTIAL);
TRACE_DEFINE_ENUM(WALE_DROP_CHILD);

TRACE_EVENT(wale_enqueue,
	TP_PROTO(struct Qdisc *sch, struct sk_buff *skb, u64 now),
	TP_ARGS(sch, skb, now),
	TP_STRUCT__entry(
		__string(dev, qdisc_dev(sch)->name)
		__field(u32, hash)
		__field(u32, len)
		__field(u32, backlog_packets)
		__field(u64, backlog_bytes)
		__field(u32, backlog_cells)
		__field(u64, now)
	),
	TP_fast_assign(
		struct wale_sched_data *q = qdisc_priv(sch);

		wale_compat_assign_str(dev, qdisc_dev(sch)->name);
		__entry->hash = skb_get_hash(skb);
		__entry->len = wale_skb_cb(skb)->wire_len;
		__entry->backlog_packets = q->buffer.packets;
		__entry->backlog_bytes = q->buffer.bytes;
		__entry->backlog_cells = q->buffer.cells;
		__entry->now = now;
	),
	TP_printk("dev=%s hash=0x%08x len=%u backlog_packets=%u backlog_bytes=%llu backlog_cells=%u now_ns=%llu",
		  __get_str(dev), __entry->hash, __entry->len,
		  __entry->backlog_packets, __entry->backlog_bytes,
		  __entry->backlog_cells,
		  __entry->now)
);

TRACE_EVENT(wale_drop,
	TP_PROTO(struct Qdisc *sch, struct sk_buff *skb, u32 len,
		 enum wale_drop_reason reason, u64 arrival, u64 now),
	TP_ARGS(sch, skb, len, reason, arrival, now),
	TP_STRUCT__entry(
		__string(dev, qdisc_dev(sch)->name)
		__field(u32, hash)
		__field(u32, len)
		__field(u32, backlog_packets)
		__field(u64, backlog_bytes)
		__field(u32, backlog_cells)
		__field(u32, reason)
		__field(u64, arrival)
		__field(u64, now)
	),
	TP_fast_assign(
		struct wale_sched_data *q = qdisc_priv(sch);

		wale_compat_assign_str(dev, qdisc_dev(sch)->name);
		__entry->hash = skb_get_hash(skb);
		__entry->len = len;
		__entry->backlog_packets = q->buffer.packets;
		__entry->backlog_bytes = q->buffer.bytes;
		__entry->backlog_cells = q->buffer.cells;
		__entry->reason = reason;
		__entry->arrival = arrival;
		__entry->now = now;
	),
	TP_printk("dev=%s hash=0x%08x len=%u backlog_packets=%u backlog_bytes=%llu backlog_cells=%u reason=%s arrival_ns=%llu now_ns=%llu",
		  __get_str(dev), __entry->hash, __entry->len,
		  __entry->backlog_packets, __entry->backlog_bytes,
		  __entry->backlog_cells,
		  __print_symbolic(__entry->reason,
				   { WALE_DROP_BUFFER, "buffer" },
				   { WALE_DROP_LOSS, "loss" },
				   { WALE_DROP_MEMORY, "memory" },
				   { WALE_DROP_PURGE, "purge" },
				   { WALE_DROP_EARLY, "early" },
				   { WALE_DROP_PARTIAL, "partial" },
				   { WALE_DROP_CHILD, "child" }),
		  __entry->arrival, __entry->now)
);

TRACE_EVENT(wale_dequeue,
	TP_PROTO(struct Qdisc *sch, struct sk_buff *skb, u64 now),
	TP_ARGS(sch, skb, now),
	TP_STRUCT__entry(
		__string(dev, qdisc_dev(sch)->name)
		__field(u32, hash)
		__field(u32, len)
		__field(u32, backlog_packets)
		__field(u64, backlog_bytes)
		__field(u32, backlog_cells)
		__field(u64, arrival)
		__field(u64, departure)
		__field(u64, now)
	),
	TP_fast_assign(
		struct wale_sched_data *q = qdisc_priv(sch);

		wale_compat_assign_str(dev, qdisc_dev(sch)->name);
		__entry->hash = skb_get_hash(skb);
		__entry->len = wale_skb_cb(skb)->wire_len;
		__entry->backlog_packets = q->buffer.packets;
		__entry->backlog_bytes = q->buffer.bytes;
		__entry->backlog_cells = q->buffer.cells;
		__entry->arrival = wale_skb_cb(skb)->arrival_ns;
		__entry->departure = wale_skb_cb(skb)->departure_ns;
		__entry->now = now;
	),
	TP_printk("dev=%s hash=0x%08x len=%u backlog_packets=%u backlog_bytes=%llu backlog_cells=%u arrival_ns=%llu departure_ns=%llu now_ns=%llu",
		  __get_str(dev), __entry->hash, __entry->len,
		  __entry->backlog_packets, __entry->backlog_bytes,
		  __entry->backlog_cells,
		  __entry->arrival, __entry->departure, __entry->now)
);

TRACE_EVENT(wale_child_drop,
	TP_PROTO(struct Qdisc *sch, int packets, int bytes, u64 now),
	TP_ARGS(sch, packets, bytes, now),
	TP_STRUCT__entry(
		__string(dev, qdisc_dev(sch)->name)
		__field(int, packets)
		__field(int, bytes)
		__field(u32, backlog_packets)
		__field(u64, backlog_bytes)
		__field(u64, now)
	),
	TP_fast_assign(
		struct wale_sched_data *q = qdisc_priv(sch);

		wale_compat_assign_str(dev, qdisc_dev(sch)->name);
		__entry->packets = packets;
		__entry->bytes = bytes;
		__entry->backlog_packets = q->buffer.packets;
		__entry->backlog_bytes = q->buffer.bytes;
		__entry->now = now;
	),
	TP_printk("dev=%s packets=%d bytes=%d backlog_packets=%u backlog_bytes=%llu now_ns=%llu",
		  __get_str(dev), __entry->packets, __entry->bytes,
		  __entry->backlog_packets, __entry->backlog_bytes,
		  __entry->now)
);

#endif /* _WALE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE wale_trace
#include <trace/define_trace.h>
