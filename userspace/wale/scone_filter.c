// SPDX-License-Identifier: GPL-2.0
/*
 * scone_filter.c - wale scone dev: the filter at egress that has the action "scone"
 *
 * A filter is ours by the cookie of its action, which also says if the clsact qdisc came
 * with it.  It passes each packet on to the next filter.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>

#include "link.h"
#include "scone_filter.h"

#define FILTER_HANDLE 0x5c0e
#define FILTER_PRIO \
	0x1000 /* others that come later, and say none, come before */

static const char cookie[] = "wale scone";
static const char cookie_qdisc[] = "wale scone +q";

static int put_options(struct nl_msg *m, const struct scone_filter *f)
{
	const struct tc_scone parms = { .index = f->index,
					.action = TC_ACT_UNSPEC };
	struct nlattr *nest = nla_nest_start(m, TCA_ACT_OPTIONS | NLA_F_NESTED);
	int err;

	if (!nest || nla_put(m, TCA_SCONE_PARMS, sizeof(parms), &parms))
		return -1;
	if (f->rate)
		err = nla_put_u64(m, TCA_SCONE_RATE, f->rate);
	else
		err = nla_put_u32(m, TCA_SCONE_OF,
				  f->share ? TC_SCONE_OF_SHARE
					   : TC_SCONE_OF_PATH) ||
		      nla_put_u32(m, TCA_SCONE_DEVICE, f->device);
	if (err || nla_put_u64(m, TCA_SCONE_PERIOD, f->period_ns))
		return -1;
	nla_nest_end(m, nest);
	return 0;
}

/* A list of one action. */
static int put_action(struct nl_msg *m, int type, const struct scone_filter *f)
{
	struct nlattr *list = nla_nest_start(m, type), *one = NULL;
	const char *ours = f->qdisc ? cookie_qdisc : cookie;

	if (list)
		one = nla_nest_start(m, 1);
	if (!one || nla_put_string(m, TCA_ACT_KIND, "scone") ||
	    nla_put(m, TCA_ACT_COOKIE, (int)strlen(ours), ours) ||
	    put_options(m, f))
		return -1;
	nla_nest_end(m, one);
	nla_nest_end(m, list);
	return 0;
}

static struct nl_msg *filter_message(int type, int flags,
				     const struct scone_filter *f)
{
	struct nl_msg *m = rtnl_tc_message(type, flags, f->ifindex,
					   LINK_AT_EGRESS, FILTER_HANDLE);
	struct tcmsg *tc;

	if (!m)
		return NULL;
	tc = nlmsg_data(nlmsg_hdr(m));
	tc->tcm_info = TC_H_MAKE(f->prio << 16, htons(ETH_P_ALL));
	if (!nla_put_string(m, TCA_KIND, "matchall"))
		return m;
	nlmsg_free(m);
	return NULL;
}

static int add(struct rtnl *r, const struct scone_filter *f)
{
	struct nl_msg *m =
		filter_message(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, f);
	struct nlattr *nest = m ? nla_nest_start(m, TCA_OPTIONS) : NULL;

	if (!nest || put_action(m, TCA_MATCHALL_ACT, f)) {
		nlmsg_free(m);
		return rtnl_request(r, NULL);
	}
	nla_nest_end(m, nest);
	return rtnl_request(r, m);
}

/* Other parameters for the action that is there; its counters go on. */
static int change(struct rtnl *r, const struct scone_filter *f)
{
	const struct tcamsg head = { .tca_family = AF_UNSPEC };
	struct nl_msg *m = nlmsg_alloc();

	if (!m ||
	    !nlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, RTM_NEWACTION, 0,
		       NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE) ||
	    nlmsg_append(m, (void *)&head, sizeof(head), NLMSG_ALIGNTO) ||
	    put_action(m, TCA_ACT_TAB, f)) {
		nlmsg_free(m);
		return rtnl_request(r, NULL);
	}
	return rtnl_request(r, m);
}

static uint64_t number(struct nlattr *attribute)
{
	return attribute ? nla_get_u64(attribute) : 0;
}

static void read_options(struct scone_filter *f, struct nlattr *options)
{
	struct nlattr *tb[TCA_SCONE_MAX + 1];
	struct tc_scone parms;

	if (nla_parse_nested(tb, TCA_SCONE_MAX, options, NULL) ||
	    !tb[TCA_SCONE_PARMS])
		return;
	nla_memcpy(&parms, tb[TCA_SCONE_PARMS], sizeof(parms));
	f->index = parms.index;
	f->rate = number(tb[TCA_SCONE_RATE]);
	f->period_ns = number(tb[TCA_SCONE_PERIOD]);
	if (tb[TCA_SCONE_DEVICE])
		f->device = nla_get_u32(tb[TCA_SCONE_DEVICE]);
	if (tb[TCA_SCONE_OF])
		f->share = nla_get_u32(tb[TCA_SCONE_OF]) == TC_SCONE_OF_SHARE;
	f->seen = number(tb[TCA_SCONE_SEEN]);
	f->lowered = number(tb[TCA_SCONE_LOWERED]);
	f->limited = number(tb[TCA_SCONE_LIMITED]);
	f->malformed = number(tb[TCA_SCONE_MALFORMED]);
	f->signal = (uint8_t)number(tb[TCA_SCONE_SIGNAL]);
	f->found = true;
}

static bool cookie_is(const struct nlattr *attribute, const char *text)
{
	return attribute && nla_len(attribute) == (int)strlen(text) &&
	       !memcmp(nla_data(attribute), text, strlen(text));
}

/* The first action of a filter; false if it is not ours. */
static bool read_action(struct scone_filter *f, struct nlattr *options)
{
	struct nlattr *tb[TCA_MATCHALL_MAX + 1], *actions[2];
	struct nlattr *action[TCA_ACT_MAX + 1];

	if (nla_parse_nested(tb, TCA_MATCHALL_MAX, options, NULL) ||
	    !tb[TCA_MATCHALL_ACT] ||
	    nla_parse_nested(actions, 1, tb[TCA_MATCHALL_ACT], NULL) ||
	    !actions[1] ||
	    nla_parse_nested(action, TCA_ACT_MAX, actions[1], NULL))
		return false;
	f->qdisc = cookie_is(action[TCA_ACT_COOKIE], cookie_qdisc);
	if (!f->qdisc && !cookie_is(action[TCA_ACT_COOKIE], cookie))
		return false;
	if (action[TCA_ACT_OPTIONS])
		read_options(f, action[TCA_ACT_OPTIONS]);
	return f->found;
}

static void look_at(const struct nlmsghdr *message, void *arg)
{
	const struct tcmsg *tc = nlmsg_data(message);
	uint32_t prio = TC_H_MAJ(tc->tcm_info) >> 16;
	struct nlattr *tb[TCA_MAX + 1];
	struct scone_filter *f = arg;

	/* Each priority has a message of its own, without a handle. */
	if (message->nlmsg_type != RTM_NEWTFILTER || !tc->tcm_handle)
		return;
	if (nlmsg_parse((struct nlmsghdr *)message, sizeof(*tc), tb, TCA_MAX,
			NULL))
		return;
	if (!f->found && tc->tcm_handle == FILTER_HANDLE && tb[TCA_KIND] &&
	    !nla_strcmp(tb[TCA_KIND], "matchall") && tb[TCA_OPTIONS] &&
	    read_action(f, tb[TCA_OPTIONS]))
		f->prio = prio;
	else if (!f->others || prio < f->others)
		f->others = prio;
}

int scone_filter_look(struct rtnl *r, int ifindex, struct scone_filter *f)
{
	int tries = 0, err;

	do {
		memset(f, 0, sizeof(*f));
		f->ifindex = ifindex;
		err = rtnl_dump(r,
				rtnl_tc_message(RTM_GETTFILTER, 0, ifindex,
						LINK_AT_EGRESS, 0),
				look_at, f);
	} while (err == -EINTR && ++tries < LINK_TRIES);
	return err == -EINVAL || err == -EOPNOTSUPP ? 0 : err; /* no clsact */
}

/* There is one place for both, and filters at egress of an ingress qdisc are at its ingress. */
static int add_qdisc(struct rtnl *r, const char *iface, struct scone_filter *f)
{
	struct link_state state;
	int err;

	err = link_look(r, iface, &state);
	if (err || state.clsact)
		return err;
	if (state.ingress) {
		snprintf(
			r->error, sizeof(r->error),
			"the device has an ingress qdisc, in the place where clsact is needed");
		return -EEXIST;
	}
	err = link_ingress_add(r, f->ifindex, "clsact");
	f->qdisc = !err;
	return err;
}

static int add_with_qdisc(struct rtnl *r, const char *iface,
			  struct scone_filter *f)
{
	char reason[sizeof(r->error)];
	int err;

	err = add_qdisc(r, iface, f);
	if (err)
		return err;
	f->prio = f->others && f->others <= FILTER_PRIO ? f->others - 1
							: FILTER_PRIO;
	if (!f->prio) {
		snprintf(
			r->error, sizeof(r->error),
			"another filter at egress has the highest priority, 1; give that one a lower priority");
		return -EBUSY;
	}
	err = add(r, f);
	if (err && f->qdisc) {
		memcpy(reason, r->error, sizeof(reason));
		link_ingress_del(r, f->ifindex);
		memcpy(r->error, reason, sizeof(reason));
	}
	return err;
}

int scone_filter_set(struct rtnl *r, const char *iface,
		     const struct scone_filter *wanted)
{
	struct scone_filter f = *wanted, there;
	int err;

	err = scone_filter_look(r, f.ifindex, &there);
	if (err)
		return err;
	f.index = there.index;
	f.qdisc = there.qdisc;
	f.others = there.others;
	return there.found ? change(r, &f) : add_with_qdisc(r, iface, &f);
}

int scone_filter_del(struct rtnl *r, const char *iface,
		     const struct scone_filter *f)
{
	struct link_state state;
	int err;

	err = rtnl_request(r, filter_message(RTM_DELTFILTER, 0, f));
	if (err || !f->qdisc)
		return err;
	err = link_look(r, iface, &state);
	if (err || !state.clsact || state.filters || state.foreign ||
	    state.n_parts)
		return err;
	return link_ingress_del(r, f->ifindex);
}
