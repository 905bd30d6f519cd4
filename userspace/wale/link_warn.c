// SPDX-License-Identifier: GPL-2.0
/*
 * link_warn.c - what of a link is not as it seems
 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/trace_step.h"
#include "link.h"

static void __attribute__((format(printf, 2, 3)))
add(struct link_warnings *w, const char *format, ...)
{
	va_list args;

	if (w->n == LINK_WARNINGS_MAX)
		return;
	va_start(args, format);
	vsnprintf(w->text[w->n++], sizeof(w->text[0]), format, args);
	va_end(args);
}

/* As kmod/include/net/wale_wire.h has it. */
static uint64_t wire_bytes(const struct link_config *c, uint32_t ip_bytes)
{
	const int64_t least = (int64_t)c->link.value[TCA_WALE_MPU];
	int64_t bytes = (int64_t)ip_bytes + link_overhead_bytes(c);

	if (bytes < least)
		bytes = least;
	switch (c->link.value[TCA_WALE_OVERHEAD]) {
	case WALE_OVERHEAD_ETHERNET:
		return bytes + 38 > 84 ? bytes + 38 : 84;
	case WALE_OVERHEAD_ATM:
		return (bytes + 16 + 47) / 48 * 53;
	default:
		return bytes;
	}
}

/* What the bytes of a packet of the MTU are compared with. */
struct bound {
	uint64_t bytes; /* UINT64_MAX: nothing */
	const char *name;
	const char *fate; /* of all such packets */
};

static uint64_t buffer_bytes(const struct link_config *c)
{
	if (link_is_set(&c->link, TCA_WALE_LIMIT_BYTES))
		return c->link.value[TCA_WALE_LIMIT_BYTES];
	if (link_is_set(&c->link, TCA_WALE_LIMIT_CELLS))
		return c->link.value[TCA_WALE_LIMIT_CELLS] * 53;
	return UINT64_MAX;
}

/* The largest limit that there ever is. */
static uint64_t limit_bytes(const struct link_config *c)
{
	uint64_t bytes = 0;
	struct trace_step step;
	uint32_t i;

	if (!(c->trace.columns & WALE_TRACE_LIMIT_BYTES) || !c->trace.values)
		return buffer_bytes(c);
	for (i = 0; i < c->trace.n_steps; i++) {
		link_trace_step(&c->trace, i, &step);
		if (step.value[TRACE_COLUMN_LIMIT] == WALE_TRACE_SAME)
			step.value[TRACE_COLUMN_LIMIT] = buffer_bytes(c);
		if (bytes < step.value[TRACE_COLUMN_LIMIT])
			bytes = step.value[TRACE_COLUMN_LIMIT];
	}
	return bytes;
}

static uint64_t line_bytes(const struct link_config *c)
{
	return link_is_set(&c->link, TCA_WALE_LINE_BYTES)
		       ? c->link.value[TCA_WALE_LINE_BYTES]
		       : UINT64_MAX;
}

static uint64_t burst_bytes(const struct link_config *c)
{
	const struct link_values *policer = &c->nest[LINK_NEST_POLICER];

	return link_is_set(policer, TCA_WALE_POLICER_BURST)
		       ? policer->value[TCA_WALE_POLICER_BURST]
		       : UINT64_MAX;
}

static void warn_size(struct link_warnings *w, const char *name, uint32_t mtu,
		      const struct link_config *c)
{
	uint64_t bytes;
	size_t i;

	if (!c || !mtu)
		return;
	const struct bound bounds[] = {
		{ limit_bytes(c), "limit", "are dropped (buffer)" },
		{ line_bytes(c), "limit of the line", "are dropped (line)" },
		{ burst_bytes(c), "burst of the policer", "exceed it" },
	};

	bytes = wire_bytes(c, mtu);
	for (i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		if (bytes > bounds[i].bytes)
			add(w,
			    "%s: a packet of the MTU, %u bytes, takes %llu bytes on the wire and the %s is %llu: all such packets %s",
			    name, mtu, (unsigned long long)bytes,
			    bounds[i].name, (unsigned long long)bounds[i].bytes,
			    bounds[i].fate);
}

void link_warn(struct link_warnings *w, const struct link_state *state,
	       const struct link_config *up, const struct link_config *down)
{
	struct link_tcx egress;

	w->n = 0;
	warn_size(w, "up", state->mtu, up);
	warn_size(w, "down", state->mtu, down);
	if (state->tcx.others && !state->tcx.ours)
		add(w,
		    "down: a tcx program at ingress comes before the link: packets for which it has a verdict, such as TC_ACT_OK, do not pass the link");
	link_tcx_look(state->ifindex, LINK_TCX_EGRESS, &egress);
	if (egress.others)
		add(w,
		    "up: a tcx program at egress comes before the link: packets that it redirects or drops do not pass the link");
}
