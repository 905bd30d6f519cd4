// SPDX-License-Identifier: GPL-2.0
/*
 * wale_corrupt.c - a bit of a packet is turned: so that its checksum shows it, or not
 */

#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>

#include "wale_corrupt.h"
#include "wale_tuple.h"

/**
 * struct wale_corrupt_segment - a segment of TCP or a datagram of UDP
 * @at: where its header begins
 * @end: where it ends; there may be padding behind it
 * @data: where its data begins
 * @check: where its checksum is
 * @udp: it is one of UDP
 */
struct wale_corrupt_segment {
	u32 at;
	u32 end;
	u32 data;
	u32 check;
	bool udp;
};

/* Bit number @bit of so many bits, each with the same chance. */
static u32 wale_corrupt_bit(u32 bytes, u32 draw)
{
	return bytes * 8ULL * draw >> 32;
}

/**
 * wale_corrupt_any() - turn a bit of the IP packet
 * @skb: the packet
 * @draw: which one, as a share of 2^32
 *
 * Its checksum must be there, and be checked: a device would compute that of the damaged
 * packet, and a receiver on this host would not look.  So a GSO packet that was kept,
 * before the link was changed, has none to turn.
 *
 * Return: false if there was none, or no memory.
 */
bool wale_corrupt_any(struct sk_buff *skb, u32 draw)
{
	u32 offset = max(skb_network_offset(skb), 0), bit, at;

	if (skb->len <= offset || skb_is_gso(skb))
		return false;
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		return false;
	bit = wale_corrupt_bit(skb->len - offset, draw);
	at = offset + bit / 8;
	if (skb_ensure_writable(skb, at + 1))
		return false;
	skb->data[at] ^= 1 << bit % 8;
	skb->ip_summed = CHECKSUM_NONE;
	return true;
}

static bool wale_corrupt_find_tcp(const struct sk_buff *skb,
				  struct wale_corrupt_segment *segment)
{
	const struct tcphdr *tcp;
	struct tcphdr room;

	tcp = skb_header_pointer(skb, segment->at, sizeof(room), &room);
	if (!tcp || tcp->doff < 5)
		return false;
	segment->udp = false;
	segment->data = segment->at + tcp->doff * 4;
	segment->check = segment->at + offsetof(struct tcphdr, check);
	return true;
}

static bool wale_corrupt_find_udp(const struct sk_buff *skb,
				  struct wale_corrupt_segment *segment)
{
	const struct udphdr *udp;
	struct udphdr room;

	udp = skb_header_pointer(skb, segment->at, sizeof(room), &room);
	if (!udp)
		return false;
	segment->udp = true;
	segment->data = segment->at + sizeof(*udp);
	segment->end = min(segment->end, segment->at + ntohs(udp->len));
	segment->check = segment->at + offsetof(struct udphdr, check);
	return true;
}

/* Is it one that has data, whole? */
static bool wale_corrupt_find(const struct sk_buff *skb,
			      struct wale_corrupt_segment *segment)
{
	struct wale_tuple tuple;
	bool found = false;

	if (!wale_tuple_find(skb, &tuple) || tuple.fragment)
		return false;
	segment->at = tuple.offset;
	segment->end = tuple.offset + tuple.len;
	if (tuple.protocol == IPPROTO_TCP)
		found = wale_corrupt_find_tcp(skb, segment);
	else if (tuple.protocol == IPPROTO_UDP)
		found = wale_corrupt_find_udp(skb, segment);
	return found && segment->data < segment->end &&
	       segment->end <= skb->len;
}

/* Of 16 bits that the checksum covers, one byte has changed. */
static void wale_corrupt_fix(struct sk_buff *skb,
			     const struct wale_corrupt_segment *segment, u32 at,
			     u8 before)
{
	__sum16 *check = (__sum16 *)(skb->data + segment->check);
	u8 was[2] = {}, is[2] = {};
	u32 odd = (at - segment->at) % 2;

	if (segment->udp && !*check) {	/* there is none */
		if (skb->ip_summed == CHECKSUM_COMPLETE)
			skb->ip_summed = CHECKSUM_NONE;
		return;
	}
	was[odd] = before;
	is[odd] = skb->data[at];
	csum_replace2(check, *(__be16 *)was, *(__be16 *)is);
	if (segment->udp && !*check)
		*check = CSUM_MANGLED_0;
}

/**
 * wale_corrupt_fixed() - turn a bit of the data of TCP or UDP, and make the checksum right
 * @skb: the packet
 * @draw: which one, as a share of 2^32
 *
 * A checksum that the device is to compute will be right anyway, and the sum of all that
 * a device has received (CHECKSUM_COMPLETE) stays the same.  If the device is to compute
 * that of a packet within this one, it is computed here: then it is data as any other.
 *
 * Return: false if there is no data of TCP or UDP, or it is a fragment of it, or a GSO
 * packet that was kept before the link was changed; or there is no memory.
 */
bool wale_corrupt_fixed(struct sk_buff *skb, u32 draw)
{
	struct wale_corrupt_segment segment;
	u32 bit, at;
	u8 before;

	if (skb_is_gso(skb) || !wale_corrupt_find(skb, &segment))
		return false;
	if (skb->ip_summed == CHECKSUM_PARTIAL &&
	    skb_checksum_start_offset(skb) != segment.at &&
	    skb_checksum_help(skb))
		return false;
	bit = wale_corrupt_bit(segment.end - segment.data, draw);
	at = segment.data + bit / 8;
	if (skb_ensure_writable(skb, at + 1))
		return false;
	before = skb->data[at];
	skb->data[at] ^= 1 << bit % 8;
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		wale_corrupt_fix(skb, &segment, at, before);
	return true;
}
