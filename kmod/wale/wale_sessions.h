/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_sessions.h - the chain of sessions that share the link   (pure)
 */
#ifndef _WALE_SESSIONS_H
#define _WALE_SESSIONS_H

#include <linux/types.h>
#include <linux/pkt_sched_wale.h>

/**
 * struct wale_sessions_params - the chain, as configured
 * @arrival: probability of an arrival in a step, fraction of 2^32
 * @mean: mean size of a session in units of C times the step, in 2^-32
 * @max: largest number of sessions, 1 .. WALE_SESSIONS_MAX
 * @step_ns: time between moves
 */
struct wale_sessions_params {
	u64 mean;
	u64 step_ns;
	u32 arrival;
	u32 max;
};

/**
 * struct wale_sessions - the chain's law, ready for drawing
 * @params: as configured
 * @threshold: @params.max + 1 rows of @params.max + 1 columns.  Row i is the
 *	cumulative law of the move from i sessions, as fractions of 2^64:
 *	column 0 up to the arrival, column d up to d departures (d <= i).
 */
struct wale_sessions {
	struct wale_sessions_params params;
	u64 threshold[];
};

size_t wale_sessions_size(u32 max);
int wale_sessions_init(struct wale_sessions *sessions,
		       const struct wale_sessions_params *params);
u32 wale_sessions_move(const struct wale_sessions *sessions, u32 m, u64 u);

#endif /* _WALE_SESSIONS_H */
