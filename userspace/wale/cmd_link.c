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
		"Usage: wale link add IFACE [OPTION]... [--up OPTION...] "
		"[--down OPTION...]\n"
		"       wale link show [IFACE] [--stats] [--json]\n"
		"       wale link del IFACE\n"
		"\n"
		"Makes a wide-area link of both directions of an interface: up "
		"is what leaves by\n"
		"it, down what arrives (through an ifb of its own).  An OPTION "
		"sets both, or, after\n"
		"--up or --down, that direction alone:\n");
	link_config_help(to, "--");
	fprintf(to,
		"  --replace              whatever qdisc is on the interface\n"
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
		"  wale link show eth0 --json\n"
		"  wale link del eth0\n");
}

static int wrong(const char *what, const char *word)
{
	fprintf(stderr, "wale link: %s%s%s; see 'wale link --help'\n", what,
		*word ? " " : "", word);
	return WALE_EXIT_USAGE;
}

static int cannot(const char *what, const char *iface, const char *why)
{
	fprintf(stderr, "wale link: cannot %s%s%s: %s\n", what,
		*iface ? " " : "", iface, why);
	return WALE_EXIT_FAILED;
}

static int option_error(const struct link_error *error)
{
	fputs("wale link: ", stderr);
	link_error_print(stderr, error);
	return WALE_EXIT_USAGE;
}

struct add_request {
	struct link_config both, up, down;
	bool replace;
};

/*
 * A sender listens to the device that it sends by: nobody would listen to the
 * ifb of down.
 */
static int check_feedback(const struct add_request *a)
{
	if (!link_is_set(&a->down.link, TCA_WALE_FEEDBACK) ||
	    !a->down.nest[LINK_NEST_FEEDBACK].set)
		return WALE_EXIT_OK;
	return wrong("no sender of this host listens to down: give",
		     "--feedback to up");
}

/* A word that is no option of a link: the direction of those behind it, or -1. */
static int parse_direction(struct add_request *a, const char *word,
			   struct link_config **c)
{
	if (!strcmp(word, "--up"))
		*c = &a->up;
	else if (!strcmp(word, "--down"))
		*c = &a->down;
	else if (!strcmp(word, "--replace"))
		a->replace = true;
	else
		return -1;
	return 0;
}

/* Options begin with --, so that they cannot be taken for their values. */
static int parse_add(struct add_request *a, int argc, char **argv)
{
	struct link_config *c = &a->both;
	struct link_error error;
	int taken, before = 0;
	char *word;

	for (; argc > 0; argc -= taken, argv += taken) {
		if (!parse_direction(a, *argv, &c)) {
			before = 0;
			taken = 1;
			continue;
		}
		word = *argv;
		taken = 0;
		if (!strncmp(word, "--", 2)) {
			*argv += 2;
			taken = link_config_parse(c, argc, argv, &error);
		}
		if (!taken) {
			*argv = word;
			taken = link_config_unknown(argv, before, "--", &error);
		}
		if (taken < 0)
			return option_error(&error);
		before = taken;
	}
	return WALE_EXIT_OK;
}

/* Not "sessions off", which is what a new link has. */
static bool has_sessions(const struct link_config *c)
{
	return link_is_set(&c->link, TCA_WALE_SESSIONS) &&
	       c->nest[LINK_NEST_SESSIONS].set;
}

static bool has_trace(const struct link_config *c)
{
	return link_is_set(&c->link, TCA_WALE_TRACE);
}

/* What @both sets and @own does not, as far as they can be had together. */
static struct link_config merge(const struct link_config *own,
				const struct link_config *both)
{
	uint64_t take = both->link.set & ~own->link.set;
	struct link_config c = *both;
	const struct link_option *o;
	int type;

	for (o = link_options; o->syntax; o++)
		if (own->link.set & o->bits)
			take &= ~o->bits;
	if (link_is_set(&own->link, TCA_WALE_RATE64) || has_sessions(own))
		take &= ~(LINK_BIT(TCA_WALE_TRACE) |
			  LINK_BIT(TCA_WALE_TRACE_END));
	if (has_trace(own))
		take &= ~(LINK_BIT(TCA_WALE_RATE64) |
			  LINK_BIT(TCA_WALE_SESSIONS));
	c.link.set = take;
	for (type = 1; type <= link_options_set.max; type++)
		if (link_is_set(&own->link, type))
			link_config_take(&c, own, type);
	if (has_trace(&c) && !has_sessions(&c))
		c.link.set &= ~LINK_BIT(TCA_WALE_SESSIONS);
	return c;
}

static bool begins(const struct link_config *c)
{
	return has_trace(c) || has_sessions(c);
}

/*
 * Traces and sessions of the two directions are in step.  A start for both is not
 * that of a direction without.
 */
static void start_together(struct link_config *up, struct link_config *down,
			   const struct add_request *a)
{
	const uint64_t start = LINK_BIT(TCA_WALE_START);
	const uint64_t now = link_start_now();

	if (!begins(up) && begins(down) && !(a->up.link.set & start))
		up->link.set &= ~start;
	if (!begins(down) && begins(up) && !(a->down.link.set & start))
		down->link.set &= ~start;
	if (!begins(up) || !begins(down) ||
	    (up->link.set | down->link.set) & start)
		return;
	link_value_set(&up->link, TCA_WALE_START, now);
	link_value_set(&down->link, TCA_WALE_START, now);
}

/* A sentence about why the interface may not be touched, or NULL. */
static const char *in_the_way(const struct link_state *state)
{
	if (!state->ifindex)
		return "there is no such interface";
	if (state->ifb || link_root_is_ours(state))
		return "it has a wale link; --replace replaces it";
	if (state->root_handle)
		return "it has a root qdisc; --replace replaces it";
	if (state->ingress)
		return "it has an ingress qdisc; --replace replaces it";
	return NULL;
}

/* A link is made, or removed, as a whole: who wants to end this waits for it. */
static void hold_signals(sigset_t *before)
{
	sigset_t set;

	end_signals(&set);
	sigprocmask(SIG_BLOCK, &set, before);
}

static int add(struct rtnl *r, const char *iface, int argc, char **argv)
{
	struct add_request a = { .replace = false };
	struct link_warnings warnings;
	struct link_config up, down;
	struct link_state state;
	sigset_t before;
	const char *why;
	int status;
	size_t i;

	status = parse_add(&a, argc, argv);
	if (!status)
		status = check_feedback(&a);
	if (status)
		goto out;

	status = WALE_EXIT_FAILED;
	if (link_look(r, iface, &state)) {
		cannot("add a link to", iface, r->error);
		goto out;
	}
	why = in_the_way(&state);
	if (why && !(a.replace && state.ifindex)) {
		cannot("add a link to", iface, why);
		goto out;
	}

	up = merge(&a.up, &a.both);
	down = merge(&a.down, &a.both);
	down.link.set &= ~LINK_BIT(TCA_WALE_FEEDBACK);
	if (link_is_set(&a.both.link, TCA_WALE_SEED) &&
	    !link_is_set(&a.down.link, TCA_WALE_SEED))
		down.link.value[TCA_WALE_SEED]++;
	if (!link_threshold_fits(&up) || !link_threshold_fits(&down)) {
		status = wrong("not in the unit of the limit:", "threshold");
		goto out;
	}
	start_together(&up, &down, &a);
	hold_signals(&before);
	link_warn(&warnings, &state, &up, &down);
	if (link_add(r, iface, &state, &up, &down)) {
		cannot("add a link to", iface, r->error);
	} else {
		status = WALE_EXIT_OK;
		for (i = 0; i < warnings.n; i++)
			fprintf(stderr, "wale link: warning: %s: %s\n", iface,
				warnings.text[i]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
out:
	link_config_free(&a.both);
	link_config_free(&a.up);
	link_config_free(&a.down);
	return status;
}

/* It has no link: say so, and where the one that it had may be. */
static int has_none(const char *what, const char *iface,
		    const struct link_state *state)
{
	char why[64 + IF_NAMESIZE];

	snprintf(why, sizeof(why), "%s%s%s",
		 state->ifindex ? "it has none" : "there is no such interface",
		 *state->renamed ? "; what had this name is now " : "",
		 state->renamed);
	return cannot(what, iface, why);
}

static int del(struct rtnl *r, const char *iface, int argc, char **argv)
{
	int status = WALE_EXIT_OK;
	struct link_state state;
	sigset_t before;

	if (argc)
		return wrong("what is", *argv);
	if (link_look(r, iface, &state))
		return cannot("remove the link of", iface, r->error);
	if (!state.ifb && !link_root_is_ours(&state))
		return has_none("remove the link of", iface, &state);
	hold_signals(&before);
	if (link_remove(r, &state))
		status = cannot("remove the link of", iface, r->error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

static int show(struct rtnl *r, int argc, char **argv)
{
	bool stats = false, json = false;
	const char *iface = NULL;
	struct link_state state;

	for (; argc > 0; argc--, argv++) {
		if (!strcmp(*argv, "--stats") || !strcmp(*argv, "-s"))
			stats = true;
		else if (!strcmp(*argv, "--json") || !strcmp(*argv, "-j"))
			json = true;
		else if (**argv == '-' || iface)
			return wrong("what is", *argv);
		else
			iface = *argv;
	}
	if (iface) {
		if (link_look(r, iface, &state))
			return cannot("show the link of", iface, r->error);
		if (!state.ifb && !link_root_is_ours(&state))
			return has_none("show the link of", iface, &state);
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
	if (strcmp(verb, "add") && strcmp(verb, "del"))
		return wrong("no verb", verb);
	if (argc < 3 || *argv[2] == '-')
		return wrong("an interface must follow", verb);
	if (!strcmp(verb, "add"))
		return add(r, argv[2], argc - 3, argv + 3);
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
	if (rtnl_open(&r, NETLINK_ROUTE))
		return cannot("open", "netlink", r.error);
	status = run(&r, argc, argv);
	rtnl_close(&r);
	return status;
}
