// SPDX-License-Identifier: GPL-2.0
/*
 * link_warn.c - what of a link is not as it seems
 */
#include <stdarg.h>
#include <stdio.h>

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

static void warn_limit(struct link_warnings *w, const char *name, uint32_t mtu,
		       const struct link_config *c)
{
	uint64_t bytes, limit = UINT64_MAX;

	if (!c || !mtu)
		return;
	bytes = wire_bytes(c, mtu);
	if (link_is_set(&c->link, TCA_WALE_LIMIT_BYTES))
		limit = c->link.value[TCA_WALE_LIMIT_BYTES];
	else if (link_is_set(&c->link, TCA_WALE_LIMIT_CELLS))
		limit = c->link.value[TCA_WALE_LIMIT_CELLS] * 53;
	if (bytes > limit)
		add(w,
		    "%s: a packet of the MTU, %u bytes, takes %llu bytes on the wire and the limit is %llu: all such packets are dropped (buffer)",
		    name, mtu, (unsigned long long)bytes,
		    (unsigned long long)limit);
}

void link_warn(struct link_warnings *w, const struct link_state *state,
	       const struct link_config *up, const struct link_config *down)
{
	struct link_tcx egress;

	w->n = 0;
	warn_limit(w, "up", state->mtu, up);
	warn_limit(w, "down", state->mtu, down);
	if (state->tcx.others && !state->tcx.ours)
		add(w,
		    "down: a tcx program at ingress comes before the link: packets for which it has a verdict, such as TC_ACT_OK, do not pass the link");
	link_tcx_look(state->ifindex, LINK_TCX_EGRESS, &egress);
	if (egress.others)
		add(w,
		    "up: a tcx program at egress comes before the link: packets that it redirects or drops do not pass the link");
}
