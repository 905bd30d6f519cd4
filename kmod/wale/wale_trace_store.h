/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_trace_store.h - the memory of traces
 */
#ifndef _WALE_TRACE_STORE_H
#define _WALE_TRACE_STORE_H

#include <linux/types.h>

struct wale_trace;
struct wale_trace_step;

int wale_trace_store_init(void);
void wale_trace_store_exit(void);
struct wale_trace *wale_trace_new(void);
void wale_trace_free(struct wale_trace *trace);
int wale_trace_store(struct wale_trace *trace,
		     const struct wale_trace_step *step, u32 more);

#endif /* _WALE_TRACE_STORE_H */
