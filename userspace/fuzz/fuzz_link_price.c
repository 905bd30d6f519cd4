// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_link_price.c - the price of a link that does random exponential marking
 *
 * With any parameters and amounts: an update is that of the formula in 128 bits;
 * the price stays within its limits; many updates that are alike are as many one
 * by one; the probability is that of the formula in floating point, and never
 * falls when the price rises.
 */
#include <math.h>

#include "fuzz.h"
#include "wale_rem.h"

#include <net/rem.h>

#define OPS_MAX 300
#define BYTES_MAX ((__int128)1 << 40)

typedef __int128 s128;

static s128 limited(u64 bytes)
{
	return bytes < BYTES_MAX ? (s128)bytes : BYTES_MAX;
}

/* What is added to the price; amounts in thousandths of a byte. */
static s128 change(const struct wale_rem_params *p, u64 backlog, u64 arrived,
		   u64 rate)
{
	s128 served = 1000 * BYTES_MAX, mismatch;

	if (rate != WALE_RATE_UNLIMITED &&
	    (s128)rate * p->interval_ns / 1000000 < served)
		served = (s128)rate * p->interval_ns / 1000000;
	mismatch = (limited(backlog) - p->target) * p->alpha / 1000 +
		   1000 * limited(arrived) - served;
	return mismatch * p->gamma / 1000;
}

static void check_probability(const struct wale_rem *rem)
{
	double exponent = (double)rem->price / REM_PRICE_ONE *
			  log2(rem->params.phi / 1e6);
	double exact = -expm1(-exponent * M_LN2) * 4294967296.0;
	double step =
		exp2(-REM_LOG_BITS) * (3 + (double)rem->price / REM_PRICE_ONE);

	must(fabs(rem->probability - exact) <= step * 4294967296.0 + 64);
}

static void check_update(struct wale_rem *rem, u64 most, struct tape *tape)
{
	u64 backlog = tape_number(tape), arrived = tape_number(tape) >> 8;
	u64 rate = tape_range(tape, 0, WALE_RATE_MAX), before = rem->price;
	u64 offered = rem->offered + arrived, next = rem->next_ns;
	u32 probability = rem->probability;
	s128 after;

	if (tape_u8(tape) & 1)
		rate = WALE_RATE_UNLIMITED;
	after = before + change(&rem->params, backlog, arrived, rate);
	after = after < 0 ? 0 : after;
	after = after > most ? most : after;
	wale_rem_update(rem, backlog, offered, rate, 1);
	must(rem->price == (u64)after);
	must(rem->offered == offered);
	must(rem->next_ns == next + rem->params.interval_ns);
	must(rem->price >= before ? rem->probability >= probability
				  : rem->probability <= probability);
	check_probability(rem);
}

static void check_steps(const struct wale_rem *rem, struct tape *tape)
{
	u64 backlog = tape_number(tape), rate = tape_number(tape) >> 14;
	struct wale_rem one = *rem, many = *rem;
	unsigned int steps = 1 + tape_u8(tape), i;

	for (i = 0; i < steps; i++)
		wale_rem_update(&one, backlog, one.offered, rate, 1);
	wale_rem_update(&many, backlog, many.offered, rate, steps);
	must(one.price == many.price && one.next_ns == many.next_ns);
	must(one.probability == many.probability);
}

static struct wale_rem_params take_params(struct tape *tape)
{
	return (struct wale_rem_params){
		.interval_ns = tape_range(tape, WALE_REM_INTERVAL_MIN,
					  WALE_REM_INTERVAL_MAX),
		.target = tape_range(tape, 0, WALE_REM_TARGET_MAX),
		.gamma = tape_range(tape, 1, WALE_REM_GAMMA_MAX),
		.alpha = tape_range(tape, 0, WALE_POLICY_UNIT),
		.phi = tape_range(tape, WALE_REM_PHI_MIN, WALE_REM_PHI_MAX),
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };
	struct wale_rem_params params = take_params(&tape);
	struct wale_rem rem = {};
	u64 most;
	int i;

	wale_rem_set(&rem, &params, 0);
	wale_rem_start(&rem, 0, 0);
	/* the highest price, which nothing exceeds */
	wale_rem_update(&rem, ~0ULL, ~0ULL >> 8, 0, 1ULL << 40);
	most = div_u64((32ULL << REM_LOG_BITS) * REM_PRICE_ONE, rem.log2_phi);
	must(rem.price <= most);
	wale_rem_start(&rem, 0, 0);
	for (i = 0; tape.left && i < OPS_MAX; i++) {
		check_update(&rem, most, &tape);
		check_steps(&rem, &tape);
	}
	return 0;
}
