/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link.h - the two directions of an interface
 *
 *              wale (root)              ingress: matchall, mirred redirect
 *   host --> egress of IFACE --> wire      wire --> ingress of IFACE
 *              "up"                                     |
 *                                         host <-- wale (root of the ifb)
 *                                                     "down"
 *
 * What "wale link" made is recognised by handle and kind of the root qdisc and by
 * the alias of the ifb, and nothing else is ever removed.  The alias has the index
 * of the interface, which may get another name.
 */
#ifndef WALE_LINK_H
#define WALE_LINK_H

#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/link_config.h"
#include "lib/link_stats.h"
#include "lib/rtnl.h"

#define LINK_ALIAS "wale link of " /* IFACE, and in brackets its index */
#define LINK_ROOT_HANDLE 0x7a1e0000U
#define LINK_FILTER_HANDLE 0x7a1eU
#define LINK_FILTER_PRIO 1

#define LINK_TRIES 16 /* to look, when devices come and go meanwhile */

/* What is on an interface now. */
struct link_state {
	int ifindex; /* 0: there is no such interface */
	uint32_t mtu;
	int ifb; /* its ifb, if "wale link" made one, or 0 */
	char ifb_name[IF_NAMESIZE];
	char renamed[IF_NAMESIZE]; /* what had this name when it got a link */
	char root_kind[32];
	uint32_t root_handle; /* 0: the default qdisc */
	bool ingress; /* an ingress or clsact qdisc */
	bool clsact;
	bool our_filter; /* the redirect to the ifb */
	int filters; /* on ingress, all */
};

static inline bool link_root_is_ours(const struct link_state *s)
{
	return s->root_handle == LINK_ROOT_HANDLE &&
	       !strcmp(s->root_kind, "wale");
}

/* What the alias of an ifb of ours says; false if it is another's. */
struct link_alias {
	char iface[IF_NAMESIZE]; /* when the link was made */
	char name[IF_NAMESIZE]; /* now; "" if the interface is gone */
	int ifindex;
};

bool link_alias_read(struct link_alias *alias, const struct nlattr *attribute);

/* All return 0 or -errno, with the reason in r->error. */
int link_look(struct rtnl *r, const char *iface, struct link_state *state);
int link_add(struct rtnl *r, const char *iface, struct link_state *state,
	     const struct link_config *up, const struct link_config *down);
/* Removes whatever of a link of ours there is. */
int link_remove(struct rtnl *r, const struct link_state *state);

/* link_dump.c: one qdisc of kind wale, as dumped. */
struct link_qdisc {
	int ifindex;
	uint32_t parent;
	uint32_t handle;
	const void *options;
	size_t options_length;
	struct link_stats stats;
};

/* False if the message is about another kind of qdisc. */
bool link_qdisc_read(const struct nlmsghdr *message, struct link_qdisc *q);

/* link_warn.c: what does not pass a link that is there, or is to be; a sentence each. */
#define LINK_WARNINGS_MAX 4

struct link_warnings {
	char text[LINK_WARNINGS_MAX][240];
	size_t n;
};

/* A direction that is not there is NULL. */
void link_warn(struct link_warnings *w, const struct link_state *state,
	       const struct link_config *up, const struct link_config *down);

/* link_show.c: @iface may be NULL, for all links. */
int link_show(struct rtnl *r, const char *iface, bool stats, bool json);

#endif /* WALE_LINK_H */
