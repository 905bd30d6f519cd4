/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate.h - the parts of "wale rate"
 *
 *	cmd_rate.c	the words after "wale rate"; set and del
 *	rate_words.c	the words that subcommands share
 *	rate_channel.c	requests to the kernel
 *	rate_show.c	show
 *	rate_monitor.c	monitor
 *	rate_play.c	play
 *	rate_share.c	share: from its command line to its end
 *	rate_control.c	share: who gets how much
 *	rate_wait.c	until something happens: a time, a signal, an event
 */
#ifndef WALE_RATE_H
#define WALE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd.h"
#include "lib/genl.h"
#include "lib/rate_path.h"

#define RATE_SECOND UINT64_C(1000000000)

/* What these return is for the subcommand to return. */
#define rate_wrong(...) cmd_wrong("rate", __VA_ARGS__)
#define rate_cannot(what, why) cmd_cannot("rate", what, why)

/* rate_words.c: with the channel, or an exit status. */
int rate_open(struct genl *g, const char *verb);
/*
 * Takes a key from the front of the words; what it returns is an exit status,
 * and *taken how many words it was.
 */
int rate_take_key(struct rate_key *key, int argc, char **argv, int *taken);
/* The options of a path, to the end of the words, as they are or with --. */
int rate_take_options(struct rate_path *path, int argc, char **argv);

/*
 * The subcommands; argv[0] is the first word behind them.  They open the channel
 * when they know what is wanted; the caller closes it.
 */
int rate_show(struct genl *g, int argc, char **argv);
int rate_monitor(struct genl *g, int argc, char **argv);
int rate_play(struct genl *g, int argc, char **argv);
int rate_share(struct genl *g, int argc, char **argv);

/* rate_channel.c: 0, or -errno with the reason in g->rtnl.error. */
int rate_channel_open(struct genl *g);
int rate_channel_set(struct genl *g, const struct rate_path *path);
/* All that were set, if @key is of kind RATE_KEY_NONE. */
int rate_channel_del(struct genl *g, const struct rate_key *key);
int rate_channel_get(struct genl *g, const struct rate_key *key,
		     struct rate_path *path);

struct rate_paths {
	struct rate_path *path;
	size_t n;
	size_t room;
};

struct rate_flows {
	struct rate_flow *flow;
	size_t n;
	size_t room;
};

/*
 * All there are; of flows, those of path *id, if @id is not NULL.  What was in
 * the list is forgotten, its room is used again.  -EINTR if there were too many
 * changes meanwhile, again and again: then something may be missing.
 */
int rate_channel_paths(struct genl *g, struct rate_paths *paths);
int rate_channel_flows(struct genl *g, const uint32_t *id,
		       struct rate_flows *flows);

/* A socket with the events of one of the family's groups; or of both. */
int rate_channel_events(struct genl *g, bool paths, bool flows, int *fd);

/* rate_wait.c */
struct rate_wait {
	int timer;
	int signals;
	int events; /* -1: none */
};

enum rate_wake {
	RATE_WAKE_TIME,
	RATE_WAKE_SIGNAL, /* SIGINT, SIGTERM, SIGHUP: it is to end */
	RATE_WAKE_EVENTS,
	RATE_WAKE_FAILED, /* errno tells why */
};

#define RATE_FOREVER UINT64_MAX

uint64_t rate_now(void);
/* From here on signals wait until they are asked for.  0, or -errno. */
int rate_wait_open(struct rate_wait *wait, int events);
void rate_wait_close(struct rate_wait *wait);
/* Until @when, on CLOCK_MONOTONIC, at the latest. */
enum rate_wake rate_wait(struct rate_wait *wait, uint64_t when_ns);

#endif /* WALE_RATE_H */
