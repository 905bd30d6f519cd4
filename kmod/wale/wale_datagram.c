// SPDX-License-Identifier: GPL-2.0
/*
 * wale_datagram.c - UDP datagrams that begin with a SCONE packet
 *
 * Most packets have none: of those that are UDP, the first bytes are read, of others less.
 */

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <net/checksum.h>

#include "wale_datagram.h"

/* The datagram is as long as UDP says, and no longer than IP says. */
static bool wale_datagram_find(const struct sk_buff *skb,
			       struct wale_tuple *tuple)
{
	const struct udphdr *udp;
	struct udphdr buf;
	u32 len;

	udp = skb_header_pointer(skb, tuple->offset, sizeof(buf), &buf);
	if (!udp || tuple->len > (int)skb->len - tuple->offset)
		return false;
	len = ntohs(udp->len) ?: tuple->len;
	if (len < sizeof(*udp) || len > tuple->len)
		return false;
	tuple->len = len;
	return true;
}

/**
 * wale_datagram_begin() - begin with the first datagram of a packet
 * @skb: the packet, at its link layer or its network layer
 * @tuple: of it
 * @datagram: set, for wale_datagram_next()
 *
 * Of a GSO packet, each segment is a datagram.  One that is a list of packets has a
 * checksum for each, and only the first of them is found here.
 *
 * Return: true if it is UDP and has whole datagrams.
 */
bool wale_datagram_begin(const struct sk_buff *skb,
			 const struct wale_tuple *tuple,
			 struct wale_datagram *datagram)
{
	unsigned int type = skb_shinfo(skb)->gso_type;

	if (tuple->protocol != IPPROTO_UDP || tuple->fragment)
		return false;
	datagram->tuple = *tuple;
	if (!wale_datagram_find(skb, &datagram->tuple))
		return false;
	datagram->payload = datagram->tuple.offset + sizeof(struct udphdr);
	datagram->len = 0;
	datagram->left = datagram->tuple.len - sizeof(struct udphdr);
	datagram->size = datagram->left;
	if (!skb_is_gso(skb) || !(type & SKB_GSO_UDP_L4) || skb->encapsulation)
		return true;
	datagram->size = skb_shinfo(skb)->gso_size;
	if (type & SKB_GSO_FRAGLIST)
		datagram->left = min(datagram->left, datagram->size);
	return true;
}

static bool wale_datagram_is_scone(const struct sk_buff *skb,
				   struct wale_datagram *datagram)
{
	u8 buf[SCONE_HEAD];
	const u8 *head;

	if (datagram->len < SCONE_HEAD)
		return false;
	head = skb_header_pointer(skb, datagram->payload, sizeof(buf), buf);
	if (!head || !wale_scone_begins(head))
		return false;
	datagram->signal = wale_scone_get(head);
	return true;
}

/**
 * wale_datagram_next() - go to the next datagram that begins with a SCONE packet
 * @skb: the packet
 * @datagram: in it
 *
 * Return: false if there is none.
 */
bool wale_datagram_next(const struct sk_buff *skb,
			struct wale_datagram *datagram)
{
	do {
		datagram->payload += datagram->len;
		datagram->left -= datagram->len;
		datagram->len = min(datagram->left, datagram->size);
		if (!datagram->len)
			return false;
	} while (!wale_datagram_is_scone(skb, datagram));
	return true;
}

/**
 * wale_datagram_is_whole() - is the SCONE packet whole, and does another follow it?
 * @skb: the packet
 * @datagram: of wale_datagram_next()
 *
 * Return: true if so.
 */
noinline_for_stack bool
wale_datagram_is_whole(const struct sk_buff *skb,
		       const struct wale_datagram *datagram)
{
	u8 buf[WALE_SCONE_LOOK];
	const u8 *data;

	data = skb_header_pointer(skb, datagram->payload,
				  min_t(u32, datagram->len, sizeof(buf)), buf);
	return data && wale_scone_is_whole(data, datagram->len);
}

/*
 * The checksum of UDP when two bytes of its payload change.  There is none to change if
 * it is 0, or if it is computed when the packet is sent.
 */
static void wale_datagram_fix_checksum(struct sk_buff *skb, int offset,
				       __be16 before, __be16 after)
{
	struct udphdr *udp = (struct udphdr *)(skb->data + offset);

	if (skb->ip_summed == CHECKSUM_PARTIAL &&
	    skb_checksum_start_offset(skb) == offset)
		return;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	if (!udp->check)
		return;
	csum_replace2(&udp->check, before, after);
	if (!udp->check)
		udp->check = CSUM_MANGLED_0;
}

/**
 * wale_datagram_write() - write a signal
 * @skb: the packet
 * @datagram: of wale_datagram_next()
 * @signal: the signal
 *
 * Return: false if that is not possible.
 */
bool wale_datagram_write(struct sk_buff *skb,
			 const struct wale_datagram *datagram, u8 signal)
{
	__be16 before, after;
	u8 *head;

	if (skb_shared(skb) ||
	    skb_ensure_writable(skb, datagram->payload + sizeof(before)))
		return false;
	head = skb->data + datagram->payload;
	memcpy(&before, head, sizeof(before));
	wale_scone_set(head, signal);
	memcpy(&after, head, sizeof(after));
	wale_datagram_fix_checksum(skb, datagram->tuple.offset, before, after);
	return true;
}
