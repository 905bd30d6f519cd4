/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_maxmin.h - the max-min fair division of one link
 */
#ifndef WALE_RATE_MAXMIN_H
#define WALE_RATE_MAXMIN_H

#include <stddef.h>
#include <stdint.h>

/* The demand of one who takes whatever there is. */
#define RATE_GREEDY (~UINT64_C(0))

struct rate_claim {
	uint64_t demand; /* bytes/s */
	uint64_t share; /* the result */
	size_t order; /* of the caller */
};

/*
 * Divides @capacity among @n claims.  Nobody gets more than his demand; who gets
 * less than it gets as much as anybody else, to the byte; the shares add up to
 * the lesser of the capacity and all demands.
 *
 * Sorts the claims by demand; those of equal demand keep the order of their
 * .order, so that the result does not depend on that of the array.
 */
void rate_maxmin(uint64_t capacity, struct rate_claim *claims, size_t n);

#endif /* WALE_RATE_MAXMIN_H */
