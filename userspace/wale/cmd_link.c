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
	if (!(a->down.set & LINK_FEEDBACK) || !a->down.feedback_idle_ns)
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

static void merge_policy(struct link_policy *policy,
			 const struct link_config *own)
{
	if (own->set & LINK_POLICY)
		policy->kind = own->policy.kind;
	if (own->set & LINK_THRESHOLD_NUMBER) {
		policy->threshold = own->policy.threshold;
		policy->threshold_unit = own->policy.threshold_unit;
	}
	if (own->set & LINK_THRESHOLD_SHARE)
		policy->share = own->policy.share;
	if (own->set & LINK_Z)
		policy->z = own->policy.z;
	if (own->set & LINK_LAST)
		policy->last = own->policy.last;
	if (own->set & LINK_MARK)
		policy->mark = own->policy.mark;
}

static void merge_impairments(struct link_config *c,
			      const struct link_config *own)
{
	if (own->set & LINK_LOSS)
		c->loss = own->loss;
	if (own->set & (LINK_LOSS_GEMODEL | LINK_LOSS_STATE))
		memcpy(c->loss_numbers, own->loss_numbers,
		       sizeof(c->loss_numbers));
	if (own->set & LINK_ECN)
		c->ecn = own->ecn;
	if (own->set & LINK_JITTER)
		c->jitter = own->jitter;
	if (own->set & LINK_REORDER) {
		c->reorder = own->reorder;
		c->reorder_gap = own->reorder_gap;
	}
	if (own->set & LINK_DUPLICATE)
		c->duplicate = own->duplicate;
	if (own->set & LINK_CORRUPT)
		c->corrupt = own->corrupt;
	if (own->set & LINK_DROP) {
		memcpy(c->drop, own->drop, sizeof(c->drop));
		c->n_drop = own->n_drop;
	}
	if (own->set & LINK_SLOT)
		c->slot = own->slot;
}

/* Not "sessions off", which is what a new link has. */
static bool has_sessions(const struct link_config *c)
{
	return c->set & LINK_SESSIONS && c->sessions.set;
}

/* What @both sets and @own does not, as far as they can be had together. */
static struct link_config merge(const struct link_config *own,
				const struct link_config *both)
{
	uint64_t take = both->set & ~own->set;
	struct link_config c = *both;

	if (own->set & LINK_LIMIT)
		take &= ~LINK_LIMIT;
	if (own->set & LINK_THRESHOLD)
		take &= ~LINK_THRESHOLD;
	if (own->set & LINK_LOSSES)
		take &= ~LINK_LOSSES;
	if (own->set & LINK_RATE || has_sessions(own))
		take &= ~(LINK_TRACE | LINK_TRACE_END);
	if (own->set & LINK_TRACE)
		take &= ~(LINK_RATE | LINK_SESSIONS);
	c.set = take | own->set;

	if (own->set & LINK_RATE)
		c.rate = own->rate;
	if (own->set & LINK_DELAY)
		c.delay_ns = own->delay_ns;
	if (own->set & LINK_LIMIT) {
		c.limit_packets = own->limit_packets;
		c.limit_bytes = own->limit_bytes;
		c.limit_cells = own->limit_cells;
	}
	if (own->set & LINK_OVERHEAD)
		c.overhead = own->overhead;
	if (own->set & LINK_DROPS)
		c.drops = own->drops;
	if (own->set & LINK_SEED)
		c.seed = own->seed;
	if (own->set & LINK_TRACE)
		c.trace = own->trace;
	if (own->set & LINK_TRACE_END)
		c.trace_end = own->trace_end;
	if (own->set & LINK_SESSIONS)
		c.sessions = own->sessions;
	if (own->set & LINK_START)
		c.start_ns = own->start_ns;
	if (own->set & LINK_SLACK)
		c.slack_ns = own->slack_ns;
	if (own->set & LINK_GSO)
		c.gso = own->gso;
	if (own->set & LINK_FEEDBACK)
		c.feedback_idle_ns = own->feedback_idle_ns;
	if (own->set & LINK_FLOWS)
		c.flows = own->flows;
	if (own->set & LINK_INPUT_RATE)
		c.input_rate = own->input_rate;
	if (own->set & LINK_REM)
		c.rem = own->rem;
	if (c.set & LINK_TRACE && !has_sessions(&c))
		c.set &= ~LINK_SESSIONS;
	merge_policy(&c.policy, own);
	merge_impairments(&c, own);
	return c;
}

static bool begins(const struct link_config *c)
{
	return c->set & LINK_TRACE || has_sessions(c);
}

/*
 * Traces and sessions of the two directions are in step.  A start for both is not
 * that of a direction without.
 */
static void start_together(struct link_config *up, struct link_config *down,
			   const struct add_request *a)
{
	const uint64_t now = link_start_now();

	if (!begins(up) && begins(down) && !(a->up.set & LINK_START))
		up->set &= ~LINK_START;
	if (!begins(down) && begins(up) && !(a->down.set & LINK_START))
		down->set &= ~LINK_START;
	if (!begins(up) || !begins(down) || (up->set | down->set) & LINK_START)
		return;
	up->set |= LINK_START;
	down->set |= LINK_START;
	up->start_ns = now;
	down->start_ns = now;
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
	down.set &= ~LINK_FEEDBACK;
	if (a.both.set & LINK_SEED && !(a.down.set & LINK_SEED))
		down.seed++;
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
