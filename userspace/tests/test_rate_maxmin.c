// SPDX-License-Identifier: GPL-2.0
/*
 * test_rate_maxmin.c - the division of a link
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/rate_maxmin.h"
#include "tests/tap.h"

#define N_MAX 8
#define G RATE_GREEDY

static const struct {
	uint64_t capacity;
	size_t n;
	uint64_t demand[N_MAX];
	uint64_t share[N_MAX];
} cases[] = {
	{ 1000, 0, { 0 }, { 0 } },
	{ 1000, 1, { G }, { 1000 } },
	{ 1000, 1, { 10 }, { 10 } },
	{ 1000, 2, { G, G }, { 500, 500 } },
	{ 1001, 2, { G, G }, { 500, 501 } },
	{ 1000, 3, { G, G, G }, { 333, 333, 334 } },
	{ 1000, 3, { G, 100, G }, { 450, 100, 450 } },
	{ 1000, 3, { 100, 200, 300 }, { 100, 200, 300 } },
	{ 1000, 3, { 100, 500, 500 }, { 100, 450, 450 } },
	{ 1000, 3, { 500, 400, 200 }, { 400, 400, 200 } },
	{ 1000, 4, { 0, G, 0, G }, { 0, 500, 0, 500 } },
	{ 2, 3, { G, G, G }, { 0, 1, 1 } },
	{ 0, 2, { G, 5 }, { 0, 0 } },
	{ G, 2, { G, G }, { G / 2, G / 2 + 1 } },
	{ G - 1, 2, { G - 1, 1 }, { G - 2, 1 } },
};

static void test_cases(void)
{
	struct rate_claim claims[N_MAX];
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool right = true;

		for (k = 0; k < cases[i].n; k++)
			claims[k] = (struct rate_claim){
				.demand = cases[i].demand[k], .order = k
			};
		rate_maxmin(cases[i].capacity, claims, cases[i].n);
		for (k = 0; k < cases[i].n; k++)
			right &= claims[k].share ==
				 cases[i].share[claims[k].order];
		ok(right, "case %zu: %" PRIu64 " for %zu", i, cases[i].capacity,
		   cases[i].n);
	}
}

/* What max-min means, checked without computing it in the same way. */
static bool is_maxmin(uint64_t capacity, const struct rate_claim *claims,
		      size_t n)
{
	uint64_t sum = 0, most = 0;
	bool all_filled = true;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += claims[i].share;
		if (claims[i].share > claims[i].demand)
			return false;
		if (claims[i].share < claims[i].demand)
			all_filled = false;
		if (claims[i].share > most)
			most = claims[i].share;
	}
	if (sum > capacity || (!all_filled && sum != capacity))
		return false;
	/* Who has less than he wants has no less than anybody, to the byte. */
	for (i = 0; i < n; i++)
		if (claims[i].share < claims[i].demand &&
		    claims[i].share + 1 < most)
			return false;
	return true;
}

static void test_random(void)
{
	struct rate_claim claims[50];
	bool right = true;
	int round;

	srandom(1);
	for (round = 0; right && round < 20000; round++) {
		size_t n = 1 + random() % 50, i;
		uint64_t capacity = random() % 1000000;

		for (i = 0; i < n; i++) {
			claims[i].order = i;
			claims[i].demand = G;
			if (random() % 4)
				claims[i].demand = random() % 100000;
		}
		rate_maxmin(capacity, claims, n);
		right = is_maxmin(capacity, claims, n);
	}
	ok(right, "%d random divisions", round);
}

int main(void)
{
	test_cases();
	test_random();
	return tap_done();
}
