/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_price.h - the price of a path, from the marks that a sender sees (pure)
 */
#ifndef _RATE_PRICE_H
#define _RATE_PRICE_H

#include <linux/bits.h>
#include <linux/types.h>

/* The weight of a round trip falls by 1/8 with each later one. */
#define RATE_PRICE_MEMORY_SHIFT	3

/* Fractional bits of the sums of packets. */
#define RATE_PRICE_PACKET_BITS	8

/* More than price and weight can give; at least what ratcp takes for no limit. */
#define RATE_PRICE_RATE_MAX	BIT_ULL(60)

/**
 * struct rate_price - what a sender knows about the price of its path
 * @delivered: packets acknowledged when the round trip began
 * @delivered_ce: those with a mark
 * @round_seq: the round trip ends when data beyond this is acknowledged
 * @round_packets: acknowledged in the last complete round trip
 * @packets: acknowledged in total, older ones counting less
 * @marked: those with a mark, at most @packets
 *
 * The sums have RATE_PRICE_PACKET_BITS fractional bits.  Until a round trip is
 * complete they are zero, and nothing is known.
 */
struct rate_price {
	u32 delivered;
	u32 delivered_ce;
	u32 round_seq;
	u32 round_packets;
	u32 packets;
	u32 marked;
};

bool rate_price_round(struct rate_price *price, u32 delivered,
		      u32 delivered_ce);
u64 rate_price_read(const struct rate_price *price, u32 phi);
u64 rate_price_rate(u64 weight, u64 price);
u64 rate_price_limit(const struct rate_price *price, u32 packet_size,
		     u64 rtt_ns);

#endif /* _RATE_PRICE_H */
