/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_test_trace.h - traces in one piece of memory, for tests
 */
#ifndef _WALE_TEST_TRACE_H
#define _WALE_TEST_TRACE_H

#include <linux/math.h>
#include <linux/types.h>

#include "../wale_schedule.h"

static inline u32 wale_test_pieces(u32 count)
{
	return DIV_ROUND_UP(count, WALE_TRACE_PIECE * WALE_TRACE_BLOCK);
}

/* Memory for a trace of so many steps, bytes. */
static inline size_t wale_trace_size(u32 count)
{
	return sizeof(struct wale_trace) +
	       wale_test_pieces(count) * (sizeof(struct wale_trace_piece *) +
					  sizeof(struct wale_trace_piece));
}

/* A trace without steps. */
static inline void wale_trace_init(struct wale_trace *trace, u32 count,
				   enum wale_trace_end end)
{
	u32 pieces = wale_test_pieces(count), i;
	struct wale_trace_piece *piece;

	*trace = (struct wale_trace){ .end = end };
	trace->piece = (struct wale_trace_piece **)(trace + 1);
	piece = (struct wale_trace_piece *)(trace->piece + pieces);
	for (i = 0; i < pieces; i++)
		trace->piece[i] = piece + i;
}

#endif /* _WALE_TEST_TRACE_H */
