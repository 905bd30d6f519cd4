// SPDX-License-Identifier: GPL-2.0
/*
 * wale_policy.c - may a packet enter the buffer before it is full?   (pure)
 *
 * The drop conditions of R. Goyal and others, "Improving the performance of TCP
 * over the ATM-UBR service", Computer Communications 21 (1998), section 4, with
 * X in the buffer, of which Y_i are of the packet's flow i, N_a flows that have
 * any there, the limit K and the threshold R:
 *
 *	epd	X > R
 *	seldrop	X > R and Y_i N_a / X > Z
 *	fba	X > R and Y_i N_a / X > Z (K - R) / (X - R)
 *
 * They are evaluated by cross-multiplication, without a division, and exactly:
 * Z is an integer number of millionths.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>

#include "wale_policy.h"

/* 128 bits, for compilers that have no such type. */
struct wale_product {
	u64 high;
	u64 low;
};

static struct wale_product wale_multiply(u64 a, u64 b)
{
	u64 low = (u64)(u32)a * (u32)b;
	u64 middle = (a >> 32) * (u32)b + (low >> 32);
	u64 other = (u64)(u32)a * (b >> 32) + (u32)middle;

	return (struct wale_product){
		.high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32),
		.low = other << 32 | (u32)low,
	};
}

/* a b > c d */
static bool wale_product_exceeds(u64 a, u64 b, u64 c, u64 d)
{
	const struct wale_product left = wale_multiply(a, b);
	const struct wale_product right = wale_multiply(c, d);

	return left.high > right.high ||
	       (left.high == right.high && left.low > right.low);
}

/**
 * wale_policy_refuses() - is a packet that would fit refused?
 * @policy: the policy
 * @congestion: what the packet finds
 *
 * No factor overflows: X, Y and K are below 2^32, N_a is at most 2^16, Z below
 * 2^30 and its unit below 2^20.
 *
 * Return: true if it is.
 */
bool wale_policy_refuses(const struct wale_policy *policy,
			 const struct wale_congestion *congestion)
{
	u64 total = congestion->total, above;

	if (total <= policy->threshold)
		return false;
	above = total - policy->threshold;
	switch (policy->kind) {
	case WALE_POLICY_EPD:
		return true;
	case WALE_POLICY_SELDROP:
		return wale_product_exceeds(congestion->flow *
					    congestion->active,
					    WALE_POLICY_UNIT,
					    policy->z, total);
	case WALE_POLICY_FBA:
		return wale_product_exceeds(congestion->flow *
					    congestion->active,
					    WALE_POLICY_UNIT * above,
					    policy->z * total,
					    congestion->limit -
					    policy->threshold);
	default:	/* rem has a price: wale_mark.c */
		return false;
	}
}

/**
 * wale_policy_threshold() - R of a policy in a buffer with this limit
 * @policy: the policy
 * @limit: K; U64_MAX - 1 at most
 *
 * Return: the share of the limit, rounded down, or what was given.
 */
u64 wale_policy_threshold(const struct wale_policy *policy, u64 limit)
{
	u64 whole, rest;

	if (!policy->share)
		return policy->threshold;
	/* limit * share may take more than 64 bits */
	whole = div_u64(limit, WALE_POLICY_UNIT);
	rest = limit - whole * WALE_POLICY_UNIT;
	return whole * policy->share +
	       div_u64(rest * policy->share, WALE_POLICY_UNIT);
}
