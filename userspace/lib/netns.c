// SPDX-License-Identifier: GPL-2.0
/*
 * netns.c - network namespaces of others: see netns.h
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "netns.h"
#include "units.h"

int netns_open(const char *name, char why[NETNS_WHY_MAX])
{
	uint64_t pid;
	char file[80];
	int fd = -1;

	errno = 0;
	if (!strchr(name, '/') && strlen(name) < 60) {
		snprintf(file, sizeof(file), "/run/netns/%s", name);
		fd = open(file, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && !units_parse_count(name, INT32_MAX, &pid)) {
			snprintf(file, sizeof(file), "/proc/%u/ns/net",
				 (unsigned int)pid);
			fd = open(file, O_RDONLY | O_CLOEXEC);
		}
	}
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		snprintf(why, NETNS_WHY_MAX,
			 "cannot open \"%.60s\": no permission; a process of "
			 "another user needs CAP_SYS_PTRACE",
			 name);
	else if (fd < 0)
		snprintf(why, NETNS_WHY_MAX,
			 "cannot open \"%.60s\": expected a name of 'ip netns' "
			 "or a process",
			 name);
	return fd;
}
