/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_schedule.h - the rate as a function of time                        (pure)
 *
 * Times are ns of one clock.  A rate is an integer number of units of
 * 1 / WALE_RATE_UNIT byte/s: the unit is divided by 1 .. 10, so that C / (M + 1)
 * is exact for up to nine sessions and, for more, less than one unit low.
 * Work is rate times ns: a packet of n bytes is n * WALE_WORK_PER_BYTE of it.
 */
#ifndef _WALE_SCHEDULE_H
#define _WALE_SCHEDULE_H

#include <linux/limits.h>
#include <linux/pkt_sched_wale.h>

#include "wale_random.h"
#include "wale_sessions.h"
#include "wale_step.h"

#define WALE_WORK_PER_BYTE	(1000000000ULL * WALE_RATE_UNIT)

/**
 * struct wale_schedule - the rate as a function of time
 * @rate: now, in units of 1 / WALE_RATE_UNIT byte/s; or WALE_RATE_UNLIMITED
 * @since_ns: @rate holds from this instant on
 * @until_ns: @rate holds before this instant; U64_MAX: for ever
 * @capacity: C, in bytes/s, or WALE_RATE_UNLIMITED; with a trace, of those steps that
 *	leave the rate to it
 * @epoch_ns: start of the trace or of the chain, modulo 2^64: it may be before
 *	the clock's zero
 * @start_ns: the same as it was asked for, on the clock of TCA_WALE_START; 0: it
 *	was not (kept for a dump)
 * @trace: not NULL: the rate follows it
 * @step: the step of the trace that holds now
 * @sessions: not NULL: the rate is C / (m + 1)
 * @m: number of sessions now
 * @stream: draws for the chain
 */
struct wale_schedule {
	u64 rate;
	u64 since_ns;
	u64 until_ns;
	u64 capacity;
	u64 epoch_ns;
	u64 start_ns;
	struct wale_trace *trace;
	struct wale_sessions *sessions;
	struct wale_stream stream;
	u32 step;
	u32 m;
};

void wale_schedule_set_constant(struct wale_schedule *schedule, u64 capacity,
				u64 now);
void wale_schedule_set_capacity(struct wale_schedule *schedule, u64 capacity);
void wale_schedule_set_trace(struct wale_schedule *schedule,
			     struct wale_trace *trace, u64 now, s64 elapsed_ns);
void wale_schedule_set_sessions(struct wale_schedule *schedule,
				struct wale_sessions *sessions, u64 seed,
				u64 now, s64 elapsed_ns);
u64 wale_schedule_peak_rate(const struct wale_schedule *schedule);
u64 wale_schedule_bytes_per_s(const struct wale_schedule *schedule);
u64 wale_schedule_change_ns(const struct wale_schedule *schedule, u32 n);
u64 wale_schedule_reach_ns(const struct wale_schedule *schedule, u64 work);
void wale_schedule_pass(struct wale_schedule *schedule, u64 now);
void wale_schedule_serve(struct wale_schedule *schedule, u64 *need, u64 now);
u32 wale_schedule_step_before(const struct wale_schedule *schedule, u64 ns);
bool wale_schedule_is_down(const struct wale_schedule *schedule);
bool wale_schedule_was_down(const struct wale_schedule *schedule, u64 from_ns,
			    u64 to_ns);

/**
 * wale_schedule_run() - let time pass
 * @schedule: the schedule
 * @now: ns
 */
static inline void wale_schedule_run(struct wale_schedule *schedule, u64 now)
{
	if (now >= schedule->until_ns)
		wale_schedule_pass(schedule, now);
}

#endif /* _WALE_SCHEDULE_H */
