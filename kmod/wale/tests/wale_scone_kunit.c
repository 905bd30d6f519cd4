// SPDX-License-Identifier: GPL-2.0
/*
 * wale_scone_kunit.c - tests of SCONE packets, against vectors from an independent model; of
 * the mean that they tell, of how often, and of where they are in a packet
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>

#include "../wale_datagram.c"
#include "../wale_mean.c"
#include "../wale_quota.c"
#include "../wale_scone.c"
#include "../wale_tuple.c"
#include "vectors/wale_vectors_scone.h"

static_assert(SCONE_VERSION == WALE_VEC_SCONE_VERSION);
static_assert(SCONE_UNKNOWN == WALE_VEC_SCONE_UNKNOWN);
static_assert(SCONE_PERIOD_NS == WALE_VEC_SCONE_PERIOD_NS);
static_assert(ARRAY_SIZE(wale_vec_scone_rates) == SCONE_SIGNAL_MAX + 1);

static void wale_scone_rates(struct kunit *test)
{
	u8 n;

	KUNIT_EXPECT_EQ(test, wale_scone_decode(0), SCONE_RATE_MIN);
	for (n = 0; n <= SCONE_SIGNAL_MAX; n++) {
		KUNIT_EXPECT_EQ_MSG(test, wale_scone_decode(n),
				    wale_vec_scone_rates[n], "signal %u", n);
		KUNIT_EXPECT_EQ(test, wale_scone_encode(wale_scone_decode(n)),
				n);
	}
}

static void wale_scone_signals(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wale_vec_scone_signals); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    wale_scone_encode(wale_vec_scone_signals[i].rate),
				    wale_vec_scone_signals[i].signal,
				    "%llu bytes/s",
				    wale_vec_scone_signals[i].rate);
}

/* What an element does with a datagram. */
static u8 wale_scone_pass(u8 *data, u32 len, u8 advice)
{
	if (len < SCONE_HEAD || !wale_scone_begins(data))
		return 0;
	if (!wale_scone_is_whole(data, len))
		return 1;
	if (advice < wale_scone_get(data))
		wale_scone_set(data, advice);
	return 2;
}

static void wale_scone_datagrams(struct kunit *test)
{
	size_t i;
	u8 data[sizeof(wale_vec_scone_datagrams[0].data)];

	for (i = 0; i < ARRAY_SIZE(wale_vec_scone_datagrams); i++) {
		const u8 *before = wale_vec_scone_datagrams[i].data;
		const u8 *head = wale_vec_scone_datagrams[i].head;
		u32 len = wale_vec_scone_datagrams[i].len;

		memcpy(data, before, sizeof(data));
		KUNIT_EXPECT_EQ_MSG(test,
				    wale_scone_pass(data, len,
						    wale_vec_scone_datagrams[i].advice),
				    wale_vec_scone_datagrams[i].kind,
				    "datagram %zu", i);
		if (len < 2)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, memcmp(data, head, 2), 0,
				    "datagram %zu", i);
		KUNIT_EXPECT_EQ(test, memcmp(data + 2, before + 2,
					     sizeof(data) - 2), 0);
	}
}

#define WALE_SCONE_SECOND	1000000000ULL

/* A window of 16 s, of which each part is a second. */
static void wale_scone_mean(struct kunit *test)
{
	struct wale_mean mean;
	u64 now = 5 * WALE_SCONE_SECOND;

	wale_mean_init(&mean, 16 * WALE_SCONE_SECOND, 1000, now);
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 1000);
	now += 4 * WALE_SCONE_SECOND;
	wale_mean_set(&mean, 3000, now);
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 1000);
	now += 4 * WALE_SCONE_SECOND;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 2000);
	wale_mean_set(&mean, 0, now);
	now += 8 * WALE_SCONE_SECOND;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 1000);
	/* half a second of the first rate is behind the window */
	now += WALE_SCONE_SECOND / 2;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 15500 / 16);
	now += 7 * WALE_SCONE_SECOND / 2;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 750);
	/* nothing is left of what was; of a long time, no more than the window */
	now += 100000 * WALE_SCONE_SECOND;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), 0);
	wale_mean_set(&mean, U64_MAX, now);
	now += 16 * WALE_SCONE_SECOND;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), WALE_MEAN_RATE_MAX);
	wale_mean_init(&mean, 600 * WALE_SCONE_SECOND, U64_MAX, now);
	now += 601 * WALE_SCONE_SECOND;
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now), WALE_MEAN_RATE_MAX);
	wale_mean_init(&mean, 0, 7, now);
	wale_mean_set(&mean, 8, now + 1);
	KUNIT_EXPECT_EQ(test, wale_mean_get(&mean, now + 2), 8);
}

/* How many of so many packets of a flow may be changed. */
static u32 wale_scone_taken(struct wale_quota *quota, u64 key, u8 signal,
			    u64 now)
{
	u32 taken = 0, i;

	for (i = 0; i < 100; i++)
		taken += wale_quota_take(quota, key, signal, now);
	return taken;
}

static void wale_scone_quota(struct kunit *test)
{
	struct wale_quota *quota;
	u64 i, now = 7, eighth = SCONE_PERIOD_NS / 8, sets = WALE_QUOTA_SETS;

	quota = kunit_kzalloc(test, sizeof(*quota), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, quota);
	wale_quota_set_period(quota, SCONE_PERIOD_NS);
	KUNIT_EXPECT_EQ(test, wale_scone_taken(quota, 5, 40, now), 4);
	KUNIT_EXPECT_EQ(test, wale_scone_taken(quota, 5, 40, now + eighth), 1);
	/* another signal, and the same again: once each until a period is full */
	KUNIT_EXPECT_EQ(test, wale_scone_taken(quota, 5, 39, now + eighth), 1);
	for (i = 0; i < 10; i++)
		wale_quota_take(quota, 5, 38 + i % 2, now + eighth);
	KUNIT_EXPECT_FALSE(test, wale_quota_take(quota, 5, 1, now + eighth));
	/* a set is full; none of its flows is forgotten before its time */
	for (i = 1; i < WALE_QUOTA_WAYS; i++)
		KUNIT_EXPECT_TRUE(test, wale_quota_take(quota, 5 + i * sets, 40,
							now + eighth));
	KUNIT_EXPECT_FALSE(test, wale_quota_take(quota, 5 + i * sets, 40,
						 now + eighth));
	now += 2 * eighth;
	KUNIT_EXPECT_EQ(test, wale_scone_taken(quota, 5 + i * sets, 40, now), 4);
	KUNIT_EXPECT_EQ(test, wale_scone_taken(quota, 5, 38, now), 0);
}

/* A packet of IPv4 or IPv6 with 40 bytes of UDP, whose header says so many bytes. */
static struct sk_buff *wale_scone_udp(struct kunit *test, bool ipv6, u16 says)
{
	struct sk_buff *skb = alloc_skb(128, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	if (ipv6) {
		*(struct ipv6hdr *)skb_put(skb, 40) = (struct ipv6hdr){
			.version = 6, .nexthdr = NEXTHDR_DEST,
			.payload_len = htons(says),
		};
		*(u8 *)skb_put_zero(skb, 8) = IPPROTO_UDP;
	} else {
		*(struct iphdr *)skb_put(skb, 20) = (struct iphdr){
			.version = 4, .ihl = 5, .protocol = IPPROTO_UDP,
			.tot_len = htons(says),
		};
	}
	skb_put_zero(skb, 40);
	skb_reset_network_header(skb);
	skb->protocol = ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	return skb;
}

/* The bytes of UDP in such a packet; -1: not found. */
static int wale_scone_udp_len(struct kunit *test, bool ipv6, u16 says,
			      u16 gso_size)
{
	struct sk_buff *skb = wale_scone_udp(test, ipv6, says);
	struct wale_tuple tuple;
	bool found;

	skb_shinfo(skb)->gso_size = gso_size;
	found = wale_tuple_find(skb, &tuple);
	kfree_skb(skb);
	return found ? tuple.len : -1;
}

/*
 * A packet that ends within its headers has nothing that could be looked at.  A length of 0
 * is that of a GSO packet which is too long for the field.
 */
static void wale_scone_lengths(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, false, 60, 0), 40);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, false, 20, 0), 0);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, false, 19, 0), -1);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, false, 5, 0), -1);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, false, 0, 0), -1);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, false, 0, 10), 40);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, true, 48, 0), 40);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, true, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, true, 7, 0), -1);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, true, 1, 0), -1);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, true, 0, 0), -1);
	KUNIT_EXPECT_EQ(test, wale_scone_udp_len(test, true, 0, 10), 40);
}

/* All that is found in a packet lies within it, and is whole. */
static u32 wale_scone_walk(struct kunit *test, const struct sk_buff *skb)
{
	struct wale_datagram datagram;
	struct wale_tuple tuple;
	u32 datagrams = 0;

	if (!wale_tuple_find(skb, &tuple))
		return 0;
	KUNIT_EXPECT_GE(test, tuple.offset, 20);
	KUNIT_EXPECT_LE(test, tuple.offset, 0xffff);
	KUNIT_EXPECT_GE(test, tuple.len, 0);
	if (!wale_datagram_begin(skb, &tuple, &datagram))
		return 0;
	while (wale_datagram_next(skb, &datagram)) {
		KUNIT_EXPECT_TRUE(test, wale_datagram_may_be(skb));
		KUNIT_EXPECT_LE(test, datagram.payload + datagram.len, skb->len);
		wale_datagram_is_whole(skb, &datagram);
		datagrams++;
	}
	return datagrams;
}

/* Packets of which some bytes are random, and which are cut off. */
static void wale_scone_random(struct kunit *test)
{
	const u8 scone[] = { 0xff, 0xef, 0x7d, 0xc0, 0xfd, 0, 0, 0x40 };
	struct rnd_state random;
	struct sk_buff *skb;
	u32 i, n, found = 0, passed = 0;

	prandom_seed_state(&random, 20260820);
	for (i = 0; i < 20000; i++) {
		skb = wale_scone_udp(test, i % 2, i % 2 ? 48 : 60);
		memcpy(skb_tail_pointer(skb) - 32, scone, sizeof(scone));
		for (n = prandom_u32_state(&random) % 6; n; n--)
			skb->data[prandom_u32_state(&random) % skb->len] =
				prandom_u32_state(&random);
		if (i % 3 == 0)
			skb_trim(skb, prandom_u32_state(&random) % skb->len);
		if (i % 5 == 0)
			skb_shinfo(skb)->gso_size = 1 + prandom_u32_state(&random) % 64;
		else if (!wale_datagram_may_be(skb))
			passed++;
		if (i % 10 == 0)
			skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
		found += wale_scone_walk(test, skb);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_GT(test, found, 5000);
	KUNIT_EXPECT_GT(test, passed, 300);
}

static struct kunit_case wale_scone_cases[] = {
	KUNIT_CASE(wale_scone_rates),
	KUNIT_CASE(wale_scone_signals),
	KUNIT_CASE(wale_scone_datagrams),
	KUNIT_CASE(wale_scone_mean),
	KUNIT_CASE(wale_scone_quota),
	KUNIT_CASE(wale_scone_lengths),
	KUNIT_CASE(wale_scone_random),
	{}
};

static struct kunit_suite wale_scone_suite = {
	.name = "wale_scone",
	.test_cases = wale_scone_cases,
};

kunit_test_suite(wale_scone_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of SCONE packets");
