// SPDX-License-Identifier: GPL-2.0
/*
 * rtnl.c - netlink requests whose failures say why
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/handlers.h>
#include <netlink/socket.h>
#include <string.h>
#include <sys/socket.h>

#include "rtnl.h"

#define SMALL_MESSAGE 512
#define LARGE_MESSAGE (72 * 1024)

/* The kernel puts 32 kB into one answer at most. */
#define RECEIVE_BUFFER (40 * 1024)

/* The sentence in an answer, behind the (perhaps absent) request. */
static void find_text(char *text, size_t size, const struct nlmsghdr *header,
		      const struct nlmsgerr *error)
{
	size_t length = sizeof(*error), left;
	const struct nlattr *a;
	int rest;

	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		length += error->msg.nlmsg_len - sizeof(error->msg);
	left = header->nlmsg_len - NLMSG_HDRLEN;
	if (NLMSG_ALIGN(length) >= left)
		return;

	nla_for_each_attr(
		a, (struct nlattr *)((char *)error + NLMSG_ALIGN(length)),
		(int)(left - NLMSG_ALIGN(length)),
		rest) if (nla_type(a) == NLMSGERR_ATTR_MSG)
		nla_strlcpy(text, a, size);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	const struct nlmsghdr *header = (void *)((char *)error - NLMSG_HDRLEN);
	struct rtnl *r = arg;

	r->errnum = -error->error;
	if (r->errnum) {
		snprintf(r->error, sizeof(r->error), "%s", strerror(r->errnum));
		find_text(r->error, sizeof(r->error), header, error);
	}
	return NL_STOP;
}

/* What was done may come with a warning: for the user, as tc shows it. */
static int on_ack(struct nl_msg *message, void *arg)
{
	const struct nlmsghdr *header = nlmsg_hdr(message);
	struct rtnl *r = arg;
	char text[sizeof(r->warning)] = "";

	find_text(text, sizeof(text), header, nlmsg_data(header));
	if (*text && strcmp(text, r->warning)) {
		snprintf(r->warning, sizeof(r->warning), "%s", text);
		fprintf(stderr, "Warning: %s.\n", text);
	}
	return NL_STOP;
}

/* An error that ends a dump is in its last message. */
static int on_finish(struct nl_msg *message, void *arg)
{
	const struct nlmsghdr *header = nlmsg_hdr(message);
	struct rtnl *r = arg;
	int error = 0;

	if (header->nlmsg_len >= NLMSG_LENGTH(sizeof(error)))
		memcpy(&error, nlmsg_data(header), sizeof(error));
	if (error < 0) {
		r->errnum = -error;
		snprintf(r->error, sizeof(r->error), "%s", strerror(-error));
	}
	return NL_STOP;
}

static int on_valid(struct nl_msg *message, void *arg)
{
	struct rtnl *r = arg;

	if (r->each)
		r->each(nlmsg_hdr(message), r->arg);
	return NL_OK;
}

static int failed(struct rtnl *r, int nl_error)
{
	/* Only what the library itself could not do; no more precise. */
	r->errnum = nl_error == -NLE_DUMP_INTR ? EINTR
		    : nl_error == -NLE_NOMEM   ? ENOMEM
					       : EIO;
	snprintf(r->error, sizeof(r->error), "netlink: %s",
		 nl_geterror(nl_error));
	return -r->errnum;
}

int rtnl_open(struct rtnl *r, int protocol)
{
	int one = 1, err;

	memset(r, 0, sizeof(*r));
	r->callbacks = nl_cb_alloc(NL_CB_DEFAULT);
	r->sock = r->callbacks ? nl_socket_alloc_cb(r->callbacks) : NULL;
	if (!r->sock) {
		rtnl_close(r);
		return failed(r, -NLE_NOMEM);
	}
	err = nl_connect(r->sock, protocol);
	if (err) {
		rtnl_close(r);
		return failed(r, err);
	}
	nl_socket_set_msg_buf_size(r->sock, RECEIVE_BUFFER);
	/* Kernels before 4.12 know no reasons: then there are none. */
	setsockopt(nl_socket_get_fd(r->sock), SOL_NETLINK, NETLINK_EXT_ACK,
		   &one, sizeof(one));
	setsockopt(nl_socket_get_fd(r->sock), SOL_NETLINK, NETLINK_CAP_ACK,
		   &one, sizeof(one));

	nl_cb_err(r->callbacks, NL_CB_CUSTOM, on_error, r);
	nl_cb_set(r->callbacks, NL_CB_ACK, NL_CB_CUSTOM, on_ack, r);
	nl_cb_set(r->callbacks, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, r);
	nl_cb_set(r->callbacks, NL_CB_VALID, NL_CB_CUSTOM, on_valid, r);
	return 0;
}

void rtnl_close(struct rtnl *r)
{
	if (r->sock)
		nl_socket_free(r->sock);
	if (r->callbacks)
		nl_cb_put(r->callbacks);
	r->sock = NULL;
	r->callbacks = NULL;
}

/* An error that the kernel reported is in r->errnum by then. */
static int exchange(struct rtnl *r, struct nl_msg *message)
{
	int err;

	r->errnum = 0;
	r->error[0] = '\0';
	if (!message)
		return failed(r, -NLE_NOMEM);
	err = nl_send_auto(r->sock, message);
	nlmsg_free(message);
	if (err >= 0)
		err = nl_recvmsgs(r->sock, r->callbacks);
	if (r->errnum)
		return -r->errnum;
	return err < 0 ? failed(r, err) : 0;
}

int rtnl_request(struct rtnl *r, struct nl_msg *message)
{
	r->each = NULL;
	if (message)
		nlmsg_hdr(message)->nlmsg_flags |= NLM_F_ACK;
	return exchange(r, message);
}

int rtnl_dump(struct rtnl *r, struct nl_msg *message,
	      void (*each)(const struct nlmsghdr *message, void *arg),
	      void *arg)
{
	r->each = each;
	r->arg = arg;
	if (message) {
		nlmsg_hdr(message)->nlmsg_flags |= NLM_F_DUMP;
		nlmsg_hdr(message)->nlmsg_flags &= ~NLM_F_ACK;
	}
	return exchange(r, message);
}

static struct nl_msg *tc_message(size_t size, int type, int flags,
				 const struct tcmsg *tc)
{
	struct nl_msg *message = nlmsg_alloc_size(size);

	if (!message)
		return NULL;
	if (!nlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, type, 0,
		       flags | NLM_F_REQUEST) ||
	    nlmsg_append(message, (void *)tc, sizeof(*tc), NLMSG_ALIGNTO)) {
		nlmsg_free(message);
		return NULL;
	}
	return message;
}

struct nl_msg *rtnl_tc_message(int type, int flags, int ifindex,
			       uint32_t parent, uint32_t handle)
{
	struct tcmsg tc = { .tcm_ifindex = ifindex,
			    .tcm_parent = parent,
			    .tcm_handle = handle };

	return tc_message(SMALL_MESSAGE, type, flags, &tc);
}

struct nl_msg *rtnl_tc_message_large(int type, int flags, int ifindex,
				     uint32_t parent, uint32_t handle)
{
	struct tcmsg tc = { .tcm_ifindex = ifindex,
			    .tcm_parent = parent,
			    .tcm_handle = handle };

	return tc_message(LARGE_MESSAGE, type, flags, &tc);
}
