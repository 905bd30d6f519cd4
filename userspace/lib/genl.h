/* SPDX-License-Identifier: GPL-2.0 */
/*
 * genl.h - requests to, and events from, a family of generic netlink
 */
#ifndef WALE_GENL_H
#define WALE_GENL_H

#include <stddef.h>

#include "rtnl.h"

struct genl {
	struct rtnl rtnl; /* .error tells why the last request failed */
	int family;
};

/* All that return an int: 0, or -errno. */

/* -ENOENT if there is no such family. */
int genl_open(struct genl *g, const char *family);
void genl_close(struct genl *g);

/* A request without attributes, or NULL. */
struct nl_msg *genl_message(const struct genl *g, int command);

/* As rtnl_request(), but each() gets the answer. */
int genl_get(struct genl *g, struct nl_msg *message,
	     void (*each)(const struct nlmsghdr *message, void *arg),
	     void *arg);

/* The attributes of a message, and how long they are. */
const void *genl_attributes(const struct nlmsghdr *message, size_t *length);
int genl_command(const struct nlmsghdr *message);

/* A socket for events, to be polled. */
int genl_events_open(int *fd);
int genl_events_join(struct genl *g, int fd, const char *family,
		     const char *group);

/*
 * Passes on what is there, or much of it, and does not wait.  -ENOBUFS if events were lost
 * before those that are there; then it is to be called again.
 */
int genl_events_receive(int fd,
			void (*each)(const struct nlmsghdr *message, void *arg),
			void *arg);

#endif /* WALE_GENL_H */
