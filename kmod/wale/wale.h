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

#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/pkt_sched_wale.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>
#include <net/wale_wire.h>

#include "wale_alarm.h"
#include "wale_breaker.h"
#include "wale_buffer.h"
#include "wale_cells.h"
#include "wale_child.h"
#include "wale_classes.h"
#include "wale_counts.h"
#include "wale_element.h"
#include "wale_feedback.h"
#include "wale_follow.h"
#include "wale_gso.h"
#include "wale_impair.h"
#include "wale_line.h"
#include "wale_memory.h"
#include "wale_policer.h"
#include "wale_policy.h"
#include "wale_random.h"
#include "wale_rem.h"
#include "wale_run.h"
#include "wale_schedule.h"
#include "wale_server.h"
#include "wale_size.h"
#include "wale_station.h"

/**
 * struct wale_entry - a call of enqueue
 * @outer: the call in which this one is: below a child, netem has the whole qdisc tree
 *	take its copy of a packet meanwhile
 * @qlen: what sch->q.qlen was, and what calls within this one told parents
 * @backlog: the same of sch->qstats.backlog
 * @accepted: a packet came in that will come out, as far as is known
 * @verdict: if not: why, as NET_XMIT_*
 */
struct wale_entry {
	struct wale_entry *outer;
	u32 qlen;
	u32 backlog;
	bool accepted;
	int verdict;
};

/**
 * struct wale_sched_data - one direction of a link
 * @server: the packet in service, the head of @waiting
 * @schedule: the rate of the server
 * @run: how far the link is replayed
 * @plain: rate, delay, a buffer and random loss are all that there is to it, whether they
 *	follow a trace or not: see wale_link_set_plain()
 * @element: not NULL: tells QUIC endpoints a rate; replaced with RTNL too
 * @buffer: occupancy and limits of @waiting
 * @policy: who is refused a place in @buffer
 * @policer: who may come at all
 * @breaker: not NULL: which flows are cut; replaced with RTNL too
 * @station: where packets wait; follows from what is configured
 * @classes: the flows; NULL: they are not told apart; replaced with RTNL too
 * @cells: with a limit in cells: those in @buffer, and on the input links
 * @waiting: in the buffer, first the one in service; with a child, not those that it
 *	holds; with a limit in cells, none: each flow has those of its own
 * @line: on their way after service, by departure; but for @impair->overtakers
 * @lost: whose service ended, while there is a line: see wale_link_free_lost()
 * @memory: what the packets take, wherever on the link they are
 * @line_bound: the most that may be on @line, and of @impair->overtakers
 * @line_limit: bytes on @line, and of @impair->overtakers, with which it is full
 * @last_departure_ns: the latest; no packet may overtake this one
 * @delay_ns: propagation delay; see @follow
 * @loss_stream: draws for @loss
 * @buffer_stream: draws of random_tail
 * @mark_stream: draws of rem
 * @rem: the price of policy rem
 * @loss: probability, fraction of 2^32; WALE_LOSS_ALWAYS; see @follow
 * @framing: what packets take on the wire beside
 * @drops: enum wale_drops
 * @gso: enum wale_gso_mode
 * @follow: what @delay_ns, @loss and the limits in @buffer follow, if steps of a trace say
 *	them; and what the options say
 * @feedback: not NULL: publishes the rate; replaced with RTNL too
 * @impair: not NULL: what else happens to packets; set with RTNL too
 * @child: with a qdisc: it replaces the buffer
 * @counts: of the packets
 * @entry: the call of enqueue that goes on; NULL: none, or the link is plain
 * @gone_packets: that parents count, but that will not come back
 * @gone_bytes: their bytes, as parents count them
 * @alarm: runs the qdisc when the next packet departs
 * @seen_ns: what the clock showed when it was last looked at for a packet
 * @run_timer: runs the link while no packet does
 * @seed: of every random draw
 * @input_rate: of each flow's input link, bytes/s; WALE_RATE_UNLIMITED: none
 * @filter_list: of @block
 * @block: the filters that name classes
 *
 * A packet whose verdict is "lost" (see struct wale_skb_cb) waits and is served
 * like any other, but neither sch->q.qlen nor any parent knows of it; they count
 * two of a packet that will be duplicated.
 */
struct wale_sched_data {
	/* every packet: when, where */
	struct wale_server server;
	struct wale_schedule schedule;
	struct wale_run run;
	bool plain;
	struct wale_element *element;
	struct wale_buffer buffer;
	struct wale_policy policy;
	const struct wale_station *station;
	struct wale_classes *classes;
	struct wale_cells cells;
	struct sk_buff_head waiting;
	struct qdisc_skb_head line;
	struct qdisc_skb_head lost;
	struct wale_memory memory;
	struct wale_line_bound line_bound;
	u64 line_limit;
	u64 last_departure_ns;
	u64 delay_ns;
	struct wale_stream loss_stream;
	struct wale_stream buffer_stream;
	struct wale_stream mark_stream;
	struct wale_rem rem;
	u32 loss;
	struct wale_framing framing;
	u8 drops;
	u8 gso;
	struct wale_follow follow;
	struct wale_feedback *feedback;
	struct wale_impair *impair;
	struct wale_child child;
	struct wale_policer policer;
	struct wale_breaker *breaker;

	/* every packet: counting; read by wale_dump_stats() */
	struct wale_counts counts;
	struct wale_entry *entry;
	u32 gone_packets;
	u32 gone_bytes;

	struct wale_alarm alarm;
	u64 seen_ns;

	/* seldom used */
	struct timer_list run_timer;
	u64 seed;
	u64 input_rate;
	struct tcf_proto __rcu *filter_list;
	struct tcf_block *block;
};

/**
 * struct wale_skb_cb - what a held packet carries
 * @arrival_ns: when it came; 0: from a child, it is not known
 * @departure_ns: when it leaves the line; set when its service ends
 * @cells: until then, with a limit in cells: that are in the buffer
 * @dropped_cells: that were not admitted
 * @merged: the reassembly takes it and the packet before it for one
 * @wire_len: bytes on the wire
 * @lost: it will vanish when its service ends
 * @twice: if not, there will then be two of it
 * @copy: it is the second of two
 * @corrupted: a bit of it was turned
 *
 * Its class is tc_classid of struct qdisc_skb_cb: 0, that of the crowd, where flows
 * are not told apart, or were not yet when it came.
 * While a child has the packet, the rest is the child's, and tc_classid has what the
 * link is to know of it then: see wale_child.c.
 */
struct wale_skb_cb {
	u64 arrival_ns;
	union {
		u64 departure_ns;
		struct {
			u32 cells;
			u32 dropped_cells : 31;
			u32 merged : 1;
		};
	} __packed __aligned(4);
	u32 wire_len : 20;	/* of WALE_WIRE_LEN_MAX; kernel-doc wants a number */
	u32 lost : 1;
	u32 twice : 1;
	u32 copy : 1;
	u32 corrupted : 1;
} __packed __aligned(4);

static inline struct wale_skb_cb *wale_skb_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct wale_skb_cb));
	return (struct wale_skb_cb *)qdisc_skb_cb(skb)->data;
}

static inline u16 wale_skb_class(const struct sk_buff *skb)
{
	return qdisc_skb_cb(skb)->tc_classid;
}

/* What most packets of its flow are counted in, where flows are told apart. */
static inline struct wale_counts *
wale_skb_counts(const struct wale_sched_data *q, const struct sk_buff *skb)
{
	return &q->classes->class[wale_skb_class(skb)].counts;
}

/* All else that is counted of its flow: it is noted that there is something. */
static inline struct wale_counts *
wale_skb_note_counts(const struct wale_sched_data *q, const struct sk_buff *skb)
{
	q->classes->class[wale_skb_class(skb)].more = true;
	return wale_skb_counts(q, skb);
}

/* The size table (stab) in use: the kernel knows only that of the root; or NULL. */
static inline const struct qdisc_size_table *
wale_size_table(const struct Qdisc *sch)
{
	const struct Qdisc *root = rcu_dereference_bh(sch->dev_queue->qdisc);

	return rcu_dereference_bh(root->stab);
}

/* Tags of VLANs: what the device will insert, and what is in the packet already. */
static inline u32 wale_skb_tags(const struct sk_buff *skb)
{
	u32 tags = !!skb_vlan_tag_present(skb);
	int below_ip = skb_network_offset(skb);

	if (eth_type_vlan(skb->protocol) && below_ip > ETH_HLEN)
		tags += (below_ip - ETH_HLEN) / VLAN_HLEN;
	return tags;
}

/* What one packet of it takes on the wire beside; tags are a part of Ethernet. */
static inline struct wale_framing
wale_skb_framing(const struct wale_sched_data *q, const struct sk_buff *skb)
{
	struct wale_framing framing = q->framing;

	if (framing.layer == WALE_OVERHEAD_ETHERNET)
		framing.bytes += wale_skb_tags(skb) * VLAN_HLEN;
	return framing;
}

/* Bytes on the wire of one packet of it; no more than can be counted. */
static inline u32 wale_skb_wire_len(struct Qdisc *sch,
				    const struct sk_buff *skb)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	u32 below_ip = min_t(u32, max(skb_network_offset(skb), 0), skb->len);
	struct wale_framing framing = wale_skb_framing(q, skb);

	return min(wale_size_wire_len(wale_size_table(sch), &framing, below_ip,
				      skb->len - below_ip),
		   WALE_WIRE_LEN_MAX);
}

/* The length of a new packet of the wire, as it is outside of the link. */
static inline u32 wale_skb_outer_len(const struct Qdisc *sch,
				     const struct sk_buff *skb)
{
	const struct qdisc_size_table *table = wale_size_table(sch);

	return table ? wale_size_len(table, skb->len) : skb->len;
}

static inline u32 wale_skb_cells(const struct sk_buff *skb)
{
	return wale_skb_cb(skb)->wire_len / WALE_ATM_CELL;
}

/* It is in the buffer, or on its way to it; or two of it will be, on the line. */
static inline void wale_parents_hold(struct Qdisc *sch, struct sk_buff *skb)
{
	u32 copies = 1 + wale_skb_cb(skb)->twice;

	sch->q.qlen += copies;
	sch->qstats.backlog += copies * qdisc_pkt_len(skb);
}

/* wale_parents.c: what the qdiscs above know, and the lock of all */
void wale_parents_forget(struct Qdisc *sch, struct sk_buff *skb);
void wale_parents_settle(struct Qdisc *sch);
void wale_parents_enter(struct Qdisc *sch, struct wale_entry *entry);
int wale_parents_leave(struct Qdisc *sch, const struct wale_entry *entry,
		       u32 len);
spinlock_t *wale_parents_lock(struct Qdisc *sch) __acquires(root_lock);

/* wale_packet.c: what becomes of a packet; more of it is in wale_packet.h */
bool wale_packet_draw_loss(struct wale_sched_data *q, struct sk_buff *skb);
void wale_packet_count_drop(struct Qdisc *sch, struct sk_buff *skb,
			    enum wale_drop_reason reason, u64 now);
void wale_packet_refuse(struct Qdisc *sch, struct sk_buff *skb,
			enum wale_drop_reason reason, u64 now,
			struct sk_buff **to_free);
void wale_packet_free(struct wale_sched_data *q, struct sk_buff *skb);
void wale_packet_discard(struct Qdisc *sch, struct sk_buff *skb,
			 enum wale_drop_reason reason, u64 now);
void wale_packet_vanish(struct Qdisc *sch, struct sk_buff *skb, u64 now);
bool wale_packet_overflow(struct Qdisc *sch, struct sk_buff *skb, u64 now);
bool wale_packet_cut(struct Qdisc *sch, struct sk_buff *skb, u64 departure_ns,
		     u64 now);
void wale_packet_count_line(struct Qdisc *sch, struct sk_buff *skb,
			    u64 departure_ns, u64 now);

/* wale_serve.c: services end, and begin */
bool wale_serve(struct Qdisc *sch, u64 now);

/* wale_link.c: packets depart */
void wale_link_seed(struct wale_sched_data *q, u64 seed);
void wale_link_set_plain(struct wale_sched_data *q);
void wale_link_set_line_limit(struct wale_sched_data *q);
struct sk_buff *wale_link_release(struct Qdisc *sch);
void wale_link_set_alarm(struct Qdisc *sch);

/* Is somebody told the rate of the link? */
static inline bool wale_link_tells(const struct wale_sched_data *q)
{
	return q->feedback || q->element;
}

/* When may there be something to tell, ns; U64_MAX: not unless a packet comes. */
static inline u64 wale_link_next_told(const struct wale_sched_data *q)
{
	return q->feedback ? wale_feedback_next(q) : q->schedule.until_ns;
}

/* Does anything happen on the link but ends of service and changes of the rate? */
static inline bool wale_link_has_more(const struct wale_sched_data *q)
{
	return q->cells.busy || q->policy.kind == WALE_POLICY_REM ||
	       wale_link_tells(q) || q->station->look;
}

/* wale_run.c: what is due is replayed */
bool wale_run(struct Qdisc *sch, u64 now);
void wale_run_rest(struct Qdisc *sch, u64 now);
bool wale_run_patiently(struct Qdisc *sch, u64 patience_ns, u64 *now)
	__must_hold(root_lock);

/**
 * wale_link_run() - replay what happened up to now, if anything did
 * @sch: the qdisc
 * @now: ns of CLOCK_MONOTONIC
 *
 * Return: see wale_run().
 */
static inline bool wale_link_run(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (now >= q->server.event_ns || now >= q->schedule.until_ns ||
	    q->run.behind || (!q->plain && wale_link_has_more(q)))
		return wale_run(sch, now);
	return true;
}

/* wale_timer.c: while no packet moves the link */
void wale_timer_init(struct wale_sched_data *q);
void wale_timer_set(struct Qdisc *sch, u64 now);

/* wale_arrival.c: does a packet enter the buffer? */
int wale_arrival_accept(struct sk_buff *skb, struct Qdisc *sch,
			struct sk_buff **to_free);
void wale_arrival_accept_late(struct Qdisc *sch, struct sk_buff *skb);

/* wale_block.c: a GSO packet that is not split */
u32 wale_block_wire_len(struct Qdisc *sch, const struct sk_buff *skb);
void wale_block_count(const struct sk_buff *skb, int *packets, int *bytes);
u32 wale_block_outer_len(const struct Qdisc *sch, const struct sk_buff *skb);

/* wale_mark.c: refused, or marked? */
u32 wale_mark_draw_victim(struct wale_sched_data *q, u32 waiting);
bool wale_mark_polices(struct wale_sched_data *q, struct sk_buff *skb, u64 now);
bool wale_mark_refuses(struct wale_sched_data *q, struct sk_buff *skb);
bool wale_mark_saves(struct wale_sched_data *q, struct sk_buff *skb);

/* wale_atm.c: packets as cells */
void wale_atm_arrive(struct Qdisc *sch, u64 now);

/* wale_graft.c: another child qdisc, or none */
int wale_graft(struct Qdisc *sch, unsigned long cl, struct Qdisc *new,
	       struct Qdisc **old, struct netlink_ext_ack *extack);

/* wale_purge.c: all that is held is dropped */
void wale_purge(struct Qdisc *sch);
void wale_purge_wait(void);

/* wale_class.c: flows as classes of tc */
extern const struct Qdisc_class_ops wale_class_ops;
bool wale_classify(struct Qdisc *sch, struct sk_buff *skb, int *verdict,
		   struct sk_buff **to_free);

/* wale_netlink.c: configuration */
int wale_netlink_configure(struct Qdisc *sch, struct nlattr *opt,
			   struct netlink_ext_ack *extack);
int wale_netlink_dump(struct Qdisc *sch, struct sk_buff *skb);

/* wale_stats.c: statistics, of the link and of a class */
int wale_dump_stats(struct Qdisc *sch, struct gnet_dump *d);
int wale_dump_class_stats(struct Qdisc *sch, unsigned long cl,
			  struct gnet_dump *d);

#endif /* _WALE_H */
