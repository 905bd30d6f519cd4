// SPDX-License-Identifier: GPL-2.0
/*
 * wale_trace_store.c - the memory of traces
 *
 * A trace grows piece by piece, and a piece is no more than kmalloc() finds at any time.
 * So a trace does not need to know its length before, and takes no address space of its
 * own, of which a guest of User-Mode Linux has little: each page there is a mapping of
 * its process, and the host allows so many of them (vm.max_map_count).
 */

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "wale_schedule.h"
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
 *
 * Return: the trace, or NULL.
 */
struct wale_trace *wale_trace_new(void)
{
	struct wale_stored_trace *stored;

	stored = kzalloc(sizeof(*stored), GFP_KERNEL_ACCOUNT);
	if (!stored)
		return NULL;
	INIT_WORK(&stored->work, wale_trace_free_work);
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
	struct wale_trace_piece **table;
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
	u32 blocks = DIV_ROUND_UP(min_t(u32, steps,
					WALE_TRACE_PIECE * WALE_TRACE_BLOCK),
				  WALE_TRACE_BLOCK);
	struct wale_trace_piece *piece;
	int err;

	if (stored->pieces == stored->pieces_max) {
		err = wale_trace_grow_table(stored);
		if (err)
			return err;
	}
	piece = kmalloc(blocks * sizeof(piece->block[0]), GFP_KERNEL_ACCOUNT);
	if (!piece)
		return -ENOMEM;
	stored->trace.piece[stored->pieces++] = piece;
	stored->room += blocks * WALE_TRACE_BLOCK;
	return 0;
}

/**
 * wale_trace_store() - check a step, and append it
 * @trace: of wale_trace_new()
 * @step: the step
 * @more: how many are to come, with this one; if that is not known, as many as there
 *	can be
 *
 * Return: 0, -EDOM (its duration), -ERANGE (its rate), -EFBIG (the trace is too long
 * with it, or has too many steps) or -ENOMEM.
 */
int wale_trace_store(struct wale_trace *trace,
		     const struct wale_trace_step *step, u32 more)
{
	struct wale_stored_trace *stored =
		container_of(trace, struct wale_stored_trace, trace);
	int err;

	if (step->duration_ns < WALE_TRACE_STEP_MIN ||
	    step->duration_ns > WALE_TIME_MAX)
		return -EDOM;
	if (step->rate > WALE_RATE_MAX)
		return -ERANGE;
	if (trace->count == WALE_TRACE_FD_STEPS_MAX ||
	    trace->period_ns + step->duration_ns > WALE_TRACE_PERIOD_MAX)
		return -EFBIG;
	if (trace->count == stored->room) {
		err = wale_trace_grow(stored, more);
		if (err)
			return err;
	}
	wale_trace_append(trace, step->duration_ns, step->rate);
	return 0;
}
