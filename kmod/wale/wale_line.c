// SPDX-License-Identifier: GPL-2.0
/*
 * wale_line.c - how much fits on the propagation line?   (pure)
 *
 * On a link with a rate, the line holds what is served within the delay, and with
 * copies of packets twice that.  It holds more if the device below takes no packets, or
 * slots let fewer leave than are served.  Without a rate it holds what senders send.
 */

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/pkt_sched_wale.h>
#include <linux/time64.h>

#include "wale_line.h"

/* bytes/s, for a link without a rate: 100 Gbit/s */
#define WALE_LINE_RATE		12500000000ULL

/* For bursts, and for packets that leave late. */
#define WALE_LINE_SPARE		(64ULL << 20)

/* Bytes in so many ns; U64_MAX: that or more. */
static u64 wale_line_bytes(u64 rate, u64 ns)
{
	u64 s, bytes;
	u32 rest;

	s = div_u64_rem(ns, NSEC_PER_SEC, &rest);
	if (check_mul_overflow(rate, s, &bytes) ||
	    check_add_overflow(bytes, mul_u64_u32_div(rate, rest, NSEC_PER_SEC),
			       &bytes))
		return U64_MAX;
	return bytes;
}

/**
 * wale_line_limit() - beyond how many bytes is the line full?
 * @rate: the largest that the link has, bytes/s; or WALE_RATE_UNLIMITED
 * @reach_ns: the longest that a packet is on the line, if it leaves in time
 * @present: bytes that are on the line already
 * @most: the largest limit
 *
 * A link that works as it should never meets it.
 *
 * Return: bytes on the wire.
 */
u64 wale_line_limit(u64 rate, u64 reach_ns, u64 present, u64 most)
{
	u64 bytes, limit;

	bytes = wale_line_bytes(rate == WALE_RATE_UNLIMITED ?
				WALE_LINE_RATE : rate, reach_ns);
	if (check_mul_overflow(bytes, 2ULL, &limit) ||
	    check_add_overflow(limit, present + WALE_LINE_SPARE, &limit))
		return most;
	return min(limit, most);
}

/**
 * wale_line_takes() - is there room for a packet whose service has ended?
 * @bound: the most that may be on the line
 * @present: what is on it; a packet that leaves at this instant is
 * @copies: how many packets it is there, 1 or 2
 * @len: bytes of each
 *
 * Return: true if there is.
 */
bool wale_line_takes(const struct wale_line_bound *bound,
		     const struct wale_counter *present, u32 copies, u32 len)
{
	return present->packets + copies <= bound->packets &&
	       present->bytes + (u64)copies * len <= bound->bytes;
}
