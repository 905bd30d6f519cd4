// SPDX-License-Identifier: GPL-2.0
/*
 * wale_block.c - a GSO packet that is not split ("gso keep"): how long is it?
 *
 * Its parts are told by its headers, as whoever splits it finds them.  It is kept
 * only where it is sure which bytes each packet of the wire will have: TCP and UDP
 * (not in fragments), over IP or in a tunnel.
 *
 * The number of segments that came with it is not used: packet sockets and virtual
 * machines may leave it out.
 */

#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#include "../compat.h"
#include "wale.h"
#include "wale_gso.h"

#define WALE_GSO_TCP	(SKB_GSO_TCPV4 | SKB_GSO_TCPV6)
#define WALE_GSO_TUNNEL	(SKB_GSO_GRE | SKB_GSO_GRE_CSUM | SKB_GSO_IPXIP4 | \
			 SKB_GSO_IPXIP6 | SKB_GSO_UDP_TUNNEL |		  \
			 SKB_GSO_UDP_TUNNEL_CSUM)

/*
 * Fragments of IP; what another layer cuts; a list of packets, each with headers of
 * its own, which a mark on the first would not be in.
 */
#define WALE_GSO_OTHER	(SKB_GSO_UDP | SKB_GSO_SCTP | SKB_GSO_ESP | \
			 SKB_GSO_FRAGLIST)

/* Where the innermost transport header is, from the data on; < 0: not known. */
static int wale_block_transport(const struct sk_buff *skb)
{
	unsigned int type = skb_shinfo(skb)->gso_type;

	if (type & WALE_GSO_OTHER ||
	    skb->encapsulation != !!(type & WALE_GSO_TUNNEL))
		return -1;
	if (skb->encapsulation)
		return skb_inner_transport_offset(skb);
	return skb_transport_header_was_set(skb) ? skb_transport_offset(skb) : -1;
}

/* Bytes of the transport header; 0: not known. */
static u32 wale_block_transport_len(const struct sk_buff *skb, int offset)
{
	unsigned int type = skb_shinfo(skb)->gso_type;
	const struct tcphdr *tcp;
	struct tcphdr buf;

	if (type & SKB_GSO_UDP_L4)
		return sizeof(struct udphdr);
	if (!(type & WALE_GSO_TCP))
		return 0;
	tcp = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	return tcp && tcp->doff >= sizeof(*tcp) / 4 ? tcp->doff * 4 : 0;
}

/*
 * More than the length field of IP can say (BIG TCP): with IPv6, some kernels have
 * an option in its header then that is not in those of the packets.
 */
static bool wale_block_is_big(const struct sk_buff *skb, u32 ip_len)
{
	return ip_len > IPV6_MAXPLEN &&
	       (skb->encapsulation ||
		skb_protocol(skb, true) != htons(ETH_P_IP));
}

/* Return: false: it must be split. */
static bool wale_block_parse(const struct sk_buff *skb, struct wale_gso *gso)
{
	int ip = skb_network_offset(skb), transport = wale_block_transport(skb);
	u32 end;

	if (ip < 0 || transport < ip + (int)sizeof(struct iphdr))
		return false;
	end = wale_block_transport_len(skb, transport);
	if (!end)
		return false;
	end += transport;
	if (end > skb->len || wale_block_is_big(skb, skb->len - ip))
		return false;
	*gso = (struct wale_gso){
		.below_ip = ip,
		.headers = end - ip,
		.payload = skb->len - end,
		.size = skb_shinfo(skb)->gso_size,
	};
	return gso->size != GSO_BY_FRAGS;
}

/**
 * wale_block_wire_len() - bytes that a GSO packet will take on the wire
 * @sch: the qdisc
 * @skb: the GSO packet
 *
 * Return: bytes; 0: it is not known without splitting it.
 */
u32 wale_block_wire_len(struct Qdisc *sch, const struct sk_buff *skb)
{
	const struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_framing framing = wale_skb_framing(q, skb);
	struct wale_gso gso;

	return wale_block_parse(skb, &gso) ?
	       wale_gso_wire_len(&gso, wale_size_table(sch), &framing) : 0;
}

/**
 * wale_block_count() - the packets of a GSO packet, as they are outside of qdiscs
 * @skb: the GSO packet
 * @packets: set to their number; 1 if it is not known
 * @bytes: set to their length, with all headers, those below IP as well
 */
void wale_block_count(const struct sk_buff *skb, int *packets, int *bytes)
{
	struct wale_gso gso;

	*packets = 1;
	*bytes = skb->len;
	if (!wale_block_parse(skb, &gso))
		return;
	*packets = wale_gso_packets(&gso);
	*bytes += (*packets - 1) * (skb_network_offset(skb) + gso.headers);
}

/**
 * wale_block_outer_len() - the length of a GSO packet, as it is outside of the link
 * @sch: the qdisc
 * @skb: the GSO packet
 *
 * Return: bytes.
 */
u32 wale_block_outer_len(const struct Qdisc *sch, const struct sk_buff *skb)
{
	int packets, bytes;

	if (wale_size_table(sch))
		return wale_skb_outer_len(sch, skb);
	wale_block_count(skb, &packets, &bytes);
	return bytes;
}
