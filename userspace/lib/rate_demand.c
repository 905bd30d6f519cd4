// SPDX-License-Identifier: GPL-2.0
/*
 * rate_demand.c - does a flow use its share, or has its application less to say
 */
#include <string.h>

#include "rate_demand.h"
#include "rate_maxmin.h"

#define SECOND UINT64_C(1000000000)

typedef unsigned __int128 u128;

/*
 * Reports come with ACKs, before the next packets leave: what an ACK that
 * covers several packets has made room for is not yet filled.
 */
static bool window_is_full(const struct rate_demand_sample *s)
{
	uint32_t slack = s->window / 4 > 1 ? s->window / 4 : 1;

	return s->in_flight + slack >= s->window;
}

static void begin_period(struct rate_demand *d,
			 const struct rate_demand_sample *s)
{
	d->start_ns = s->now_ns;
	d->start_acked = s->bytes_acked;
	d->share = s->share;
	d->full = false;
}

/* Payload is acknowledged, the share counts whole packets. */
static uint64_t used_in_period(const struct rate_demand *d,
			       const struct rate_demand_sample *s)
{
	u128 bytes = s->bytes_acked - d->start_acked;

	if (s->mss)
		bytes = bytes * s->packet_size / s->mss;
	bytes = bytes * SECOND / (s->now_ns - d->start_ns);
	return bytes < UINT64_MAX ? (uint64_t)bytes : UINT64_MAX;
}

static uint64_t greatest_use(const struct rate_demand *d)
{
	uint64_t greatest = 0;
	int i;

	for (i = 0; i < RATE_DEMAND_PERIODS; i++)
		if (d->used[i] > greatest)
			greatest = d->used[i];
	return greatest;
}

/*
 * More is believed when it is an eighth more, less when it is a quarter less:
 * otherwise the shares of all others would change in every period.
 */
static void follow_use(struct rate_demand *d)
{
	uint64_t greatest = greatest_use(d);

	if (greatest > d->use + d->use / 8 ||
	    (!d->hold && greatest < d->use - d->use / 4))
		d->use = greatest;
}

/* @times what it used, or what it had. */
static void want_more(struct rate_demand *d, uint64_t had, unsigned int times)
{
	uint64_t base = d->use > had ? d->use : had;

	d->use = base < RATE_GREEDY / times ? times * base : RATE_GREEDY;
	d->below = 0;
}

/*
 * A full window counts packets, and those of the flow may be small ones: it
 * gets more, but keeps its demand then, or it would want less again as soon as
 * it has it.
 */
static void fill_window(struct rate_demand *d, bool limited)
{
	d->below = 0;
	d->hold = 0;
	if (limited) {
		want_more(d, d->share / 2, 2);
		d->hold = RATE_DEMAND_HOLD;
	}
}

static void stay_below(struct rate_demand *d)
{
	if (d->hold)
		d->hold--;
	if (d->below < RATE_DEMAND_BELOW)
		d->below++;
	if (d->below == RATE_DEMAND_BELOW) {
		d->limited = true;
		follow_use(d);
	}
}

/* A window of one packet is full also when its flow has nothing to send. */
static bool was_full(const struct rate_demand *d,
		     const struct rate_demand_sample *s)
{
	return d->full && (s->in_flight || s->bytes_acked != d->start_acked);
}

static void end_period(struct rate_demand *d,
		       const struct rate_demand_sample *s)
{
	uint64_t used = used_in_period(d, s);

	d->used[d->period++ % RATE_DEMAND_PERIODS] = used;
	if (used >= d->share - d->share / 8)
		want_more(d, d->share, 4);
	else if (was_full(d, s))
		fill_window(d, s->limited);
	else
		stay_below(d);
}

/* Of few packets nobody can tell how fast they were. */
static uint64_t shortest_period(const struct rate_demand *d,
				const struct rate_demand_sample *s,
				uint64_t period_ns)
{
	u128 few = (u128)RATE_DEMAND_FEW * s->packet_size * SECOND;

	few = d->share ? few / d->share : 0;
	if (few > SECOND)
		few = SECOND;
	if (period_ns < few)
		period_ns = few;
	return period_ns > 2 * s->base_rtt_ns ? period_ns : 2 * s->base_rtt_ns;
}

void rate_demand_update(struct rate_demand *d,
			const struct rate_demand_sample *s, uint64_t period_ns)
{
	uint64_t passed_ns = s->now_ns - d->start_ns;

	if (!d->start_ns) {
		begin_period(d, s);
		return;
	}
	if (!passed_ns)
		return;
	/* Until a round trip is over, the window is still that of before. */
	if (passed_ns >= s->base_rtt_ns)
		d->full |= window_is_full(s);
	if (s->share < d->share)
		d->share = s->share;
	/* Who wakes up need not wait. */
	if (passed_ns < shortest_period(d, s, period_ns) &&
	    !(s->limited && was_full(d, s)))
		return;
	end_period(d, s);
	begin_period(d, s);
}

uint64_t rate_demand(const struct rate_demand *d, uint64_t equal)
{
	u128 demand = (u128)d->use * 5 / 4 + equal / 16;

	if (!d->limited || demand >= RATE_GREEDY)
		return RATE_GREEDY;
	return demand;
}
