// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_link.c - wale link: sets both directions of an interface
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "lib/command.h"
#include "link.h"

static void usage(FILE *to)
{
	fprintf(to,
		"Usage: wale link add IFACE [--to NETWORK[:PORT]] [OPTION]... "
		"[--up OPTION...]\n"
		"                     [--down OPTION...]\n"
		"       wale link change IFACE [--to NETWORK[:PORT]] OPTION...\n"
		"       wale link show [IFACE] [--stats] [--json]\n"
		"       wale link del IFACE [--to NETWORK[:PORT]]\n"
		"\n"
		"Makes a wide-area link of both directions of an interface: up "
		"is what leaves by\n"
		"it, down what arrives (through an ifb of its own).  An OPTION "
		"sets both, or, after\n"
		"--up or --down, that direction alone:\n");
	link_config_help(to, "--");
	fprintf(to,
		"  --to NETWORK[:PORT]    only what is to these addresses, and "
		"from them; several\n"
		"                         times, each a link of its own\n"
		"  --order first|last     before or after filters of others at "
		"the interface\n"
		"  --replace              whatever qdisc is on the interface\n"
		"\n"
		"With each of them:\n"
		"  --netns NAME|PID       in the network namespace of this name "
		"(ip netns) or process\n"
		"  --container NAME       in that of a container of docker or "
		"podman\n"
		"\n"
		"A seed for both is that of up; down gets the next number.  "
		"Feedback is of up\n"
		"alone: what arrives was sent elsewhere.  Traces and sessions "
		"of both start together.\n"
		"\n"
		"Examples:\n"
		"  wale link add eth0 --rate 10mbit --delay 25ms --limit 30kb\n"
		"  wale link add eth0 --delay 20ms --up --rate 1mbit --down "
		"--rate 16mbit\n"
		"  wale link add eth0 --to 10.0.2.0/24:443 --delay 80ms\n"
		"  wale link add eth0 --container web --rate 2mbit\n"
		"  wale link change eth0 --delay 40ms\n"
		"  wale link show eth0 --json\n"
		"  wale link del eth0\n");
}

static int cannot(const char *what, const char *iface, const char *why)
{
	fprintf(stderr, "wale link: cannot %s%s%s: %s\n", what,
		*iface ? " " : "", iface, why);
	return WALE_EXIT_FAILED;
}

static bool has_link(const struct link_state *state)
{
	return state->ifb || link_root_is_ours(state);
}

/* A sentence about why the interface may not be touched, or NULL. */
static const char *in_the_way(const struct link_state *state,
			      const struct link_request *a)
{
	if (!state->ifindex)
		return "there is no such interface";
	if (state->n_parts)
		return "it has links to some addresses; remove them first";
	if (a->replace)
		return NULL;
	if (has_link(state))
		return "it has a wale link; --replace replaces it";
	if (state->root_handle)
		return "it has a root qdisc; --replace replaces it";
	if (state->ingress && a->order == LINK_ORDER_NONE)
		return state->clsact
			       ? "it has a clsact qdisc; --order last or first keeps it, --replace removes it"
			       : "it has an ingress qdisc; --order last or first keeps it, --replace removes it";
	return link_no_place(state, a->order);
}

static bool any_is_there(const struct link_state *state,
			 const struct link_request *a)
{
	size_t i;

	for (i = 0; i < a->n_more; i++)
		if (link_part_find(state, &a->more[i]))
			return true;
	return link_part_find(state, &a->to) != NULL;
}

/* The same for a link to some addresses. */
static const char *in_the_way_to(const struct link_state *state,
				 const struct link_request *a)
{
	if (!state->ifindex)
		return "there is no such interface";
	if (has_link(state))
		return "it has a wale link of all traffic; remove it first";
	if (state->ingress && !state->clsact)
		return "it has an ingress qdisc, beside which there can be no clsact: remove it first";
	if (any_is_there(state, a) && !a->replace)
		return "it has a wale link to these addresses; --replace replaces it";
	if (state->n_parts + a->n_more + !link_part_find(state, &a->to) >
	    LINK_PARTS_MAX)
		return "there can be 64 links to some addresses, and no more";
	if (state->n_parts)
		return NULL;
	if (a->order == LINK_ORDER_FIRST && state->tcx.others)
		return "it has a tcx program at ingress, before which no filter can come: --order last";
	return link_no_place(state, a->order);
}

/* A link is made, or removed, as a whole: who wants to end this waits for it. */
static void hold_signals(sigset_t *before)
{
	sigset_t set;

	end_signals(&set);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* The losses of links that are made together differ. */
static void next_seed(struct link_config *c)
{
	if (link_is_set(&c->link, TCA_WALE_SEED))
		c->link.value[TCA_WALE_SEED] += 2;
}

/* Takes the links to the first @made networks away again, and keeps the reason. */
static void undo_parts(struct rtnl *r, const char *iface,
		       const struct link_request *a, size_t made)
{
	char reason[sizeof(r->error)];
	const struct link_part *part;
	struct link_state state;

	memcpy(reason, r->error, sizeof(reason));
	while (made--) {
		if (link_look(r, iface, &state))
			break;
		part = link_part_find(&state,
				      made ? &a->more[made - 1] : &a->to);
		if (part)
			link_part_remove(r, &state, part);
	}
	memcpy(r->error, reason, sizeof(reason));
}

/* A link for each network, or none. */
static int make_parts(struct rtnl *r, const char *iface,
		      struct link_state *state, const struct link_request *a,
		      struct link_config *up, struct link_config *down)
{
	size_t made;
	int err = 0;

	for (made = 0; made <= a->n_more; made++) {
		if (made) {
			next_seed(up);
			next_seed(down);
			err = link_look(r, iface, state);
		}
		if (!err)
			err = link_part_add(r, iface, state,
					    made ? &a->more[made - 1] : &a->to,
					    up, down, a->order);
		if (err)
			break;
	}
	if (err)
		undo_parts(r, iface, a, made);
	return err;
}

static void warn(const char *iface, const struct link_state *state,
		 const struct link_config *up, const struct link_config *down)
{
	struct link_warnings warnings;
	size_t i;

	link_warn(&warnings, state, up, down);
	for (i = 0; i < warnings.n; i++)
		fprintf(stderr, "wale link: warning: %s: %s\n", iface,
			warnings.text[i]);
}

static int make(struct rtnl *r, const char *iface, struct link_state *state,
		const struct link_request *a)
{
	struct link_config up, down;
	sigset_t before;
	int status, err;

	status = link_request_directions(a, &up, &down);
	if (status)
		return status;
	hold_signals(&before);
	if (a->to.family)
		err = make_parts(r, iface, state, a, &up, &down);
	else
		err = link_add(r, iface, state, &up, &down, a->order);
	if (err)
		status = cannot("add a link to", iface, r->error);
	else
		warn(iface, state, &up, &down);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int add(struct rtnl *r, const char *iface, int argc, char **argv)
{
	struct link_request a = { .replace = false };
	struct link_state state;
	const char *why;
	int status;

	status = link_request_parse(&a, argc, argv);
	if (!status && link_look(r, iface, &state)) {
		status = cannot("add a link to", iface, r->error);
	} else if (!status) {
		why = a.to.family ? in_the_way_to(&state, &a)
				  : in_the_way(&state, &a);
		status = why ? cannot("add a link to", iface, why)
			     : make(r, iface, &state, &a);
	}
	link_request_free(&a);
	return status;
}

/* It has no link: say so, and where the one that it had may be. */
static int has_none(const char *what, const char *iface,
		    const struct link_state *state, const struct link_to *to)
{
	char why[64 + IF_NAMESIZE];

	snprintf(why, sizeof(why), "%s%s%s",
		 !state->ifindex ? "there is no such interface"
		 : to->family	 ? "it has none to these addresses"
				 : "it has none",
		 *state->renamed ? "; what had this name is now " : "",
		 state->renamed);
	return cannot(what, iface, why);
}

/* Is there what is asked for: a link, or one to these addresses? */
static bool is_there(const struct link_state *state, const struct link_to *to)
{
	return to->family ? link_part_find(state, to) != NULL
			  : has_link(state) || state->n_parts;
}

/* A request that may only say which link is meant. */
static int parse_which(struct link_request *a, int argc, char **argv)
{
	int status;

	if (argc && strcmp(*argv, "--to"))
		return link_wrong("what is", *argv);
	status = link_request_parse(a, argc, argv);
	if (!status && argc > 2)
		return link_wrong("what is", argv[2]);
	return status;
}

static int del(struct rtnl *r, const char *iface, int argc, char **argv)
{
	struct link_request a = { .replace = false };
	struct link_state state;
	sigset_t before;
	int status, err;

	status = parse_which(&a, argc, argv);
	link_request_free(&a);
	if (status)
		return status;
	if (link_look(r, iface, &state))
		return cannot("remove the link of", iface, r->error);
	if (!is_there(&state, &a.to))
		return has_none("remove the link of", iface, &state, &a.to);
	hold_signals(&before);
	if (state.n_parts)
		err = link_part_remove(
			r, &state,
			a.to.family ? link_part_find(&state, &a.to) : NULL);
	else
		err = link_remove(r, &state);
	if (err)
		status = cannot("remove the link of", iface, r->error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

/* Of all options that a link has now, whenever they were given. */
static void warn_of_present(struct rtnl *r, const char *iface,
			    const struct link_state *state,
			    const struct link_part *part)
{
	struct link_config up, down;
	bool has_up, has_down;

	has_up = !link_present(r, part ? part->up : state->ifindex, &up);
	has_down = !link_present(r, part ? part->down : state->ifb, &down);
	warn(iface, state, has_up ? &up : NULL, has_down ? &down : NULL);
	if (has_up)
		link_config_free(&up);
	if (has_down)
		link_config_free(&down);
}

/* What is said to both directions of a link that is there. */
static int alter(struct rtnl *r, const char *iface,
		 const struct link_state *state, const struct link_request *a)
{
	const struct link_part *part = link_part_find(state, &a->to);
	struct link_config up, down;
	sigset_t before;
	int status, err;

	status = link_request_directions(a, &up, &down);
	if (status)
		return status;
	if (!up.link.set && !down.link.set)
		return link_wrong("an option must follow", iface);
	if (part ? !part->up || !part->down
		 : !state->ifb || !link_root_is_ours(state))
		return cannot("change the link of", iface,
			      "one of its directions is missing");
	hold_signals(&before);
	if (part)
		err = link_change(r, part->up, 0, part->down, &up, &down);
	else
		err = link_change(r, state->ifindex, LINK_ROOT_HANDLE,
				  state->ifb, &up, &down);
	if (err)
		status = cannot("change the link of", iface, r->error);
	else
		warn_of_present(r, iface, state, part);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int change(struct rtnl *r, const char *iface, int argc, char **argv)
{
	struct link_request a = { .replace = false };
	struct link_state state;
	int status;

	status = link_request_parse(&a, argc, argv);
	if (!status && (a.replace || a.order || a.n_more))
		status = link_wrong("only add takes",
				    a.replace ? "--replace"
				    : a.order ? "--order"
					      : "more than one --to");
	if (!status && link_look(r, iface, &state))
		status = cannot("change the link of", iface, r->error);
	else if (!status && !is_there(&state, &a.to))
		status = has_none("change the link of", iface, &state, &a.to);
	else if (!status && !a.to.family && state.n_parts)
		status = cannot(
			"change the link of", iface,
			"it has links to some addresses: --to says which");
	else if (!status)
		status = alter(r, iface, &state, &a);
	link_request_free(&a);
	return status;
}

static int show(struct rtnl *r, int argc, char **argv)
{
	bool stats = false, json = false;
	const struct link_to all = { .family = 0 };
	const char *iface = NULL;
	struct link_state state;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "--stats") || !strcmp(*argv, "-s"))
			stats = true;
		else if (!strcmp(*argv, "--json") || !strcmp(*argv, "-j"))
			json = true;
		else if (**argv == '-' || iface)
			return link_wrong("what is", *argv);
		else
			iface = *argv;
	}
	if (iface) {
		if (link_look(r, iface, &state))
			return cannot("show the link of", iface, r->error);
		if (!is_there(&state, &all))
			return has_none("show the link of", iface, &state,
					&all);
	}
	if (link_show(r, iface, stats, json))
		return cannot("show the links", "", r->error);
	return WALE_EXIT_OK;
}

static int run(struct rtnl *r, int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "show";

	if (!strcmp(verb, "show"))
		return show(r, argc > 2 ? argc - 2 : 0, argv + 2);
	if (strcmp(verb, "add") && strcmp(verb, "change") &&
	    strcmp(verb, "del"))
		return link_wrong("no verb", verb);
	if (argc < 3 || *argv[2] == '-')
		return link_wrong("an interface must follow", verb);
	if (!strcmp(verb, "add"))
		return add(r, argv[2], argc - 3, argv + 3);
	if (!strcmp(verb, "change"))
		return change(r, argv[2], argc - 3, argv + 3);
	return del(r, argv[2], argc - 3, argv + 3);
}

int cmd_link(int argc, char **argv)
{
	struct rtnl r;
	int status, i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
			continue;
		usage(stdout);
		return WALE_EXIT_OK;
	}
	status = link_enter(&argc, argv);
	if (status)
		return status;
	if (rtnl_open(&r, NETLINK_ROUTE))
		return cannot("open", "netlink", r.error);
	status = run(&r, argc, argv);
	rtnl_close(&r);
	return status;
}
