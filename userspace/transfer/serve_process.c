// SPDX-License-Identifier: GPL-2.0
/*
 * serve_process.c - the user of "wale serve", and its service manager: see
 * serve_process.h
 */
#include "serve_process.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define CAPS_U32S _LINUX_CAPABILITY_U32S_3

static bool bad_user(const struct serve_user *user, const char *expected)
{
	fprintf(stderr, "wale serve: --user '%s': expected %s\n", user->text,
		expected);
	return false;
}

bool serve_user_find(struct serve_user *user)
{
	const char *colon = strchr(user->text, ':');
	struct passwd *passwd;
	struct group *group;
	char *name;

	name = colon ? strndup(user->text, (size_t)(colon - user->text))
		     : strdup(user->text);
	passwd = name ? getpwnam(name) : NULL;
	free(name);
	if (!passwd)
		return bad_user(user, "a user of this host, as NAME[:GROUP]");
	if (!passwd->pw_uid)
		return bad_user(user, "a user other than root");
	user->uid = passwd->pw_uid;
	user->gid = passwd->pw_gid;
	if (!colon)
		return true;
	group = getgrnam(colon + 1);
	if (!group)
		return bad_user(user, "a group of this host after the colon");
	user->gid = group->gr_gid;
	return true;
}

/* All three sets of capabilities: empty, and empty for what would follow. */
static bool clear_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[CAPS_U32S] = { 0 };

	return !prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) &&
	       !syscall(SYS_capset, &header, none) &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Is it so, and will it stay so? */
static bool has_become(const struct serve_user *user)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[CAPS_U32S];
	uid_t uids[3];
	gid_t gids[3];

	if (getresuid(&uids[0], &uids[1], &uids[2]) ||
	    getresgid(&gids[0], &gids[1], &gids[2]) ||
	    syscall(SYS_capget, &header, caps))
		return false;
	for (int i = 0; i < 3; i++)
		if (uids[i] != user->uid || gids[i] != user->gid)
			return false;
	for (int i = 0; i < CAPS_U32S; i++)
		if (caps[i].effective || caps[i].permitted ||
		    caps[i].inheritable)
			return false;
	return getgroups(0, NULL) == 1 && setresuid(0, 0, 0) < 0;
}

bool serve_user_become(const struct serve_user *user)
{
	/* the group while root may still change it */
	if (setgroups(1, &user->gid) ||
	    setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid) ||
	    !clear_capabilities()) {
		fprintf(stderr,
			"wale serve: cannot become user '%s': %s: expected to be started as root\n",
			user->text, strerror(errno));
		return false;
	}
	if (has_become(user))
		return true;
	fprintf(stderr,
		"wale serve: cannot become user '%s': some privilege is left\n",
		user->text);
	return false;
}

void serve_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len;
	int fd;

	if (!path || !strchr("/@", *path))
		return;
	len = strlen(path);
	if (len < 2 || len >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, len);
	if (*path == '@')
		address.sun_path[0] = '\0'; /* the abstract namespace */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(
		fd, state, strlen(state), MSG_NOSIGNAL,
		(struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}
