// SPDX-License-Identifier: GPL-2.0
/*
 * wale_trace_store.c - the memory of traces
 *
 * A trace grows piece by piece, and a piece is no more than kmalloc() finds at any time.
 * So a trace does not need to know its length before, and takes no address space of its
 * own, of which a guest of User-Mode Linux has little: each page there is a mapping of
 * its process, and the host allows so many of them (vm.max_map_count).
 */

#include <linux/bitops.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "../compat.h"
#include "wale_step.h"
#include "wale_trace_store.h"

/**
 * struct wale_stored_trace - a trace, and its memory
 * @trace: the trace
 * @work: frees it
 * @pieces: of @trace
 * @pieces_max: for which there is room in the table of them
 * @room: steps for which there is room in the pieces
 */
struct wale_stored_trace {
	struct wale_trace trace;
	struct work_struct work;
	u32 pieces;
	u32 pieces_max;
	u32 room;
};

/* One with more pieces is not freed while others wait. */
#define WALE_TRACE_FREE_PIECES	32

static struct workqueue_struct *wale_trace_workqueue;

/**
 * wale_trace_store_init() - before the first trace
 *
 * Return: 0 or -ENOMEM.
 */
int __init wale_trace_store_init(void)
{
	wale_trace_workqueue = alloc_workqueue("wale", WQ_UNBOUND, 0);
	return wale_trace_workqueue ? 0 : -ENOMEM;
}

/**
 * wale_trace_store_exit() - the last trace is freed
 */
void wale_trace_store_exit(void)
{
	destroy_workqueue(wale_trace_workqueue);
}

static void wale_trace_free_work(struct work_struct *work)
{
	struct wale_stored_trace *stored = container_of(work,
							struct wale_stored_trace,
							work);
	u32 i;

	for (i = 0; i < stored->pieces; i++) {
		kfree(stored->trace.piece[i]);
		cond_resched();
	}
	kvfree(stored->trace.piece);
	kfree(stored);
}

/**
 * wale_trace_new() - a trace without steps
 * @columns: WALE_TRACE_RATE and others: what its steps have
 *
 * Return: the trace, or NULL.
 */
struct wale_trace *wale_trace_new(u32 columns)
{
	struct wale_stored_trace *stored;

	stored = kzalloc_obj(*stored, GFP_KERNEL_ACCOUNT);
	if (!stored)
		return NULL;
	INIT_WORK(&stored->work, wale_trace_free_work);
	wale_trace_set_columns(&stored->trace, columns);
	return &stored->trace;
}

/**
 * wale_trace_free() - free a trace, now or soon
 * @trace: of wale_trace_new(); or NULL
 */
void wale_trace_free(struct wale_trace *trace)
{
	struct wale_stored_trace *stored;

	if (!trace)
		return;
	stored = container_of(trace, struct wale_stored_trace, trace);
	if (stored->pieces > WALE_TRACE_FREE_PIECES)
		queue_work(wale_trace_workqueue, &stored->work);
	else
		wale_trace_free_work(&stored->work);
}

static int wale_trace_grow_table(struct wale_stored_trace *stored)
{
	void **table;
	u32 max = stored->pieces_max ? 2 * stored->pieces_max : 1;

	table = kvcalloc(max, sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	if (stored->pieces)
		memcpy(table, stored->trace.piece,
		       stored->pieces * sizeof(*table));
	kvfree(stored->trace.piece);
	stored->trace.piece = table;
	stored->pieces_max = max;
	return 0;
}

/* Room for @steps more, or as many of them as are in a piece. */
static int wale_trace_grow(struct wale_stored_trace *stored, u32 steps)
{
	struct wale_trace *trace = &stored->trace;
	u32 blocks = min(DIV_ROUND_UP((u64)steps, WALE_TRACE_BLOCK),
			 trace->piece_blocks);
	void *piece;
	int err;

	if (stored->pieces == stored->pieces_max) {
		err = wale_trace_grow_table(stored);
		if (err)
			return err;
	}
	piece = kmalloc(blocks * trace->block_size, GFP_KERNEL_ACCOUNT);
	if (!piece)
		return -ENOMEM;
	trace->piece[stored->pieces++] = piece;
	stored->room += blocks * WALE_TRACE_BLOCK;
	return 0;
}

/**
 * wale_trace_step_size() - how long is a step in a message or a file?
 * @columns: WALE_TRACE_RATE and others: what it has
 *
 * Return: bytes; a multiple of eight.
 */
u32 wale_trace_step_size(u32 columns)
{
	return (1 + hweight32(columns)) * sizeof(u64);
}

static u64 wale_trace_read_column(const u64 **value, u32 columns, u32 which)
{
	return columns & which ? *(*value)++ : WALE_TRACE_SAME;
}

static void wale_trace_read(struct wale_step *step, u32 columns,
			    const u64 *value)
{
	step->duration_ns = *value++;
	step->rate = wale_trace_read_column(&value, columns, WALE_TRACE_RATE);
	step->delay_ns = wale_trace_read_column(&value, columns,
						WALE_TRACE_DELAY);
	step->loss = wale_trace_read_column(&value, columns, WALE_TRACE_LOSS);
	step->limit = wale_trace_read_column(&value, columns,
					     WALE_TRACE_LIMITS);
}

static void wale_trace_write_column(u64 **value, u32 columns, u32 which,
				    u64 of_step)
{
	if (columns & which)
		*(*value)++ = of_step;
}

/**
 * wale_trace_write() - a step as it is in a message
 * @trace: the trace
 * @number: of the step, from 0
 * @value: room for wale_trace_step_size() bytes
 */
void wale_trace_write(const struct wale_trace *trace, u32 number, u64 *value)
{
	*value++ = wale_trace_duration(trace, number);
	wale_trace_write_column(&value, trace->columns, WALE_TRACE_RATE,
				wale_trace_rate(trace, number));
	wale_trace_write_column(&value, trace->columns, WALE_TRACE_DELAY,
				wale_trace_delay(trace, number));
	wale_trace_write_column(&value, trace->columns, WALE_TRACE_LOSS,
				wale_trace_loss(trace, number));
	wale_trace_write_column(&value, trace->columns, WALE_TRACE_LIMITS,
				wale_trace_limit(trace, number));
}

static bool wale_trace_exceeds(u64 value, u64 most)
{
	return value > most && value != WALE_TRACE_SAME;
}

/* What is wrong with the values of a step?  NULL: nothing. */
static const char *wale_trace_refuse_values(const struct wale_trace *trace,
					    const struct wale_step *step)
{
	bool packets = wale_trace_limits_packets(trace);

	if (step->duration_ns < WALE_TRACE_STEP_MIN ||
	    step->duration_ns > WALE_TIME_MAX)
		return "wale: each duration in trace must be 1 us to 1 day";
	if (wale_trace_exceeds(step->rate, WALE_RATE_MAX) &&
	    step->rate != WALE_TRACE_DOWN)
		return "wale: each rate in trace must be 0 to 10^15 bytes/s";
	if (wale_trace_exceeds(step->delay_ns, WALE_TIME_MAX))
		return "wale: each delay in trace must be 0 to 1 day";
	if (wale_trace_exceeds(step->loss, WALE_LOSS_ALWAYS))
		return "wale: each loss in trace must be 0 to 2^32 - 1";
	if (!step->limit ||
	    wale_trace_exceeds(step->limit, packets ? U32_MAX :
						      WALE_LIMIT_BYTES_MAX))
		return packets ?
		       "wale: each limit in trace must be 1 to 4294967295 packets" :
		       "wale: each limit in trace must be 1 to 2^64 - 2 bytes";
	return NULL;
}

/* Is the trace too long with one more step?  NULL: it is not. */
static const char *wale_trace_refuse_length(const struct wale_trace *trace,
					    const struct wale_step *step)
{
	if (trace->count == WALE_TRACE_FD_STEPS_MAX)
		return "wale: trace must not have more than 16777216 steps";
	if (trace->total.ns + step->duration_ns > WALE_TRACE_PERIOD_MAX)
		return "wale: trace must not be longer than 4000 days";
	return NULL;
}

/**
 * wale_trace_store() - check a step, and append it
 * @trace: of wale_trace_new()
 * @value: the step as it is in a message: see linux/pkt_sched_wale.h
 * @more: how many are to come, with this one; if that is not known, as many as there
 *	can be
 * @refusal: set to what is wrong with it, if it is refused
 *
 * Return: 0, -ERANGE (a value of it), -EFBIG (the trace is too long with it, or has too
 * many steps) or -ENOMEM.
 */
int wale_trace_store(struct wale_trace *trace, const u64 *value, u32 more,
		     const char **refusal)
{
	struct wale_stored_trace *stored =
		container_of(trace, struct wale_stored_trace, trace);
	struct wale_step step;
	int err;

	wale_trace_read(&step, trace->columns, value);
	*refusal = wale_trace_refuse_values(trace, &step);
	if (*refusal)
		return -ERANGE;
	*refusal = wale_trace_refuse_length(trace, &step);
	if (*refusal)
		return -EFBIG;
	if (trace->count == stored->room) {
		err = wale_trace_grow(stored, more);
		if (err)
			return err;
	}
	wale_trace_add(trace, &step);
	return 0;
}
