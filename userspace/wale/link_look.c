// SPDX-License-Identifier: GPL-2.0
/*
 * link_look.c - what is on an interface: qdiscs, filters, and ifbs of ours
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

struct look {
	struct link_state *state;
	const char *iface;
	bool egress; /* are the filters of egress looked at? */
};

/* ") to NETWORK up|down first|last id N beside", as much of it as there is. */
static void read_words(struct link_alias *alias, const char *text)
{
	char copy[LINK_TO_MAX + 64], why[LINK_TO_WHY_MAX], *rest, *word;
	bool network = false, id = false;

	snprintf(copy, sizeof(copy), "%s", text);
	alias->base = LINK_PRIO_LAST;
	for (word = strtok_r(copy, " )", &rest); word;
	     word = strtok_r(NULL, " )", &rest)) {
		if (network && link_to_parse(&alias->to, word, why))
			alias->to.family = 0;
		if (id)
			alias->id = (int)strtol(word, NULL, 10);
		network = !strcmp(word, "to");
		id = !strcmp(word, "id");
		alias->up |= !strcmp(word, "up");
		alias->beside |= !strcmp(word, "beside");
		if (!strcmp(word, "first"))
			alias->base = LINK_PRIO_FIRST;
	}
}

bool link_alias_read(struct link_alias *alias, const struct nlattr *attribute)
{
	const char *text = attribute ? nla_data(attribute) : "";
	size_t length;
	char *rest;

	memset(alias, 0, sizeof(*alias));
	if (strncmp(text, LINK_ALIAS, strlen(LINK_ALIAS)))
		return false;
	text += strlen(LINK_ALIAS);
	length = strcspn(text, " ");
	if (!length || length >= sizeof(alias->iface))
		return false;
	memcpy(alias->iface, text, length);
	if (!strncmp(text + length, " (", 2)) {
		alias->ifindex = (int)strtol(text + length + 2, &rest, 10);
		read_words(alias, rest);
	}
	if (!if_indextoname((unsigned int)alias->ifindex, alias->name))
		*alias->name = '\0';
	return true;
}

/* The name counts only where the interface that the ifb was made for is gone. */
static bool is_ours(struct link_state *state, const char *iface,
		    const struct link_alias *alias)
{
	bool named = !strcmp(alias->iface, iface);

	if (!*alias->name)
		return named && (!state->ifb || alias->to.family);
	if (alias->ifindex == state->ifindex)
		return true;
	if (named)
		strcpy(state->renamed, alias->name);
	return false;
}

const struct link_part *link_part_find(const struct link_state *state,
				       const struct link_to *to)
{
	size_t i;

	for (i = 0; i < state->n_parts; i++)
		if (link_to_equal(&state->part[i].to, to))
			return &state->part[i];
	return NULL;
}

/* An ifb of a link of some traffic; the other one may be known. */
static void take_part(struct link_state *state, const struct link_alias *alias,
		      int ifb, const char *name)
{
	struct link_part *part;

	part = (struct link_part *)link_part_find(state, &alias->to);
	if (!part) {
		if (state->n_parts == LINK_PARTS_MAX)
			return;
		part = &state->part[state->n_parts++];
		part->to = alias->to;
		part->base = alias->base;
	}
	part->id = alias->up ? ifb : alias->id;
	if (alias->up)
		part->up = ifb;
	else
		part->down = ifb;
	snprintf(alias->up ? part->up_name : part->down_name, IF_NAMESIZE, "%s",
		 name);
}

static void look_at_link(const struct nlmsghdr *message, void *arg)
{
	struct nlmsghdr *header = (struct nlmsghdr *)message;
	const struct ifinfomsg *info = nlmsg_data(message);
	const struct nlattr *text, *name, *mtu;
	struct look *look = arg;
	struct link_state *state = look->state;
	struct link_alias alias;

	mtu = nlmsg_find_attr(header, sizeof(*info), IFLA_MTU);
	if (mtu && info->ifi_index == state->ifindex)
		state->mtu = nla_get_u32(mtu);
	text = nlmsg_find_attr(header, sizeof(*info), IFLA_IFALIAS);
	name = nlmsg_find_attr(header, sizeof(*info), IFLA_IFNAME);
	if (!name || !link_alias_read(&alias, text) ||
	    !is_ours(state, look->iface, &alias))
		return;
	state->beside |= alias.beside;
	if (alias.to.family) {
		take_part(state, &alias, info->ifi_index, nla_data(name));
		return;
	}
	state->ifb = info->ifi_index;
	nla_strlcpy(state->ifb_name, name, sizeof(state->ifb_name));
}

static void look_at_qdisc(const struct nlmsghdr *message, void *arg)
{
	const struct tcmsg *tc = nlmsg_data(message);
	const struct nlattr *kind;
	struct look *look = arg;

	if (tc->tcm_ifindex != look->state->ifindex)
		return;
	kind = nlmsg_find_attr((struct nlmsghdr *)message, sizeof(*tc),
			       TCA_KIND);
	if (tc->tcm_parent == TC_H_INGRESS) {
		look->state->ingress = true;
		look->state->clsact = kind && !nla_strcmp(kind, "clsact");
	} else if (tc->tcm_parent == TC_H_ROOT) {
		look->state->root_handle = tc->tcm_handle;
		if (kind)
			nla_strlcpy(look->state->root_kind, kind,
				    sizeof(look->state->root_kind));
	}
}

static bool is_of_part(const struct link_state *state, uint32_t handle)
{
	size_t i;

	for (i = 0; i < state->n_parts; i++)
		if (state->part[i].id == (int)(handle & 0x7fffffff))
			return true;
	return false;
}

static void look_at_filter(const struct nlmsghdr *message, void *arg)
{
	const struct tcmsg *tc = nlmsg_data(message);
	uint32_t prio = TC_H_MAJ(tc->tcm_info) >> 16;
	const struct nlattr *kind;
	struct look *look = arg;

	/* Each priority has a message of its own, without a handle. */
	if (message->nlmsg_type != RTM_NEWTFILTER || !tc->tcm_handle)
		return;
	look->state->filters += !look->egress;
	kind = nlmsg_find_attr((struct nlmsghdr *)message, sizeof(*tc),
			       TCA_KIND);
	if (kind && !nla_strcmp(kind, "matchall") &&
	    tc->tcm_handle == LINK_FILTER_HANDLE) {
		look->state->our_filter = true;
		look->state->our_prio = prio;
	} else if (!kind || !is_of_part(look->state, tc->tcm_handle)) {
		look->state->foreign++;
		if (prio < look->state->foreign_least ||
		    !look->state->foreign_least)
			look->state->foreign_least = prio;
		if (prio > look->state->foreign_most)
			look->state->foreign_most = prio;
	}
}

static int look_at_filters(struct rtnl *r, struct look *found, uint32_t parent)
{
	return rtnl_dump(r,
			 rtnl_tc_message(RTM_GETTFILTER, 0,
					 found->state->ifindex, parent, 0),
			 look_at_filter, found);
}

static int look(struct rtnl *r, const char *iface, struct link_state *state)
{
	struct look found = { .state = state, .iface = iface };
	int err;

	memset(state, 0, sizeof(*state));
	state->ifindex = if_nametoindex(iface);
	if (state->ifindex)
		link_tcx_look(state->ifindex, LINK_TCX_INGRESS, &state->tcx);

	err = rtnl_dump(r, link_message(RTM_GETLINK, 0, 0, 0), look_at_link,
			&found);
	if (!err && state->ifindex)
		err = rtnl_dump(r, rtnl_tc_message(RTM_GETQDISC, 0, 0, 0, 0),
				look_at_qdisc, &found);
	if (!err && state->ingress)
		err = look_at_filters(r, &found, LINK_AT_INGRESS);
	found.egress = true;
	if (!err && state->clsact)
		err = look_at_filters(r, &found, LINK_AT_EGRESS);
	return err;
}

int link_look(struct rtnl *r, const char *iface, struct link_state *state)
{
	int tries = 0, err;

	do {
		err = look(r, iface, state);
	} while (err == -EINTR && ++tries < LINK_TRIES);
	return err;
}
