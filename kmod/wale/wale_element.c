// SPDX-License-Identifier: GPL-2.0
/*
 * wale_element.c - a link that tells QUIC endpoints a rate, by SCONE
 *
 *	wale_schedule, wale_flows --> wale_mean --> signal --+
 *	                                                     +--> wale_advisor --> packet
 *	arrival --> wale_datagram ---------------------------+
 *
 * A packet is looked at when it arrives, and changed before it enters the buffer.
 * A plain link, whose rate stays the same, remains plain.
 */

#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../compat.h"
#include "wale.h"
#include "wale_advisor.h"
#include "wale_element.h"
#include "wale_mean.h"
#include "wale_scone.h"
#include "wale_stat.h"

/**
 * struct wale_element - what a link with SCONE has
 * @params: which rate is told
 * @known: the rate that @mean has, or WALE_RATE_UNLIMITED
 * @mean: of the rate
 * @advisor: what writes it
 *
 * Protected by the root lock.
 */
struct wale_element {
	struct wale_element_params params;
	u64 known;
	struct wale_mean mean;
	struct wale_advisor advisor;
};

/**
 * wale_element_new() - get ready to tell a rate
 *
 * Context: RTNL is held.
 * Return: what wale_element_start() takes; or NULL without memory.
 */
struct wale_element *wale_element_new(void)
{
	struct wale_element *element;

	element = kvzalloc_obj(*element, GFP_KERNEL_ACCOUNT);
	if (element)
		wale_advisor_init(&element->advisor);
	return element;
}

/**
 * wale_element_free() - tell no rate any more
 * @element: of a link that does not use it, or no longer; or NULL
 */
void wale_element_free(struct wale_element *element)
{
	kvfree(element);
}

/* The rate that is told of now, without a mean; WALE_RATE_UNLIMITED: none. */
static u64 wale_element_rate(const struct wale_sched_data *q)
{
	const struct wale_element_params *params = &q->element->params;
	u64 rate;

	if (params->rate)
		return params->rate;
	rate = wale_schedule_bytes_per_s(&q->schedule);
	if (rate == WALE_RATE_UNLIMITED || !params->share)
		return rate;
	return div_u64(rate, wale_feedback_active(q->feedback) ?: 1);
}

/**
 * wale_element_update() - note the rate, if it is another than before
 * @q: the link, which has an element and was run up to @now
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_element_update(struct wale_sched_data *q, u64 now)
{
	u64 rate = wale_element_rate(q);

	if (rate == q->element->known)
		return;
	q->element->known = rate;
	wale_mean_set(&q->element->mean, rate, now);
}

/**
 * wale_element_start() - tell a rate from now on, or another
 * @q: the link, which has an element and was run up to @now
 * @params: which rate
 * @now: ns
 *
 * Context: RTNL and the root lock are held.
 */
void wale_element_start(struct wale_sched_data *q,
			const struct wale_element_params *params, u64 now)
{
	struct wale_element *element = q->element;

	element->params = *params;
	element->known = wale_element_rate(q);
	wale_mean_init(&element->mean, params->rate ? 0 : params->average_ns,
		       element->known, now);
	wale_quota_set_period(&element->advisor.quota, params->period_ns);
}

/**
 * wale_element_params() - which rate does a link tell?
 * @element: of a link
 *
 * Context: RTNL is held.
 * Return: that.
 */
const struct wale_element_params *
wale_element_params(const struct wale_element *element)
{
	return &element->params;
}

/* What is written now; SCONE_UNKNOWN: nothing. */
static u8 wale_element_signal(struct wale_element *element, u64 now)
{
	if (element->known == WALE_RATE_UNLIMITED)
		return SCONE_UNKNOWN;
	return wale_scone_encode(wale_mean_get(&element->mean, now));
}

/**
 * wale_element_see() - a packet arrives at a link that tells a rate
 * @sch: the link, run up to @now
 * @skb: one packet of the wire, or a GSO packet that is kept; its signal may change
 * @tuple: of it
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_element_see(struct Qdisc *sch, struct sk_buff *skb,
		      const struct wale_tuple *tuple, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_element *element = q->element;
	struct wale_datagram datagram;

	if (!wale_datagram_begin(skb, tuple, &datagram))
		return;
	while (wale_datagram_next(skb, &datagram))
		wale_advisor_advise(&element->advisor, skb, &datagram,
				    wale_element_signal(element, now), now);
}

/**
 * wale_element_put_stats() - put the statistics
 * @msg: the message
 * @q: the link, which has an element and was run up to @now
 * @now: ns
 *
 * Context: the root lock is held.
 * Return: 0, or -EMSGSIZE.
 */
int wale_element_put_stats(struct sk_buff *msg, struct wale_sched_data *q,
			   u64 now)
{
	struct wale_element *element = q->element;
	const struct wale_advisor *advisor = &element->advisor;
	const struct wale_stat stats[] = {
		{ TCA_WALE_STATS_SCONE_SEEN, advisor->seen },
		{ TCA_WALE_STATS_SCONE_LOWERED, advisor->lowered },
		{ TCA_WALE_STATS_SCONE_LIMITED, advisor->limited },
		{ TCA_WALE_STATS_SCONE_MALFORMED, advisor->malformed },
		{ TCA_WALE_STATS_SCONE_SIGNAL,
		  wale_element_signal(element, now) },
	};

	return wale_stat_put(msg, stats, ARRAY_SIZE(stats), TCA_WALE_STATS_PAD);
}
