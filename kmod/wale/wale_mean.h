/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_mean.h - the mean of a rate over the last while   (pure)
 */
#ifndef _WALE_MEAN_H
#define _WALE_MEAN_H

#include <linux/types.h>

/* A greater rate counts as this one, so that the sum over ten minutes fits into 64 bits. */
#define WALE_MEAN_RATE_MAX	25000000000ULL	/* bytes/s: 200 Gbit/s */

#define WALE_MEAN_PARTS		16

/**
 * struct wale_mean - a rate that changes at times, and its mean
 * @part_us: a WALE_MEAN_PARTS-th of the window; 0: the mean is the rate
 * @start_us: of the present part
 * @until_us: how far @sum goes
 * @sum: of the rate over the present part, bytes/s us
 * @rate: since @until_us, bytes/s
 * @parts: how many parts there were before, up to all of a window
 * @last: the latest of @before
 * @before: means of the rate over these, bytes/s
 */
struct wale_mean {
	u64 part_us;
	u64 start_us;
	u64 until_us;
	u64 sum;
	u64 rate;
	u32 parts;
	u32 last;
	u64 before[WALE_MEAN_PARTS];
};

void wale_mean_init(struct wale_mean *mean, u64 window_ns, u64 rate, u64 now);
void wale_mean_set(struct wale_mean *mean, u64 rate, u64 now);
u64 wale_mean_get(struct wale_mean *mean, u64 now);

#endif /* _WALE_MEAN_H */
