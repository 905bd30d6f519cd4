/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_policer.h - does a packet exceed a rate, and the burst that goes with it?   (pure)
 */
#ifndef _WALE_POLICER_H
#define _WALE_POLICER_H

#include <linux/types.h>

/**
 * struct wale_policer_params - as configured
 * @rate: at which tokens come, bytes/s; 0: there is no policer
 * @burst: the most tokens, in bytes
 * @excess: enum wale_policer_excess
 */
struct wale_policer_params {
	u64 rate;
	u64 burst;
	u32 excess;
};

/**
 * struct wale_policer - a bucket of tokens
 * @params: as configured
 * @tokens: in 10^-9 bytes, as of @time_ns
 * @time_ns: when they were last counted
 */
struct wale_policer {
	struct wale_policer_params params;
	u64 tokens;
	u64 time_ns;
};

void wale_policer_set(struct wale_policer *policer,
		      const struct wale_policer_params *params, u64 now);
bool wale_policer_takes(struct wale_policer *policer, u64 now, u32 len);

static inline bool wale_policer_is_on(const struct wale_policer *policer)
{
	return policer->params.rate;
}

#endif /* _WALE_POLICER_H */
