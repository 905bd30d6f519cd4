// SPDX-License-Identifier: GPL-2.0
/*
 * link_setup.c - makes and removes the two directions of an interface
 *
 * What can be refused is tried first on the new ifb, which carries no traffic
 * yet; the interface itself is touched last, and a failure undoes what was
 * done.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <netlink/route/act/mirred.h>
#include <netlink/route/classifier.h>
#include <netlink/route/cls/matchall.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

#define INGRESS_PARENT 0xffff0000U
#define IFB_NAMES 100

/* Looking. */

struct look {
	struct link_state *state;
	const char *iface;
};

bool link_alias_read(struct link_alias *alias, const struct nlattr *attribute)
{
	const char *text = attribute ? nla_data(attribute) : "";
	size_t length;

	memset(alias, 0, sizeof(*alias));
	if (strncmp(text, LINK_ALIAS, strlen(LINK_ALIAS)))
		return false;
	text += strlen(LINK_ALIAS);
	length = strcspn(text, " ");
	if (!length || length >= sizeof(alias->iface))
		return false;
	memcpy(alias->iface, text, length);
	if (!strncmp(text + length, " (", 2))
		alias->ifindex = (int)strtol(text + length + 2, NULL, 10);
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
		return named && !state->ifb;
	if (alias->ifindex == state->ifindex)
		return true;
	if (named)
		strcpy(state->renamed, alias->name);
	return false;
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

static void look_at_filter(const struct nlmsghdr *message, void *arg)
{
	const struct tcmsg *tc = nlmsg_data(message);
	const struct nlattr *kind;
	struct look *look = arg;

	/* Each priority has a message of its own, without a handle. */
	if (message->nlmsg_type != RTM_NEWTFILTER || !tc->tcm_handle)
		return;
	look->state->filters++;
	kind = nlmsg_find_attr((struct nlmsghdr *)message, sizeof(*tc),
			       TCA_KIND);
	if (kind && !nla_strcmp(kind, "matchall") &&
	    tc->tcm_handle == LINK_FILTER_HANDLE)
		look->state->our_filter = true;
}

static struct nl_msg *link_message(int type, int flags, int ifindex,
				   unsigned int up)
{
	struct ifinfomsg info = { .ifi_index = ifindex,
				  .ifi_flags = up,
				  .ifi_change = up };
	struct nl_msg *message = nlmsg_alloc();

	if (!message)
		return NULL;
	if (!nlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0,
		       flags | NLM_F_REQUEST) ||
	    nlmsg_append(message, &info, sizeof(info), NLMSG_ALIGNTO)) {
		nlmsg_free(message);
		return NULL;
	}
	return message;
}

static int look(struct rtnl *r, const char *iface, struct link_state *state)
{
	struct look found = { .state = state, .iface = iface };
	int err;

	memset(state, 0, sizeof(*state));
	state->ifindex = if_nametoindex(iface);

	err = rtnl_dump(r, link_message(RTM_GETLINK, 0, 0, 0), look_at_link,
			&found);
	if (!err && state->ifindex)
		err = rtnl_dump(r, rtnl_tc_message(RTM_GETQDISC, 0, 0, 0, 0),
				look_at_qdisc, &found);
	if (!err && state->ingress)
		err = rtnl_dump(r,
				rtnl_tc_message(RTM_GETTFILTER, 0,
						state->ifindex, INGRESS_PARENT,
						0),
				look_at_filter, &found);
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

/* Making. */

static int put(void *to, int type, const void *data, size_t length)
{
	return nla_put(to, type, length, data);
}

static int set_wale(struct rtnl *r, int ifindex, uint32_t handle,
		    const struct link_config *c)
{
	struct nl_msg *message;
	struct nlattr *nest;
	int err;

	message = rtnl_tc_message_large(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL,
					ifindex, TC_H_ROOT, handle);
	if (!message)
		return rtnl_request(r, NULL);
	err = nla_put_string(message, TCA_KIND, "wale");
	nest = err ? NULL : nla_nest_start(message, TCA_OPTIONS | NLA_F_NESTED);
	if (!nest)
		err = -NLE_NOMEM;
	if (!err)
		err = link_config_encode(c, put, message);
	/* one of more than 64 kB would be taken out again */
	if (!err)
		err = nla_nest_end(message, nest);
	if (!err)
		return rtnl_request(r, message);
	if (err == -EREMOTEIO)
		snprintf(r->error, sizeof(r->error),
			 "the kernel does not take the trace: %s",
			 strerror(errno));
	else
		snprintf(r->error, sizeof(r->error),
			 "the options do not fit into a message to the kernel");
	nlmsg_free(message);
	return -EMSGSIZE;
}

static int del_root(struct rtnl *r, int ifindex)
{
	return rtnl_request(
		r, rtnl_tc_message(RTM_DELQDISC, 0, ifindex, TC_H_ROOT, 0));
}

static int set_ingress(struct rtnl *r, int ifindex)
{
	struct nl_msg *message;

	message = rtnl_tc_message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL,
				  ifindex, TC_H_INGRESS, INGRESS_PARENT);
	if (message && nla_put_string(message, TCA_KIND, "ingress")) {
		nlmsg_free(message);
		message = NULL;
	}
	return rtnl_request(r, message);
}

static int del_ingress(struct rtnl *r, int ifindex)
{
	return rtnl_request(r, rtnl_tc_message(RTM_DELQDISC, 0, ifindex,
					       TC_H_INGRESS, INGRESS_PARENT));
}

static struct rtnl_cls *filter_alloc(int ifindex)
{
	struct rtnl_cls *cls = rtnl_cls_alloc();

	if (!cls)
		return NULL;
	rtnl_tc_set_ifindex(TC_CAST(cls), ifindex);
	rtnl_tc_set_parent(TC_CAST(cls), INGRESS_PARENT);
	rtnl_tc_set_handle(TC_CAST(cls), LINK_FILTER_HANDLE);
	rtnl_cls_set_prio(cls, LINK_FILTER_PRIO);
	rtnl_cls_set_protocol(cls, ETH_P_ALL);
	rtnl_tc_set_kind(TC_CAST(cls), "matchall");
	return cls;
}

static struct rtnl_act *redirect_alloc(int ifb)
{
	struct rtnl_act *act = rtnl_act_alloc();

	if (!act)
		return NULL;
	rtnl_tc_set_kind(TC_CAST(act), "mirred");
	rtnl_mirred_set_action(act, TCA_EGRESS_REDIR);
	rtnl_mirred_set_policy(act, TC_ACT_STOLEN);
	rtnl_mirred_set_ifindex(act, ifb);
	return act;
}

static int set_filter(struct rtnl *r, int ifindex, int ifb)
{
	struct rtnl_cls *cls = filter_alloc(ifindex);
	struct rtnl_act *act = redirect_alloc(ifb);
	struct nl_msg *message = NULL;

	if (cls && act && !rtnl_mall_append_action(cls, act))
		rtnl_cls_build_add_request(cls, NLM_F_CREATE | NLM_F_EXCL,
					   &message);
	if (act)
		rtnl_act_put(act);
	if (cls)
		rtnl_cls_put(cls);
	return rtnl_request(r, message);
}

static int del_filter(struct rtnl *r, int ifindex)
{
	struct rtnl_cls *cls = filter_alloc(ifindex);
	struct nl_msg *message = NULL;

	if (cls)
		rtnl_cls_build_delete_request(cls, 0, &message);
	if (cls)
		rtnl_cls_put(cls);
	return rtnl_request(r, message);
}

/* "wale-IFACE", cut to what fits; from the second try on, with a number. */
static void ifb_name(char name[IF_NAMESIZE], const char *iface,
		     unsigned int try)
{
	char whole[64], number[16] = "";
	size_t room;

	if (try)
		snprintf(number, sizeof(number), "-%u", try + 1);
	room = IF_NAMESIZE - 1 - strlen(number);
	snprintf(whole, sizeof(whole), "wale-%s", iface);
	whole[room] = '\0';
	strcpy(name, whole);
	strcat(name, number);
}

static int create_ifb(struct rtnl *r, const char *name)
{
	struct nl_msg *message;
	struct nlattr *nest;

	message = link_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0, 0);
	if (!message)
		return rtnl_request(r, NULL);
	if (nla_put_string(message, IFLA_IFNAME, name) ||
	    !(nest = nla_nest_start(message, IFLA_LINKINFO)) ||
	    nla_put_string(message, IFLA_INFO_KIND, "ifb")) {
		nlmsg_free(message);
		return rtnl_request(r, NULL);
	}
	nla_nest_end(message, nest);
	return rtnl_request(r, message);
}

static int del_ifb(struct rtnl *r, int ifindex)
{
	return rtnl_request(r, link_message(RTM_DELLINK, 0, ifindex, 0));
}

/* The alias is what makes it ours; the interface is up afterwards. */
static int mark_ifb(struct rtnl *r, int ifindex, const char *iface, int of)
{
	char alias[sizeof(LINK_ALIAS) + IF_NAMESIZE + 16];
	struct nl_msg *message;

	message = link_message(RTM_SETLINK, 0, ifindex, IFF_UP);
	snprintf(alias, sizeof(alias), LINK_ALIAS "%s (%d)", iface, of);
	/* Without the zero: the kernel adds it. */
	if (message && nla_put(message, IFLA_IFALIAS, strlen(alias), alias)) {
		nlmsg_free(message);
		message = NULL;
	}
	return rtnl_request(r, message);
}

/*
 * Without an IPv6 address, so that nothing but what is redirected passes the
 * ifb.  A kernel without IPv6 refuses, and needs it not.
 */
static void silence_ifb(struct rtnl *r, int ifindex)
{
	struct nl_msg *message = link_message(RTM_SETLINK, 0, ifindex, 0);
	struct nlattr *families, *v6;

	if (!message)
		return;
	families = nla_nest_start(message, IFLA_AF_SPEC);
	v6 = families ? nla_nest_start(message, AF_INET6) : NULL;
	if (!v6 || nla_put_u8(message, IFLA_INET6_ADDR_GEN_MODE,
			      IN6_ADDR_GEN_MODE_NONE)) {
		nlmsg_free(message);
		return;
	}
	nla_nest_end(message, v6);
	nla_nest_end(message, families);
	rtnl_request(r, message);
}

static int make_ifb(struct rtnl *r, const char *iface, struct link_state *state)
{
	unsigned int try;
	int err = -EEXIST;

	for (try = 0; err == -EEXIST && try < IFB_NAMES; try++) {
		ifb_name(state->ifb_name, iface, try);
		err = create_ifb(r, state->ifb_name);
	}
	if (err)
		return err;
	state->ifb = if_nametoindex(state->ifb_name);
	silence_ifb(r, state->ifb);
	err = mark_ifb(r, state->ifb, iface, state->ifindex);
	if (err) {
		char reason[sizeof(r->error)];

		memcpy(reason, r->error, sizeof(reason));
		del_ifb(r, state->ifb);
		memcpy(r->error, reason, sizeof(reason));
	}
	return err;
}

/* Is what is wanted understood?  The ifb is new and carries nothing yet. */
static int try_configs(struct rtnl *r, int ifb, const struct link_config *up,
		       const struct link_config *down)
{
	int err;

	err = set_wale(r, ifb, 0, up);
	if (!err)
		err = del_root(r, ifb);
	return err ? err : set_wale(r, ifb, 0, down);
}

/* Whatever else is there goes; asked for, or checked before. */
static int clear_interface(struct rtnl *r, const struct link_state *old)
{
	int err = 0;

	if (old->root_handle)
		err = del_root(r, old->ifindex);
	if (!err && old->ingress)
		err = del_ingress(r, old->ifindex);
	return err;
}

static int redirect(struct rtnl *r, struct link_state *state)
{
	int err = set_ingress(r, state->ifindex);

	state->ingress = !err;
	if (!err)
		err = set_filter(r, state->ifindex, state->ifb);
	state->our_filter = !err;
	state->filters = !err;
	return err;
}

int link_add(struct rtnl *r, const char *iface, struct link_state *state,
	     const struct link_config *up, const struct link_config *down)
{
	struct link_state new = { .ifindex = state->ifindex };
	char reason[sizeof(r->error)];
	int err;

	err = make_ifb(r, iface, &new);
	if (err)
		return err;
	err = try_configs(r, new.ifb, up, down);
	if (!err)
		err = clear_interface(r, state);
	if (!err && state->ifb)
		err = del_ifb(r, state->ifb);
	if (!err)
		err = set_wale(r, new.ifindex, LINK_ROOT_HANDLE, up);
	if (!err) {
		new.root_handle = LINK_ROOT_HANDLE;
		snprintf(new.root_kind, sizeof(new.root_kind), "wale");
		err = redirect(r, &new);
	}
	if (err) {
		memcpy(reason, r->error, sizeof(reason));
		link_remove(r, &new);
		memcpy(r->error, reason, sizeof(reason));
		return err;
	}
	*state = new;
	return 0;
}

/* Keeps the first failure and its reason; the rest is tried all the same. */
static void keep_first(struct rtnl *r, int err, int *first, char *reason)
{
	if (err && !*first) {
		*first = err;
		memcpy(reason, r->error, sizeof(r->error));
	}
}

int link_remove(struct rtnl *r, const struct link_state *state)
{
	char reason[sizeof(r->error)];
	int first = 0;

	if (link_root_is_ours(state))
		keep_first(r, del_root(r, state->ifindex), &first, reason);

	/* The ingress qdisc stays if somebody else uses it too. */
	if (state->ingress && !state->clsact &&
	    (state->ifb || state->our_filter) &&
	    state->filters == state->our_filter)
		keep_first(r, del_ingress(r, state->ifindex), &first, reason);
	else if (state->our_filter)
		keep_first(r, del_filter(r, state->ifindex), &first, reason);

	if (state->ifb)
		keep_first(r, del_ifb(r, state->ifb), &first, reason);
	if (first)
		memcpy(r->error, reason, sizeof(reason));
	return first;
}
