// SPDX-License-Identifier: GPL-2.0
/*
 * link_part.c - makes and removes links of some traffic: see link.h
 *
 * Both directions are ready before the first filter takes a packet to them.
 */
#include <errno.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>

#include "link.h"

static int make_ifb(struct rtnl *r, const char *iface,
		    const struct link_state *state, struct link_part *part,
		    bool up)
{
	char alias[sizeof(LINK_ALIAS) + IF_NAMESIZE + LINK_TO_MAX + 64];
	char to[LINK_TO_MAX], id[16] = "";

	if (!up)
		snprintf(id, sizeof(id), " id %d", part->id);
	snprintf(alias, sizeof(alias), LINK_ALIAS "%s (%d) to %s %s %s%s%s",
		 iface, state->ifindex, link_to_format(&part->to, to),
		 up ? "up" : "down",
		 part->base == LINK_PRIO_FIRST ? "first" : "last", id,
		 state->beside ? " beside" : "");
	return link_ifb_make(r, iface, alias,
			     up ? part->up_name : part->down_name,
			     up ? &part->up : &part->down);
}

/* The filters of a part, each in turn; up first. */
static int each_filter(struct rtnl *r, int ifindex,
		       const struct link_part *part,
		       int (*act)(struct rtnl *r, const struct link_filter *f),
		       bool go_on)
{
	struct link_filter f = { .ifindex = ifindex,
				 .id = part->id,
				 .base = part->base,
				 .to = &part->to };
	char reason[sizeof(r->error)];
	int first = 0, i;

	for (i = 0; i < 4; i++) {
		f.up = i < 2;
		f.udp = i % 2;
		f.ifb = f.up ? part->up : part->down;
		if (f.udp && !part->to.port)
			continue;
		link_keep_first(r, act(r, &f), &first, reason);
		if (first && !go_on)
			break;
	}
	if (first)
		memcpy(r->error, reason, sizeof(reason));
	return first;
}

static int remove_one(struct rtnl *r, int ifindex, const struct link_part *part)
{
	char reason[sizeof(r->error)];
	int first = 0, err;

	/* Without its ifb, a filter would drop what it finds. */
	err = ifindex ? each_filter(r, ifindex, part, link_filter_del, true)
		      : 0;
	if (err != -ENOENT && err != -EINVAL) /* somebody took it, or clsact */
		link_keep_first(r, err, &first, reason);
	if (part->up)
		link_keep_first(r, link_ifb_del(r, part->up), &first, reason);
	if (part->down)
		link_keep_first(r, link_ifb_del(r, part->down), &first, reason);
	if (first)
		memcpy(r->error, reason, sizeof(reason));
	return first;
}

int link_part_remove(struct rtnl *r, struct link_state *state,
		     const struct link_part *part)
{
	bool all = !part || state->n_parts == 1;
	char reason[sizeof(r->error)];
	int first = 0;
	size_t i;

	for (i = 0; i < state->n_parts; i++)
		if (!part || part == &state->part[i])
			link_keep_first(
				r,
				remove_one(r, state->ifindex, &state->part[i]),
				&first, reason);
	if (all && state->clsact && !state->beside && !state->foreign)
		link_keep_first(r, link_ingress_del(r, state->ifindex), &first,
				reason);
	if (first)
		memcpy(r->error, reason, sizeof(reason));
	return first;
}

static int set_up(struct rtnl *r, const char *iface,
		  const struct link_state *state, struct link_part *part,
		  const struct link_config *up, const struct link_config *down)
{
	int err;

	err = make_ifb(r, iface, state, part, true);
	part->id = part->up;
	if (!err)
		err = link_qdisc_set(r, part->up, 0, up, false);
	if (!err)
		err = make_ifb(r, iface, state, part, false);
	if (!err)
		err = link_qdisc_set(r, part->down, 0, down, false);
	return err;
}

int link_part_add(struct rtnl *r, const char *iface, struct link_state *state,
		  const struct link_to *to, const struct link_config *up,
		  const struct link_config *down, enum link_order order)
{
	struct link_part part = { .to = *to, .base = link_base(order) };
	const struct link_part *old = link_part_find(state, to);
	bool clsact = !state->clsact;
	char reason[sizeof(r->error)];
	int err;

	if (state->n_parts)
		part.base = state->part[0].base;
	else
		state->beside = state->clsact;
	err = set_up(r, iface, state, &part, up, down);
	if (!err && clsact)
		err = link_ingress_add(r, state->ifindex, "clsact");
	state->clsact |= clsact && !err;
	if (!err && old)
		err = remove_one(r, state->ifindex, old);
	if (!err)
		err = each_filter(r, state->ifindex, &part, link_filter_add,
				  false);
	if (!err)
		return 0;
	memcpy(reason, r->error, sizeof(reason));
	remove_one(r, state->ifindex, &part);
	if (clsact && state->clsact)
		link_ingress_del(r, state->ifindex);
	memcpy(r->error, reason, sizeof(reason));
	return err;
}
