// SPDX-License-Identifier: GPL-2.0
/*
 * wale_link.c - the life of a packet on the link; the only container of skbs
 *
 *	arrives -> fits into the buffer? -> waits -> is served -> lost? ->
 *	is on the line for the propagation delay -> departs
 *
 * Nothing happens at the time at which a timer fires: wale_link_run() replays
 * all ends of service and changes of rate up to now, in their order and with
 * their own times, before anything else is decided.  So who fits, who is lost
 * and when each packet departs follow from the arrivals alone, and a late timer
 * makes a packet late but no other.
 *
 * Whether a packet will be lost is drawn when it enters the buffer (packets
 * leave service in that order, so that it is the same draw), because only then
 * can a parent be told that this packet will not come back: dropping it from a
 * parent's dequeue would change the parent's tree under its feet.  The lost
 * packet occupies buffer and server all the same.
 */

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <net/sock.h>
#include <net/wale_wire.h>

#include "../compat.h"
#include "wale.h"
#include "wale_trace.h"

static u32 wale_skb_wire_len(const struct wale_sched_data *q,
			     const struct sk_buff *skb)
{
	int below_ip = max(skb_network_offset(skb), 0);

	return wale_wire_len(q->overhead, skb->len - min_t(u32, below_ip,
							     skb->len));
}

/* The service of the head of the buffer ended. */
static void wale_link_served(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb = __qdisc_dequeue_head(&q->waiting);
	struct wale_skb_cb *cb = wale_skb_cb(skb);
	u64 now = q->server.time_ns;

	wale_buffer_leave(&q->buffer, cb->wire_len);
	if (cb->lost) {
		wale_count(&q->dropped[WALE_DROP_LOSS], cb->wire_len);
		qdisc_qstats_drop(sch);
		trace_wale_drop(sch, skb, cb->wire_len, WALE_DROP_LOSS,
				cb->arrival_ns, now);
		kfree_skb(skb);
	} else {
		q->last_departure_ns = max(q->last_departure_ns,
					   now + q->delay_ns);
		cb->departure_ns = q->last_departure_ns;
		q->line_bytes += cb->wire_len;
		__qdisc_enqueue_tail(skb, &q->line);
	}
}

/* Ends of service and changes of the rate, up to now. */
static void wale_link_replay(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	while (wale_server_run(&q->server, &q->schedule, now)) {
		wale_link_served(sch);
		if (q->waiting.head)
			wale_server_next(&q->server, &q->schedule,
					 wale_skb_cb(q->waiting.head)->wire_len);
	}
	if (!q->server.busy)
		wale_schedule_run(&q->schedule, now);
}

/*
 * So many changes that are published are replayed one by one; of those that are
 * behind them, the last is published.  Only steps of a trace that are shorter
 * than a tick are ever that many, or those of a machine that slept.
 */
#define WALE_PUBLISH_STEPS	32

static void wale_link_replay_published(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 next = wale_feedback_next(q);
	int left = WALE_PUBLISH_STEPS;

	for (; next <= now && left; left--) {
		wale_link_replay(sch, next);
		wale_feedback_update(q, next);
		next = wale_feedback_next(q);
	}
	wale_link_replay(sch, now);
	if (next <= now)
		wale_feedback_update(q, now);
}

/**
 * wale_link_run() - replay what happened up to now
 * @sch: the qdisc
 * @now: ns of CLOCK_MONOTONIC
 */
void wale_link_run(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	if (q->feedback)
		wale_link_replay_published(sch, now);
	else
		wale_link_replay(sch, now);
}

static bool wale_link_draw_loss(struct wale_sched_data *q)
{
	if (!q->loss)
		return false;
	return (u32)(wale_stream_draw(&q->loss_stream) >> 32) < q->loss ||
	       q->loss == WALE_LOSS_ALWAYS;
}

/*
 * A packet in the network is no longer the local sender's.  One that will be
 * lost may stay for as long as nothing else moves the link: it must not hold
 * a socket, a route or a connection, and with them a namespace.
 */
static void wale_link_disown(struct sk_buff *skb, bool lost)
{
	if (!lost) {
		skb_orphan_partial(skb);
		return;
	}
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb_ext_reset(skb);
}

/* One wire packet; true if it comes back from wale_link_release(). */
static bool wale_link_accept_one(struct Qdisc *sch, struct sk_buff *skb,
				 u64 now, struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_skb_cb *cb = wale_skb_cb(skb);
	u32 len = wale_skb_wire_len(q, skb);

	wale_link_run(sch, now);
	if (q->feedback)
		wale_feedback_see(sch, skb, now);
	wale_count(&q->offered, len);
	cb->arrival_ns = now;
	cb->wire_len = len;
	if (!wale_buffer_fits(&q->buffer, len)) {
		wale_count(&q->dropped[WALE_DROP_BUFFER], len);
		qdisc_qstats_drop(sch);
		trace_wale_drop(sch, skb, len, WALE_DROP_BUFFER, now, now);
		__qdisc_drop(skb, to_free);
		return false;
	}

	cb->lost = wale_link_draw_loss(q);
	wale_link_disown(skb, cb->lost);
	wale_buffer_enter(&q->buffer, len);
	__qdisc_enqueue_tail(skb, &q->waiting);
	if (!q->server.busy)
		wale_server_start(&q->server, &q->schedule, now, len);
	trace_wale_enqueue(sch, skb, now);
	if (cb->lost)
		return false;

	sch->q.qlen++;
	qdisc_qstats_backlog_inc(sch, skb);
	return true;
}

/*
 * What the caller of enqueue learns when nothing will come back: with drops
 * local, whether the buffer was full.
 */
static int wale_link_refusal(const struct wale_sched_data *q, u64 full_before)
{
	if (q->drops == WALE_DROPS_LOCAL &&
	    q->dropped[WALE_DROP_BUFFER].packets != full_before)
		return NET_XMIT_DROP;
	return NET_XMIT_SUCCESS | __NET_XMIT_BYPASS;
}

/* A GSO packet: split it; each segment is a wire packet. */
static int wale_link_accept_gso(struct Qdisc *sch, struct sk_buff *skb, u64 now,
				struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	u32 len = 0, prev_len = qdisc_pkt_len(skb);
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 full = q->dropped[WALE_DROP_BUFFER].packets;
	struct sk_buff *segs, *next;
	u32 comes_back = 0;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		u32 wire_len = wale_skb_wire_len(q, skb);

		wale_count(&q->offered, wire_len);
		wale_count(&q->dropped[WALE_DROP_MEMORY], wire_len);
		trace_wale_drop(sch, skb, wire_len, WALE_DROP_MEMORY, now, now);
		return qdisc_drop(skb, sch, to_free);
	}

	skb_list_walk_safe(segs, segs, next) {
		u32 seg_len = segs->len;

		skb_mark_not_on_list(segs);
		wale_compat_set_pkt_len(segs);
		if (wale_link_accept_one(sch, segs, now, to_free)) {
			comes_back++;
			len += seg_len;
		}
	}
	consume_skb(skb);
	if (!comes_back)
		return wale_link_refusal(q, full);

	/* the parent counts one packet of prev_len */
	qdisc_tree_reduce_backlog(sch, 1 - (int)comes_back, prev_len - len);
	return NET_XMIT_SUCCESS;
}

/**
 * wale_link_accept() - a packet arrives
 * @sch: the qdisc
 * @skb: the packet; the link owns it from here
 * @now: ns
 * @to_free: list of packets that the caller frees
 *
 * Return: NET_XMIT_SUCCESS if it, or a segment of it, will be released; else
 * NET_XMIT_DROP, or with drops remote and for random loss NET_XMIT_SUCCESS with
 * __NET_XMIT_BYPASS: the sender sees a success, a parent that nothing came in.
 */
int wale_link_accept(struct Qdisc *sch, struct sk_buff *skb, u64 now,
		     struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 full = q->dropped[WALE_DROP_BUFFER].packets;

	if (skb_is_gso(skb))
		return wale_link_accept_gso(sch, skb, now, to_free);
	if (wale_link_accept_one(sch, skb, now, to_free))
		return NET_XMIT_SUCCESS;
	return wale_link_refusal(q, full);
}

/**
 * wale_link_release() - the packet whose departure is due
 * @sch: the qdisc
 * @now: ns
 *
 * Return: the packet, or NULL.
 */
struct sk_buff *wale_link_release(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct sk_buff *skb;
	u32 len;

	wale_link_run(sch, now);
	skb = q->line.head;
	if (!skb || wale_skb_cb(skb)->departure_ns > now)
		return NULL;

	__qdisc_dequeue_head(&q->line);
	len = wale_skb_cb(skb)->wire_len;
	q->line_bytes -= len;
	wale_count(&q->sent, len);
	sch->q.qlen--;
	qdisc_qstats_backlog_dec(sch, skb);
	qdisc_bstats_update(sch, skb);
	trace_wale_dequeue(sch, skb, now);
	return skb;
}

/**
 * wale_link_set_alarm() - have the qdisc run when the next packet departs
 * @sch: the qdisc
 *
 * With an empty line the alarm is set to the earliest instant at which a packet
 * can depart, as far as it is known.
 */
void wale_link_set_alarm(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 end;

	if (q->line.head) {
		qdisc_watchdog_schedule_ns(&q->watchdog,
					   wale_skb_cb(q->line.head)->departure_ns);
		return;
	}
	if (!q->server.busy)
		return;
	end = wale_server_earliest_end(&q->server, &q->schedule);
	if (end != U64_MAX)
		qdisc_watchdog_schedule_ns(&q->watchdog,
					   max(end + q->delay_ns,
					       q->last_departure_ns));
}

static void wale_link_purge_list(struct Qdisc *sch, struct qdisc_skb_head *list)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	while ((skb = __qdisc_dequeue_head(list))) {
		const struct wale_skb_cb *cb = wale_skb_cb(skb);

		wale_count(&q->dropped[WALE_DROP_PURGE], cb->wire_len);
		qdisc_qstats_drop(sch);
		trace_wale_drop(sch, skb, cb->wire_len, WALE_DROP_PURGE,
				cb->arrival_ns, now);
		rtnl_kfree_skbs(skb, skb);
	}
}

/**
 * wale_link_purge() - drop what the link holds
 * @sch: the qdisc
 *
 * Context: RTNL and the root lock are held.
 */
void wale_link_purge(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_link_purge_list(sch, &q->line);
	wale_link_purge_list(sch, &q->waiting);
	q->line_bytes = 0;
	q->last_departure_ns = 0;	/* nobody left to overtake */
	q->buffer.packets = 0;
	q->buffer.bytes = 0;
	wale_server_init(&q->server);
	qdisc_watchdog_cancel(&q->watchdog);
}

/*
 * The chain draws every step that passed.  Were it left alone while the link
 * is idle, the first packet after a month would have to wait for all of them.
 */
#define WALE_CHAIN_PERIOD	(10 * HZ)

/* The timer wheel is exact to a jiffy for delays below so many of them. */
#define WALE_TIMER_EXACT	64

/*
 * From now until the link must run, in jiffies; MAX_JIFFY_OFFSET: it need not.
 *
 * The wheel rounds a longer delay up by an eighth at most.  The timer comes
 * that much earlier, and is set again for the rest.
 */
static unsigned long wale_link_timer_delay(const struct wale_sched_data *q,
					   u64 now)
{
	unsigned long delay = q->schedule.sessions ? WALE_CHAIN_PERIOD :
						     MAX_JIFFY_OFFSET;
	unsigned long until_next;
	u64 next;

	if (!q->feedback)
		return delay;
	next = wale_feedback_next(q);
	if (next == U64_MAX)
		return delay;
	until_next = nsecs_to_jiffies(next > now ? next - now : 0);
	if (until_next >= WALE_TIMER_EXACT)
		until_next -= until_next / 8;
	return min(delay, until_next);
}

/**
 * wale_link_set_timer() - have the link run in time though no packet moves it
 * @sch: the qdisc, run up to @now
 * @now: ns
 *
 * For the chain of sessions, and for what is to be published.
 */
void wale_link_set_timer(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	unsigned long delay = wale_link_timer_delay(q, now);

	if (delay != MAX_JIFFY_OFFSET)
		mod_timer(&q->run_timer, jiffies + delay);
}

static void wale_link_on_timer(struct timer_list *timer)
{
	struct wale_sched_data *q = container_of(timer, struct wale_sched_data,
						 run_timer);
	struct Qdisc *sch = q->watchdog.qdisc;
	spinlock_t *root_lock;	/* of the qdisc tree; see wale.h */
	u64 now;

	rcu_read_lock();
	root_lock = qdisc_lock(qdisc_root_sleeping(sch));
	spin_lock(root_lock);
	now = ktime_get_ns();
	wale_link_run(sch, now);
	wale_link_set_timer(sch, now);
	spin_unlock(root_lock);
	rcu_read_unlock();
}

/**
 * wale_link_init() - a link without limits and without packets
 * @sch: the qdisc
 */
void wale_link_init(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_init(&q->watchdog, sch);
	timer_setup(&q->run_timer, wale_link_on_timer, 0);
	wale_server_init(&q->server);
	q->schedule.until_ns = U64_MAX;
	wale_schedule_set_constant(&q->schedule, WALE_RATE_UNLIMITED,
				   ktime_get_ns());
}

/**
 * wale_link_destroy() - free what an empty link has
 * @sch: the qdisc
 *
 * Context: RTNL is held, the root lock is not.
 */
void wale_link_destroy(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	timer_delete_sync(&q->run_timer);
	wale_feedback_free(q->feedback);
	kvfree(q->schedule.trace);
	kvfree(q->schedule.sessions);
}
