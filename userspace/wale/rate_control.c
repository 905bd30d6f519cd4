// SPDX-License-Identifier: GPL-2.0
/*
 * rate_control.c - who gets how much of a link: the controller's table of flows
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rate_control.h"

static int compare_id(const void *a, const void *b)
{
	const struct rate_flow *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int make_room(struct control *c, size_t n)
{
	size_t room = 2 * n + 64;
	struct control_flow *flows;
	struct rate_claim *claims;

	if (n <= c->room)
		return 0;
	flows = realloc(c->flows, room * sizeof(*flows));
	if (flows)
		c->flows = flows;
	claims = realloc(c->claims, room * sizeof(*claims));
	if (claims)
		c->claims = claims;
	free(c->spare);
	c->spare = malloc(room * sizeof(*c->spare));
	c->room = flows && claims && c->spare ? room : 0;
	return c->room ? 0 : -ENOMEM;
}

static bool same_flow(const struct control_flow *known,
		      const struct rate_flow *flow)
{
	return known->id == flow->id &&
	       !memcmp(&known->key, &flow->key, sizeof(known->key));
}

static void begin_flow(struct control_flow *f, const struct rate_flow *flow)
{
	memset(f, 0, sizeof(*f));
	f->id = flow->id;
	f->key = flow->key;
}

static void judge_flow(const struct control *c, struct control_flow *f,
		       const struct rate_flow *flow, uint64_t now_ns)
{
	struct rate_demand_sample sample = {
		.now_ns = now_ns,
		.bytes_acked = flow->bytes_acked,
		.base_rtt_ns = flow->base_rtt,
		.share = f->share,
		.limited = f->limited,
		.window = flow->cwnd,
		.in_flight = flow->in_flight,
		.packet_size = flow->packet_size,
		.mss = flow->mss,
	};

	if (flow->rate_window && flow->rate_window < sample.window)
		sample.window = flow->rate_window;
	rate_demand_update(&f->demand, &sample, c->period_ns);
}

/*
 * Both lists are in the order of ids, and so is the one that they make.  A flow
 * without a route now is where it was.
 */
int control_update(struct control *c, struct rate_flows *flows, bool complete,
		   uint64_t now_ns)
{
	size_t i = 0, k = 0, n = 0;
	struct control_flow *list;

	if (make_room(c, c->n_flows + flows->n))
		return -ENOMEM;
	if (flows->n)
		qsort(flows->flow, flows->n, sizeof(*flows->flow), compare_id);
	list = c->spare;
	while (i < c->n_flows || k < flows->n) {
		struct control_flow *known = &c->flows[i];
		struct rate_flow *flow = &flows->flow[k];

		if (k == flows->n || (i < c->n_flows && known->id < flow->id)) {
			known->gone |= complete;
			list[n++] = *known;
			i++;
		} else if (i < c->n_flows && same_flow(known, flow)) {
			known->gone |=
				flow->ifindex && flow->ifindex != c->ifindex;
			judge_flow(c, known, flow, now_ns);
			list[n++] = *known;
			i++;
			k++;
		} else if (i < c->n_flows && known->id == flow->id) {
			/* Its number was given to another flow. */
			known->gone = true;
			list[n++] = *known;
			i++;
		} else {
			if (flow->ifindex == c->ifindex) {
				begin_flow(&list[n], flow);
				judge_flow(c, &list[n++], flow, now_ns);
			}
			k++;
		}
	}
	c->spare = c->flows;
	c->flows = list;
	c->n_flows = n;
	return 0;
}

static bool takes_part(const struct control_flow *f)
{
	return !f->gone && !f->foreign;
}

void control_divide(struct control *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n_flows; i++)
		if (takes_part(&c->flows[i]))
			c->claims[n++].order = i;
	for (i = 0; i < n; i++)
		c->claims[i].demand = rate_demand(
			&c->flows[c->claims[i].order].demand, c->capacity / n);
	rate_maxmin(c->capacity, c->claims, n);
	for (i = 0; i < n; i++) {
		struct control_flow *f = &c->flows[c->claims[i].order];

		f->next = c->claims[i].share;
		f->limited = c->claims[i].share == c->claims[i].demand;
	}
}

void control_forget(struct control *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n_flows; i++)
		if (!c->flows[i].gone)
			c->flows[n++] = c->flows[i];
	c->n_flows = n;
}

void control_free(struct control *c)
{
	free(c->flows);
	free(c->spare);
	free(c->claims);
}
