/* SPDX-License-Identifier: GPL-2.0 */
/*
 * classic_clock.h - the retransmission timer with a coarse clock (pure)
 *
 * As in BSD: a timer of n ticks ends with the n-th tick from now, which is the same
 * instant for all timers of a host, and for all hosts whose clocks tick together; a
 * round-trip time is the number of ticks in it.
 *
 * V. Jacobson, "Congestion Avoidance and Control", 1988, appendix A, for the
 * estimator in integers.
 */
#ifndef _CLASSIC_CLOCK_H
#define _CLASSIC_CLOCK_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define CLASSIC_CLOCK_TICKS_MIN		2U	/* a single one might end at once */
#define CLASSIC_CLOCK_TICKS_MAX		128U
#define CLASSIC_CLOCK_SAMPLE_MAX	(U16_MAX / 16)

/**
 * struct classic_clock - what is known about the round-trip time
 * @srtt: smoothed, in 1/8 of a tick
 * @deviation: its mean deviation, in 1/4 of a tick
 * @measured: there was a sample
 */
struct classic_clock {
	u16 srtt;
	u16 deviation;
	bool measured;
};

/**
 * classic_clock_sample() - a round-trip time was measured
 * @clock: the estimates
 * @ticks: number of ticks in it
 *
 * A value that is not 0 never becomes 0 again.
 */
static inline void classic_clock_sample(struct classic_clock *clock, u32 ticks)
{
	int error;

	ticks = min_t(u32, ticks, CLASSIC_CLOCK_SAMPLE_MAX);
	if (!clock->measured) {
		clock->measured = true;
		clock->srtt = ticks << 3;
		clock->deviation = ticks << 1;
		return;
	}
	error = (int)ticks - (clock->srtt >> 3);
	clock->srtt = max(clock->srtt + error, 1);
	error = abs(error) - (clock->deviation >> 2);
	clock->deviation = max(clock->deviation + error, 1);
}

/**
 * classic_clock_rto() - the retransmission timeout
 * @clock: the estimates
 * @backoff: how often it was doubled
 *
 * Return: ticks.
 */
static inline u32 classic_clock_rto(const struct classic_clock *clock,
				    u32 backoff)
{
	u32 ticks = (clock->srtt >> 3) + clock->deviation;

	ticks = clamp(ticks, CLASSIC_CLOCK_TICKS_MIN, CLASSIC_CLOCK_TICKS_MAX);
	return min(ticks << min(backoff, 6U), CLASSIC_CLOCK_TICKS_MAX);
}

/**
 * classic_clock_ticks() - ticks between two times
 * @from_us: the earlier time
 * @to_us: the later time
 * @tick_us: length of a tick, not 0
 *
 * Return: their number.
 */
static inline u32 classic_clock_ticks(u64 from_us, u64 to_us, u32 tick_us)
{
	return div_u64(to_us, tick_us) - div_u64(from_us, tick_us);
}

/**
 * classic_clock_left_us() - how long a timer runs that is started now
 * @now_us: now
 * @tick_us: length of a tick, not 0
 * @ticks: ticks of the timer, at least 1
 *
 * Return: us.
 */
static inline u64 classic_clock_left_us(u64 now_us, u32 tick_us, u32 ticks)
{
	u32 rest;

	div_u64_rem(now_us, tick_us, &rest);
	return (u64)ticks * tick_us - rest;
}

#endif /* _CLASSIC_CLOCK_H */
