// SPDX-License-Identifier: GPL-2.0
/*
 * link_where.c - links in the network namespaces of others, and of containers
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/command.h"
#include "lib/netns.h"
#include "link.h"

extern char **environ;

static int cannot_enter(const char *what, const char *name, const char *why)
{
	fprintf(stderr, "wale link: %s \"%s\": %s\n", what, name, why);
	return WALE_EXIT_FAILED;
}

/* What a program prints first, on standard output or else on standard error. */
struct answer {
	char out[128];
	char err[200];
	int status; /* -1: there is no such program */
};

static void read_line(int fd, char *text, size_t size)
{
	char rest[256];
	size_t length = 0;
	ssize_t got;

	while (length + 1 < size &&
	       (got = read(fd, text + length, size - 1 - length)) > 0)
		length += got;
	while (read(fd, rest, sizeof(rest)) > 0)
		;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

static void ask(struct answer *a, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int out[2], err[2], status = 0;
	pid_t pid;

	memset(a, 0, sizeof(*a));
	a->status = -1;
	if (pipe2(out, O_CLOEXEC))
		return;
	if (pipe2(err, O_CLOEXEC)) {
		close(out[0]);
		close(out[1]);
		return;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ))
		pid = -1;
	close(out[1]);
	close(err[1]);
	if (pid > 0) {
		read_line(out[0], a->out, sizeof(a->out));
		read_line(err[0], a->err, sizeof(a->err));
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		a->status = WIFEXITED(status) ? WEXITSTATUS(status) : 126;
	}
	close(out[0]);
	close(err[0]);
	posix_spawn_file_actions_destroy(&actions);
}

/* The process of a container that runs, as docker or podman reports it; or 0. */
static uint64_t pid_of(const char *name, char why[NETNS_WHY_MAX])
{
	static char *const programs[] = { "docker", "podman" };
	char said[NETNS_WHY_MAX] = "there is neither docker nor podman";
	struct answer a;
	uint64_t pid;
	size_t i;

	for (i = 0; i < 2; i++) {
		char *argv[] = { programs[i],	   "inspect",	 "--format",
				 "{{.State.Pid}}", (char *)name, NULL };

		ask(&a, argv);
		if (a.status < 0 || a.status == 127)
			continue;
		if (!a.status && parse_u64(a.out, &pid) && pid)
			return pid;
		snprintf(said, sizeof(said), "%.6s says: %.140s", programs[i],
			 a.status	       ? *a.err ? a.err : "nothing"
			 : !strcmp(a.out, "0") ? "it does not run"
					       : a.out);
	}
	memcpy(why, said, NETNS_WHY_MAX);
	return 0;
}

static int enter(const char *what, const char *name, const char *netns)
{
	char why[NETNS_WHY_MAX];
	int fd = netns_open(netns, why), err = 0;

	if (fd < 0)
		return cannot_enter(what, name, why);
	if (setns(fd, CLONE_NEWNET))
		err = errno;
	close(fd);
	return err ? cannot_enter(what, name, strerror(err)) : WALE_EXIT_OK;
}

/* A container that has the host's network would give the host a link. */
static bool is_host(uint64_t pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%llu/ns/net",
		 (unsigned long long)pid);
	return !stat("/proc/self/ns/net", &own) && !stat(path, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static int enter_container(const char *name)
{
	char why[NETNS_WHY_MAX], number[24];
	uint64_t pid;

	if (*name == '-' || !*name)
		return link_wrong("a container must follow", "--container");
	pid = pid_of(name, why);
	if (!pid)
		return cannot_enter("container", name, why);
	if (is_host(pid))
		return cannot_enter(
			"container", name,
			"it has the network of the host: leave out --container");
	snprintf(number, sizeof(number), "%llu", (unsigned long long)pid);
	return enter("container", name, number);
}

int link_enter(int *argc, char **argv)
{
	const char *netns = NULL, *container = NULL;
	int i, left = 0;

	for (i = 0; i < *argc; i++) {
		const char **value = !strcmp(argv[i], "--netns") ? &netns
				     : !strcmp(argv[i], "--container")
					     ? &container
					     : NULL;

		if (!value) {
			argv[left++] = argv[i];
			continue;
		}
		if (netns || container)
			return link_wrong("expected once, and alone:",
					  "--netns or --container");
		if (i + 1 == *argc)
			return link_wrong("a name must follow", argv[i]);
		*value = argv[++i];
	}
	*argc = left;
	argv[left] = NULL;
	if (netns)
		return enter("netns", netns, netns);
	return container ? enter_container(container) : WALE_EXIT_OK;
}
