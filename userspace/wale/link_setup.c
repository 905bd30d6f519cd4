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
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/route/classifier.h>
#include <netlink/route/cls/matchall.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

static int put(void *to, int type, const void *data, size_t length)
{
	return nla_put(to, type, length, data);
}

int link_qdisc_set(struct rtnl *r, int ifindex, uint32_t handle,
		   const struct link_config *c, bool change)
{
	struct nl_msg *message;
	struct nlattr *nest;
	int err;

	message = rtnl_tc_message_large(RTM_NEWQDISC,
					change ? 0 : NLM_F_CREATE | NLM_F_EXCL,
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
	if (!err) {
		err = rtnl_request(r, message);
		/* which is what the kernel says of a qdisc that it lacks */
		if (err == -ENOENT && strstr(r->error, "kind is unknown"))
			snprintf(
				r->error, sizeof(r->error),
				"there is no qdisc wale; is the module sch_wale loaded?");
		return err;
	}
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

int link_ingress_add(struct rtnl *r, int ifindex, const char *kind)
{
	struct nl_msg *message;

	message = rtnl_tc_message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL,
				  ifindex, TC_H_INGRESS, LINK_INGRESS);
	if (message && nla_put_string(message, TCA_KIND, kind)) {
		nlmsg_free(message);
		message = NULL;
	}
	return rtnl_request(r, message);
}

int link_ingress_del(struct rtnl *r, int ifindex)
{
	return rtnl_request(r, rtnl_tc_message(RTM_DELQDISC, 0, ifindex,
					       TC_H_INGRESS, LINK_INGRESS));
}

static struct rtnl_cls *filter_alloc(int ifindex, unsigned int prio)
{
	struct rtnl_cls *cls = rtnl_cls_alloc();

	if (!cls)
		return NULL;
	rtnl_tc_set_ifindex(TC_CAST(cls), ifindex);
	rtnl_tc_set_parent(TC_CAST(cls), LINK_AT_INGRESS);
	rtnl_tc_set_handle(TC_CAST(cls), LINK_FILTER_HANDLE);
	rtnl_cls_set_prio(cls, (uint16_t)prio);
	rtnl_cls_set_protocol(cls, ETH_P_ALL);
	rtnl_tc_set_kind(TC_CAST(cls), "matchall");
	return cls;
}

static int set_filter(struct rtnl *r, int ifindex, unsigned int prio, int ifb)
{
	struct rtnl_cls *cls = filter_alloc(ifindex, prio);
	struct rtnl_act *act = link_to_ifb(ifb);
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

static int del_filter(struct rtnl *r, int ifindex, unsigned int prio)
{
	struct rtnl_cls *cls = filter_alloc(ifindex, prio);
	struct nl_msg *message = NULL;

	if (cls)
		rtnl_cls_build_delete_request(cls, 0, &message);
	if (cls)
		rtnl_cls_put(cls);
	return rtnl_request(r, message);
}

/* Is what is wanted understood?  The ifb is new and carries nothing yet. */
static int try_configs(struct rtnl *r, int ifb, const struct link_config *up,
		       const struct link_config *down)
{
	int err;

	err = link_qdisc_set(r, ifb, 0, up, false);
	if (!err)
		err = del_root(r, ifb);
	return err ? err : link_qdisc_set(r, ifb, 0, down, false);
}

/* Whatever else is there goes; asked for, or checked before. */
static int clear_interface(struct rtnl *r, const struct link_state *old,
			   bool keep_ingress)
{
	int err = 0;

	if (old->root_handle)
		err = del_root(r, old->ifindex);
	if (!err && old->tcx.ours)
		err = link_tcx_detach(r, old->ifindex, old->tcx.ours);
	if (!err && old->our_filter && keep_ingress)
		err = del_filter(r, old->ifindex, old->our_prio);
	if (!err && old->ingress && !keep_ingress)
		err = link_ingress_del(r, old->ifindex);
	return err;
}

unsigned int link_base(enum link_order order)
{
	return order == LINK_ORDER_FIRST ? LINK_PRIO_FIRST : LINK_PRIO_LAST;
}

const char *link_no_place(const struct link_state *state, enum link_order order)
{
	if (order == LINK_ORDER_NONE && state->tcx.others)
		return "it has a tcx program at ingress, and packets for which that has a verdict, such as TC_ACT_OK, would not pass the link: --order first or last says which comes first";
	if (!state->foreign)
		return NULL;
	if (order == LINK_ORDER_NONE)
		return "it has filters of others, and packets for which these have a verdict would not pass the link: --order first or last says which come first";
	if (order == LINK_ORDER_FIRST &&
	    state->foreign_least < LINK_PRIO_FIRST + LINK_PRIO_RANKS)
		return "its filters have priorities below 521, so that none of ours can come before them: --order last";
	if (order == LINK_ORDER_LAST && state->foreign_most >= LINK_PRIO_LAST)
		return "its filters have priorities from 61440 on, so that none of ours can come after them: --order first";
	return NULL;
}

static int redirect(struct rtnl *r, struct link_state *state,
		    enum link_order order)
{
	int err;

	if (state->tcx.others && order == LINK_ORDER_FIRST) {
		err = link_tcx_attach(r, state->ifindex, state->ifb);
		link_tcx_look(state->ifindex, LINK_TCX_INGRESS, &state->tcx);
		return err;
	}
	err = state->ingress ? 0
			     : link_ingress_add(r, state->ifindex, "ingress");
	state->ingress = !err;
	state->our_prio = link_base(order);
	if (!err)
		err = set_filter(r, state->ifindex, state->our_prio,
				 state->ifb);
	state->our_filter = !err;
	state->filters += !err;
	return err;
}

/* What is left of an interface when all that is to go has gone. */
static struct link_state cleared(const struct link_state *state,
				 bool keep_ingress)
{
	struct link_state new = { .ifindex = state->ifindex,
				  .mtu = state->mtu,
				  .tcx.others = state->tcx.others };

	if (keep_ingress) {
		new.ingress = true;
		new.clsact = state->clsact;
		new.beside = true;
		new.filters = state->filters - state->our_filter;
	}
	return new;
}

int link_add(struct rtnl *r, const char *iface, struct link_state *state,
	     const struct link_config *up, const struct link_config *down,
	     enum link_order order)
{
	bool keep = order != LINK_ORDER_NONE && state->ingress &&
		    (state->beside || !state->our_filter);
	char alias[sizeof(LINK_ALIAS) + IF_NAMESIZE + 32];
	struct link_state new = cleared(state, keep);
	char reason[sizeof(r->error)];
	int err;

	snprintf(alias, sizeof(alias), LINK_ALIAS "%s (%d)%s", iface,
		 state->ifindex, keep ? " beside" : "");
	err = link_ifb_make(r, iface, alias, new.ifb_name, &new.ifb);
	if (err)
		return err;
	err = try_configs(r, new.ifb, up, down);
	if (!err)
		err = clear_interface(r, state, keep);
	if (!err && state->ifb)
		err = link_ifb_del(r, state->ifb);
	if (!err)
		err = link_qdisc_set(r, new.ifindex, LINK_ROOT_HANDLE, up,
				     false);
	if (!err) {
		new.root_handle = LINK_ROOT_HANDLE;
		snprintf(new.root_kind, sizeof(new.root_kind), "wale");
		err = redirect(r, &new, order);
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

void link_keep_first(struct rtnl *r, int err, int *first, char *reason)
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
		link_keep_first(r, del_root(r, state->ifindex), &first, reason);

	if (state->tcx.ours)
		link_keep_first(
			r, link_tcx_detach(r, state->ifindex, state->tcx.ours),
			&first, reason);
	/* The ingress qdisc stays if somebody else uses it too. */
	if (state->ingress && !state->clsact && !state->beside &&
	    (state->ifb || state->our_filter) &&
	    state->filters == state->our_filter)
		link_keep_first(r, link_ingress_del(r, state->ifindex), &first,
				reason);
	else if (state->our_filter)
		link_keep_first(r,
				del_filter(r, state->ifindex, state->our_prio),
				&first, reason);

	if (state->ifb)
		link_keep_first(r, link_ifb_del(r, state->ifb), &first, reason);
	if (first)
		memcpy(r->error, reason, sizeof(reason));
	return first;
}

/* The options that a direction has now, from a dump. */
struct present {
	int ifindex;
	struct link_config config;
	bool found;
};

static void read_present(const struct nlmsghdr *message, void *arg)
{
	struct present *p = arg;
	struct link_qdisc q;

	if (!link_qdisc_read(message, &q) || q.parent != TC_H_ROOT ||
	    q.ifindex != p->ifindex)
		return;
	link_config_free(&p->config);
	p->found = !link_config_decode(&p->config, q.options, q.options_length);
}

int link_present(struct rtnl *r, int ifindex, struct link_config *c)
{
	struct present now = { .ifindex = ifindex };
	int err;

	err = rtnl_dump(r, rtnl_tc_message(RTM_GETQDISC, 0, 0, 0, 0),
			read_present, &now);
	if (!err && !now.found)
		err = -ENOENT;
	if (err)
		link_config_free(&now.config);
	else
		*c = now.config;
	return err;
}

/*
 * Is a change understood?  It is tried on an ifb that has the options of now, so that
 * what is refused in one direction leaves the other as it is.  A trace that was not
 * dumped is not there.
 */
static int try_change(struct rtnl *r, int ifb, int ifindex,
		      const struct link_config *change)
{
	char reason[sizeof(r->error)];
	struct link_config now;
	int err;

	if (!change->link.set)
		return 0;
	err = link_present(r, ifindex, &now);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (!link_qdisc_set(r, ifb, 0, &now, false)) {
		err = link_qdisc_set(r, ifb, 0, change, true);
		memcpy(reason, r->error, sizeof(reason));
		del_root(r, ifb);
		memcpy(r->error, reason, sizeof(reason));
	}
	link_config_free(&now);
	return err;
}

int link_change(struct rtnl *r, int up_ifindex, uint32_t up_handle,
		int down_ifindex, const struct link_config *up,
		const struct link_config *down)
{
	char reason[sizeof(r->error)], name[IF_NAMESIZE];
	int ifb, err;

	err = link_ifb_make(r, "change", "a change that is tried", name, &ifb);
	if (err)
		return err;
	err = try_change(r, ifb, up_ifindex, up);
	if (!err)
		err = try_change(r, ifb, down_ifindex, down);
	memcpy(reason, r->error, sizeof(reason));
	link_ifb_del(r, ifb);
	memcpy(r->error, reason, sizeof(reason));
	if (!err && up->link.set)
		err = link_qdisc_set(r, up_ifindex, up_handle, up, true);
	if (!err && down->link.set)
		err = link_qdisc_set(r, down_ifindex, 0, down, true);
	return err;
}
