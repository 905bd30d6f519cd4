/* SPDX-License-Identifier: GPL-2.0 */
/*
 * get_progress.h - the line with a bar that "wale get" shows on a terminal
 */
#ifndef WALE_GET_PROGRESS_H
#define WALE_GET_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct get_progress - the line
 * @shown: it is on the terminal
 * @shown_bytes: received when it was last written
 * @rate: smoothed bytes/s
 */
struct get_progress {
	bool shown;
	uint64_t shown_bytes;
	double rate;
};

/*
 * Write it anew: @what comes first, @received of @length bytes are there (0: not
 * known), @interval_s passed since the last time.
 */
void progress_show(struct get_progress *progress, const char *what,
		   uint64_t received, uint64_t length, double interval_s);

/* Make place for other output. */
void progress_clear(struct get_progress *progress);

#endif
