/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_step.h - the steps of a trace                                      (pure)
 *
 * A step has a duration, and may have a rate, a delay, a loss probability and a limit.
 * Each of these is a column, which takes memory only in a trace that has it.  What a
 * step does not have, the options of the link say.
 */
#ifndef _WALE_STEP_H
#define _WALE_STEP_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

#define WALE_RATE_UNIT		2520ULL		/* lcm(1 .. 10): see wale_schedule.h */

#define WALE_TRACE_LIMITS	(WALE_TRACE_LIMIT_PACKETS | WALE_TRACE_LIMIT_BYTES)

/* The numbers of a step that has all columns. */
#define WALE_TRACE_VALUES	5

/* For each so many steps there is a block. */
#define WALE_TRACE_BLOCK	64

/* As many blocks are allocated together as fit into so many bytes. */
#define WALE_TRACE_PIECE	32768U

/**
 * struct wale_step - a step of a trace
 * @duration_ns: how long it is, above 0
 * @rate: bytes/s; WALE_TRACE_DOWN: none, and the link is down
 * @delay_ns: propagation delay
 * @loss: fraction of 2^32; WALE_LOSS_ALWAYS
 * @limit: packets or bytes, as the trace has it
 *
 * All but the duration may be WALE_TRACE_SAME: as the option of the link says.
 */
struct wale_step {
	u64 duration_ns;
	u64 rate;
	u64 delay_ns;
	u64 loss;
	u64 limit;
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

/**
 * struct wale_step_sum - what the steps from the first one on come to
 * @ns: how long they are
 * @open_ns: of that, with the rate of the option
 * @down_ns: of that, when the link is down
 * @work: that the link can do with the rates of the other steps
 */
struct wale_step_sum {
	u64 ns;
	u64 open_ns;
	u64 down_ns;
	struct wale_work_sum work;
};

/**
 * struct wale_trace_block - steps that can be passed at once
 * @before: the sum of all steps before them
 * @column: when each of them ends, from the start of the trace; and the columns
 */
struct wale_trace_block {
	struct wale_step_sum before;
	u64 column[];
};

/**
 * struct wale_trace - steps
 * @total: their sum
 * @peak_rate: largest of their rates, bytes/s
 * @least_delay_ns: smallest of their delays, or U64_MAX
 * @peak_delay_ns: largest of them, or 0
 * @least_limit: smallest of their limits, or U64_MAX
 * @peak_limit: largest of them, or 0
 * @piece: memory with blocks, so many in each
 * @columns: WALE_TRACE_RATE and others, of those that are there
 * @block_size: bytes of a block
 * @piece_blocks: blocks in a piece; the last piece may have fewer
 * @rate_at: where in a block that column begins; 0: it is not there
 * @delay_at: the same of this one
 * @loss_at: the same; first there is a bit for each step that has one
 * @limit_at: the same; 0 in it: none
 * @end: what comes after the last
 * @count: number of steps
 */
struct wale_trace {
	struct wale_step_sum total;
	u64 peak_rate;
	u64 least_delay_ns;
	u64 peak_delay_ns;
	u64 least_limit;
	u64 peak_limit;
	void **piece;
	u32 columns;
	u32 block_size;
	u32 piece_blocks;
	u16 rate_at;
	u16 delay_at;
	u16 loss_at;
	u16 limit_at;
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

void wale_trace_set_columns(struct wale_trace *trace, u32 columns);
void wale_trace_add(struct wale_trace *trace, const struct wale_step *step);
void wale_trace_locate(const struct wale_trace *trace, u64 elapsed_ns,
		       struct wale_trace_position *position);
u64 wale_trace_down_ns(const struct wale_trace *trace, u64 elapsed_ns);
bool wale_work_is_less(const struct wale_step_sum *from,
		       const struct wale_step_sum *to, u64 rate, u64 need);

static inline struct wale_trace_block *
wale_trace_block(const struct wale_trace *trace, u32 block)
{
	return trace->piece[block / trace->piece_blocks] +
	       block % trace->piece_blocks * trace->block_size;
}

static inline struct wale_trace_block *
wale_trace_block_of(const struct wale_trace *trace, u32 step)
{
	return wale_trace_block(trace, step / WALE_TRACE_BLOCK);
}

/* When a step is over, from the start of the trace. */
static inline u64 wale_trace_over(const struct wale_trace *trace, u32 step)
{
	return wale_trace_block_of(trace, step)->column[step % WALE_TRACE_BLOCK];
}

/* When a step begins, or when the last is over, from the start of the trace. */
static inline u64 wale_trace_begin(const struct wale_trace *trace, u32 step)
{
	return step ? wale_trace_over(trace, step - 1) : 0;
}

/* How long a step is, ns. */
static inline u64 wale_trace_duration(const struct wale_trace *trace, u32 step)
{
	return wale_trace_over(trace, step) - wale_trace_begin(trace, step);
}

/* The rate of a step, as in struct wale_step. */
static inline u64 wale_trace_rate(const struct wale_trace *trace, u32 step)
{
	if (!trace->rate_at)
		return WALE_TRACE_SAME;
	return wale_trace_block_of(trace, step)->column[trace->rate_at +
							step % WALE_TRACE_BLOCK];
}

/* Is the link down when the last step is over? */
static inline bool wale_trace_ends_down(const struct wale_trace *trace)
{
	return trace->end == WALE_TRACE_HOLD &&
	       wale_trace_rate(trace, trace->count - 1) == WALE_TRACE_DOWN;
}

static inline u64 wale_trace_delay(const struct wale_trace *trace, u32 step)
{
	if (!trace->delay_at)
		return WALE_TRACE_SAME;
	return wale_trace_block_of(trace, step)->column[trace->delay_at +
							step % WALE_TRACE_BLOCK];
}

static inline u64 wale_trace_loss(const struct wale_trace *trace, u32 step)
{
	const u64 *column;
	u32 i = step % WALE_TRACE_BLOCK;

	if (!trace->loss_at)
		return WALE_TRACE_SAME;
	column = wale_trace_block_of(trace, step)->column + trace->loss_at;
	if (!(column[0] & BIT_ULL(i)))
		return WALE_TRACE_SAME;
	return ((const u32 *)(column + 1))[i];
}

static inline bool wale_trace_limits_packets(const struct wale_trace *trace)
{
	return trace->columns & WALE_TRACE_LIMIT_PACKETS;
}

static inline u64 wale_trace_limit(const struct wale_trace *trace, u32 step)
{
	const u64 *column;
	u32 i = step % WALE_TRACE_BLOCK;
	u64 limit;

	if (!trace->limit_at)
		return WALE_TRACE_SAME;
	column = wale_trace_block_of(trace, step)->column + trace->limit_at;
	limit = wale_trace_limits_packets(trace) ? ((const u32 *)column)[i] :
						   column[i];
	return limit ?: WALE_TRACE_SAME;
}

/* A step has one limit at most. */
static inline bool wale_trace_may_have(u32 columns)
{
	return columns && columns <= WALE_TRACE_COLUMNS_MAX &&
	       (columns & WALE_TRACE_LIMITS) != WALE_TRACE_LIMITS;
}

/* Is there a step whose rate is that of the option? */
static inline bool wale_trace_is_open(const struct wale_trace *trace)
{
	return trace->total.open_ns;
}

#endif /* _WALE_STEP_H */
