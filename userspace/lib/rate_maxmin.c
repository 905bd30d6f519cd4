// SPDX-License-Identifier: GPL-2.0
/*
 * rate_maxmin.c - the max-min fair division of one link
 *
 * Progressive filling: all shares grow together; the one with the least demand
 * is filled first and stops growing.  With the claims in the order of their
 * demands, that is one pass: whoever demands less than an equal part of what is
 * left gets what he demands, and the rest an equal part each.
 */
#include <stdlib.h>

#include "rate_maxmin.h"

static int compare(const void *a, const void *b)
{
	const struct rate_claim *x = a, *y = b;

	if (x->demand != y->demand)
		return x->demand < y->demand ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return 0;
}

void rate_maxmin(uint64_t capacity, struct rate_claim *claims, size_t n)
{
	uint64_t left = capacity;
	size_t i;

	if (n)
		qsort(claims, n, sizeof(*claims), compare);
	for (i = 0; i < n; i++) {
		/* Rounded down, so that what is over goes to the last ones. */
		uint64_t equal = left / (n - i);
		uint64_t demand = claims[i].demand;

		claims[i].share = demand < equal ? demand : equal;
		left -= claims[i].share;
	}
}
