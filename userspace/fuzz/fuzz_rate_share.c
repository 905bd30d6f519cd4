// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_rate_share.c - the arithmetic of "wale rate share"
 *
 * Max-min fair division is what rate_maxmin.h says, for any demands; what a flow
 * demands is what it used and something, or all, whatever it reports.
 */
#include "fuzz.h"
#include "lib/rate_demand.h"
#include "lib/rate_maxmin.h"

#define CLAIMS_MAX 64
#define OPS_MAX 500

static void check_share(const struct rate_claim *claims, size_t n, size_t i)
{
	size_t k;

	must(claims[i].share <= claims[i].demand);
	must(!i || claims[i].demand >= claims[i - 1].demand);
	if (claims[i].share == claims[i].demand)
		return;
	for (k = 0; k < n; k++)
		must(claims[k].share <= claims[i].share ||
		     claims[k].share - claims[i].share <= 1);
}

static void check_maxmin(struct tape *tape)
{
	struct rate_claim claims[CLAIMS_MAX];
	u128 demanded = 0, shared = 0;
	uint64_t capacity = tape_number(tape);
	size_t n = tape_u8(tape) % (CLAIMS_MAX + 1), i;

	for (i = 0; i < n; i++) {
		claims[i].demand =
			tape_u8(tape) & 1 ? RATE_GREEDY : tape_number(tape);
		claims[i].order = tape_number(tape);
		demanded += claims[i].demand;
	}
	rate_maxmin(capacity, claims, n);
	for (i = 0; i < n; i++) {
		check_share(claims, n, i);
		shared += claims[i].share;
	}
	must(!n || shared == (demanded < capacity ? demanded : capacity));
}

static void check_demand(struct tape *tape)
{
	struct rate_demand_sample s = { .now_ns =
						1 + (tape_number(tape) >> 8) };
	uint64_t period_ns = tape_range(tape, 0, 1000000000), demand;
	struct rate_demand d = {};
	int i;

	for (i = 0; tape->left && i < OPS_MAX; i++) {
		s.now_ns += tape_range(tape, 0, 1ULL << 40);
		s.bytes_acked += tape_number(tape) >> 12;
		s.base_rtt_ns = tape_range(tape, 0, 60000000000);
		s.share = tape_number(tape);
		s.limited = tape_u8(tape) & 1;
		s.window = tape_range(tape, 0, 1 << 30);
		s.in_flight = tape_range(tape, 0, 1 << 30);
		s.packet_size = tape_range(tape, 0, 1 << 17);
		s.mss = tape_range(tape, 0, 1 << 16);
		rate_demand_update(&d, &s, period_ns);
		demand = rate_demand(&d, tape_number(tape));
		must(d.limited || demand == RATE_GREEDY);
		must(demand >= d.use || d.use == RATE_GREEDY);
		must(d.below <= RATE_DEMAND_BELOW &&
		     d.hold <= RATE_DEMAND_HOLD);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };

	if (tape_u8(&tape) & 1)
		check_maxmin(&tape);
	else
		check_demand(&tape);
	return 0;
}
