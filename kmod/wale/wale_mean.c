// SPDX-License-Identifier: GPL-2.0
/*
 * wale_mean.c - the mean of a rate over the last while   (pure)
 *
 * The window is as long as some parts.  Of parts that are over, only the mean is known.
 * The oldest counts as far as it is within the window:
 *
 *	  |  B16  |  B15  | . . .  |  B1   |  S  .  |
 *	     |<---------------- window ----->| now
 *
 * So the mean is exact but for changes within the oldest part.  Until the first window
 * is over, it is that of the time so far.
 */

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "wale_mean.h"

/**
 * wale_mean_init() - begin
 * @mean: to be set up
 * @window_ns: the mean is over so long, up to ten minutes; below 16 us: the rate
 * @rate: now, bytes/s
 * @now: ns
 */
void wale_mean_init(struct wale_mean *mean, u64 window_ns, u64 rate, u64 now)
{
	u64 now_us = div_u64(now, NSEC_PER_USEC);

	*mean = (struct wale_mean){
		.part_us = div_u64(window_ns, NSEC_PER_USEC * WALE_MEAN_PARTS),
		.start_us = now_us,
		.until_us = now_us,
		.rate = min(rate, WALE_MEAN_RATE_MAX),
	};
}

static void wale_mean_add(struct wale_mean *mean, u64 until_us)
{
	mean->sum += mean->rate * (until_us - mean->until_us);
	mean->until_us = until_us;
}

/* The present part is over. */
static void wale_mean_end_part(struct wale_mean *mean)
{
	mean->start_us += mean->part_us;
	wale_mean_add(mean, mean->start_us);
	mean->last = (mean->last + 1) % WALE_MEAN_PARTS;
	mean->before[mean->last] = div64_u64(mean->sum, mean->part_us);
	mean->parts = min_t(u32, mean->parts + 1, WALE_MEAN_PARTS);
	mean->sum = 0;
}

/* The rate went on as it was; of a time longer than the window, only its end counts. */
static void wale_mean_advance(struct wale_mean *mean, u64 now_us)
{
	u64 parts;

	if (!mean->part_us)
		return;
	parts = div64_u64(now_us - mean->start_us, mean->part_us);
	if (parts > WALE_MEAN_PARTS + 1) {
		mean->start_us += (parts - WALE_MEAN_PARTS - 1) * mean->part_us;
		mean->until_us = mean->start_us;
		mean->sum = 0;
		parts = WALE_MEAN_PARTS + 1;
	}
	while (parts--)
		wale_mean_end_part(mean);
	wale_mean_add(mean, now_us);
}

/**
 * wale_mean_set() - the rate changes
 * @mean: of it
 * @rate: from now on, bytes/s
 * @now: ns; not before that of a call before
 */
void wale_mean_set(struct wale_mean *mean, u64 rate, u64 now)
{
	wale_mean_advance(mean, div_u64(now, NSEC_PER_USEC));
	mean->rate = min(rate, WALE_MEAN_RATE_MAX);
}

/**
 * wale_mean_get() - the mean over the last window
 * @mean: of a rate
 * @now: ns; not before that of a call before
 *
 * Return: bytes/s, rounded down.
 */
u64 wale_mean_get(struct wale_mean *mean, u64 now)
{
	u64 now_us = div_u64(now, NSEC_PER_USEC), passed_us, total_us, sum;
	u32 i, oldest;

	if (!mean->part_us)
		return mean->rate;
	wale_mean_advance(mean, now_us);
	passed_us = now_us - mean->start_us;
	total_us = mean->parts * mean->part_us + passed_us;
	if (!total_us)
		return mean->rate;
	sum = mean->sum;
	for (i = 0; i < WALE_MEAN_PARTS; i++)
		sum += mean->before[i] * mean->part_us;
	if (mean->parts == WALE_MEAN_PARTS) {
		oldest = (mean->last + 1) % WALE_MEAN_PARTS;
		sum -= mean->before[oldest] * passed_us;
		total_us -= passed_us;
	}
	return div64_u64(sum, total_us);
}
