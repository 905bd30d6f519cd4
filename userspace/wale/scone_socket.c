// SPDX-License-Identifier: GPL-2.0
/*
 * scone_socket.c - wale scone listen: the packets
 *
 * The kernel passes on only UDP that begins as a SCONE packet does: others cost a few
 * instructions each, and no copy.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/scone.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scone.h"

#define LOAD_OF_KERNEL(what) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + (what))
#define LOAD(size, mode, at) BPF_STMT(BPF_LD | (size) | (mode), at)
#define IF(test, k, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, k, yes, no)

/* Offsets are from the IP header on. */
static struct sock_filter filter[] = {
	LOAD_OF_KERNEL(SKF_AD_PKTTYPE),
	IF(BPF_JEQ, PACKET_HOST, 0, 20),
	LOAD_OF_KERNEL(SKF_AD_PROTOCOL),
	IF(BPF_JEQ, ETH_P_IPV6, 10, 0),
	IF(BPF_JEQ, ETH_P_IP, 0, 17),
	/* IPv4: UDP, no fragment, a long header, the version */
	LOAD(BPF_B, BPF_ABS, 9),
	IF(BPF_JEQ, IPPROTO_UDP, 0, 15),
	LOAD(BPF_H, BPF_ABS, 6),
	IF(BPF_JSET, 0x3fff, 13, 0),
	BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	LOAD(BPF_B, BPF_IND, 8),
	IF(BPF_JSET, SCONE_LONG_HEADER, 0, 10),
	LOAD(BPF_W, BPF_IND, 9),
	BPF_STMT(BPF_JMP | BPF_JA, 5),
	/* IPv6: UDP without other headers, a long header, the version */
	LOAD(BPF_B, BPF_ABS, 6),
	IF(BPF_JEQ, IPPROTO_UDP, 0, 6),
	LOAD(BPF_B, BPF_ABS, 48),
	IF(BPF_JSET, SCONE_LONG_HEADER, 0, 4),
	LOAD(BPF_W, BPF_ABS, 49),
	/* both */
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SCONE_VERSION_MASK),
	IF(BPF_JEQ, SCONE_VERSION, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

int scone_socket_open(unsigned int ifindex)
{
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = ifindex,
	};
	int fd, err;

	/* nothing arrives before the filter is there */
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (!setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			sizeof(program)) &&
	    !bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

ssize_t scone_socket_read(int fd, uint8_t *data, size_t room)
{
	ssize_t length;

	do {
		length = recv(fd, data, room, 0);
	} while (length < 0 && errno == EINTR);
	return length < 0 && errno == EAGAIN ? 0 : length;
}
