// SPDX-License-Identifier: GPL-2.0
/*
 * wale_step.c - the steps of a trace                                      (pure)
 *
 * Steps are in blocks, each of which begins with the sums of all steps before it.  So
 * an instant, or the end of a service, is found by bisection of blocks and a look at
 * the steps of one or two of them.
 */

#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "wale_step.h"

static void wale_work_add(struct wale_work_sum *sum, u64 rate, u64 ns)
{
	sum->high += mul_u64_u64_shr(rate, ns, 64);
	if (check_add_overflow(sum->low, rate * ns, &sum->low))
		sum->high++;
}

/**
 * wale_work_is_less() - is less than @need done from one sum to a later one?
 * @from: of steps
 * @to: of these and more
 * @rate: of steps that leave it to the option, in 1 / WALE_RATE_UNIT byte/s; or
 *	WALE_RATE_UNLIMITED
 * @need: work
 *
 * Return: true if it is.
 */
bool wale_work_is_less(const struct wale_step_sum *from,
		       const struct wale_step_sum *to, u64 rate, u64 need)
{
	u64 borrow = to->work.low < from->work.low;
	struct wale_work_sum work = {
		.high = to->work.high - from->work.high - borrow,
		.low = to->work.low - from->work.low,
	};

	if (to->open_ns != from->open_ns) {
		if (rate == WALE_RATE_UNLIMITED)
			return false;
		wale_work_add(&work, rate, to->open_ns - from->open_ns);
	}
	return !work.high && work.low < need;
}

/**
 * wale_trace_set_columns() - say what the steps have, before there are any
 * @trace: the trace
 * @columns: WALE_TRACE_RATE and others
 */
void wale_trace_set_columns(struct wale_trace *trace, u32 columns)
{
	u32 at = WALE_TRACE_BLOCK;

	trace->columns = columns;
	trace->least_delay_ns = U64_MAX;
	trace->least_limit = U64_MAX;
	if (columns & WALE_TRACE_RATE) {
		trace->rate_at = at;
		at += WALE_TRACE_BLOCK;
	}
	if (columns & WALE_TRACE_DELAY) {
		trace->delay_at = at;
		at += WALE_TRACE_BLOCK;
	}
	if (columns & WALE_TRACE_LOSS) {
		trace->loss_at = at;
		at += 1 + WALE_TRACE_BLOCK / 2;
	}
	if (columns & WALE_TRACE_LIMITS) {
		trace->limit_at = at;
		at += columns & WALE_TRACE_LIMIT_PACKETS ?
		      WALE_TRACE_BLOCK / 2 : WALE_TRACE_BLOCK;
	}
	trace->block_size = sizeof(struct wale_trace_block) + at * sizeof(u64);
	trace->piece_blocks = WALE_TRACE_PIECE / trace->block_size;
}

static void wale_step_sum_add(struct wale_step_sum *sum,
			      const struct wale_step *step)
{
	sum->ns += step->duration_ns;
	if (step->rate == WALE_TRACE_SAME)
		sum->open_ns += step->duration_ns;
	else if (step->rate == WALE_TRACE_DOWN)
		sum->down_ns += step->duration_ns;
	else
		wale_work_add(&sum->work, step->rate * WALE_RATE_UNIT,
			      step->duration_ns);
}

static void wale_trace_note_extremes(struct wale_trace *trace,
				     const struct wale_step *step)
{
	if (step->rate <= WALE_RATE_MAX)
		trace->peak_rate = max(trace->peak_rate, step->rate);
	if (step->delay_ns != WALE_TRACE_SAME) {
		trace->least_delay_ns = min(trace->least_delay_ns,
					    step->delay_ns);
		trace->peak_delay_ns = max(trace->peak_delay_ns,
					   step->delay_ns);
	}
	if (step->limit != WALE_TRACE_SAME) {
		trace->least_limit = min(trace->least_limit, step->limit);
		trace->peak_limit = max(trace->peak_limit, step->limit);
	}
}

static void wale_trace_fill_loss(u64 *column, u32 i, u64 loss)
{
	if (!i)
		column[0] = 0;
	if (loss == WALE_TRACE_SAME)
		return;
	column[0] |= BIT_ULL(i);
	((u32 *)(column + 1))[i] = loss;
}

static void wale_trace_fill_limit(const struct wale_trace *trace, u64 *column,
				  u32 i, u64 limit)
{
	if (limit == WALE_TRACE_SAME)
		limit = 0;
	if (wale_trace_limits_packets(trace))
		((u32 *)column)[i] = limit;
	else
		column[i] = limit;
}

/**
 * wale_trace_add() - one more step at the end of a trace
 * @trace: the trace, with room for it
 * @step: the step, with nothing that the trace has no column for
 */
void wale_trace_add(struct wale_trace *trace, const struct wale_step *step)
{
	struct wale_trace_block *block = wale_trace_block_of(trace,
							     trace->count);
	u32 i = trace->count % WALE_TRACE_BLOCK;

	if (!i)
		block->before = trace->total;
	wale_step_sum_add(&trace->total, step);
	wale_trace_note_extremes(trace, step);
	block->column[i] = trace->total.ns;
	if (trace->rate_at)
		block->column[trace->rate_at + i] = step->rate;
	if (trace->delay_at)
		block->column[trace->delay_at + i] = step->delay_ns;
	if (trace->loss_at)
		wale_trace_fill_loss(block->column + trace->loss_at, i,
				     step->loss);
	if (trace->limit_at)
		wale_trace_fill_limit(trace, block->column + trace->limit_at,
				      i, step->limit);
	trace->count++;
}

/* The first step that is not over @ns after the start; there is one. */
static u32 wale_trace_find(const struct wale_trace *trace, u64 ns)
{
	u32 low = 0, high = trace->count - 1;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (wale_trace_over(trace, middle) > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * wale_trace_locate() - where is a trace, so long after its start?
 * @trace: the trace
 * @elapsed_ns: since its start
 * @position: set
 *
 * As many comparisons as the number of steps has bits, whatever has elapsed.
 */
void wale_trace_locate(const struct wale_trace *trace, u64 elapsed_ns,
		       struct wale_trace_position *position)
{
	if (trace->end == WALE_TRACE_LOOP) {
		div64_u64_rem(elapsed_ns, trace->total.ns, &elapsed_ns);
	} else if (elapsed_ns >= trace->total.ns) {
		position->step = trace->count;
		position->gone_ns = elapsed_ns - trace->total.ns;
		position->left_ns = U64_MAX;
		return;
	}
	position->step = wale_trace_find(trace, elapsed_ns);
	position->left_ns = wale_trace_over(trace, position->step) - elapsed_ns;
	position->gone_ns = elapsed_ns - wale_trace_begin(trace, position->step);
}

/* Of the first @ns of a trace, for how long is the link down? */
static u64 wale_trace_down_within(const struct wale_trace *trace, u64 ns)
{
	u32 step = wale_trace_find(trace, ns), i;
	u64 down_ns = wale_trace_block_of(trace, step)->before.down_ns;

	for (i = round_down(step, WALE_TRACE_BLOCK); i <= step; i++)
		if (wale_trace_rate(trace, i) == WALE_TRACE_DOWN)
			down_ns += min(wale_trace_over(trace, i), ns) -
				   wale_trace_begin(trace, i);
	return down_ns;
}

/**
 * wale_trace_down_ns() - for how long was the link down, so long after its start?
 * @trace: the trace
 * @elapsed_ns: since its start
 *
 * Return: ns, of those that have elapsed.
 */
u64 wale_trace_down_ns(const struct wale_trace *trace, u64 elapsed_ns)
{
	const struct wale_step_sum *total = &trace->total;
	u64 periods, rest;

	if (trace->end != WALE_TRACE_LOOP && elapsed_ns >= total->ns)
		return total->down_ns + (wale_trace_ends_down(trace) ?
					 elapsed_ns - total->ns : 0);
	periods = div64_u64_rem(elapsed_ns, total->ns, &rest);
	return periods * total->down_ns + wale_trace_down_within(trace, rest);
}
