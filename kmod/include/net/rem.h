/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rem.h - random exponential marking (REM), as links and senders know it (pure)
 *
 * S. Athuraliya, S. H. Low, V. H. Li and Q. Yin, "REM: Active Queue Management",
 * IEEE Network 15(3), 2001.  A link with price p marks a packet with probability
 *
 *	m = 1 - phi^-p
 *
 * so that a packet passes all links of its path without a mark with probability
 * phi^-(sum of the prices).  Who sees the share m of the marked packets knows
 * that sum:
 *
 *	p = log2(1 / (1 - m)) / log2(phi)
 *
 * Prices are integers in units of 1 / REM_PRICE_ONE, phi is in millionths, a
 * logarithm is of base 2 and has REM_LOG_BITS fractional bits.
 */
#ifndef _NET_REM_H
#define _NET_REM_H

#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/types.h>

#define REM_PRICE_ONE	1000000000ULL	/* the price 1 */
#define REM_PHI_ONE	1000000U	/* phi = 1, which marks nothing */
#define REM_LOG_BITS	24

/**
 * rem_log2() - logarithm of base 2
 * @x: at least 1
 *
 * A bit of the fraction at a time: squaring a mantissa doubles its logarithm,
 * and one that is 2 or more then has a 1 in its first bit.
 *
 * Return: rounded down, with REM_LOG_BITS fractional bits; at most 1 of the
 * last place less than that.
 */
static inline u32 rem_log2(u32 x)
{
	u32 whole = 0, log, bit;
	u64 mantissa = x;	/* 1 .. 2, with 31 fractional bits */

	while (x >> whole > 1)
		whole++;
	mantissa <<= 31 - whole;
	log = whole << REM_LOG_BITS;
	for (bit = BIT(REM_LOG_BITS - 1); bit; bit >>= 1) {
		mantissa = mantissa * mantissa >> 31;
		if (mantissa >> 32) {
			mantissa >>= 1;
			log |= bit;
		}
	}
	return log;
}

/* log2(phi); phi > 1 */
static inline u32 rem_log2_phi(u32 phi)
{
	return rem_log2(phi) - rem_log2(REM_PHI_ONE);
}

/* The price at which the share phi^-p is 2^-(@log). */
static inline u64 rem_price(u32 log, u32 phi)
{
	return div_u64(log * REM_PRICE_ONE, rem_log2_phi(phi));
}

#endif /* _NET_REM_H */
