// SPDX-License-Identifier: GPL-2.0
/*
 * link_ifb.c - the ifb through which a direction of a link passes
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <string.h>

#include "link.h"

#define IFB_NAMES 1000

struct nl_msg *link_message(int type, int flags, int ifindex, unsigned int up)
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

int link_ifb_del(struct rtnl *r, int ifindex)
{
	return rtnl_request(r, link_message(RTM_DELLINK, 0, ifindex, 0));
}

/* The alias is what makes it ours; the interface is up afterwards. */
static int mark_ifb(struct rtnl *r, int ifindex, const char *alias)
{
	struct nl_msg *message;

	message = link_message(RTM_SETLINK, 0, ifindex, IFF_UP);
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

int link_ifb_make(struct rtnl *r, const char *iface, const char *alias,
		  char name[IF_NAMESIZE], int *ifb)
{
	char reason[sizeof(r->error)];
	unsigned int try;
	int err = -EEXIST;

	for (try = 0; err == -EEXIST && try < IFB_NAMES; try++) {
		ifb_name(name, iface, try);
		err = create_ifb(r, name);
	}
	if (err)
		return err;
	*ifb = (int)if_nametoindex(name);
	silence_ifb(r, *ifb);
	err = mark_ifb(r, *ifb, alias);
	if (err) {
		memcpy(reason, r->error, sizeof(reason));
		link_ifb_del(r, *ifb);
		memcpy(r->error, reason, sizeof(reason));
	}
	return err;
}
