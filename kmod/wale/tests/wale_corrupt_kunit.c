// SPDX-License-Identifier: GPL-2.0
/*
 * wale_corrupt_kunit.c - a bit of the data of TCP or UDP is turned, and nobody sees it
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <net/ip6_checksum.h>

#include "../wale_corrupt.c"
#include "../wale_tuple.c"

#define WALE_CORRUPT_MAC	14
#define WALE_CORRUPT_DATA	101	/* odd: the last byte is half of 16 bits */
#define WALE_CORRUPT_PADDING	6

/* What a packet is like. */
struct wale_corrupt_case {
	const char *name;
	bool v6;
	u8 protocol;
	u32 options;	/* bytes of them in the headers of IP and TCP, each */
	u32 data;
	__be16 fragment;
	bool unsummed;	/* UDP without a checksum */
	bool fixes;	/* can a bit of it be turned? */
};

static const struct wale_corrupt_case wale_corrupt_cases[] = {
	{ "TCP, IPv4", false, IPPROTO_TCP, 0, WALE_CORRUPT_DATA, 0, false, true },
	{ "UDP, IPv4", false, IPPROTO_UDP, 0, WALE_CORRUPT_DATA, 0, false, true },
	{ "TCP, IPv6", true, IPPROTO_TCP, 0, WALE_CORRUPT_DATA, 0, false, true },
	{ "UDP, IPv6", true, IPPROTO_UDP, 0, WALE_CORRUPT_DATA, 0, false, true },
	{ "options, IPv4", false, IPPROTO_TCP, 8, 64, 0, false, true },
	{ "options, IPv6", true, IPPROTO_TCP, 8, 64, 0, false, true },
	{ "one byte", false, IPPROTO_UDP, 0, 1, 0, false, true },
	{ "no checksum", false, IPPROTO_UDP, 0, 64, 0, true, true },
	{ "no data", false, IPPROTO_TCP, 0, 0, 0, false, false },
	{ "no data, IPv6", true, IPPROTO_UDP, 0, 0, 0, false, false },
	{ "ICMP", false, IPPROTO_ICMP, 0, 64, 0, false, false },
	{ "first fragment", false, IPPROTO_UDP, 0, 64, htons(IP_MF), false, false },
	{ "last fragment", false, IPPROTO_UDP, 0, 64, htons(8), false, false },
};

static void wale_corrupt_desc(const struct wale_corrupt_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(wale_corrupt, wale_corrupt_cases, wale_corrupt_desc);

static u32 wale_corrupt_test_transport(const struct wale_corrupt_case *c)
{
	return c->protocol == IPPROTO_TCP ? sizeof(struct tcphdr) + c->options :
					    sizeof(struct udphdr);
}

/* The sum of the segment with its checksum: 0 if that is right. */
static __sum16 wale_corrupt_test_sum(const struct wale_corrupt_case *c,
				     const struct sk_buff *skb)
{
	u32 len = wale_corrupt_test_transport(c) + c->data;
	u32 at = skb->len - len - WALE_CORRUPT_PADDING;
	__wsum sum = csum_partial(skb->data + at, len, 0);

	if (c->v6)
		return csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
				       &ipv6_hdr(skb)->daddr, len, c->protocol,
				       sum);
	return csum_tcpudp_magic(ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, len,
				 c->protocol, sum);
}

static void wale_corrupt_test_put_ip(const struct wale_corrupt_case *c,
				     struct sk_buff *skb, u32 len)
{
	u32 size = c->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u8 *head = skb_put_zero(skb, size + c->options);

	skb_set_network_header(skb, WALE_CORRUPT_MAC);
	if (c->v6) {
		*(struct ipv6hdr *)head = (struct ipv6hdr){
			.version = 6, .payload_len = htons(c->options + len),
			.nexthdr = c->options ? NEXTHDR_DEST : c->protocol,
			.saddr.s6_addr = { 0xfd, 1 }, .daddr.s6_addr = { 0xfd, 2 },
		};
		head[size] = c->options ? c->protocol : 0;
		skb->protocol = htons(ETH_P_IPV6);
		return;
	}
	*(struct iphdr *)head = (struct iphdr){
		.version = 4, .ihl = (size + c->options) / 4,
		.tot_len = htons(size + c->options + len), .ttl = 64,
		.frag_off = c->fragment, .protocol = c->protocol,
		.saddr = htonl(0x0a000001), .daddr = htonl(0x0a000002),
	};
	skb->protocol = htons(ETH_P_IP);
}

static struct sk_buff *wale_corrupt_test_packet(struct kunit *test,
						const struct wale_corrupt_case *c)
{
	u32 transport = wale_corrupt_test_transport(c), i;
	struct sk_buff *skb = alloc_skb(512, GFP_KERNEL);
	u8 *head, *data;
	u16 check;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, WALE_CORRUPT_MAC);
	wale_corrupt_test_put_ip(c, skb, transport + c->data);
	head = skb_put_zero(skb, transport);
	data = skb_put(skb, c->data);
	for (i = 0; i < c->data; i++)
		data[i] = 7 * i + 3;
	skb_put_zero(skb, WALE_CORRUPT_PADDING);
	if (c->protocol == IPPROTO_TCP)
		((struct tcphdr *)head)->doff = transport / 4;
	else
		((struct udphdr *)head)->len = htons(transport + c->data);
	if (!c->unsummed) {
		check = (__force u16)wale_corrupt_test_sum(c, skb);
		memcpy(head + (c->protocol == IPPROTO_TCP ? 16 : 6), &check, 2);
	}
	return skb;
}

static u32 wale_corrupt_test_differing(const u8 *one, const u8 *other, u32 len)
{
	u32 bits = 0;

	while (len--)
		bits += hweight8(*one++ ^ *other++);
	return bits;
}

/* Each bit of the data, and no other one; and its checksum stays right, or away. */
static void wale_corrupt_fixed_test(struct kunit *test)
{
	const struct wale_corrupt_case *c = test->param_value;
	u32 bits = max(8 * c->data, 1U), bit, at, len, differ;
	static u8 before[512];
	struct sk_buff *skb;
	bool done;

	for (bit = 0; bit < bits; bit++) {
		skb = wale_corrupt_test_packet(test, c);
		len = skb->len;
		at = len - WALE_CORRUPT_PADDING - c->data;
		memcpy(before, skb->data, len);
		done = wale_corrupt_fixed(skb, div_u64((u64)bit << 32, bits) + 1);
		KUNIT_EXPECT_EQ(test, c->fixes, done);
		differ = wale_corrupt_test_differing(before + at, skb->data + at,
						     c->data);
		KUNIT_EXPECT_EQ(test, differ, c->fixes);
		if (c->fixes)
			KUNIT_EXPECT_EQ(test, skb->data[at + bit / 8] ^ before[at + bit / 8],
					1 << bit % 8);
		if (c->fixes && !c->unsummed)
			KUNIT_EXPECT_EQ(test, 0,
					(__force u16)wale_corrupt_test_sum(c, skb));
		else
			KUNIT_EXPECT_EQ(test, memcmp(before, skb->data, at), 0);
		kfree_skb(skb);
	}
}

/* A sum is left to the device: of what begins at @start, to be put @offset later. */
static void wale_corrupt_test_leave(struct sk_buff *skb, u32 start, u16 offset)
{
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + start;
	skb->csum_offset = offset;
}

/* The device is to compute the sum of the damaged packet, and the state stays. */
static void wale_corrupt_partial_test(struct kunit *test)
{
	const struct wale_corrupt_case *c = wale_corrupt_cases;
	struct sk_buff *skb = wale_corrupt_test_packet(test, c);
	u32 at = skb->len - WALE_CORRUPT_PADDING - c->data;
	static u8 before[512];

	memcpy(before, skb->data, skb->len);
	wale_corrupt_test_leave(skb, at - wale_corrupt_test_transport(c), 16);
	KUNIT_EXPECT_TRUE(test, wale_corrupt_fixed(skb, 0));
	KUNIT_EXPECT_TRUE(test, skb->ip_summed == CHECKSUM_PARTIAL);
	KUNIT_EXPECT_EQ(test, memcmp(before, skb->data, at), 0);
	KUNIT_EXPECT_EQ(test, skb->data[at] ^ before[at], 1);
	kfree_skb(skb);
}

/* The sum of UDP is right once the one that is left to the device is there, too. */
static void wale_corrupt_test_sum_around(const struct wale_corrupt_case *c,
					 struct sk_buff *skb, u32 at)
{
	struct sk_buff *whole = skb_copy(skb, GFP_KERNEL);
	__sum16 check;

	skb_checksum_help(whole);
	memset(whole->data + at - 2, 0, 2);
	check = wale_corrupt_test_sum(c, whole);
	memcpy(skb->data + at - 2, &check, 2);
	kfree_skb(whole);
}

/*
 * UDP with a packet within it, whose sum is left to the device.  Wherever the bit is, the
 * sum of UDP is right.
 */
static void wale_corrupt_inner_test(struct kunit *test)
{
	const struct wale_corrupt_case *c = &wale_corrupt_cases[1];
	u32 bits = 8 * c->data, bit, at;
	struct sk_buff *skb;

	for (bit = 0; bit < bits; bit++) {
		skb = wale_corrupt_test_packet(test, c);
		at = skb->len - WALE_CORRUPT_PADDING - c->data;
		wale_corrupt_test_leave(skb, at + 20, 6);
		wale_corrupt_test_sum_around(c, skb, at);
		KUNIT_EXPECT_TRUE(test, wale_corrupt_fixed(skb, div_u64((u64)bit << 32, bits) + 1));
		if (skb->ip_summed == CHECKSUM_PARTIAL)
			skb_checksum_help(skb);
		KUNIT_EXPECT_EQ_MSG(test, 0, (__force u16)wale_corrupt_test_sum(c, skb),
				    "bit %u", bit);
		kfree_skb(skb);
	}
}

/* What is cut off, or says wrong lengths, stays as it is; so does a GSO packet. */
static void wale_corrupt_damaged_test(struct kunit *test)
{
	const struct wale_corrupt_case *c = wale_corrupt_cases;
	struct sk_buff *skb;
	u32 len;

	for (len = 0; len < WALE_CORRUPT_MAC + 40 + c->data; len++) {
		skb = wale_corrupt_test_packet(test, c);
		skb_trim(skb, len);
		KUNIT_EXPECT_FALSE(test, wale_corrupt_fixed(skb, 0));
		kfree_skb(skb);
	}
	skb = wale_corrupt_test_packet(test, c);
	skb_shinfo(skb)->gso_size = 50;
	KUNIT_EXPECT_FALSE(test, wale_corrupt_fixed(skb, 0));
	skb_shinfo(skb)->gso_size = 0;
	ip_hdr(skb)->ihl = 4;
	KUNIT_EXPECT_FALSE(test, wale_corrupt_fixed(skb, 0));
	kfree_skb(skb);
}

static struct kunit_case wale_corrupt_cases_of_suite[] = {
	KUNIT_CASE_PARAM(wale_corrupt_fixed_test, wale_corrupt_gen_params),
	KUNIT_CASE(wale_corrupt_partial_test),
	KUNIT_CASE(wale_corrupt_inner_test),
	KUNIT_CASE(wale_corrupt_damaged_test),
	{}
};

static struct kunit_suite wale_corrupt_suite = {
	.name = "wale_corrupt",
	.test_cases = wale_corrupt_cases_of_suite,
};

kunit_test_suite(wale_corrupt_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the corruption of sch_wale");
