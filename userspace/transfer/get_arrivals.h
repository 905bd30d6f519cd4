/* SPDX-License-Identifier: GPL-2.0 */
/*
 * get_arrivals.h - sessions that arrive at random, each with its file   (pure)
 *
 * The sessions of Karnik and Kumar (2005), section V-D: they arrive in a
 * Poisson process, and each transfers an exponential number of bytes.
 */
#ifndef WALE_GET_ARRIVALS_H
#define WALE_GET_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

/* Limits that keep every number below in 64 bits. */
#define ARRIVALS_MAX 100000
#define ARRIVALS_MEAN_BYTES_MAX (UINT64_C(1) << 40)

/**
 * struct get_arrivals - the process
 * @interval_ns: mean time between two arrivals; 0: there is no process
 * @mean_bytes: mean size, 1 .. ARRIVALS_MEAN_BYTES_MAX
 * @count: sessions, 1 .. ARRIVALS_MAX
 * @seed: of all that is drawn
 */
struct get_arrivals {
	uint64_t interval_ns;
	uint64_t mean_bytes;
	unsigned int count;
	uint64_t seed;
};

/*
 * The mean time between arrivals of @text per second, such as "0.625", to the
 * nearest ns.  False if it is no number from 0.001 to 1000000.
 */
bool arrivals_parse_rate(const char *text, uint64_t *interval_ns);

/* ns from arrival @n - 1 (or the start of the process) to @n = 0, 1, ... */
uint64_t arrivals_interval_ns(const struct get_arrivals *arrivals,
			      unsigned int n);

/* Size of session @n = 0, 1, ...: at least one byte. */
uint64_t arrivals_bytes(const struct get_arrivals *arrivals, unsigned int n);

#endif
