/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_test_trace.h - traces in one piece of memory, for tests
 */
#ifndef _WALE_TEST_TRACE_H
#define _WALE_TEST_TRACE_H

#include <linux/math.h>
#include <linux/types.h>

#include "../wale_step.h"

/* The least steps for which a piece has room, whatever their columns. */
#define WALE_TEST_PIECE_STEPS	(13 * WALE_TRACE_BLOCK)

static inline u32 wale_test_pieces(u32 count)
{
	return DIV_ROUND_UP(count, WALE_TEST_PIECE_STEPS);
}

/* Memory for a trace of so many steps, bytes. */
static inline size_t wale_trace_size(u32 count)
{
	return sizeof(struct wale_trace) +
	       wale_test_pieces(count) * (sizeof(void *) + WALE_TRACE_PIECE);
}

/* A trace without steps, which will have @columns. */
static inline void wale_trace_init_columns(struct wale_trace *trace, u32 count,
					   enum wale_trace_end end, u32 columns)
{
	u32 pieces = wale_test_pieces(count), i;

	*trace = (struct wale_trace){ .end = end };
	wale_trace_set_columns(trace, columns);
	trace->piece = (void **)(trace + 1);
	for (i = 0; i < pieces; i++)
		trace->piece[i] = (u8 *)(trace->piece + pieces) +
				  i * WALE_TRACE_PIECE;
}

/* One whose steps will have rates. */
static inline void wale_trace_init(struct wale_trace *trace, u32 count,
				   enum wale_trace_end end)
{
	wale_trace_init_columns(trace, count, end, WALE_TRACE_RATE);
}

static inline void wale_trace_append(struct wale_trace *trace, u64 duration_ns,
				     u64 rate)
{
	wale_trace_add(trace, &(struct wale_step){
		.duration_ns = duration_ns, .rate = rate,
		.delay_ns = WALE_TRACE_SAME, .loss = WALE_TRACE_SAME,
		.limit = WALE_TRACE_SAME,
	});
}

#endif /* _WALE_TEST_TRACE_H */
