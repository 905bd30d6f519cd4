// SPDX-License-Identifier: GPL-2.0
/*
 * link_tcx.c - programs of tcx at an interface: those of others, and one of ours
 *
 * tcx comes before the filters of an ingress qdisc, so that what a program there has a
 * verdict for never reaches them.  A link that is to come first has a program of its own
 * in front, which redirects to the ifb as the filter would.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "link.h"

/* bpf(2), as headers of kernels before 6.6 do not have it. */
#define PROG_LOAD 5
#define PROG_ATTACH 8
#define PROG_DETACH 9
#define PROG_GET_FD_BY_ID 13
#define OBJ_GET_INFO_BY_FD 15
#define PROG_QUERY 16
#define PROG_TYPE_SCHED_CLS 3
#define ATTACH_BEFORE 8
#define FUNC_REDIRECT 23

#define OUR_NAME "wale_link"
#define PROGRAMS_MAX 64

struct instruction {
	uint8_t code;
	uint8_t registers; /* source << 4 | destination */
	int16_t offset;
	int32_t value;
};

union request {
	struct {
		uint32_t type, count;
		uint64_t instructions, license;
		uint32_t log_level, log_size;
		uint64_t log;
		uint32_t kernel_version, flags;
		char name[16];
	} load;
	struct {
		uint32_t ifindex, fd, type, flags, replace_fd, relative_fd;
		uint64_t expected_revision;
	} attach;
	struct {
		uint32_t ifindex, type, flags, attach_flags;
		uint64_t ids;
		uint32_t count, pad;
		uint64_t rest[4];
	} query;
	struct {
		uint32_t fd, length;
		uint64_t info;
	} info;
	uint32_t id;
	char room[144];
};

static int bpf(int command, union request *request)
{
	long result = syscall(SYS_bpf, command, request, sizeof(*request));

	return result < 0 ? -errno : (int)result;
}

static int open_program(uint32_t id)
{
	union request request = { .room = "" };

	request.id = id;
	return bpf(PROG_GET_FD_BY_ID, &request);
}

/* struct bpf_prog_info has the name of a program at its byte 64. */
static bool is_ours(int fd)
{
	union request request = { .room = "" };
	char info[80] = "";

	request.info.fd = (uint32_t)fd;
	request.info.length = sizeof(info);
	request.info.info = (uintptr_t)info;
	return !bpf(OBJ_GET_INFO_BY_FD, &request) &&
	       !strncmp(info + 64, OUR_NAME, 16);
}

void link_tcx_look(int ifindex, enum link_tcx_hook hook, struct link_tcx *tcx)
{
	union request request = { .room = "" };
	uint32_t ids[PROGRAMS_MAX];
	uint32_t i;
	int fd;

	tcx->others = 0;
	tcx->ours = 0;
	request.query.ifindex = (uint32_t)ifindex;
	request.query.type = hook;
	request.query.ids = (uintptr_t)ids;
	request.query.count = PROGRAMS_MAX;
	/* An older kernel has none; who may not ask cannot know. */
	if (bpf(PROG_QUERY, &request))
		return;
	for (i = 0; i < request.query.count && i < PROGRAMS_MAX; i++) {
		fd = open_program(ids[i]);
		if (fd >= 0 && is_ours(fd))
			tcx->ours = ids[i];
		else
			tcx->others++;
		if (fd >= 0)
			close(fd);
	}
}

static int load(int ifb)
{
	const struct instruction code[] = {
		{ 0xb7, 1, 0, ifb }, /* r1 = ifb */
		{ 0xb7, 2, 0, 0 }, /* r2 = 0: to its egress */
		{ 0x85, 0, 0, FUNC_REDIRECT },
		{ 0x95, 0, 0, 0 }, /* return what that says */
	};
	union request request = { .room = "" };

	request.load.type = PROG_TYPE_SCHED_CLS;
	request.load.count = sizeof(code) / sizeof(code[0]);
	request.load.instructions = (uintptr_t)code;
	request.load.license = (uintptr_t) "GPL";
	strcpy(request.load.name, OUR_NAME);
	return bpf(PROG_LOAD, &request);
}

int link_tcx_attach(struct rtnl *r, int ifindex, int ifb)
{
	union request request = { .room = "" };
	int fd = load(ifb), err;

	if (fd >= 0) {
		request.attach.ifindex = (uint32_t)ifindex;
		request.attach.fd = (uint32_t)fd;
		request.attach.type = LINK_TCX_INGRESS;
		request.attach.flags = ATTACH_BEFORE;
		err = bpf(PROG_ATTACH, &request);
		close(fd);
	} else {
		err = fd;
	}
	if (err)
		snprintf(
			r->error, sizeof(r->error),
			"there can be no tcx program before those of others: %s",
			strerror(-err));
	return err;
}

int link_tcx_detach(struct rtnl *r, int ifindex, uint32_t id)
{
	union request request = { .room = "" };
	int fd = open_program(id), err;

	if (fd < 0)
		return 0; /* it has gone */
	request.attach.ifindex = (uint32_t)ifindex;
	request.attach.fd = (uint32_t)fd;
	request.attach.type = LINK_TCX_INGRESS;
	err = bpf(PROG_DETACH, &request);
	close(fd);
	if (err)
		snprintf(r->error, sizeof(r->error),
			 "its tcx program cannot be taken away: %s",
			 strerror(-err));
	return err;
}
