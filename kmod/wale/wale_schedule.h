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

#define WALE_RATE_UNIT		2520ULL		/* lcm(1 .. 10) */
#define WALE_WORK_PER_BYTE	(1000000000ULL * WALE_RATE_UNIT)

/**
 * struct wale_rate_step - a step of a trace
 * @end_ns: when it is over, from the start of the trace; larger than that of the
 *	step before
 * @rate: bytes/s
 */
struct wale_rate_step {
	u64 end_ns;
	u64 rate;
};

/**
 * struct wale_work_sum - work of many steps, which 64 bits may not hold
 * @high: its upper 64 bits
 * @low: its lower 64 bits
 */
struct wale_work_sum {
	u64 high;
	u64 low;
};

/* For each so many steps there is a block: 2.3 % more memory. */
#define WALE_TRACE_BLOCK	64

/**
 * struct wale_trace_block - steps that can be passed at once
 * @begin_ns: when the first of them begins, from the start of the trace
 * @work: that the link can do until then
 * @step: the steps
 */
struct wale_trace_block {
	u64 begin_ns;
	struct wale_work_sum work;
	struct wale_rate_step step[WALE_TRACE_BLOCK];
};

/* So many blocks are what fits into 32 kB. */
#define WALE_TRACE_PIECE	31

/**
 * struct wale_trace_piece - as much of a trace as is allocated at a time
 * @block: its blocks; the last piece of a trace may have fewer
 */
struct wale_trace_piece {
	struct wale_trace_block block[WALE_TRACE_PIECE];
};

/**
 * struct wale_trace - steps of rate
 * @period_ns: sum of their durations
 * @period_work: work that the link can do in @period_ns
 * @peak_rate: largest of their rates, bytes/s
 * @piece: the steps
 * @end: what comes after the last
 * @count: number of steps
 */
struct wale_trace {
	u64 period_ns;
	struct wale_work_sum period_work;
	u64 peak_rate;
	struct wale_trace_piece **piece;
	enum wale_trace_end end;
	u32 count;
};

/**
 * struct wale_trace_position - where a trace is at an instant
 * @step: the step that holds; the number of steps after the last of them
 * @gone_ns: since the step began
 * @left_ns: until it is over; U64_MAX: it never is
 */
struct wale_trace_position {
	u32 step;
	u64 gone_ns;
	u64 left_ns;
};

/**
 * struct wale_schedule - the rate as a function of time
 * @rate: now, in units of 1 / WALE_RATE_UNIT byte/s; or WALE_RATE_UNLIMITED
 * @since_ns: @rate holds from this instant on
 * @until_ns: @rate holds before this instant; U64_MAX: for ever
 * @capacity: C, in bytes/s, or WALE_RATE_UNLIMITED (unused with a trace)
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
void wale_schedule_set_trace(struct wale_schedule *schedule,
			     struct wale_trace *trace, u64 now, s64 elapsed_ns);
void wale_schedule_set_sessions(struct wale_schedule *schedule,
				struct wale_sessions *sessions, u64 seed,
				u64 now, s64 elapsed_ns);
u64 wale_schedule_bytes_per_s(const struct wale_schedule *schedule);
u64 wale_schedule_change_ns(const struct wale_schedule *schedule, u32 n);
u64 wale_schedule_reach_ns(const struct wale_schedule *schedule, u64 work);
void wale_schedule_pass(struct wale_schedule *schedule, u64 now);
void wale_schedule_serve(struct wale_schedule *schedule, u64 *need, u64 now);
void wale_trace_append(struct wale_trace *trace, u64 duration_ns, u64 rate);
u64 wale_trace_duration(const struct wale_trace *trace, u32 step);
void wale_trace_locate(const struct wale_trace *trace, u64 elapsed_ns,
		       struct wale_trace_position *position);

static inline struct wale_trace_block *
wale_trace_block(const struct wale_trace *trace, u32 block)
{
	return &trace->piece[block / WALE_TRACE_PIECE]->block[block %
							      WALE_TRACE_PIECE];
}

static inline struct wale_rate_step *
wale_trace_step(const struct wale_trace *trace, u32 step)
{
	return &wale_trace_block(trace, step / WALE_TRACE_BLOCK)->step[step %
								WALE_TRACE_BLOCK];
}

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
