// SPDX-License-Identifier: GPL-2.0
/*
 * wale_policer.c - does a packet exceed a rate, and the burst that goes with it?   (pure)
 *
 * A token is worth a byte.  A rate of r bytes/s adds r of 10^-9 tokens in each ns, so
 * that nothing is rounded, at any rate and after any time.
 */

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/time64.h>

#include "wale_policer.h"

static u64 wale_policer_size(const struct wale_policer *policer)
{
	return policer->params.burst * NSEC_PER_SEC;	/* of WALE_POLICER_BURST_MAX */
}

/* The tokens that came since the last look; those that have no room are lost. */
static void wale_policer_fill(struct wale_policer *policer, u64 now)
{
	u64 missing = wale_policer_size(policer) - policer->tokens, new;

	if (check_mul_overflow(policer->params.rate, now - policer->time_ns,
			       &new))
		new = U64_MAX;
	policer->tokens += min(new, missing);
	policer->time_ns = now;
}

/**
 * wale_policer_set() - the parameters are replaced
 * @policer: the policer, maybe zeroed
 * @params: the parameters
 * @now: ns
 *
 * A new bucket is full.  One whose parameters change keeps its tokens, as far as they
 * have room.
 */
void wale_policer_set(struct wale_policer *policer,
		      const struct wale_policer_params *params, u64 now)
{
	bool begins = !wale_policer_is_on(policer);

	if (!begins)
		wale_policer_fill(policer, now);
	policer->params = *params;
	policer->time_ns = now;
	policer->tokens = begins ? wale_policer_size(policer) :
				   min(policer->tokens,
				       wale_policer_size(policer));
}

/**
 * wale_policer_takes() - are there tokens for a packet?  Then they are used up.
 * @policer: the policer, which is on
 * @now: ns, not before that of another call
 * @len: bytes on the wire
 *
 * Return: false if it exceeds rate and burst.
 */
bool wale_policer_takes(struct wale_policer *policer, u64 now, u32 len)
{
	u64 need = len * (u64)NSEC_PER_SEC;

	wale_policer_fill(policer, now);
	if (policer->tokens < need)
		return false;
	policer->tokens -= need;
	return true;
}
