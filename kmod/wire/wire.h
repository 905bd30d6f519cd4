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

/**
 * struct wire_port - a network device: the end of a link in this guest
 * @dev: the device
 * @tx: the direction in which it sends
 * @rx: the direction from which it receives
 * @next: what stands before the packet that arrives next
 * @is_coming: there is one, and it may be read
 * @stopped_ns: when the device was last stopped, in the time of all
 */
struct wire_port {
	struct net_device *dev;
	struct wire_end tx;
	struct wire_end rx;
	struct wire_record next;
	bool is_coming;
	u64 stopped_ns;
};

/* wire_device.c */
struct net_device *wire_device_create(u32 link, const struct wire_end *tx,
				      const struct wire_end *rx);
void wire_device_look(struct wire_port *port);
void wire_device_release(struct wire_port *port);

/* wire_guest.c */
const struct wire_memory *wire_guest_memory(void);
bool wire_guest_time(u64 ktime_ns, u64 *ns);
u64 wire_guest_clock(u64 ns);

#endif /* _WIRE_H */
