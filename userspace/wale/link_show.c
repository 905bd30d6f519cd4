// SPDX-License-Identifier: GPL-2.0
/*
 * link_show.c - shows the links that "wale link" made
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "link.h"

/* One direction. */
struct direction {
	bool found;
	struct link_config config;
	struct link_stats stats;
};

struct shown {
	const struct link_part *part; /* NULL: the link of all traffic */
	int up_ifindex;
	uint32_t up_handle; /* 0: any */
	int down_ifindex;
	struct direction up;
	struct direction down;
};

/* The links of an interface. */
struct shown_links {
	struct shown *link;
	size_t n;
};

/* The direction whose qdisc it is, or NULL. */
static struct direction *direction_of(struct shown *shown,
				      const struct link_qdisc *q)
{
	if (q->ifindex == shown->up_ifindex &&
	    (!shown->up_handle || q->handle == shown->up_handle))
		return &shown->up;
	if (shown->down_ifindex && q->ifindex == shown->down_ifindex)
		return &shown->down;
	return NULL;
}

static void read_direction(const struct nlmsghdr *message, void *arg)
{
	struct shown_links *links = arg;
	struct direction *d = NULL;
	struct link_qdisc q;
	size_t i;

	if (!link_qdisc_read(message, &q) || q.parent != TC_H_ROOT)
		return;
	for (i = 0; !d && i < links->n; i++)
		d = direction_of(&links->link[i], &q);
	if (!d)
		return;
	link_config_free(&d->config);
	d->stats = q.stats;
	d->found = !link_config_decode(&d->config, q.options, q.options_length);
}

static void print_direction(const char *name, const struct direction *d,
			    bool stats)
{
	printf("  %-5s", name);
	if (d->found)
		link_config_print(stdout, &d->config);
	else
		printf("missing");
	putchar('\n');
	if (d->found && stats) {
		link_stats_print(stdout, &d->stats, "       ", "\n");
		putchar('\n');
	}
}

static void json_direction(struct json *j, const char *name,
			   const struct direction *d, bool stats)
{
	if (!d->found)
		return;
	json_open(j, name, '{');
	link_config_json(j, &d->config);
	if (stats) {
		json_open(j, "stats", '{');
		link_stats_json(j, &d->stats);
		json_close(j, '}');
	}
	json_close(j, '}');
}

static void json_one(struct json *j, const char *iface,
		     const struct link_state *state, const struct shown *shown,
		     bool stats, const struct link_warnings *warnings)
{
	const struct link_part *part = shown->part;
	char to[LINK_TO_MAX];
	size_t i;

	json_open(j, NULL, '{');
	json_put_string(j, "interface", iface);
	if (part) {
		json_put_string(j, "to", link_to_format(&part->to, to));
		json_put_string(j, "ifb_up", part->up_name);
		json_put_string(j, "ifb", part->down_name);
	} else if (state->ifb) {
		json_put_string(j, "ifb", state->ifb_name);
	}
	json_direction(j, "up", &shown->up, stats);
	json_direction(j, "down", &shown->down, stats);
	if (warnings->n)
		json_open(j, "warnings", '[');
	for (i = 0; i < warnings->n; i++)
		json_put_string(j, NULL, warnings->text[i]);
	if (warnings->n)
		json_close(j, ']');
	json_close(j, '}');
}

static void print_one(const char *iface, const struct link_state *state,
		      const struct shown *shown, bool stats,
		      const struct link_warnings *warnings)
{
	const struct link_part *part = shown->part;
	char to[LINK_TO_MAX];
	size_t i;

	if (part)
		printf("%s to %s (ifb %s, %s)\n", iface,
		       link_to_format(&part->to, to),
		       *part->up_name ? part->up_name : "missing",
		       *part->down_name ? part->down_name : "missing");
	else
		printf("%s (ifb %s)\n", iface,
		       state->ifb ? state->ifb_name : "missing");
	print_direction("up", &shown->up, stats);
	print_direction("down", &shown->down, stats);
	for (i = 0; i < warnings->n; i++)
		printf("  warning: %s\n", warnings->text[i]);
}

/* The link of an interface, or one of its links of some traffic. */
static void show_one(const char *iface, const struct link_state *state,
		     const struct shown *shown, bool stats, struct json *j)
{
	struct link_warnings warnings;

	link_warn(&warnings, state, shown->up.found ? &shown->up.config : NULL,
		  shown->down.found ? &shown->down.config : NULL);
	if (j)
		json_one(j, iface, state, shown, stats, &warnings);
	else
		print_one(iface, state, shown, stats, &warnings);
}

/* What to look for: its links of some traffic, or else the link of all of it. */
static int shown_begin(struct shown_links *links,
		       const struct link_state *state)
{
	size_t i;

	links->n = state->n_parts ? state->n_parts : 1;
	links->link = calloc(links->n, sizeof(*links->link));
	if (!links->link)
		return -ENOMEM;
	links->link[0].up_ifindex = state->ifindex;
	links->link[0].up_handle = LINK_ROOT_HANDLE;
	links->link[0].down_ifindex = state->ifb;
	for (i = 0; i < state->n_parts; i++)
		links->link[i] =
			(struct shown){ .part = &state->part[i],
					.up_ifindex = state->part[i].up,
					.down_ifindex = state->part[i].down };
	return 0;
}

static void shown_free(struct shown_links *links)
{
	size_t i;

	for (i = 0; i < links->n; i++) {
		link_config_free(&links->link[i].up.config);
		link_config_free(&links->link[i].down.config);
	}
	free(links->link);
}

static int show_all(struct rtnl *r, const char *iface, bool stats,
		    struct json *j)
{
	struct shown_links links;
	struct link_state state;
	size_t i;
	int err;

	err = link_look(r, iface, &state);
	if (!err)
		err = shown_begin(&links, &state);
	if (err)
		return err;
	err = rtnl_dump(r, rtnl_tc_message(RTM_GETQDISC, 0, 0, 0, 0),
			read_direction, &links);
	for (i = 0; !err && i < links.n; i++)
		show_one(iface, &state, &links.link[i], stats, j);
	shown_free(&links);
	return err;
}

/* The interfaces of our ifbs, with the names that they have now. */
struct names {
	char (*name)[IF_NAMESIZE];
	size_t n;
};

static void collect_name(const struct nlmsghdr *message, void *arg)
{
	const struct nlattr *text;
	struct names *names = arg;
	struct link_alias alias;
	const char *name;
	void *room;
	size_t i;

	text = nlmsg_find_attr((struct nlmsghdr *)message,
			       sizeof(struct ifinfomsg), IFLA_IFALIAS);
	if (!link_alias_read(&alias, text))
		return;
	name = *alias.name ? alias.name : alias.iface;
	for (i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return;
	room = realloc(names->name, (names->n + 1) * sizeof(*names->name));
	if (!room)
		return;
	names->name = room;
	strcpy(names->name[names->n++], name);
}

static int collect_names(struct rtnl *r, struct names *names)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct nl_msg *message;
	int tries = 0, err;

	/* again, if devices come or go meanwhile */
	do {
		names->n = 0;
		message = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
		if (message && nlmsg_append(message, &info, sizeof(info), 0)) {
			nlmsg_free(message);
			message = NULL;
		}
		err = rtnl_dump(r, message, collect_name, names);
	} while (err == -EINTR && ++tries < LINK_TRIES);
	return err;
}

int link_show(struct rtnl *r, const char *iface, bool stats, bool json)
{
	struct json_file file = { .file = stdout };
	struct json j = { &json_file_ops, &file };
	struct names names = { NULL, 0 };
	int err = 0;
	size_t i;

	if (iface) {
		names.name = calloc(1, sizeof(*names.name));
		if (!names.name)
			return -ENOMEM;
		snprintf(names.name[names.n++], IF_NAMESIZE, "%s", iface);
	} else {
		err = collect_names(r, &names);
		if (err)
			goto out;
	}

	if (json)
		json_open(&j, NULL, '[');
	for (i = 0; !err && i < names.n; i++)
		err = show_all(r, names.name[i], stats, json ? &j : NULL);
	if (json) {
		json_close(&j, ']');
		putchar('\n');
	}
out:
	free(names.name);
	return err;
}
