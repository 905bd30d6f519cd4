/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale.h - the private state of a wale qdisc, shared by the files of sch_wale
 *
 * Everything in struct wale_sched_data is protected by the root lock of the
 * qdisc tree (sch_tree_lock() outside of the packet path), unless its comment
 * says that RTNL does.
 */
#ifndef _WALE_H
#define _WALE_H

#include <linux/netdevice.h>
#include <linux/pkt_sched_wale.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "wale_buffer.h"
#include "wale_feedback.h"
#include "wale_random.h"
#include "wale_schedule.h"

/**
 * struct wale_counter - packets on the wire, and their bytes
 * @packets: number of them
 * @bytes: of the wire
 */
struct wale_counter {
	u64 packets;
	u64 bytes;
};

/* Why a packet did not arrive at the other end. */
enum wale_drop_reason {
	WALE_DROP_BUFFER,	/* did not fit */
	WALE_DROP_LOSS,		/* lost at random, after service */
	WALE_DROP_MEMORY,	/* could not be split */
	WALE_DROP_PURGE,	/* held when the device went down */
	__WALE_DROP_MAX
};

/**
 * struct wale_sched_data - one direction of a link
 * @server: the packet in service, the head of @waiting
 * @schedule: the rate of the server
 * @buffer: occupancy and limits of @waiting
 * @waiting: in the buffer, first the one in service
 * @line: on their way after service, by departure
 * @last_departure_ns: no packet may overtake this one
 * @delay_ns: propagation delay
 * @loss_stream: draws for @loss
 * @loss: probability, fraction of 2^32; WALE_LOSS_ALWAYS
 * @overhead: enum wale_overhead
 * @drops: enum wale_drops
 * @feedback: not NULL: publishes the rate; replaced with RTNL too
 * @offered: that arrived, after splitting
 * @sent: that departed
 * @dropped: by reason
 * @line_bytes: bytes of the wire in @line
 * @watchdog: runs the qdisc when the next packet departs
 * @run_timer: runs the link while no packet does
 * @seed: of every random draw
 *
 * A packet whose verdict is "lost" (see struct wale_skb_cb) waits and is served
 * like any other, but neither sch->q.qlen nor any parent knows of it.
 */
struct wale_sched_data {
	/* every packet: when, where */
	struct wale_server server;
	struct wale_schedule schedule;
	struct wale_buffer buffer;
	struct qdisc_skb_head waiting;
	struct qdisc_skb_head line;
	u64 last_departure_ns;
	u64 delay_ns;
	struct wale_stream loss_stream;
	u32 loss;
	u8 overhead;
	u8 drops;
	struct wale_feedback *feedback;

	/* every packet: counting; read by wale_dump_stats() */
	struct wale_counter offered;
	struct wale_counter sent;
	struct wale_counter dropped[__WALE_DROP_MAX];
	u64 line_bytes;

	struct qdisc_watchdog watchdog;

	/* seldom used */
	struct timer_list run_timer;
	u64 seed;
};

/**
 * struct wale_skb_cb - what a held packet carries
 * @arrival_ns: when it came
 * @departure_ns: when it leaves the line; set when its service ends
 * @wire_len: bytes on the wire
 * @lost: it will vanish when its service ends
 */
struct wale_skb_cb {
	u64 arrival_ns;
	u64 departure_ns;
	u32 wire_len : 31;
	u32 lost : 1;
} __packed __aligned(4);

static inline struct wale_skb_cb *wale_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct wale_skb_cb));
	return (struct wale_skb_cb *)qdisc_skb_cb(skb)->data;
}

static inline void wale_count(struct wale_counter *counter, u32 len)
{
	counter->packets++;
	counter->bytes += len;
}

/* wale_link.c: the life of a packet */
void wale_link_init(struct Qdisc *sch);
void wale_link_destroy(struct Qdisc *sch);
void wale_link_purge(struct Qdisc *sch);
void wale_link_run(struct Qdisc *sch, u64 now);
int wale_link_accept(struct Qdisc *sch, struct sk_buff *skb, u64 now,
		     struct sk_buff **to_free);
struct sk_buff *wale_link_release(struct Qdisc *sch, u64 now);
void wale_link_set_alarm(struct Qdisc *sch);
void wale_link_set_timer(struct Qdisc *sch, u64 now);

/* wale_netlink.c: configuration and statistics */
int wale_configure(struct Qdisc *sch, struct nlattr *opt,
		   struct netlink_ext_ack *extack);
int wale_dump(struct Qdisc *sch, struct sk_buff *skb);
int wale_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif /* _WALE_H */
