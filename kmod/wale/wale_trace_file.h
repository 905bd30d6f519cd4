/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_trace_file.h - files to which long traces are written, before a link gets them
 */
#ifndef _WALE_TRACE_FILE_H
#define _WALE_TRACE_FILE_H

#include <linux/types.h>

struct file;
struct wale_trace;

int wale_trace_file_init(void);
void wale_trace_file_exit(void);
bool wale_is_trace_file(const struct file *file);
int wale_trace_file_take(struct file *file, struct wale_trace **trace);
void wale_trace_file_return(struct file *file, struct wale_trace *trace);

#endif /* _WALE_TRACE_FILE_H */
