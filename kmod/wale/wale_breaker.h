/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_breaker.h - which flows stay above a rate for too long?   (pure)
 */
#ifndef _WALE_BREAKER_H
#define _WALE_BREAKER_H

#include <linux/types.h>

/**
 * struct wale_breaker_params - as configured
 * @rate: that a flow may have, bytes/s; 0: there is no breaker
 * @after_ns: for how long it may have more
 */
struct wale_breaker_params {
	u64 rate;
	u64 after_ns;
};

/**
 * struct wale_breaker_flow - what is known of a flow
 * @key: whose it is: see struct wale_place
 * @excess: sent beyond the rate, in 10^-9 bytes, as of @time_ns
 * @time_ns: when its last packet came
 * @since_ns: since when there is an excess
 * @cut: it was there for too long
 */
struct wale_breaker_flow {
	u64 key;
	u64 excess;
	u64 time_ns;
	u64 since_ns;
	bool cut;
};

/**
 * struct wale_breaker - of all flows
 * @params: as configured
 * @cuts: flows that were cut
 * @flow: by class
 */
struct wale_breaker {
	struct wale_breaker_params params;
	u64 cuts;
	struct wale_breaker_flow flow[];
};

bool wale_breaker_cuts(struct wale_breaker *breaker, u16 class, u64 key,
		       u64 now, u32 len);

#endif /* _WALE_BREAKER_H */
