/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_trace.h - a rate as a function of time, as a file
 *
 * A line is a step, in one of two forms, and what follows a # is a comment:
 *
 *	DURATION RATE		the rate holds for so long, after what came before; there may
 *				be what else a link's trace has
 *	at TIME RATE		the rate holds from this time of the trace on
 *	at TIME end		the trace ends then
 *
 * Both can be in one file.  Before the first step there is no rate; the last
 * step ends the trace.  Each step takes time; the last one may have no end.
 */
#ifndef WALE_RATE_TRACE_H
#define WALE_RATE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "rate_path.h"

struct rate_trace_step {
	uint64_t offset_ns; /* from the start of the trace; they increase */
	uint64_t rate;
};

struct rate_trace {
	struct rate_trace_step *steps;
	size_t n_steps;
	uint64_t end_ns; /* not before the last step */
};

/* Both return 0, or -1 with @error; to be freed in any case. */
int rate_trace_read(struct rate_trace *trace, const char *path,
		    struct rate_error *error);
int rate_trace_read_file(struct rate_trace *trace, FILE *file, const char *name,
			 struct rate_error *error);
void rate_trace_free(struct rate_trace *trace);

#endif /* WALE_RATE_TRACE_H */
