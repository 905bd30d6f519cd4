// SPDX-License-Identifier: GPL-2.0
/*
 * rate_trace.c - tracepoint of rate_feedback
 */

#include <linux/export.h>

#define CREATE_TRACE_POINTS
#include "rate_trace.h"

/* for modules that carry what links publish to other kernels */
EXPORT_TRACEPOINT_SYMBOL_GPL(rate_published);
