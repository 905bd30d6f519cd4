// SPDX-License-Identifier: GPL-2.0
/*
 * wale_rem.c - the price of a link that does random exponential marking   (pure)
 *
 * S. Athuraliya, S. H. Low, V. H. Li and Q. Yin, "REM: Active Queue Management",
 * IEEE Network 15(3), 2001: at intervals,
 *
 *	p <- max(0, p + gamma (alpha (b - b*) + x - c))
 *	m = 1 - phi^-p
 *
 * with b bytes in the buffer, of which there should be b*, x that arrived in the
 * interval and c that the link could have served.  Once the senders have found
 * their rates, x = c and b = b*, whatever their number: the price is what differs.
 *
 * The arithmetic is exact to 10^-9 of a price and a thousandth of a byte: with
 * gamma in millionths for each kB, gamma times bytes is in 10^-9.  c follows from
 * the rate at the end of the interval.  Amounts beyond 2^40 bytes count as that;
 * so does the c of a link without a limit of its rate.
 *
 * While nothing arrives and nothing is served, every update changes the price by
 * the same: many intervals are one step.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <net/rem.h>

#include "wale_rem.h"

#define WALE_REM_BYTES_MAX	BIT_ULL(40)
#define WALE_REM_MILLI		1000	/* thousandths of a byte */

/* From this exponent on, phi^-p is less than 2^-32. */
#define WALE_REM_EXPONENT_MAX	(32U << REM_LOG_BITS)

const struct wale_rem_params wale_rem_defaults = {
	.interval_ns = 10000000,
	.target = 20000,
	.gamma = 1000,		/* 0.001 */
	.alpha = 100000,	/* 0.1 */
	.phi = 1100000,		/* 1.1 */
};

/* 2^32 * 2^-(2^-k), rounded, for k = 1 .. REM_LOG_BITS */
static const u32 wale_rem_roots[REM_LOG_BITS] = {
	0xb504f334, 0xd744fccb, 0xeac0c6e8, 0xf5257d15,
	0xfa83b2db, 0xfd3e0c0d, 0xfe9e115c, 0xff4ecb59,
	0xffa75652, 0xffd3a752, 0xffe9d2b3, 0xfff4e91c,
	0xfffa747f, 0xfffd3a3b, 0xfffe9d1d, 0xffff4e8e,
	0xffffa747, 0xffffd3a3, 0xffffe9d2, 0xfffff4e9,
	0xfffffa74, 0xfffffd3a, 0xfffffe9d, 0xffffff4f,
};

/* 2^32 * 2^-(@exponent), which has REM_LOG_BITS fractional bits; not 0 */
static u32 wale_rem_exp2(u32 exponent)
{
	u64 value = BIT_ULL(32);
	u32 k;

	for (k = 0; k < REM_LOG_BITS; k++) {
		if (exponent & BIT(REM_LOG_BITS - 1 - k))
			value = (value * wale_rem_roots[k] + BIT_ULL(31)) >> 32;
	}
	return min_t(u64, value >> (exponent >> REM_LOG_BITS), U32_MAX);
}

static u64 wale_rem_price_max(const struct wale_rem *rem)
{
	return div_u64(WALE_REM_EXPONENT_MAX * REM_PRICE_ONE,
		       rem->log2_phi);
}

/* The probability that follows from the price. */
static void wale_rem_set_price(struct wale_rem *rem, u64 price)
{
	u32 exponent;

	rem->price = price;
	exponent = div_u64(price * rem->log2_phi, REM_PRICE_ONE);
	rem->probability = exponent ? U32_MAX - wale_rem_exp2(exponent) + 1 : 0;
}

/**
 * wale_rem_start() - a price that is zero, and moves from now on
 * @rem: the price, with its parameters
 * @offered: bytes that have arrived so far
 * @now: ns
 */
void wale_rem_start(struct wale_rem *rem, u64 offered, u64 now)
{
	rem->offered = offered;
	rem->next_ns = now + rem->params.interval_ns;
	wale_rem_set_price(rem, 0);
}

/**
 * wale_rem_set() - other parameters; the price stays, as far as it can
 * @rem: the price
 * @params: the parameters
 * @now: ns; with another interval, the next update is one from now
 */
void wale_rem_set(struct wale_rem *rem, const struct wale_rem_params *params,
		  u64 now)
{
	if (params->interval_ns != rem->params.interval_ns)
		rem->next_ns = now + params->interval_ns;
	rem->params = *params;
	rem->log2_phi = rem_log2_phi(params->phi);
	wale_rem_set_price(rem, min(rem->price, wale_rem_price_max(rem)));
}

/**
 * wale_rem_steps() - how many updates are alike?
 * @rem: the price; its next update is due
 * @offered: bytes that have arrived so far
 * @quiet_until_ns: the next end of service or change of the rate
 * @now: ns
 *
 * Return: 1 or more; all that are due up to @now and before @quiet_until_ns, if
 * nothing arrived since the last one.
 */
u64 wale_rem_steps(const struct wale_rem *rem, u64 offered, u64 quiet_until_ns,
		   u64 now)
{
	u64 last = min(now, quiet_until_ns - 1);

	if (offered != rem->offered || last <= rem->next_ns)
		return 1;
	return 1 + div64_u64(last - rem->next_ns, rem->params.interval_ns);
}

/**
 * wale_rem_rests() - is the price zero, and does it stay so?
 * @rem: the price
 * @backlog: bytes in the buffer
 *
 * With no more in the buffer than there should be, an update can only lower the price,
 * whatever the rate is; and what is in the buffer can only become less.
 *
 * Return: true if the price is zero until something arrives.
 */
bool wale_rem_rests(const struct wale_rem *rem, u64 backlog)
{
	return !rem->price && backlog <= rem->params.target;
}

/* What an update adds to the price, as long as it is between its limits. */
static s64 wale_rem_change(const struct wale_rem *rem, u64 backlog, u64 arrived,
			   u64 rate)
{
	const struct wale_rem_params *params = &rem->params;
	u64 most = WALE_REM_BYTES_MAX * WALE_REM_MILLI, served = most;
	s64 excess, mismatch, bound;

	excess = (s64)min(backlog, WALE_REM_BYTES_MAX) - (s64)params->target;
	if (rate != WALE_RATE_UNLIMITED)
		served = min(mul_u64_u32_div(rate, params->interval_ns,
					     1000000000 / WALE_REM_MILLI),
			     most);
	mismatch = div_s64(excess * params->alpha, 1000000 / WALE_REM_MILLI) +
		   (s64)min(arrived, WALE_REM_BYTES_MAX) * WALE_REM_MILLI -
		   (s64)served;
	bound = div_s64(S64_MAX, params->gamma);
	return div_s64(clamp(mismatch, -bound, bound) * params->gamma,
		       WALE_REM_MILLI);
}

/**
 * wale_rem_update() - the update that is due, and those that are like it
 * @rem: the price
 * @backlog: b, bytes in the buffer at rem->next_ns
 * @offered: bytes that have arrived so far
 * @rate: of the link at rem->next_ns, bytes/s, or WALE_RATE_UNLIMITED
 * @steps: wale_rem_steps()
 */
void wale_rem_update(struct wale_rem *rem, u64 backlog, u64 offered,
		     u64 rate, u64 steps)
{
	s64 change = wale_rem_change(rem, backlog, offered - rem->offered,
				     rate);
	u64 most = wale_rem_price_max(rem), price = rem->price, need;
	u64 size = change < 0 ? -change : change;
	u64 room = change < 0 ? price : most - price;

	rem->offered = offered;
	rem->next_ns += steps * rem->params.interval_ns;
	if (!size || !room)
		return;
	/* so many steps to the limit; then it stays there */
	need = div64_u64(room - 1, size) + 1;
	if (steps >= need)
		price = change < 0 ? 0 : most;
	else
		price += change * (s64)steps;
	wale_rem_set_price(rem, price);
}
