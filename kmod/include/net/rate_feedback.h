/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_feedback.h - what links and senders call in rate_feedback.ko, the channel
 *
 *	link --- publisher ---> paths ---> rate_feedback_flow_read() --- sender
 *	wale rate (netlink) ------^
 *
 * A path is named by a flow, a destination prefix or an egress device, and has
 * a value, the rate; the words are those of linux/rate_feedback.h.
 *
 * A sender depends on the channel and calls it.  A link does not: it asks for
 * rate_feedback_publisher_ops with symbol_get() when it is to publish, and works
 * without it when there is none.
 *
 * All times are ns of CLOCK_MONOTONIC, rates bytes/s (RATE_FEEDBACK_UNLIMITED:
 * no limit).
 */
#ifndef _NET_RATE_FEEDBACK_H
#define _NET_RATE_FEEDBACK_H

#include <linux/rate_feedback.h>
#include <linux/types.h>

struct net;
struct net_device;
struct netlink_ext_ack;
struct sock;

#define RATE_FEEDBACK_UNLIMITED	(~0ULL)

/* The sender's side */

struct rate_flow;	/* a socket that listens */

/**
 * struct rate_advice - what the network advises to one sender
 * @rate: this flow's own share, bytes/s, as it was the path's lag ago
 * @base_rtt_ns: use this instead of what was measured; 0: what was measured
 * @beta: target backlog, packets
 * @route: changes when the egress device or the next hop of the socket changes
 * @layer: enum rate_feedback_layer: which bytes @rate counts
 * @rise: enum rate_feedback_rise
 * @swing: so much of what the rate window is below its peak, percent, is added to
 *	@beta
 * @pace: pace packets at @rate
 * @phi: with @in_band: base of the marking probability, millionths
 * @in_band: @rate was read from the marks of this flow's packets: they are no
 *	sign of congestion to answer beyond that
 */
struct rate_advice {
	u64 rate;
	u64 base_rtt_ns;
	u32 beta;
	u32 route;
	u32 phi;
	u8 layer;
	u8 rise;
	u8 swing;
	bool pace;
	bool in_band;
};

/**
 * struct rate_flow_state - a sender's state, for those who look
 * @phase: enum rate_feedback_phase
 * @rate: the advice in use, bytes/s
 * @base_rtt_ns: base round-trip time in use; 0: none yet
 * @rate_window: W_rate, packets; 0: no advice
 * @cwnd: packets
 * @in_flight: packets
 * @packet_size: bytes of a full packet, as @rate counts them
 * @mss: payload of it, bytes
 * @bytes_acked: payload
 * @price: of rate_feedback_flow_price()
 */
struct rate_flow_state {
	u64 rate;
	u64 base_rtt_ns;
	u64 bytes_acked;
	u64 price;
	u32 phase;
	u32 rate_window;
	u32 cwnd;
	u32 in_flight;
	u32 packet_size;
	u32 mss;
};

struct rate_flow *rate_feedback_flow_open(struct sock *sk);
void rate_feedback_flow_close(struct rate_flow *flow);
bool rate_feedback_flow_read(struct rate_flow *flow, const struct sock *sk,
			     u64 now, u64 base_rtt_ns,
			     struct rate_advice *advice);
u64 rate_feedback_flow_price(const struct rate_flow *flow);
void rate_feedback_flow_report(struct rate_flow *flow,
			       const struct rate_flow_state *state);

/* The link's side */

struct rate_publisher;	/* a link that publishes */

/**
 * struct rate_feedback_publisher_ops - the channel, as a link sees it
 * @open: begin to publish the rate of @dev in its network namespace, as the
 *	path of that egress device, with meaning link and lag rtt; settings that
 *	the path has are kept.  Process context.  Return: ERR_PTR(-EBUSY) if
 *	another link publishes there, ERR_PTR(-ENOMEM); and the extack says so.
 * @publish: from @since on, the link has @rate, of the bytes of @layer (enum
 *	rate_feedback_layer), and @flows active flows (at least 1 is taken).
 *	@since does not lie before that of the call before, else the later one is
 *	taken.  Any context but hard interrupts; does not sleep.
 * @close: end; the path is deleted.  Process context.
 * @rate: what the path of a device has at @now, without its lag, bytes/s; with
 *	@share, of a link, the share of a flow.  RATE_FEEDBACK_UNLIMITED: there is no
 *	rate, or not now.  Any context but hard interrupts; does not sleep.
 *
 * RTNL may be held by the callers of @open and @close: the channel never takes it
 * while they wait.
 */
struct rate_feedback_publisher_ops {
	struct rate_publisher *(*open)(const struct net_device *dev,
				       struct netlink_ext_ack *extack);
	void (*publish)(struct rate_publisher *publisher, u64 since, u64 rate,
			u8 layer, u32 flows);
	void (*close)(struct rate_publisher *publisher);
	u64 (*rate)(const struct net *net, u32 ifindex, u64 now, bool share);
};

extern const struct rate_feedback_publisher_ops rate_feedback_publisher_ops;

#endif /* _NET_RATE_FEEDBACK_H */
