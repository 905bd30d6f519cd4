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
 *
 * A link of some traffic, "--to NETWORK", leaves the root qdisc as it is.  It has an
 * ifb for each direction, to which filters of clsact redirect; the ifb of up gives
 * packets back to the interface, where they go on to its root qdisc.
 */
#ifndef WALE_LINK_H
#define WALE_LINK_H

#include <linux/pkt_sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/link_config.h"
#include "lib/link_stats.h"
#include "lib/rtnl.h"

#define LINK_ALIAS "wale link of " /* IFACE, and in brackets its index */
#define LINK_ROOT_HANDLE 0x7a1e0000U
#define LINK_FILTER_HANDLE 0x7a1eU
#define LINK_INGRESS 0xffff0000U /* the handle of an ingress or clsact qdisc */
#define LINK_AT_INGRESS 0xfffffff2U /* the parent of filters there */
#define LINK_AT_EGRESS 0xfffffff3U

/* Of filters of ours: before or after those of others. */
#define LINK_PRIO_FIRST 1
#define LINK_PRIO_LAST 0xf000
#define LINK_PRIO_RANKS 520 /* more than link_to_rank() has */

#define LINK_TRIES 16 /* to look, when devices come and go meanwhile */

struct rtnl_act;

enum link_order { LINK_ORDER_NONE, LINK_ORDER_FIRST, LINK_ORDER_LAST };

/* link_to.c: a network, and a port of TCP and UDP. */
#define LINK_TO_MAX 80
#define LINK_TO_WHY_MAX 240

struct link_to {
	sa_family_t family; /* 0: all traffic */
	uint8_t address[16];
	unsigned int prefix;
	uint16_t port; /* 0: any, and any protocol */
};

int link_to_parse(struct link_to *to, const char *text,
		  char why[LINK_TO_WHY_MAX]);
const char *link_to_format(const struct link_to *to, char text[LINK_TO_MAX]);
bool link_to_equal(const struct link_to *a, const struct link_to *b);
/* The most specific has the least; below LINK_PRIO_RANKS. */
unsigned int link_to_rank(const struct link_to *to);

/* A filter of clsact that takes what is to a network, or from it, to an ifb. */
struct link_filter {
	int ifindex;
	int ifb;
	int id; /* its handle */
	bool up;
	bool udp; /* of a port: of UDP, and not of TCP */
	unsigned int base; /* LINK_PRIO_FIRST or LINK_PRIO_LAST */
	const struct link_to *to;
};

int link_filter_add(struct rtnl *r, const struct link_filter *f);
int link_filter_del(struct rtnl *r, const struct link_filter *f);
/* The action of a filter that redirects to an ifb; NULL: no memory. */
struct rtnl_act *link_to_ifb(int ifb);

/* link_tcx.c: programs at a hook of tcx. */
enum link_tcx_hook { LINK_TCX_INGRESS = 46, LINK_TCX_EGRESS = 47 };

struct link_tcx {
	uint32_t others;
	uint32_t
		ours; /* the id of that which redirects to an ifb; 0: there is none */
};

void link_tcx_look(int ifindex, enum link_tcx_hook hook, struct link_tcx *tcx);
int link_tcx_attach(struct rtnl *r, int ifindex, int ifb);
int link_tcx_detach(struct rtnl *r, int ifindex, uint32_t id);

/* A link of some traffic. */
#define LINK_PARTS_MAX 64

struct link_part {
	struct link_to to;
	unsigned int base; /* of its filters */
	int id; /* their handle: the index that the ifb of up has, or had */
	int up, down; /* its ifbs; 0: there is none */
	char up_name[IF_NAMESIZE], down_name[IF_NAMESIZE];
};

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
	bool beside; /* the ingress qdisc was there before our links */
	bool our_filter; /* the redirect to the ifb */
	uint32_t our_prio; /* of it */
	int filters; /* on ingress, all */
	/* Filters of others, at ingress and egress, and their priorities. */
	unsigned int foreign;
	uint32_t foreign_least, foreign_most;
	struct link_tcx tcx; /* at ingress */
	struct link_part part[LINK_PARTS_MAX];
	size_t n_parts;
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
	struct link_to to; /* of a link of some traffic */
	bool up;
	unsigned int base;
	int id;
	bool beside;
};

bool link_alias_read(struct link_alias *alias, const struct nlattr *attribute);

/* All return 0 or -errno, with the reason in r->error. */
int link_look(struct rtnl *r, const char *iface, struct link_state *state);
/* link_setup.c: what is there goes, but for an ingress qdisc if there is an @order. */
int link_add(struct rtnl *r, const char *iface, struct link_state *state,
	     const struct link_config *up, const struct link_config *down,
	     enum link_order order);
int link_change(struct rtnl *r, int up_ifindex, uint32_t up_handle,
		int down_ifindex, const struct link_config *up,
		const struct link_config *down);
/* The options that the link at the root of @ifindex has now; -ENOENT: there is none. */
int link_present(struct rtnl *r, int ifindex, struct link_config *c);
/* Removes whatever of a link of ours there is. */
int link_remove(struct rtnl *r, const struct link_state *state);
/* A new qdisc at the root, or (with @change) other options of the one that is there. */
int link_qdisc_set(struct rtnl *r, int ifindex, uint32_t handle,
		   const struct link_config *c, bool change);
/* An ingress or clsact qdisc, for which there is one place. */
int link_ingress_add(struct rtnl *r, int ifindex, const char *kind);
int link_ingress_del(struct rtnl *r, int ifindex);
/* A sentence about why there is no place for filters of ours, or NULL. */
const char *link_no_place(const struct link_state *state,
			  enum link_order order);
unsigned int link_base(enum link_order order);
/* Keeps the first failure and its reason; the rest is tried all the same. */
void link_keep_first(struct rtnl *r, int err, int *first, char *reason);

/* link_part.c */
int link_part_add(struct rtnl *r, const char *iface, struct link_state *state,
		  const struct link_to *to, const struct link_config *up,
		  const struct link_config *down, enum link_order order);
const struct link_part *link_part_find(const struct link_state *state,
				       const struct link_to *to);
/* Removes @part, or all of them (NULL). */
int link_part_remove(struct rtnl *r, struct link_state *state,
		     const struct link_part *part);

/* link_ifb.c */
struct nl_msg *link_message(int type, int flags, int ifindex, unsigned int up);
int link_ifb_make(struct rtnl *r, const char *iface, const char *alias,
		  char name[IF_NAMESIZE], int *ifb);
int link_ifb_del(struct rtnl *r, int ifindex);

/*
 * link_request.c: what a command line says.  Both return an exit status, and have said
 * what is wrong.
 */
struct link_request {
	struct link_config both, up, down;
	struct link_to to; /* the first one */
	struct link_to more[LINK_PARTS_MAX - 1]; /* only add takes these */
	size_t n_more;
	enum link_order order;
	bool replace;
};

int link_request_parse(struct link_request *a, int argc, char **argv);
int link_request_directions(const struct link_request *a,
			    struct link_config *up, struct link_config *down);
void link_request_free(struct link_request *a);
int link_wrong(const char *what, const char *word);

/*
 * link_where.c: takes --netns NAME|PID and --container NAME out of the words, and goes
 * there.  An exit status.
 */
int link_enter(int *argc, char **argv);

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
#define LINK_WARNINGS_MAX 8

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
