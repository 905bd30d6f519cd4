/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rtnl.h - netlink requests whose failures say why
 */
#ifndef WALE_RTNL_H
#define WALE_RTNL_H

#include <netlink/msg.h>
#include <netlink/netlink.h>

struct rtnl {
	struct nl_sock *sock;
	struct nl_cb *callbacks;
	/* Of the last request that failed: the kernel's words, if it had any. */
	char error[256];
	int errnum;
	/* What the kernel warned of last. */
	char warning[256];
	/* Of the dump under way. */
	void (*each)(const struct nlmsghdr *message, void *arg);
	void *arg;
};

/* @protocol: NETLINK_ROUTE or NETLINK_SOCK_DIAG.  0, or -errno. */
int rtnl_open(struct rtnl *r, int protocol);
void rtnl_close(struct rtnl *r);

/*
 * Sends the message, which it frees, and waits for the answer.  Returns 0,
 * or -errno with r->error set.  What the kernel warns of goes to stderr,
 * once if one request after another brings the same warning.
 */
int rtnl_request(struct rtnl *r, struct nl_msg *message);

/*
 * The same, for a message that asks for a dump: each() gets every answer.  A
 * dump that was interrupted by a change is -EINTR.
 */
int rtnl_dump(struct rtnl *r, struct nl_msg *message,
	      void (*each)(const struct nlmsghdr *message, void *arg),
	      void *arg);

/* A message with the header of a request about a qdisc or a filter. */
struct nl_msg *rtnl_tc_message(int type, int flags, int ifindex,
			       uint32_t parent, uint32_t handle);

/* The same, with room for 64 kB of attributes. */
struct nl_msg *rtnl_tc_message_large(int type, int flags, int ifindex,
				     uint32_t parent, uint32_t handle);

#endif /* WALE_RTNL_H */
