// SPDX-License-Identifier: GPL-2.0
/*
 * rate_channel.c - requests to the rate feedback channel
 */
#include <errno.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rate.h"

/* A dump that a change interrupted is begun anew, so often. */
#define DUMP_TRIES 16

int rate_channel_open(struct genl *g)
{
	int err = genl_open(g, RATE_FEEDBACK_FAMILY_NAME);

	if (err == -ENOENT)
		snprintf(g->rtnl.error, sizeof(g->rtnl.error),
			 "there is no channel; is the module %s loaded?",
			 RATE_FEEDBACK_FAMILY_NAME);
	return err;
}

static int put(void *to, int type, const void *data, size_t length)
{
	return nla_put(to, type, length, data) ? -EMSGSIZE : 0;
}

static struct nl_msg *key_message(struct genl *g, int command,
				  const struct rate_key *key)
{
	struct nl_msg *message = genl_message(g, command);

	if (message && rate_key_encode(key, put, message)) {
		nlmsg_free(message);
		message = NULL;
	}
	return message;
}

int rate_channel_set(struct genl *g, const struct rate_path *path)
{
	struct nl_msg *message = genl_message(g, RATE_FEEDBACK_CMD_SET);

	if (message && rate_path_encode(path, put, message)) {
		nlmsg_free(message);
		message = NULL;
	}
	return rtnl_request(&g->rtnl, message);
}

int rate_channel_del(struct genl *g, const struct rate_key *key)
{
	return rtnl_request(&g->rtnl,
			    key_message(g, RATE_FEEDBACK_CMD_DEL, key));
}

static void read_path(const struct nlmsghdr *message, void *arg)
{
	size_t length;
	const void *data = genl_attributes(message, &length);

	rate_path_decode(arg, data, length);
}

int rate_channel_get(struct genl *g, const struct rate_key *key,
		     struct rate_path *path)
{
	memset(path, 0, sizeof(*path));
	return genl_get(g, key_message(g, RATE_FEEDBACK_CMD_GET, key),
			read_path, path);
}

/* Room for one more of @size bytes, of which there are @n; or NULL. */
static void *grow(void *array, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return array;
	array = realloc(array, (n ? 2 * n : 64) * size);
	if (array)
		*room = n ? 2 * n : 64;
	return array;
}

/* Where a dump goes; without memory for it, it stays short. */
struct collection {
	struct rate_paths *paths;
	struct rate_flows *flows;
	bool no_memory;
};

static void collect_path(const struct nlmsghdr *message, void *arg)
{
	struct collection *c = arg;
	struct rate_paths *paths = c->paths;
	struct rate_path *path;

	path = grow(paths->path, paths->n, &paths->room, sizeof(*path));
	if (!path) {
		c->no_memory = true;
		return;
	}
	paths->path = path;
	read_path(message, &path[paths->n++]);
}

static void collect_flow(const struct nlmsghdr *message, void *arg)
{
	struct collection *c = arg;
	struct rate_flows *flows = c->flows;
	struct rate_flow *flow;
	const void *data;
	size_t length;

	flow = grow(flows->flow, flows->n, &flows->room, sizeof(*flow));
	if (!flow) {
		c->no_memory = true;
		return;
	}
	flows->flow = flow;
	data = genl_attributes(message, &length);
	rate_flow_decode(&flow[flows->n++], data, length);
}

static int collected(struct genl *g, const struct collection *c, int err)
{
	if (err || !c->no_memory)
		return err;
	snprintf(g->rtnl.error, sizeof(g->rtnl.error), "%s", strerror(ENOMEM));
	return -ENOMEM;
}

int rate_channel_paths(struct genl *g, struct rate_paths *paths)
{
	struct collection c = { .paths = paths };
	int err, tries = 0;

	do {
		paths->n = 0;
		err = rtnl_dump(&g->rtnl,
				genl_message(g, RATE_FEEDBACK_CMD_GET),
				collect_path, &c);
	} while (err == -EINTR && ++tries < DUMP_TRIES);
	return collected(g, &c, err);
}

static struct nl_msg *flows_message(struct genl *g, const uint32_t *id)
{
	struct nl_msg *message = genl_message(g, RATE_FEEDBACK_CMD_FLOW_GET);

	if (message && id &&
	    nla_put_u32(message, RATE_FEEDBACK_A_FLOW_PATH, *id)) {
		nlmsg_free(message);
		message = NULL;
	}
	return message;
}

int rate_channel_flows(struct genl *g, const uint32_t *id,
		       struct rate_flows *flows)
{
	struct collection c = { .flows = flows };
	int err, tries = 0;

	do {
		flows->n = 0;
		err = rtnl_dump(&g->rtnl, flows_message(g, id), collect_flow,
				&c);
	} while (err == -EINTR && ++tries < DUMP_TRIES);
	return collected(g, &c, err);
}

int rate_channel_events(struct genl *g, bool paths, bool flows, int *fd)
{
	static const char family[] = RATE_FEEDBACK_FAMILY_NAME;
	int err;

	err = genl_events_open(fd);
	if (err) {
		snprintf(g->rtnl.error, sizeof(g->rtnl.error), "%s",
			 strerror(-err));
		return err;
	}
	if (paths)
		err = genl_events_join(g, *fd, family,
				       RATE_FEEDBACK_MCGRP_PATHS);
	if (!err && flows)
		err = genl_events_join(g, *fd, family,
				       RATE_FEEDBACK_MCGRP_FLOWS);
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}
