// SPDX-License-Identifier: GPL-2.0
/*
 * wale_scone.c - the signal of a SCONE packet   (pure)
 *
 * A signal is a rate on a logarithmic scale, 20 signals in a decade.  The thresholds of
 * the highest decade are in a table, rounded up to whole bytes/s.  A rate of a lower
 * decade is compared after it was multiplied by a power of ten, so that no threshold is
 * rounded twice, and each is exact.
 */

#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/math64.h>

#include "wale_scone.h"

/* The highest decade is the seventh; it is cut at SCONE_SIGNAL_MAX. */
#define WALE_SCONE_DECADES	(SCONE_SIGNAL_MAX / SCONE_SIGNALS_PER_DECADE)

/* ceil(12500 * 10^(6 + n / 20)) */
static const u64 wale_scone_thresholds[SCONE_SIGNALS_PER_DECADE] = {
	12500000000ULL, 14025230679ULL, 15736567648ULL, 17656719308ULL,
	19811164906ULL, 22228492626ULL, 24940778938ULL, 27984014233ULL,
	31398580394ULL, 35229786641ULL, 39528470753ULL, 44351673655ULL,
	49763396320ULL, 55835449019ULL, 62648404204ULL, 70292665649ULL,
	78869668061ULL, 88493223049ULL, 99291029341ULL, 111406367267ULL,
};

/**
 * wale_scone_encode() - the signal of a rate, rounded down
 * @rate: bytes/s
 *
 * Return: 0 .. SCONE_SIGNAL_MAX; 0 also for a rate below all signals.
 */
u8 wale_scone_encode(u64 rate)
{
	const u64 *thresholds = wale_scone_thresholds;
	u32 decade = WALE_SCONE_DECADES, n = SCONE_SIGNALS_PER_DECADE - 1;

	for (; rate < thresholds[0] && decade; decade--)
		rate *= 10;
	if (rate < thresholds[0])
		return 0;
	while (rate < thresholds[n])
		n--;
	n += decade * SCONE_SIGNALS_PER_DECADE;
	return min_t(u32, n, SCONE_SIGNAL_MAX);
}

/**
 * wale_scone_decode() - the rate of a signal
 * @signal: 0 .. SCONE_SIGNAL_MAX
 *
 * Return: bytes/s, rounded up, so that it is the lowest rate with this signal.
 */
u64 wale_scone_decode(u8 signal)
{
	u32 decade = signal / SCONE_SIGNALS_PER_DECADE;
	u64 rate = wale_scone_thresholds[signal % SCONE_SIGNALS_PER_DECADE];

	for (; decade < WALE_SCONE_DECADES; decade++)
		rate = DIV_ROUND_UP_ULL(rate, 10);
	return rate;
}

/**
 * wale_scone_is_whole() - is a SCONE packet whole, and does another packet follow it?
 * @datagram: what begins with the version of one; its first WALE_SCONE_LOOK bytes
 *	are enough
 * @len: bytes there
 *
 * Return: true if so.
 */
bool wale_scone_is_whole(const u8 *datagram, u32 len)
{
	u32 at = SCONE_HEAD, ids;

	for (ids = 0; ids < 2; ids++) {
		if (at >= len)
			return false;
		at += 1 + datagram[at];
	}
	return at < len;
}
