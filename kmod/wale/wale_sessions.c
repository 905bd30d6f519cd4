// SPDX-License-Identifier: GPL-2.0
/*
 * wale_sessions.c - the chain of sessions that share the link   (pure)
 *
 * Karnik and Kumar (2005), section III-A.  Ephemeral sessions come and go at
 * the ends of steps of fixed length.  While there are m of them, each, and
 * the traffic that passes the link, is served at rate C / (m + 1).  In a step
 *
 *	one arrives			with probability  lambda,
 *	d of the m leave		with probability  a(m, d) =
 *		binomial(m, d) p^d (1 - p)^(m - d),	1 <= d <= m,
 *	nothing changes			otherwise,
 *
 * with p = p_{m+1} = 1 - exp(-1 / (mean (m + 1))): a session's size is
 * exponential with the given mean, in units of C times the step.  This is the
 * matrix P_M as printed: arrival and departures exclude each other.  (The text
 * calls mu a mean; only as the rate 1 / mean does it give the paper's figures.)
 * At max sessions an arrival changes nothing.
 *
 * The law is tabulated once, in fixed point with 63 fractional bits, good to
 * about 2^-57; a move is then one uniform draw and a few comparisons.
 */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "wale_sessions.h"

#define Q63_ONE		BIT_ULL(63)
#define Q63_EXP_MINUS_1	0x2f16ac6c59de6f8dULL	/* exp(-1) */

static u64 q63_mul(u64 a, u64 b)
{
	return mul_u64_u64_shr(a, b, 63);
}

/* a / b as a fraction, rounded down; a < b < 2^63. */
static u64 q63_fraction(u64 a, u64 b)
{
	u64 quotient = 0;
	int bit;

	for (bit = 0; bit < 63; bit++) {
		a <<= 1;
		quotient <<= 1;
		if (a >= b) {
			a -= b;
			quotient |= 1;
		}
	}
	return quotient;
}

/* exp(-num / den); den < 2^63. */
static u64 q63_exp_minus(u64 num, u64 den)
{
	u64 whole, rest, x, term = Q63_ONE, positive = Q63_ONE, negative = 0;
	u64 result;
	int i;

	whole = div64_u64_rem(num, den, &rest);
	x = q63_fraction(rest, den);
	/* Taylor: terms fall faster than 1 / i!, 21! > 2^63 */
	for (i = 1; i <= 21 && term; i++) {
		term = div_u64(q63_mul(term, x), i);
		if (i & 1)
			negative += term;
		else
			positive += term;
	}
	result = positive - negative;
	while (whole-- && result)
		result = q63_mul(result, Q63_EXP_MINUS_1);
	return result;
}

/* Law of the number out of @m that leave, each with probability 1 - @stay. */
static void wale_sessions_binomial(u64 *law, u32 m, u64 stay)
{
	u64 leave = Q63_ONE - stay;
	u32 i, d;

	memset(law, 0, (m + 1) * sizeof(*law));
	law[0] = Q63_ONE;
	for (i = 1; i <= m; i++) {	/* one session after the other */
		for (d = i; d > 0; d--)
			law[d] = q63_mul(law[d], stay) +
				 q63_mul(law[d - 1], leave);
		law[0] = q63_mul(law[0], stay);
	}
}

static u64 *wale_sessions_row(struct wale_sessions *sessions, u32 m)
{
	return sessions->threshold + m * (sessions->params.max + 1);
}

/**
 * wale_sessions_size() - memory for a chain
 * @max: largest number of sessions
 *
 * Return: bytes.
 */
size_t wale_sessions_size(u32 max)
{
	return sizeof(struct wale_sessions) +
	       (max + 1) * (max + 1) * sizeof(u64);
}

/**
 * wale_sessions_init() - tabulate the law of the chain
 * @sessions: wale_sessions_size(@params->max) bytes
 * @params: validated: 1 <= max <= WALE_SESSIONS_MAX, the mean in its range
 *
 * Return: 0, or -ERANGE if for some number of sessions the arrival and the
 * departures add up to more than one.
 */
int wale_sessions_init(struct wale_sessions *sessions,
		       const struct wale_sessions_params *params)
{
	u64 law[WALE_SESSIONS_MAX + 1];
	u64 *row, stay;
	u32 m, d;

	sessions->params = *params;
	for (m = 0; m <= params->max; m++) {
		stay = q63_exp_minus(BIT_ULL(32), params->mean * (m + 1));
		wale_sessions_binomial(law, m, stay);
		row = wale_sessions_row(sessions, m);
		row[0] = (u64)params->arrival << 32;
		for (d = 1; d <= m; d++) {
			if (law[d] >= Q63_ONE ||
			    check_add_overflow(row[d - 1], law[d] << 1,
					       &row[d]))
				return -ERANGE;
		}
	}
	return 0;
}

/**
 * wale_sessions_move() - the number of sessions after one more step
 * @sessions: the chain
 * @m: number of sessions now
 * @u: 64 uniform bits
 *
 * Return: number of sessions, 0 .. max.
 */
u32 wale_sessions_move(const struct wale_sessions *sessions, u32 m, u64 u)
{
	const u64 *row = sessions->threshold + m * (sessions->params.max + 1);
	u32 d;

	if (likely(u >= row[m]))	/* the whole row: nothing changes */
		return m;
	if (u < row[0])
		return min(m + 1, sessions->params.max);
	for (d = 1; u >= row[d]; d++)
		;
	return m - d;
}
