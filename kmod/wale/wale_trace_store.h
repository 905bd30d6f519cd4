/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_trace_store.h - the memory of traces
 */
#ifndef _WALE_TRACE_STORE_H
#define _WALE_TRACE_STORE_H

#include <linux/types.h>

struct wale_trace;

#define WALE_WRONG_COLUMNS	\
	"wale: columns of a trace must be 1 to 31, and its limits in packets or in bytes, not both"

int wale_trace_store_init(void);
void wale_trace_store_exit(void);
struct wale_trace *wale_trace_new(u32 columns);
void wale_trace_free(struct wale_trace *trace);
u32 wale_trace_step_size(u32 columns);
void wale_trace_write(const struct wale_trace *trace, u32 number, u64 *value);
int wale_trace_store(struct wale_trace *trace, const u64 *value, u32 more,
		     const char **refusal);

#endif /* _WALE_TRACE_STORE_H */
