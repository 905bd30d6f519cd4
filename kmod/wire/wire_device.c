// SPDX-License-Identifier: GPL-2.0
/*
 * wire_device.c - a network device whose other end is in another guest
 *
 * What is sent goes to a ring with the time of its arrival: when it left the link's qdisc, and
 * the delay of the link.  sch_wale computes departures to the nanosecond, so that this does not
 * depend on when its timer fired; other qdiscs know only now.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "wale.h"
#include "wire.h"

#define CREATE_TRACE_POINTS
#include "wire_trace.h"

/* Of the ring's data, which may go round its end. */
static void wire_end_write(struct wire_end *end, u64 at, const void *from, u32 len)
{
	u64 size = end->entry->size, place = at & (size - 1);
	u32 first = min_t(u64, len, size - place);

	wire_copy(end->data + place, from, first);
	wire_copy(end->data, from + first, len - first);
}

/* The packet itself; its pieces are copied once, from where they are. */
static void wire_end_write_packet(struct wire_end *end, u64 at, struct sk_buff *skb)
{
	struct skb_seq_state pieces;
	const u8 *piece;
	u32 done = 0, len;

	skb_prepare_seq_read(skb, 0, skb->len, &pieces);
	while ((len = skb_seq_read(done, &piece, &pieces))) {
		wire_end_write(end, at + done, piece, len);
		done += len;
	}
}

static void wire_end_fail(struct wire_end *end, enum wire_error error)
{
	if (end->ring->error == WIRE_OK)
		WRITE_ONCE(end->ring->error, error);
}

/* When a packet that is sent now left the link: now, if it went round the qdisc. */
static u64 wire_departure_ns(const struct sk_buff *skb, const struct net_device *dev)
{
	const struct Qdisc *root = rcu_dereference_bh(netdev_get_tx_queue(dev, 0)->qdisc);

	if (!strcmp(root->ops->id, "wale") && wale_skb_cb(skb)->departure_ns)
		return wale_skb_cb(skb)->departure_ns;
	return ktime_get_ns();
}

static void wire_record_fill(struct wire_record *record, const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);

	if (skb_is_gso(skb)) {
		record->gso_size = shared->gso_size;
		record->gso_type = shared->gso_type;
		record->gso_segs = shared->gso_segs;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		record->partial = 1;
		record->csum_start = skb_checksum_start_offset(skb);
		record->csum_offset = skb->csum_offset;
	}
}

/* The next record, of what left at @departure_ns.  It arrives after the one before; or why not. */
static enum wire_error wire_send_begin(struct wire_end *end, struct wire_record *record,
				       u64 departure_ns, u32 len)
{
	record->sequence = end->sequence;
	record->arrival_ns = max(departure_ns + end->entry->delay_ns, end->last_ns);
	record->len = len;
	record->bytes = wire_record_bytes(len);
	if (record->arrival_ns < READ_ONCE(wire_guest_memory()->end_ns))
		return WIRE_LATE;
	return wire_ring_has_room(end->ring, end->entry->size, record->bytes) ? WIRE_OK : WIRE_FULL;
}

/* What is behind the record is written. */
static void wire_send_end(struct wire_end *end, const struct wire_record *record)
{
	struct wire_ring *ring = end->ring;

	wire_end_write(end, ring->head, record, sizeof(*record));
	/* guest_windows.c, another process, sees all of it or nothing */
	virt_store_release(&ring->head, ring->head + record->bytes);
	end->sequence++;
	end->last_ns = record->arrival_ns;
}

static enum wire_error wire_send(struct wire_end *end, struct sk_buff *skb, u64 departure_ns)
{
	struct wire_record record = {};
	enum wire_error error;

	error = wire_send_begin(end, &record, departure_ns, skb->len);
	if (error)
		return error;
	wire_record_fill(&record, skb);
	wire_end_write_packet(end, end->ring->head + sizeof(record), skb);
	wire_send_end(end, &record);
	return WIRE_OK;
}

/**
 * wire_device_send_rate() - send what a link of this guest publishes
 * @port: its sender
 * @rate: that
 *
 * Context: softirqs are disabled.
 */
void wire_device_send_rate(struct wire_port *port, const struct wire_rate *rate)
{
	struct wire_record record = { .is_rate = 1 };
	struct wire_end *end = &port->tx;
	enum wire_error error;
	u64 now_ns;

	if (!wire_guest_time(ktime_get_ns(), &now_ns))
		return;
	error = wire_send_begin(end, &record, now_ns, sizeof(*rate));
	if (error) {
		wire_end_fail(end, error);
		return;
	}
	wire_end_write(end, end->ring->head + sizeof(record), rate, sizeof(*rate));
	wire_send_end(end, &record);
}

static netdev_tx_t wire_device_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire_port *port = netdev_priv(dev);
	struct wire_end *end = &port->tx;
	enum wire_error error;
	u64 departure_ns;

	if (!wire_guest_time(wire_departure_ns(skb, dev), &departure_ns)) {
		dev->stats.tx_dropped++;
		goto out;
	}
	error = wire_send(end, skb, departure_ns);
	if (error) {
		wire_end_fail(end, error);
		dev->stats.tx_dropped++;
	} else {
		dev->stats.tx_packets++;
		dev->stats.tx_bytes += skb->len;
	}
out:
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

/* The packet of a record; or why there is none. */
static enum wire_error wire_receive(struct net_device *dev, const struct wire_end *end,
				    const struct wire_record *record, struct sk_buff **packet)
{
	struct sk_buff *skb = netdev_alloc_skb_ip_align(dev, record->len);

	if (!skb)
		return WIRE_MEMORY;
	wire_ring_read(end->data, end->entry->size, end->ring->tail + sizeof(*record),
		       skb_put(skb, record->len), record->len);
	if (record->partial &&
	    !skb_partial_csum_set(skb, record->csum_start, record->csum_offset)) {
		kfree_skb(skb);
		return WIRE_DAMAGED;
	}
	skb_shinfo(skb)->gso_size = record->gso_size;
	skb_shinfo(skb)->gso_type = record->gso_type;
	skb_shinfo(skb)->gso_segs = record->gso_segs;
	*packet = skb;
	return WIRE_OK;
}

/**
 * wire_device_look() - which packet arrives next, of those sent before this window?
 * @port: its receiver
 */
void wire_device_look(struct wire_port *port)
{
	struct wire_end *end = &port->rx;
	u64 tail = end->ring->tail, head = READ_ONCE(end->ring->head_seen);

	port->is_coming = tail != head &&
			  wire_ring_next(end->data, end->entry->size, tail, head, end->sequence,
					 end->last_ns, &port->next);
	if (tail != head && !port->is_coming)
		wire_end_fail(end, WIRE_DAMAGED);
}

/* Go on to the packet behind the next one. */
static void wire_device_pass(struct wire_port *port)
{
	struct wire_end *end = &port->rx;

	end->sequence++;
	end->last_ns = port->next.arrival_ns;
	/* it has been copied: the sender, another kernel, may write there */
	virt_store_release(&end->ring->tail, end->ring->tail + port->next.bytes);
	wire_device_look(port);
}

/* A link that goes down at both ends loses what is on its way, also if it comes back before. */
static bool wire_device_is_lost(const struct wire_port *port, u64 arrival_ns)
{
	return !netif_running(port->dev) ||
	       arrival_ns < port->stopped_ns + port->rx.entry->delay_ns;
}

/* What another guest's link publishes. */
static void wire_device_release_rate(struct wire_port *port)
{
	struct wire_end *end = &port->rx;
	struct wire_rate rate;

	wire_ring_read(end->data, end->entry->size, end->ring->tail + sizeof(port->next), &rate,
		       sizeof(rate));
	if (!wire_rate_receive(port, &rate))
		wire_end_fail(end, WIRE_DAMAGED);
	wire_device_pass(port);
}

/**
 * wire_device_release() - the next packet has arrived
 * @port: its receiver
 *
 * It stays in the ring until then: the memory of few packets is used again and again, and is
 * in the processor's cache.
 *
 * Context: softirq.
 */
void wire_device_release(struct wire_port *port)
{
	u64 arrival_ns = port->next.arrival_ns;
	struct net_device *dev = port->dev;
	struct sk_buff *skb = NULL;

	if (port->next.is_rate) {
		wire_device_release_rate(port);
		return;
	}
	if (wire_device_is_lost(port, arrival_ns)) {
		dev->stats.rx_dropped++;
	} else {
		enum wire_error error = wire_receive(dev, &port->rx, &port->next, &skb);

		if (error)
			wire_end_fail(&port->rx, error);
	}
	wire_device_pass(port);
	if (!skb)
		return;
	dev->stats.rx_packets++;
	dev->stats.rx_bytes += skb->len;
	skb->protocol = eth_type_trans(skb, dev);
	trace_wire_arrival(dev, wire_guest_clock(arrival_ns));
	netif_receive_skb(skb);
}

static int wire_device_stop(struct net_device *dev)
{
	struct wire_port *port = netdev_priv(dev);
	u64 now_ns;

	if (wire_guest_time(ktime_get_ns(), &now_ns))
		port->stopped_ns = now_ns;
	return 0;
}

static const struct net_device_ops wire_device_ops = {
	.ndo_stop		= wire_device_stop,
	.ndo_start_xmit		= wire_device_xmit,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static void wire_device_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &wire_device_ops;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = ETH_MAX_MTU;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	/* as veth, but for packets that are lists of packets: a record of a ring is flat */
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA |
			   NETIF_F_ALL_TSO | NETIF_F_GSO_UDP_L4;
	dev->features |= dev->hw_features;
	dev->hw_enc_features = dev->hw_features;
	eth_hw_addr_random(dev);
}

/**
 * wire_device_create() - make the device of a link
 * @link: its number, which is part of the device's name
 * @tx: the direction in which it sends
 * @rx: the direction from which it receives
 *
 * Return: the device, or an error pointer.
 */
struct net_device *wire_device_create(u32 link, const struct wire_end *tx,
				      const struct wire_end *rx)
{
	struct wire_port *port;
	struct net_device *dev;
	char name[IFNAMSIZ];
	int err;

	snprintf(name, sizeof(name), "wire%u", link);
	dev = alloc_netdev(sizeof(*port), name, NET_NAME_PREDICTABLE, wire_device_setup);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	port = netdev_priv(dev);
	port->dev = dev;
	port->link = link;
	port->tx = *tx;
	port->rx = *rx;
	err = register_netdev(dev);
	if (err) {
		free_netdev(dev);
		return ERR_PTR(err);
	}
	return dev;
}
