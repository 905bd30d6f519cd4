// SPDX-License-Identifier: GPL-2.0
/*
 * link_trace_file.c - traces that a request cannot carry, in a file for the kernel
 *
 * Up to WALE_TRACE_FILE_STEPS_MAX steps, a file in memory will do.  More of them are
 * written to a file of the kernel's family "wale", which checks them as they come.  This
 * is a part of the plugin of tc, which has no library for netlink.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attributes.h"
#include "link_config.h"

/* A request of the family, or of the one that knows all families. */
struct family_message {
	struct nlmsghdr header;
	struct genlmsghdr genl;
	char attributes[4096];
};

#define FAMILY_HEAD (NLMSG_HDRLEN + GENL_HDRLEN)

/* The answer takes the place of the request.  Returns 0, or -errno. */
static int family_ask(int sock, struct family_message *m, size_t length)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t got;
	int code;

	m->header.nlmsg_len = FAMILY_HEAD + length;
	m->header.nlmsg_flags = NLM_F_REQUEST;
	if (sendto(sock, m, m->header.nlmsg_len, 0, (void *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	do
		got = recv(sock, m, sizeof(*m), 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (got < (ssize_t)FAMILY_HEAD || m->header.nlmsg_len > (size_t)got)
		return -EPROTO;
	if (m->header.nlmsg_type != NLMSG_ERROR)
		return 0;
	memcpy(&code, (char *)m + NLMSG_HDRLEN, sizeof(code));
	return code ? code : -EPROTO;
}

/* A number of the answer, with two or four bytes; or -EPROTO. */
static int family_number(const struct family_message *m, int type)
{
	size_t left = m->header.nlmsg_len - FAMILY_HEAD;
	const char *at = m->attributes;
	struct attribute a;
	uint16_t number;

	while (attribute_next(&at, &left, &a)) {
		if (a.type != type)
			continue;
		if (a.length >= sizeof(uint32_t))
			return attribute_u32(&a);
		if (a.length == sizeof(number)) {
			memcpy(&number, a.data, sizeof(number));
			return number;
		}
	}
	return -EPROTO;
}

static int family_find(int sock)
{
	struct family_message m = {
		.header.nlmsg_type = GENL_ID_CTRL,
		.genl.cmd = CTRL_CMD_GETFAMILY,
	};
	size_t length = 0;
	int err;

	err = attribute_append(m.attributes, sizeof(m.attributes), &length,
			       CTRL_ATTR_FAMILY_NAME, WALE_GENL_NAME,
			       sizeof(WALE_GENL_NAME));
	if (!err)
		err = family_ask(sock, &m, length);
	return err ? err : family_number(&m, CTRL_ATTR_FAMILY_ID);
}

/* An empty file for steps: its descriptor, or -errno. */
static int family_file(uint32_t columns)
{
	struct family_message m = { .genl.cmd = WALE_CMD_TRACE_NEW,
				    .genl.version = WALE_GENL_VERSION };
	size_t length = 0;
	int sock, err;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0)
		return -errno;
	err = family_find(sock);
	if (err >= 0) {
		m.header.nlmsg_type = err;
		err = 0;
		if (columns != WALE_TRACE_RATE)
			err = attribute_append(
				m.attributes, sizeof(m.attributes), &length,
				WALE_A_COLUMNS, &columns, sizeof(columns));
		if (!err)
			err = family_ask(sock, &m, length);
	}
	if (!err)
		err = family_number(&m, WALE_A_FD);
	close(sock);
	return err;
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t done = write(fd, data, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		data += done;
		length -= done;
	}
	return 0;
}

static int file_in_memory(void)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int link_trace_fd(const struct link_trace *trace)
{
	static int fd = -1;
	int err;

	if (fd >= 0)
		close(fd);
	fd = trace->n_steps > WALE_TRACE_FILE_STEPS_MAX
		     ? family_file(trace->columns)
		     : file_in_memory();
	if (fd < 0)
		return fd;
	err = write_all(fd, (const char *)trace->values,
			trace->n_steps * link_trace_step_size(trace->columns));
	if (!err)
		return fd;
	close(fd);
	fd = -1;
	return err;
}
