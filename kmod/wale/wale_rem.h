/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_rem.h - the price of a link that does random exponential marking   (pure)
 */
#ifndef _WALE_REM_H
#define _WALE_REM_H

#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

/**
 * struct wale_rem_params - how the price moves, as configured
 * @interval_ns: from one update to the next
 * @target: b*, bytes of the wire
 * @gamma: price for each kB of mismatch, millionths
 * @alpha: weight of the backlog in the mismatch, millionths
 * @phi: base of the marking probability, millionths
 */
struct wale_rem_params {
	u64 interval_ns;
	u64 target;
	u32 gamma;
	u32 alpha;
	u32 phi;
};

/**
 * struct wale_rem - the price
 * @params: how it moves
 * @price: p, in units of 1 / REM_PRICE_ONE
 * @next_ns: the next update
 * @offered: bytes that had arrived at the last update
 * @log2_phi: of @params, see rem_log2()
 * @probability: 1 - phi^-p, fraction of 2^32
 */
struct wale_rem {
	struct wale_rem_params params;
	u64 price;
	u64 next_ns;
	u64 offered;
	u32 log2_phi;
	u32 probability;
};

extern const struct wale_rem_params wale_rem_defaults;

void wale_rem_start(struct wale_rem *rem, u64 offered, u64 now);
void wale_rem_set(struct wale_rem *rem, const struct wale_rem_params *params,
		  u64 now);
u64 wale_rem_steps(const struct wale_rem *rem, u64 offered, u64 quiet_until_ns,
		   u64 now);
bool wale_rem_rests(const struct wale_rem *rem, u64 backlog);
void wale_rem_update(struct wale_rem *rem, u64 backlog, u64 offered,
		     u64 rate, u64 steps);

#endif /* _WALE_REM_H */
