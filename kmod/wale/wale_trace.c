// SPDX-License-Identifier: GPL-2.0
/*
 * wale_trace.c - where the trace events of wale_trace.h are defined
 */

#include "wale.h"

#define CREATE_TRACE_POINTS
#include "../compat.h"
#include "wale_trace.h"
