/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire.h - the links between guests of one virtual time, as a guest has them
 */
#ifndef _WIRE_H
#define _WIRE_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "wire_ring.h"

/**
 * struct wire_end - one direction of a link, as a guest sees it
 * @entry: where its ring is
 * @ring: that ring
 * @data: of the ring
 * @sequence: of the next packet
 * @last_ns: the arrival of the packet before
 */
struct wire_end {
	const struct wire_ring_entry *entry;
	struct wire_ring *ring;
	u8 *data;
	u32 sequence;
	u64 last_ns;
};

struct rate_feedback_publisher_ops;
struct rate_publisher;

/**
 * struct wire_told - a link of this guest whose rate another guest is told
 * @netns_cookie: of the namespace of its device
 * @ifindex: of its device; 0: there is none
 */
struct wire_told {
	u64 netns_cookie;
	u32 ifindex;
};

/**
 * struct wire_port - a network device: the end of a link in this guest
 * @dev: the device
 * @link: its number
 * @tx: the direction in which it sends
 * @rx: the direction from which it receives
 * @next: what stands before the packet that arrives next
 * @is_coming: there is one, and it may be read
 * @stopped_ns: when the device was last stopped, in the time of all
 * @told: it carries the rate of this link
 * @channel: rate_feedback, if the device publishes the rate that it receives; or NULL
 * @publisher: its place there
 */
struct wire_port {
	struct net_device *dev;
	u32 link;
	struct wire_end tx;
	struct wire_end rx;
	struct wire_record next;
	bool is_coming;
	u64 stopped_ns;
	struct wire_told told;
	const struct rate_feedback_publisher_ops *channel;
	struct rate_publisher *publisher;
};

/* wire_device.c */
struct net_device *wire_device_create(u32 link, const struct wire_end *tx,
				      const struct wire_end *rx);
void wire_device_look(struct wire_port *port);
void wire_device_release(struct wire_port *port);
void wire_device_send_rate(struct wire_port *port, const struct wire_rate *rate);

/* wire_rate.c */
bool wire_rate_receive(const struct wire_port *port, const struct wire_rate *rate);
void wire_rate_exit(void);

/* wire_guest.c */
const struct wire_memory *wire_guest_memory(void);
bool wire_guest_time(u64 ktime_ns, u64 *ns);
u64 wire_guest_clock(u64 ns);
struct wire_port *wire_guest_port(u32 n);

#endif /* _WIRE_H */
