// SPDX-License-Identifier: GPL-2.0
/*
 * get_arrivals.c - sessions that arrive at random: see get_arrivals.h   (pure)
 *
 * Two streams of random numbers follow from the seed, one for times and one for
 * sizes: with another rate the same files arrive, only closer or further apart.
 * A stream is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) in counter form,
 * as that of a link (kmod/wale/wale_random.h); the purposes have numbers from 32
 * on, which no link draws for, so that one seed may serve both.
 *
 * All is integer arithmetic, with no logarithm of a C library: every machine
 * draws the same sessions, and so does testbed/src/wale_lab/models/arrivals.py.
 */
#include "get_arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "lib/command.h"

typedef unsigned __int128 u128;

#define GAMMA UINT64_C(0x9e3779b97f4a7c15)
#define LOG_2 UINT64_C(0xb17217f7d1cf79ab) /* log(2) in 2^-64 */
#define FRACTION_BITS 56 /* of what exponential() returns */

/* What a stream is drawn for; the numbers are part of what a seed means. */
enum purpose { PURPOSE_TIMES = 32, PURPOSE_SIZES = 33 };

/* Draw @n of the sequence of SplitMix64 that starts at @key. */
static uint64_t random_at(uint64_t key, uint64_t n)
{
	uint64_t z = key + (n + 1) * GAMMA;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/*
 * -log(u) in 2^-56, of u in (0, 1] with 63 @bits: u = m 2^-shift, 1 <= m < 2.
 * The digits of log2(m) come one by one: the square of m is 2 or more where
 * there is a one.
 */
static uint64_t exponential(uint64_t bits)
{
	uint64_t u = (bits >> 1) + 1; /* in 2^-63 */
	unsigned int shift = (unsigned int)__builtin_clzll(u);
	uint64_t m = u << shift, log2_m = 0;

	for (int i = 0; i < FRACTION_BITS; i++) {
		u128 square = (u128)m * m; /* in 2^-126 */
		unsigned int digit = (unsigned int)(square >> 127);

		m = (uint64_t)(square >> (63 + digit));
		log2_m = log2_m << 1 | digit;
	}
	return (uint64_t)((u128)(((uint64_t)shift << FRACTION_BITS) - log2_m) *
				  LOG_2 >>
			  64);
}

/* Draw @n for a purpose: exponential with this mean, cut to a whole number. */
static uint64_t draw(const struct get_arrivals *arrivals, enum purpose purpose,
		     unsigned int n, uint64_t mean)
{
	uint64_t key = random_at(arrivals->seed, purpose);
	uint64_t value = exponential(random_at(key, n));

	return (uint64_t)((u128)value * mean >> FRACTION_BITS);
}

bool arrivals_parse_rate(const char *text, uint64_t *interval_ns)
{
	double rate;
	char *end;

	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return false;
	rate = strtod(text, &end);
	if (*end || !(rate >= 0.001 && rate <= 1e6))
		return false;
	*interval_ns = (uint64_t)((double)NSEC_PER_SEC / rate + 0.5);
	return true;
}

uint64_t arrivals_interval_ns(const struct get_arrivals *arrivals,
			      unsigned int n)
{
	return draw(arrivals, PURPOSE_TIMES, n, arrivals->interval_ns);
}

uint64_t arrivals_bytes(const struct get_arrivals *arrivals, unsigned int n)
{
	return draw(arrivals, PURPOSE_SIZES, n, arrivals->mean_bytes) + 1;
}
