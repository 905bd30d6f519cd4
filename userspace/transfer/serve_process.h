/* SPDX-License-Identifier: GPL-2.0 */
/*
 * serve_process.h - what "wale serve" is to the system: the user that it runs
 * as, and what it tells a service manager
 */
#ifndef WALE_SERVE_PROCESS_H
#define WALE_SERVE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct serve_user - whom to run as
 * @text: as on the command line
 * @uid: its number, never 0
 * @gid: its group, the only one
 */
struct serve_user {
	const char *text;
	uid_t uid;
	gid_t gid;
};

/*
 * Find "NAME[:GROUP]" of @user->text; without GROUP it is the user's own.
 * False with a message if there is no such user, or if it is root.
 */
bool serve_user_find(struct serve_user *user);

/*
 * Run as @user from now on, with no other group and no capability, and without
 * a way back.  False with a message if any of that cannot be had: then nothing
 * may be served.
 */
bool serve_user_become(const struct serve_user *user);

/*
 * Tell a service manager that waits for it (NOTIFY_SOCKET, see sd_notify(3))
 * a line such as "READY=1".
 */
void serve_notify(const char *state);

#endif
