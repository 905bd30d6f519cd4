// SPDX-License-Identifier: GPL-2.0
/*
 * rate_price.c - the price of a path, from the marks that a sender sees (pure)
 *
 * A link that does random exponential marking (REM, <net/rem.h>) signals its
 * price by the share of packets that it marks, and the receiver echoes the marks
 * to the sender (ECN).  The sender estimates that share,
 *
 *	m = marked / packets,
 *
 * from the packets that were acknowledged; those of k round trips ago are weighted
 * by (7/8)^k, which is 1/e after 7.5 round trips.  This is an average over n
 * packets, 15 round trips' worth.  The standard deviation of m is then
 * sqrt(m (1 - m) / n), and the relative standard deviation of the rate is
 * sqrt(m / (1 - m) / n) / ln(1 / (1 - m)): 10 % for m = 0.26 and n = 390, and for
 * m = 0.95 and n = 210.
 *
 * It is the ratio of two sums, not the mean of ratios: a round trip with few
 * packets counts little, and there is no bias that depends on their number.  No
 * estimate is finer than half a packet in the sum, so that neither m = 0 (no
 * price, any rate) nor m = 1 (an infinite price, no rate) is ever concluded from
 * a finite number of packets.
 *
 * The rate at price p is weight / p: it maximizes the utility minus the cost of a
 * sender whose utility of the rate x is weight * log(x), and senders that share a
 * link share it in proportion to their weights (proportional fairness).
 *
 * A rate that has not been tried yet is approached as in slow start: it is at most
 * twice the packets of the last round trip in a base RTT.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/rem.h>

#include "rate_price.h"

/* Packets of one round trip that are counted at most: the sums stay in 32 bits. */
#define RATE_PRICE_ROUND_MAX	BIT(20)

#define RATE_PRICE_PACKET_MAX	BIT(20)	/* bytes */
#define RATE_PRICE_HALF_PACKET	BIT(RATE_PRICE_PACKET_BITS - 1)

/* The sum with a new round trip added; the earlier ones count less. */
static u32 rate_price_sum(u32 sum, u32 new)
{
	return sum - (sum >> RATE_PRICE_MEMORY_SHIFT) +
	       (min_t(u32, new, RATE_PRICE_ROUND_MAX) << RATE_PRICE_PACKET_BITS);
}

/**
 * rate_price_round() - a round trip is over
 * @price: what is known
 * @delivered: packets acknowledged since the connection began; it may wrap
 * @delivered_ce: those with a mark
 *
 * Return: false if nothing was acknowledged meanwhile, and so the round trip goes on.
 */
bool rate_price_round(struct rate_price *price, u32 delivered,
		      u32 delivered_ce)
{
	u32 packets = delivered - price->delivered;
	u32 marked = delivered_ce - price->delivered_ce;

	if (!packets)
		return false;
	/* the mark of a packet may be reported after its arrival */
	marked = min(marked, packets);
	price->delivered = delivered;
	price->delivered_ce += marked;
	price->round_packets = packets;
	price->packets = rate_price_sum(price->packets, packets);
	price->marked = min(rate_price_sum(price->marked, marked),
			    price->packets);
	return true;
}

/**
 * rate_price_read() - the price of the path
 * @price: what is known, from at least one round trip
 * @phi: base of the marking probability, millionths
 *
 * Return: in units of 1 / REM_PRICE_ONE; at least 1.
 */
u64 rate_price_read(const struct rate_price *price, u32 phi)
{
	u32 unmarked = price->packets - price->marked;

	unmarked = clamp_t(u32, unmarked, RATE_PRICE_HALF_PACKET,
			   price->packets - RATE_PRICE_HALF_PACKET);
	return max(rem_price(rem_log2(price->packets) -
				  rem_log2(unmarked), phi), 1ULL);
}

/**
 * rate_price_rate() - weight / price
 * @weight: the rate at price 1, bytes/s
 * @price: in units of 1 / REM_PRICE_ONE; not 0
 *
 * Return: bytes/s, at most RATE_PRICE_RATE_MAX.
 */
u64 rate_price_rate(u64 weight, u64 price)
{
	if (div64_u64(weight, price) >= RATE_PRICE_RATE_MAX / REM_PRICE_ONE)
		return RATE_PRICE_RATE_MAX;
	return mul_u64_u64_div_u64(weight, REM_PRICE_ONE, price);
}

/**
 * rate_price_limit() - the highest rate to use, whatever the price
 * @price: what is known, from at least one round trip
 * @packet_size: bytes of a packet
 * @rtt_ns: base RTT; 0: not known
 *
 * Return: bytes/s.
 */
u64 rate_price_limit(const struct rate_price *price, u32 packet_size,
		     u64 rtt_ns)
{
	u64 bytes = 2 * min_t(u64, price->round_packets, RATE_PRICE_ROUND_MAX) *
		    min_t(u64, packet_size, RATE_PRICE_PACKET_MAX);
	u64 rtt_us = div_u64(rtt_ns, NSEC_PER_USEC);

	if (!rtt_us)
		return RATE_PRICE_RATE_MAX;
	return div64_u64(bytes * USEC_PER_SEC, rtt_us);
}
