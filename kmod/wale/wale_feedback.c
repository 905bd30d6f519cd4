// SPDX-License-Identifier: GPL-2.0
/*
 * wale_feedback.c - a link that tells senders its rate
 *
 * What is published is the rate of the link, the number of flows that share it,
 * and since when both hold:
 *
 *	wale_schedule: the rate ----+
 *	                            +--> rate_feedback: "dev X has ... since ..."
 *	packets --> wale_flows -----+
 *
 * The link is replayed lazily, by packets and by a timer, so that a change is
 * often published late; but with the instant at which it happened, so that who
 * asks for the rate of a round trip ago gets the right one.
 *
 * The channel is a module of its own, and optional.  Without it the link works
 * as ever, looks for it once a second, and then tells it what holds.
 */

#include <linux/kmod.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/rate_feedback.h>
#include <net/scone.h>

#include "../compat.h"
#include "wale.h"
#include "wale_flows.h"
#include "wale_stat.h"
#include "wale_tuple.h"

static_assert(WALE_RATE_UNLIMITED == RATE_FEEDBACK_UNLIMITED);

/* How often a link looks for a channel that is not there. */
#define WALE_ATTACH_PERIOD	HZ

/**
 * struct wale_channel - the link's place in the channel
 * @ops: of rate_feedback; they hold the module
 * @publisher: this link
 */
struct wale_channel {
	const struct rate_feedback_publisher_ops *ops;
	struct rate_publisher *publisher;
};

/**
 * struct wale_feedback - a link that publishes
 * @channel: where to; no publisher: nowhere yet
 * @rate: that was published last, in units of the schedule
 * @active: number of flows that was published last
 * @layer: enum rate_feedback_layer that was published last
 * @layer_since_ns: when the link got it
 * @published: number of updates that the channel took
 * @key: secret of the keys of flows
 * @sch: the link
 * @payer: whom the memory for @flows is charged to, with a reference
 * @attach: looks for the channel
 * @run: runs the link
 * @flows: that share the link
 *
 * Protected by the root lock, but for what stays as it was made.
 */
struct wale_feedback {
	struct wale_channel channel;
	u64 rate;
	u32 active;
	u8 layer;
	u64 layer_since_ns;
	u64 published;
	siphash_key_t key;
	struct Qdisc *sch;
	struct mem_cgroup *payer;
	struct delayed_work attach;
	bool (*run)(struct Qdisc *sch, u64 now);
	struct wale_flows flows;
};

/* Memory for flows: as much as they need, and for the first ones always */

static bool wale_feedback_add_block(struct wale_feedback *feedback, gfp_t gfp)
{
	struct wale_flow_block *block = kmalloc(sizeof(*block), gfp);

	if (!block)
		return false;
	wale_flows_add_block(&feedback->flows, block);
	return true;
}

/* A flow begins, one of some 170: a softirq does not know who pays. */
static void wale_feedback_make_room(struct wale_feedback *feedback)
{
	struct mem_cgroup *old;

	if (!wale_flows_are_full(&feedback->flows))
		return;
	old = set_active_memcg(feedback->payer);
	wale_feedback_add_block(feedback, GFP_ATOMIC | __GFP_NOWARN |
					  __GFP_ACCOUNT);
	set_active_memcg(old);
}

static void wale_feedback_free_blocks(struct wale_flows *flows, u32 kept)
{
	while (flows->blocks > kept)
		kfree(flows->block[--flows->blocks]);
}

/* Publishing */

static void wale_feedback_tell(const struct wale_sched_data *q)
{
	struct wale_feedback *feedback = q->feedback;
	const struct wale_channel *channel = &feedback->channel;

	feedback->rate = q->schedule.rate;
	feedback->active = feedback->flows.count;
	if (!channel->publisher)
		return;
	channel->ops->publish(channel->publisher,
			      max3(q->schedule.since_ns,
				   feedback->flows.since_ns,
				   feedback->layer_since_ns),
			      wale_schedule_bytes_per_s(&q->schedule),
			      feedback->layer, feedback->active);
	feedback->published++;
}

static void wale_feedback_tell_change(const struct wale_sched_data *q)
{
	const struct wale_feedback *feedback = q->feedback;

	if (feedback->rate != q->schedule.rate ||
	    feedback->active != feedback->flows.count)
		wale_feedback_tell(q);
}

static void wale_feedback_trim(struct wale_feedback *feedback)
{
	if (!feedback->flows.count)
		wale_feedback_free_blocks(&feedback->flows, 1);
}

/**
 * wale_feedback_update() - publish what changed, if anything did
 * @q: the link, which publishes and was run up to @now
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_feedback_update(struct wale_sched_data *q, u64 now)
{
	wale_feedback_tell_change(q);
	if (q->feedback->layer != q->framing.layer) {
		q->feedback->layer = q->framing.layer;  /* same numbers: wale_wire.h */
		q->feedback->layer_since_ns = now;
		wale_feedback_tell(q);
	}
	if (wale_flows_expire(&q->feedback->flows, now)) {
		wale_feedback_tell_change(q);
		wale_feedback_trim(q->feedback);
	}
}

/**
 * wale_feedback_next() - when may there be something to publish next?
 * @q: the link, which publishes
 *
 * Context: the root lock is held.
 * Return: ns; U64_MAX: not unless a packet comes or the link is changed.
 */
u64 wale_feedback_next(const struct wale_sched_data *q)
{
	return min(q->schedule.until_ns, wale_flows_expiry(&q->feedback->flows));
}

/* Packets */

/* A packet, as far as it tells whether its flow is active. */
struct wale_segment {
	u64 key;
	bool begins;	/* SYN, or payload; of QUIC a long header */
	bool goes_on;	/* of QUIC any other */
	bool ends;	/* FIN or RST */
};

static bool wale_feedback_parse_tcp(const struct sk_buff *skb,
				    const struct wale_tuple *tuple,
				    struct wale_segment *segment)
{
	const struct tcphdr *tcp;
	struct tcphdr buf;

	tcp = skb_header_pointer(skb, tuple->offset, sizeof(buf), &buf);
	if (!tcp || tcp->doff < sizeof(*tcp) / 4)
		return false;
	segment->begins = tcp->syn || tuple->len > tcp->doff * 4;
	segment->ends = tcp->fin || tcp->rst;
	return true;
}

/*
 * By its invariants, QUIC has long headers at the beginning of a connection, and
 * sometimes later.  Whatever else has one, for a while, counts as QUIC too.
 */
static bool wale_feedback_parse_udp(const struct sk_buff *skb,
				    const struct wale_tuple *tuple,
				    struct wale_segment *segment)
{
	u8 head[sizeof(struct udphdr) + SCONE_HEAD];
	const u8 *udp, *quic;

	if (tuple->fragment || tuple->len < (int)sizeof(head))
		return false;
	udp = skb_header_pointer(skb, tuple->offset, sizeof(head), head);
	if (!udp)
		return false;
	quic = udp + sizeof(struct udphdr);
	segment->begins = (quic[0] & SCONE_LONG_HEADER) &&
			  (quic[1] | quic[2] | quic[3] | quic[4]);
	segment->goes_on = true;
	return true;
}

static bool wale_feedback_parse_segment(const struct wale_sched_data *q,
					const struct sk_buff *skb,
					const struct wale_tuple *tuple,
					struct wale_segment *segment)
{
	*segment = (struct wale_segment){};
	switch (tuple->protocol) {
	case IPPROTO_TCP:
		if (!wale_feedback_parse_tcp(skb, tuple, segment))
			return false;
		break;
	case IPPROTO_UDP:
		if (!q->element ||
		    !wale_feedback_parse_udp(skb, tuple, segment))
			return false;
		break;
	default:
		return false;
	}
	segment->key = wale_tuple_key(skb, tuple, &q->feedback->key);
	return true;
}

/* Return: true if it is the only flow. */
static bool wale_feedback_begin(struct Qdisc *sch, u64 key, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_feedback *feedback = q->feedback;

	wale_feedback_make_room(feedback);
	if (!wale_flows_begin(&feedback->flows, key, now))
		return false;
	wale_feedback_tell(q);
	return feedback->flows.count == 1;
}

/**
 * wale_feedback_see() - a packet arrives at a link that publishes
 * @sch: the link, run up to @now
 * @skb: one packet of the wire, or a GSO packet that is kept
 * @tuple: of it
 * @now: ns
 *
 * Context: the root lock is held.
 * Return: true if the link must now be run in time, and did not need to be before.
 */
bool wale_feedback_see(struct Qdisc *sch, const struct sk_buff *skb,
		       const struct wale_tuple *tuple, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_flows *flows = &q->feedback->flows;
	struct wale_segment segment;

	if (!wale_feedback_parse_segment(q, skb, tuple, &segment))
		return false;
	if (segment.ends) {
		if (wale_flows_end(flows, segment.key, now)) {
			wale_feedback_tell(q);
			wale_feedback_trim(q->feedback);
		}
	} else if ((segment.begins || segment.goes_on) &&
		   !wale_flows_see(flows, segment.key, now) && segment.begins) {
		return wale_feedback_begin(sch, segment.key, now);
	}
	return false;
}

/* The channel */

/*
 * Asking for a module may wait until others that were asked for have come.  So it is
 * not done under RTNL; and once for all links that ask for it meanwhile.
 */
static void wale_feedback_channel_ask(struct work_struct *work)
{
	request_module_nowait("rate_feedback");
}

static DECLARE_WORK(wale_channel_asker, wale_feedback_channel_ask);

/* Return: 0; -ENOENT: it is not loaded; or why it does not want this link. */
static int wale_feedback_channel_open(struct wale_channel *channel,
				      const struct wale_feedback *feedback,
				      struct netlink_ext_ack *extack)
{
	const struct rate_feedback_publisher_ops *ops;
	struct rate_publisher *publisher;

	ops = symbol_get(rate_feedback_publisher_ops);
	if (!ops)
		return -ENOENT;
	publisher = ops->open(qdisc_dev(feedback->sch), extack);
	if (IS_ERR(publisher)) {
		symbol_put(rate_feedback_publisher_ops);
		return PTR_ERR(publisher);
	}
	channel->ops = ops;
	channel->publisher = publisher;
	return 0;
}

static void wale_feedback_channel_close(const struct wale_channel *channel)
{
	if (!channel->publisher)
		return;
	channel->ops->close(channel->publisher);
	symbol_put(rate_feedback_publisher_ops);
}

/* The link is there, and so is its device, until this work was cancelled. */
static void wale_feedback_attach(struct work_struct *work)
{
	struct wale_feedback *feedback = container_of(to_delayed_work(work),
						      struct wale_feedback,
						      attach);
	struct mem_cgroup *old = set_active_memcg(feedback->payer);
	struct Qdisc *sch = feedback->sch;
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_channel channel;
	spinlock_t *root_lock;	/* see wale.h */
	int err;

	err = wale_feedback_channel_open(&channel, feedback, NULL);
	set_active_memcg(old);
	if (err) {
		schedule_delayed_work(&feedback->attach, WALE_ATTACH_PERIOD);
		return;
	}
	rcu_read_lock();
	root_lock = wale_parents_lock(sch);
	feedback->channel = channel;
	if (q->feedback == feedback) {
		feedback->run(sch, ktime_get_ns());
		wale_feedback_tell(q);
	}
	spin_unlock_bh(root_lock);
	rcu_read_unlock();
}

static struct wale_feedback *wale_feedback_alloc(struct Qdisc *sch)
{
	struct wale_feedback *feedback;

	feedback = kzalloc_obj(*feedback, GFP_KERNEL_ACCOUNT);
	if (!feedback)
		return NULL;
	feedback->sch = sch;
	get_random_bytes(&feedback->key, sizeof(feedback->key));
	feedback->payer = get_mem_cgroup_from_mm(current->mm);
	INIT_DELAYED_WORK(&feedback->attach, wale_feedback_attach);
	return feedback;
}

/**
 * wale_feedback_new() - get ready to publish
 * @sch: the link
 * @idle_ns: a flow that was not seen for so long has ended
 * @run: runs the link
 * @extack: why not; or that there is no channel yet
 *
 * Context: RTNL is held.
 * Return: what wale_feedback_start() takes; or -ENOMEM, or why the channel does
 * not want this link: -EBUSY if another one publishes on its device.
 */
struct wale_feedback *
wale_feedback_new(struct Qdisc *sch, u64 idle_ns,
		  bool (*run)(struct Qdisc *sch, u64 now),
		  struct netlink_ext_ack *extack)
{
	struct wale_feedback *feedback = wale_feedback_alloc(sch);
	int err = -ENOMEM;

	if (!feedback)
		return ERR_PTR(err);
	feedback->run = run;
	wale_flows_init(&feedback->flows, idle_ns, 0);
	if (wale_feedback_add_block(feedback, GFP_KERNEL_ACCOUNT))
		err = wale_feedback_channel_open(&feedback->channel, feedback,
						 extack);
	if (err == -ENOENT) {
		queue_work(wale_compat_dfl_wq, &wale_channel_asker);
		NL_SET_ERR_MSG(extack,
			       "wale: rate_feedback is not loaded: the rate is published when it is");
	} else if (err) {
		wale_feedback_free(feedback);
		return ERR_PTR(err);
	}
	return feedback;
}

/**
 * wale_feedback_free() - leave the channel
 * @feedback: of a link that does not use it, or no longer; or NULL
 *
 * Context: RTNL is held, the root lock is not.
 */
void wale_feedback_free(struct wale_feedback *feedback)
{
	if (!feedback)
		return;
	cancel_delayed_work_sync(&feedback->attach);
	wale_feedback_channel_close(&feedback->channel);
	wale_feedback_free_blocks(&feedback->flows, 0);
	mem_cgroup_put(feedback->payer);
	kfree(feedback);
}

/**
 * wale_feedback_exit() - no link is there, and none comes any more
 */
void wale_feedback_exit(void)
{
	cancel_work_sync(&wale_channel_asker);
}

/**
 * wale_feedback_start() - begin to publish
 * @sch: the link, run up to @now
 * @feedback: as wale_feedback_new() made it
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_feedback_start(struct Qdisc *sch, struct wale_feedback *feedback,
			 u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	feedback->flows.since_ns = now;
	feedback->layer = q->framing.layer;	/* the same numbers: wale_wire.h */
	q->feedback = feedback;
	wale_feedback_tell(q);
	if (!feedback->channel.publisher)
		schedule_delayed_work(&feedback->attach, WALE_ATTACH_PERIOD);
}

/**
 * wale_feedback_idle() - after which time is a flow idle?
 * @feedback: of a link
 *
 * Context: RTNL or the root lock is held.
 * Return: ns.
 */
u64 wale_feedback_idle(const struct wale_feedback *feedback)
{
	return feedback->flows.idle_ns;
}

/**
 * wale_feedback_active() - how many flows are active?
 * @feedback: of a link
 *
 * Context: the root lock is held.
 * Return: their number.
 */
u32 wale_feedback_active(const struct wale_feedback *feedback)
{
	return feedback->flows.count;
}

/**
 * wale_feedback_set_idle() - another idle time, for all flows
 * @feedback: of a link that was run up to @now
 * @idle_ns: a flow that was not seen for so long has ended, but not before @now
 * @now: ns
 *
 * Context: RTNL and the root lock are held.
 */
void wale_feedback_set_idle(struct wale_feedback *feedback, u64 idle_ns,
			    u64 now)
{
	feedback->flows.idle_ns = idle_ns;
	if (wale_flows_expire(&feedback->flows, now))
		feedback->flows.since_ns = now;
	wale_feedback_trim(feedback);
}

/**
 * wale_feedback_put_stats() - put the statistics
 * @msg: the message
 * @feedback: of a link
 *
 * Context: the root lock is held.
 * Return: 0, or -EMSGSIZE.
 */
int wale_feedback_put_stats(struct sk_buff *msg,
			    const struct wale_feedback *feedback)
{
	const struct wale_stat stats[] = {
		{ TCA_WALE_STATS_ACTIVE_FLOWS, feedback->flows.count },
		{ TCA_WALE_STATS_UNCOUNTED_PACKETS, feedback->flows.uncounted },
		{ TCA_WALE_STATS_PUBLISHED, feedback->published },
		{ TCA_WALE_STATS_ATTACHED, !!feedback->channel.publisher },
	};

	return wale_stat_put(msg, stats, ARRAY_SIZE(stats), TCA_WALE_STATS_PAD);
}
