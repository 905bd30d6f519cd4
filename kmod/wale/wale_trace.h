/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_trace.h - tracepoints of sch_wale: a packet comes, is dropped, leaves; and
 * all that became of it
 *
 * len is bytes on the wire; times are ns of CLOCK_MONOTONIC; backlog is what
 * waits or is served right after the event.  With a child qdisc, a packet enters
 * (wale_enqueue) before it is known whether the child takes it; which packets the
 * child drops is not known (wale_child_drop has their number, skb:kfree_skb their
 * addresses), nor when those came that it gives back: their arrival is 0.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wale

#if !defined(_WALE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _WALE_TRACE_H

#include <linux/tracepoint.h>

#include "wale.h"

#ifndef _WALE_TRACE_PACKET
#define _WALE_TRACE_PACKET
/* The headers of IPv6 and TCP with all of its options. */
#define WALE_TRACE_HEAD	100

static inline u32 wale_trace_ip_len(const struct sk_buff *skb)
{
	u32 below_ip = max(skb_network_offset(skb), 0);

	return skb->len - min(below_ip, skb->len);
}

/* When the service of a packet began that ends now; 0: it was not served. */
static inline u64 wale_trace_start(const struct wale_sched_data *q,
				   const struct sk_buff *skb, u32 fate)
{
	if (fate != __WALE_DROP_MAX && fate != WALE_DROP_LOSS &&
	    fate != WALE_DROP_PARTIAL)
		return 0;
	if (wale_buffer_counts_cells(&q->buffer))
		return q->classes->class[wale_skb_class(skb)].service_ns;
	return q->server.start_ns;
}
#endif

TRACE_DEFINE_ENUM(WALE_DROP_BUFFER);
TRACE_DEFINE_ENUM(WALE_DROP_LOSS);
TRACE_DEFINE_ENUM(WALE_DROP_MEMORY);
TRACE_DEFINE_ENUM(WALE_DROP_PURGE);
TRACE_DEFINE_ENUM(WALE_DROP_EARLY);
TRACE_DEFINE_ENUM(WALE_DROP_PARTIAL);
TRACE_DEFINE_ENUM(WALE_DROP_CHILD);
TRACE_DEFINE_ENUM(WALE_DROP_LINE);
TRACE_DEFINE_ENUM(WALE_DROP_DOWN);
TRACE_DEFINE_ENUM(WALE_DROP_POLICER);
TRACE_DEFINE_ENUM(WALE_DROP_BREAKER);
TRACE_DEFINE_ENUM(__WALE_DROP_MAX);

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
				   { WALE_DROP_CHILD, "child" },
				   { WALE_DROP_LINE, "line" },
				   { WALE_DROP_DOWN, "down" },
				   { WALE_DROP_POLICER, "policer" },
				   { WALE_DROP_BREAKER, "breaker" }),
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
		__field(u64, netns_cookie)
		__field(int, packets)
		__field(int, bytes)
		__field(u32, backlog_packets)
		__field(u64, backlog_bytes)
		__field(u64, now)
	),
	TP_fast_assign(
		struct wale_sched_data *q = qdisc_priv(sch);

		wale_compat_assign_str(dev, qdisc_dev(sch)->name);
		__entry->netns_cookie = dev_net(qdisc_dev(sch))->net_cookie;
		__entry->packets = packets;
		__entry->bytes = bytes;
		__entry->backlog_packets = q->buffer.packets;
		__entry->backlog_bytes = q->buffer.bytes;
		__entry->now = now;
	),
	TP_printk("netns_cookie=%llu dev=%s packets=%d bytes=%d backlog_packets=%u backlog_bytes=%llu now_ns=%llu",
		  __entry->netns_cookie, __get_str(dev), __entry->packets,
		  __entry->bytes, __entry->backlog_packets,
		  __entry->backlog_bytes, __entry->now)
);

/*
 * With each wale_dequeue, but small, and without a hash, the first of which takes
 * from the kernel's randomness.  What follows it in the trace happens then and
 * there: so a trace needs no clock of its own.
 */
TRACE_EVENT(wale_release,
	TP_PROTO(struct Qdisc *sch, u64 now),
	TP_ARGS(sch, now),
	TP_STRUCT__entry(
		__field(u64, netns_cookie)
		__field(u64, now)
	),
	TP_fast_assign(
		__entry->netns_cookie = dev_net(qdisc_dev(sch))->net_cookie;
		__entry->now = now;
	),
	TP_printk("netns_cookie=%llu now_ns=%llu", __entry->netns_cookie,
		  __entry->now)
);

/*
 * One event tells the whole of a packet: when it is dropped, or when its service
 * ends, by which its departure is known.  So there is one for each packet that
 * was offered and each copy of one, and a second for one that is purged from the
 * line: that with departure_ns of the fate "purge".  With a child, there is one
 * more when it gets the packet, of the fate "child": that is so unless another one
 * with the same skbaddr follows, for one that it gave back.
 */
TRACE_EVENT(wale_packet,
	TP_PROTO(struct Qdisc *sch, const struct sk_buff *skb, u32 fate,
		 u64 now),
	TP_ARGS(sch, skb, fate, now),
	TP_STRUCT__entry(
		__field(const void *, skbaddr)
		__field(u64, netns_cookie)
		__field(u64, arrival)
		__field(u64, start)
		__field(u64, now)
		__field(u64, departure)
		__field(u64, rate)
		__string(dev, qdisc_dev(sch)->name)
		__dynamic_array(u8, head, min_t(u32, wale_trace_ip_len(skb),
						WALE_TRACE_HEAD))
		__field(u32, handle)
		__field(u32, len)
		__field(u32, ip_len)
		__field(u16, protocol)
		__field(u16, class)
		__field(u8, fate)
		__field(u8, copy)
		__field(u8, corrupted)
	),
	TP_fast_assign(
		const struct wale_skb_cb *cb = wale_skb_cb(skb);
		struct wale_sched_data *q = qdisc_priv(sch);
		bool on_line = fate == __WALE_DROP_MAX || fate == WALE_DROP_PURGE;
		u32 head_len = __get_dynamic_array_len(head);

		wale_compat_assign_str(dev, qdisc_dev(sch)->name);
		__entry->ip_len = wale_trace_ip_len(skb);
		if (skb_copy_bits(skb, skb->len - __entry->ip_len,
				  __get_dynamic_array(head), head_len))
			memset(__get_dynamic_array(head), 0, head_len);
		__entry->skbaddr = skb;
		__entry->netns_cookie = dev_net(qdisc_dev(sch))->net_cookie;
		__entry->arrival = cb->arrival_ns;
		__entry->start = wale_trace_start(q, skb, fate);
		__entry->now = now;
		__entry->departure = on_line ? cb->departure_ns : 0;
		__entry->rate = wale_schedule_bytes_per_s(&q->schedule);
		__entry->handle = sch->handle;
		__entry->len = cb->wire_len;
		__entry->protocol = ntohs(skb_protocol(skb, true));
		__entry->class = !q->classes ? 0 :
				 wale_skb_class(skb) ?: WALE_CLASS_CROWD;
		__entry->fate = fate;
		__entry->copy = cb->copy;
		__entry->corrupted = cb->corrupted;
	),
	TP_printk("netns_cookie=%llu dev=%s handle=%x: class=%u fate=%s arrival_ns=%llu start_ns=%llu now_ns=%llu departure_ns=%llu rate=%llu len=%u ip_len=%u copy=%u corrupted=%u protocol=0x%04x skbaddr=%p head=%s",
		  __entry->netns_cookie, __get_str(dev), __entry->handle >> 16,
		  __entry->class,
		  __print_symbolic(__entry->fate,
				   { WALE_DROP_BUFFER, "buffer" },
				   { WALE_DROP_LOSS, "loss" },
				   { WALE_DROP_MEMORY, "memory" },
				   { WALE_DROP_PURGE, "purge" },
				   { WALE_DROP_EARLY, "early" },
				   { WALE_DROP_PARTIAL, "partial" },
				   { WALE_DROP_CHILD, "child" },
				   { WALE_DROP_LINE, "line" },
				   { WALE_DROP_DOWN, "down" },
				   { WALE_DROP_POLICER, "policer" },
				   { WALE_DROP_BREAKER, "breaker" },
				   { __WALE_DROP_MAX, "delivered" }),
		  __entry->arrival, __entry->start, __entry->now,
		  __entry->departure, __entry->rate, __entry->len,
		  __entry->ip_len, __entry->copy, __entry->corrupted,
		  __entry->protocol, __entry->skbaddr,
		  __print_hex_str(__get_dynamic_array(head),
				  __get_dynamic_array_len(head)))
);

#endif /* _WALE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE wale_trace
#include <trace/define_trace.h>
