// SPDX-License-Identifier: GPL-2.0
/*
 * link_to.c - the addresses that a link of some traffic is to, as text and as filters
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/attr.h>
#include <netlink/route/act/mirred.h>
#include <netlink/route/action.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/command.h"
#include "link.h"

static unsigned int bits_of(const struct link_to *to)
{
	return to->family == AF_INET ? 32 : 128;
}

/* The bits of a prefix, as a mask. */
static void mask_of(const struct link_to *to, uint8_t mask[16])
{
	unsigned int i;

	memset(mask, 0, 16);
	for (i = 0; i < to->prefix; i++)
		mask[i / 8] |= 0x80 >> i % 8;
}

const char *link_to_format(const struct link_to *to, char text[LINK_TO_MAX])
{
	char address[INET6_ADDRSTRLEN], net[LINK_TO_MAX];
	bool v6 = to->family == AF_INET6;

	inet_ntop(to->family, to->address, address, sizeof(address));
	if (to->prefix == bits_of(to))
		snprintf(net, sizeof(net), "%s", address);
	else
		snprintf(net, sizeof(net), "%s/%u", address, to->prefix);
	if (to->port)
		snprintf(text, LINK_TO_MAX, v6 ? "[%.60s]:%u" : "%.60s:%u", net,
			 to->port);
	else
		snprintf(text, LINK_TO_MAX, "%s", net);
	return text;
}

static int refuse(char why[LINK_TO_WHY_MAX], const char *text)
{
	snprintf(
		why, LINK_TO_WHY_MAX,
		"expected a network or an address, with a port or without, such as "
		"10.0.2.0/24, 10.0.2.7:443 or [2001:db8::/32]:443, got \"%.60s\"",
		text);
	return -EINVAL;
}

/* Takes a port off the end: 0, or -1 if there is none where there should be. */
static int split_port(struct link_to *to, char *text, char **net)
{
	char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');

	*net = text;
	if (*text == '[') {
		if (!bracket)
			return -1;
		*net = text + 1;
		*bracket = '\0';
		if (!bracket[1])
			return 0;
		colon = bracket + 1;
	} else if (!colon || colon != strchr(text, ':')) {
		return 0; /* none, or an address of IPv6 */
	}
	if (*colon != ':' || !parse_port(colon + 1, &to->port) || !to->port)
		return -1;
	*colon = '\0';
	return 0;
}

/* Refuses an address with bits behind its prefix, and says which one is meant. */
static int check_net(const struct link_to *to, char why[LINK_TO_WHY_MAX])
{
	char text[LINK_TO_MAX];
	struct link_to net = *to;
	uint8_t mask[16];
	int i;

	mask_of(to, mask);
	for (i = 0; i < 16; i++)
		net.address[i] &= mask[i];
	if (!memcmp(net.address, to->address, sizeof(net.address)))
		return 0;
	snprintf(why, LINK_TO_WHY_MAX,
		 "the network has an address of a host: expected %s",
		 link_to_format(&net, text));
	return -EINVAL;
}

int link_to_parse(struct link_to *to, const char *text,
		  char why[LINK_TO_WHY_MAX])
{
	char copy[LINK_TO_MAX], *net, *slash;
	uint64_t prefix;

	memset(to, 0, sizeof(*to));
	if (strlen(text) >= sizeof(copy))
		return refuse(why, text);
	strcpy(copy, text);
	if (split_port(to, copy, &net))
		return refuse(why, text);
	slash = strchr(net, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, net, to->address) == 1)
		to->family = AF_INET;
	else if (inet_pton(AF_INET6, net, to->address) == 1)
		to->family = AF_INET6;
	else
		return refuse(why, text);
	prefix = bits_of(to);
	if (slash && (!parse_u64(slash, &prefix) || prefix > bits_of(to))) {
		to->family = 0;
		return refuse(why, text);
	}
	to->prefix = prefix;
	return check_net(to, why);
}

bool link_to_equal(const struct link_to *a, const struct link_to *b)
{
	return a->family == b->family && a->prefix == b->prefix &&
	       a->port == b->port &&
	       !memcmp(a->address, b->address, sizeof(a->address));
}

unsigned int link_to_rank(const struct link_to *to)
{
	unsigned int wide = 2 * (bits_of(to) - to->prefix) + !to->port;

	return 2 * wide + (to->family == AF_INET6);
}

/* The filter's place: a packet passes the most specific link of those that it is for. */
static struct nl_msg *filter_message(int type, int flags,
				     const struct link_filter *f)
{
	uint16_t protocol = f->to->family == AF_INET ? ETH_P_IP : ETH_P_IPV6;
	uint32_t parent = f->up ? LINK_AT_EGRESS : LINK_AT_INGRESS;
	uint32_t handle = f->id | (f->udp ? 0x80000000U : 0);
	struct nl_msg *message;
	struct tcmsg *tc;

	message = rtnl_tc_message(type, flags, f->ifindex, parent, handle);
	if (!message)
		return NULL;
	tc = nlmsg_data(nlmsg_hdr(message));
	tc->tcm_info = TC_H_MAKE((f->base + link_to_rank(f->to)) << 16,
				 htons(protocol));
	if (nla_put_string(message, TCA_KIND, "flower")) {
		nlmsg_free(message);
		return NULL;
	}
	return message;
}

static int put_address(struct nl_msg *m, const struct link_filter *f)
{
	bool v6 = f->to->family == AF_INET6;
	int length = v6 ? 16 : 4, key, key_mask;
	uint8_t mask[16];

	if (!f->to->prefix)
		return 0;
	if (f->up) {
		key = v6 ? TCA_FLOWER_KEY_IPV6_DST : TCA_FLOWER_KEY_IPV4_DST;
		key_mask = v6 ? TCA_FLOWER_KEY_IPV6_DST_MASK
			      : TCA_FLOWER_KEY_IPV4_DST_MASK;
	} else {
		key = v6 ? TCA_FLOWER_KEY_IPV6_SRC : TCA_FLOWER_KEY_IPV4_SRC;
		key_mask = v6 ? TCA_FLOWER_KEY_IPV6_SRC_MASK
			      : TCA_FLOWER_KEY_IPV4_SRC_MASK;
	}
	mask_of(f->to, mask);
	return nla_put(m, key, length, f->to->address) ||
	       nla_put(m, key_mask, length, mask);
}

static int put_port(struct nl_msg *m, const struct link_filter *f)
{
	int key;

	if (!f->to->port)
		return 0;
	if (f->udp)
		key = f->up ? TCA_FLOWER_KEY_UDP_DST : TCA_FLOWER_KEY_UDP_SRC;
	else
		key = f->up ? TCA_FLOWER_KEY_TCP_DST : TCA_FLOWER_KEY_TCP_SRC;
	return nla_put_u8(m, TCA_FLOWER_KEY_IP_PROTO,
			  f->udp ? IPPROTO_UDP : IPPROTO_TCP) ||
	       nla_put_u16(m, key, htons(f->to->port));
}

struct rtnl_act *link_to_ifb(int ifb)
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

static int put_redirect(struct nl_msg *m, int ifb)
{
	struct rtnl_act *act = link_to_ifb(ifb);
	int err = act ? rtnl_act_fill(m, TCA_FLOWER_ACT, act) : -NLE_NOMEM;

	if (act)
		rtnl_act_put(act);
	return err;
}

int link_filter_add(struct rtnl *r, const struct link_filter *f)
{
	uint16_t type = htons(f->to->family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	struct nl_msg *m;
	struct nlattr *nest;

	m = filter_message(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, f);
	if (!m)
		return rtnl_request(r, NULL);
	nest = nla_nest_start(m, TCA_OPTIONS);
	if (!nest || nla_put_u16(m, TCA_FLOWER_KEY_ETH_TYPE, type) ||
	    put_address(m, f) || put_port(m, f) || put_redirect(m, f->ifb)) {
		nlmsg_free(m);
		return rtnl_request(r, NULL);
	}
	nla_nest_end(m, nest);
	return rtnl_request(r, m);
}

int link_filter_del(struct rtnl *r, const struct link_filter *f)
{
	return rtnl_request(r, filter_message(RTM_DELTFILTER, 0, f));
}
