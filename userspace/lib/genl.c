// SPDX-License-Identifier: GPL-2.0
/*
 * genl.c - requests to, and events from, a family of generic netlink
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "genl.h"

#define MESSAGE_BYTES 512
#define EVENT_BYTES (64 * 1024)
/* Room for some 10,000 events that nobody has read yet. */
#define EVENTS_BUFFER (8 * 1024 * 1024)

static int failed(struct genl *g, int errnum, const char *why)
{
	g->rtnl.errnum = errnum;
	snprintf(g->rtnl.error, sizeof(g->rtnl.error), "%s", why);
	return -errnum;
}

int genl_open(struct genl *g, const char *family)
{
	int err;

	g->family = 0;
	err = rtnl_open(&g->rtnl, NETLINK_GENERIC);
	if (err)
		return err;
	g->family = genl_ctrl_resolve(g->rtnl.sock, family);
	if (g->family >= 0)
		return 0;
	err = -g->family;
	rtnl_close(&g->rtnl);
	return failed(g, err == NLE_OBJ_NOTFOUND ? ENOENT : EIO,
		      nl_geterror(err));
}

void genl_close(struct genl *g)
{
	rtnl_close(&g->rtnl);
}

struct nl_msg *genl_message(const struct genl *g, int command)
{
	struct nl_msg *message = nlmsg_alloc_size(MESSAGE_BYTES);

	if (message && !genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ,
				    g->family, 0, NLM_F_REQUEST, command, 1)) {
		nlmsg_free(message);
		message = NULL;
	}
	return message;
}

/* The library asks for an acknowledgement too, which comes on its own. */
int genl_get(struct genl *g, struct nl_msg *message,
	     void (*each)(const struct nlmsghdr *message, void *arg), void *arg)
{
	struct rtnl *r = &g->rtnl;
	int err;

	r->each = each;
	r->arg = arg;
	r->errnum = 0;
	if (!message)
		return failed(g, ENOMEM, strerror(ENOMEM));
	err = nl_send_auto(r->sock, message);
	nlmsg_free(message);
	if (err >= 0)
		err = nl_recvmsgs(r->sock, r->callbacks);
	if (err >= 0 && !r->errnum)
		err = nl_wait_for_ack(r->sock);
	if (r->errnum)
		return -r->errnum;
	return err < 0 ? failed(g, EIO, nl_geterror(err)) : 0;
}

const void *genl_attributes(const struct nlmsghdr *message, size_t *length)
{
	int left = nlmsg_datalen(message) - GENL_HDRLEN;

	*length = left > 0 ? left : 0;
	return (const char *)nlmsg_data(message) + GENL_HDRLEN;
}

int genl_command(const struct nlmsghdr *message)
{
	const struct genlmsghdr *header = nlmsg_data(message);

	return nlmsg_datalen(message) < (int)GENL_HDRLEN ? 0 : header->cmd;
}

int genl_events_open(int *fd)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK };
	int size = EVENTS_BUFFER, err;

	*fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		     NETLINK_GENERIC);
	if (*fd < 0)
		return -errno;
	/* What has no address of its own gets no events. */
	if (bind(*fd, (struct sockaddr *)&own, sizeof(own))) {
		err = -errno;
		close(*fd);
		*fd = -1;
		return err;
	}
	/* Beyond the system's limit if we may, as far as it goes if not. */
	if (setsockopt(*fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(*fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return 0;
}

int genl_events_join(struct genl *g, int fd, const char *family,
		     const char *group)
{
	int id = genl_ctrl_resolve_grp(g->rtnl.sock, family, group);

	if (id < 0)
		return failed(g, ENOENT, nl_geterror(id));
	if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &id,
		       sizeof(id)))
		return failed(g, errno, strerror(errno));
	return 0;
}

/* So many at a time, so that a caller is not kept for ever. */
#define EVENTS_AT_A_TIME 1024

/* Only the kernel's word counts. */
static ssize_t receive(int fd, void *buffer, size_t size)
{
	struct sockaddr_nl from = { 0 };
	socklen_t length = sizeof(from);
	ssize_t got;

	do {
		got = recvfrom(fd, buffer, size, 0, (struct sockaddr *)&from,
			       &length);
	} while (got >= 0 && from.nl_pid);
	return got;
}

int genl_events_receive(int fd,
			void (*each)(const struct nlmsghdr *message, void *arg),
			void *arg)
{
	static char buffer[EVENT_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *message;
	ssize_t got;
	int left, i;

	for (i = 0; i < EVENTS_AT_A_TIME; i++) {
		got = receive(fd, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? 0 : -errno;
		left = got;
		for (message = (void *)buffer; nlmsg_ok(message, left);
		     message = nlmsg_next(message, &left))
			each(message, arg);
	}
	return 0;
}
