// SPDX-License-Identifier: GPL-2.0
/*
 * wale_breaker.c - which flows stay above a rate for too long?   (pure)
 *
 * A flow is above the rate for as long as a queue of its packets, served at the rate, is
 * not empty: in all that time, it has sent more on average since that began.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/time64.h>

#include "wale_breaker.h"

/* What is served since the last packet; true if the queue is empty. */
static bool wale_breaker_drain(const struct wale_breaker_params *params,
			       struct wale_breaker_flow *flow, u64 now)
{
	u64 served;

	if (check_mul_overflow(params->rate, now - flow->time_ns, &served))
		served = U64_MAX;
	flow->excess -= min(served, flow->excess);
	flow->time_ns = now;
	return !flow->excess;
}

/**
 * wale_breaker_cuts() - is a flow cut whose packet comes?
 * @breaker: the breaker
 * @class: of the flow; 0, the crowd, is no flow and never cut
 * @key: of the flow: another than before in the class is another flow
 * @now: ns, not before that of another call
 * @len: bytes on the wire
 *
 * A flow is cut by the first packet that comes when it has been above the rate for as
 * long as is configured, and stays cut.  More than 2^64 of 10^-9 bytes are not counted.
 *
 * Return: true if it is.
 */
bool wale_breaker_cuts(struct wale_breaker *breaker, u16 class, u64 key,
		       u64 now, u32 len)
{
	struct wale_breaker_flow *flow = &breaker->flow[class];

	if (!class)
		return false;
	if (flow->key != key)
		*flow = (struct wale_breaker_flow){
			.key = key, .time_ns = now, .since_ns = now,
		};
	if (flow->cut)
		return true;
	if (wale_breaker_drain(&breaker->params, flow, now))
		flow->since_ns = now;
	flow->cut = now - flow->since_ns >= breaker->params.after_ns;
	breaker->cuts += flow->cut;
	if (check_add_overflow(flow->excess, len * (u64)NSEC_PER_SEC,
			       &flow->excess))
		flow->excess = U64_MAX;
	return flow->cut;
}
