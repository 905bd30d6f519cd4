// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_rate_price.c - the price of a path, from any counts of packets and marks
 *
 * The sums are those of the formula, in floating point, and fit; a price is that
 * of the formula; more marks or a smaller phi never make a price smaller, a higher
 * price or a smaller weight never a rate larger.
 */
#include <math.h>

#include "fuzz.h"
#include "rate_price.h"

#include <net/rem.h>

#define PHI_MIN 1001000U
#define PHI_MAX 1000000000U
#define ROUNDS_MAX 300

/* Steps of 2^-24 in the logarithms, and of one in the result. */
static void check_price(const struct rate_price *price, u32 phi)
{
	double half = 1 << (RATE_PRICE_PACKET_BITS - 1);
	double unmarked = (double)price->packets - price->marked, expected,
	       read;
	double log_phi = log2(phi / 1e6), step = exp2(-24);

	unmarked = fmin(fmax(unmarked, half), price->packets - half);
	expected = log2(price->packets / unmarked) / log_phi;
	read = (double)rate_price_read(price, phi) / REM_PRICE_ONE;
	must(read >=
	     (expected - 2 * step / log_phi) / (1 + 2 * step / log_phi) - 2e-9);
	must(read <=
	     (expected + 2 * step / log_phi) / (1 - 2 * step / log_phi) + 2e-9);
}

static void check_more(const struct rate_price *price, u32 phi)
{
	struct rate_price more = *price;

	if (more.marked < more.packets)
		more.marked++;
	must(rate_price_read(&more, phi) >= rate_price_read(price, phi));
	if (phi < PHI_MAX)
		must(rate_price_read(price, phi + 1) <=
		     rate_price_read(price, phi));
}

static void check_rate(u64 weight, u64 price)
{
	u128 exact = (u128)weight * REM_PRICE_ONE / price;
	u64 rate = rate_price_rate(weight, price);

	must(rate <= RATE_PRICE_RATE_MAX);
	if (exact < RATE_PRICE_RATE_MAX - RATE_PRICE_RATE_MAX / 1000)
		must(rate == exact);
	if (price > 1)
		must(rate_price_rate(weight, price - 1) >= rate);
	if (weight)
		must(rate_price_rate(weight - 1, price) <= rate);
}

static void check_rounds(struct tape *tape)
{
	u32 phi = tape_range(tape, PHI_MIN, PHI_MAX);
	u32 delivered = tape_number(tape), marked = tape_number(tape);
	struct rate_price price = { .delivered = delivered,
				    .delivered_ce = marked };
	int i;

	for (i = 0; tape->left && i < ROUNDS_MAX; i++) {
		u32 packets = tape_number(tape), before = price.packets;

		delivered += packets;
		marked += tape_range(tape, 0, packets);
		must(rate_price_round(&price, delivered, marked) == !!packets);
		must(price.marked <= price.packets);
		must(packets || price.packets == before);
		if (!price.packets)
			continue;
		must(price.packets >= 1 << RATE_PRICE_PACKET_BITS);
		check_price(&price, phi);
		check_more(&price, phi);
		check_rate(tape_number(tape), rate_price_read(&price, phi));
		must(rate_price_limit(&price, tape_number(tape),
				      tape_number(tape)) <= RATE_PRICE_RATE_MAX
								    << 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };
	u64 price;

	must(rem_log2(1) == 0);
	price = tape_number(&tape);
	check_rate(tape_number(&tape), price ? price : 1);
	check_rounds(&tape);
	return 0;
}
