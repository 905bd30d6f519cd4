/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace_step.h - the values of a step of a trace, as words: the unit says what each is
 */
#ifndef WALE_TRACE_STEP_H
#define WALE_TRACE_STEP_H

#include <linux/pkt_sched_wale.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace_lines.h"

enum trace_column {
	TRACE_COLUMN_RATE,
	TRACE_COLUMN_DELAY,
	TRACE_COLUMN_LOSS,
	TRACE_COLUMN_LIMIT,
	TRACE_COLUMNS /* none of them */
};

/* Room for what is wrong with a word. */
#define TRACE_WRONG_MAX 200

/* In the units of linux/pkt_sched_wale.h; WALE_TRACE_SAME: not given. */
struct trace_step {
	uint64_t duration_ns;
	uint64_t value[TRACE_COLUMNS];
	bool given[TRACE_COLUMNS]; /* there was a value */
	bool down; /* the rate */
	bool in_bytes; /* the limit */
	bool any; /* there was a word, maybe - */
};

/* The columns that the first line of a file names; zeroed before that line. */
struct trace_header {
	bool advice; /* not of a link: a rate may be unlimited, or of any size */
	bool passed; /* there was a line */
	unsigned int n; /* of them; 0: there is no such line */
	enum trace_column column[TRACE_COLUMNS];
};

/* Nothing is given. */
void trace_step_begin(struct trace_step *step);

/*
 * Takes a word behind the duration.  In a file, a size has one meaning only.  Returns 0;
 * or -1 with what is wrong with it.
 */
int trace_step_take(struct trace_step *step, const char *word, bool in_file,
		    char wrong[TRACE_WRONG_MAX]);

/* Is a line the first one, and names columns?  Then 1, or -1 with what is wrong; else 0. */
int trace_header_read(struct trace_header *header,
		      const struct trace_line *line,
		      char wrong[TRACE_WRONG_MAX]);

/* Takes all words of a line of a file behind the duration.  Returns 0 or -1. */
int trace_step_take_line(struct trace_step *step,
			 const struct trace_header *header,
			 const struct trace_line *line,
			 char wrong[TRACE_WRONG_MAX]);

#endif /* WALE_TRACE_STEP_H */
