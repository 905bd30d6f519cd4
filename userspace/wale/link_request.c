// SPDX-License-Identifier: GPL-2.0
/*
 * link_request.c - what a command line says of the two directions of a link
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "lib/command.h"
#include "link.h"

int link_wrong(const char *what, const char *word)
{
	fprintf(stderr, "wale link: %s%s%s; see 'wale link --help'\n", what,
		*word ? " " : "", word);
	return WALE_EXIT_USAGE;
}

static int option_error(const struct link_error *error)
{
	fputs("wale link: ", stderr);
	link_error_print(stderr, error);
	return WALE_EXIT_USAGE;
}

static bool has_feedback(const struct link_config *c)
{
	return link_is_set(&c->link, TCA_WALE_FEEDBACK) &&
	       c->nest[LINK_NEST_FEEDBACK].set;
}

/*
 * A sender listens to the device that it sends by: nobody would listen to the
 * ifb of down, or to one of a link to some addresses.
 */
static int check_feedback(const struct link_request *a)
{
	if (has_feedback(&a->down))
		return link_wrong(
			"no sender of this host listens to down: give",
			"--feedback to up");
	if (a->to.family && (has_feedback(&a->both) || has_feedback(&a->up)))
		return link_wrong(
			"no sender listens to a link to some addresses: leave out",
			"--feedback");
	return WALE_EXIT_OK;
}

static int take_to(struct link_request *a, int argc, char **argv)
{
	char why[LINK_TO_WHY_MAX];
	struct link_to to;
	size_t i;

	if (argc < 2)
		return link_wrong("a network must follow", "--to");
	if (link_to_parse(&to, argv[1], why))
		return link_wrong("--to:", why);
	if (!a->to.family) {
		a->to = to;
		return WALE_EXIT_OK;
	}
	for (i = 0; i < a->n_more && !link_to_equal(&a->more[i], &to); i++)
		;
	if (i < a->n_more || link_to_equal(&a->to, &to))
		return link_wrong("expected each network once: --to", argv[1]);
	if (a->n_more == LINK_PARTS_MAX - 1)
		return link_wrong("expected at most 64 of", "--to");
	a->more[a->n_more++] = to;
	return WALE_EXIT_OK;
}

static int take_order(struct link_request *a, int argc, char **argv)
{
	if (a->order != LINK_ORDER_NONE)
		return link_wrong("expected it once:", "--order");
	if (argc > 1 && !strcmp(argv[1], "first"))
		a->order = LINK_ORDER_FIRST;
	else if (argc > 1 && !strcmp(argv[1], "last"))
		a->order = LINK_ORDER_LAST;
	else
		return link_wrong("expected first or last behind", "--order");
	return WALE_EXIT_OK;
}

/*
 * Words that are no options of a link: how many of them, or 0.  Those behind --up or
 * --down are of that direction.
 */
static int take_own(struct link_request *a, int argc, char **argv,
		    struct link_config **c, int *status)
{
	*status = WALE_EXIT_OK;
	if (!strcmp(*argv, "--up"))
		*c = &a->up;
	else if (!strcmp(*argv, "--down"))
		*c = &a->down;
	else if (!strcmp(*argv, "--replace"))
		a->replace = true;
	else if (!strcmp(*argv, "--to"))
		*status = take_to(a, argc, argv);
	else if (!strcmp(*argv, "--order"))
		*status = take_order(a, argc, argv);
	else
		return 0;
	return strcmp(*argv, "--to") && strcmp(*argv, "--order") ? 1 : 2;
}

/* Options begin with --, so that they cannot be taken for their values. */
int link_request_parse(struct link_request *a, int argc, char **argv)
{
	struct link_config *c = &a->both;
	int taken, status, before = 0;
	struct link_error error;
	char *word;

	for (; argc > 0; argc -= taken, argv += taken) {
		taken = take_own(a, argc, argv, &c, &status);
		if (status)
			return status;
		if (taken) {
			before = 0;
			continue;
		}
		word = *argv;
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
	return check_feedback(a);
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
			   const struct link_request *a)
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

int link_request_directions(const struct link_request *a,
			    struct link_config *up, struct link_config *down)
{
	*up = merge(&a->up, &a->both);
	*down = merge(&a->down, &a->both);
	down->link.set &= ~LINK_BIT(TCA_WALE_FEEDBACK);
	if (link_is_set(&a->both.link, TCA_WALE_SEED) &&
	    !link_is_set(&a->down.link, TCA_WALE_SEED))
		down->link.value[TCA_WALE_SEED]++;
	if (!link_threshold_fits(up) || !link_threshold_fits(down))
		return link_wrong("not in the unit of the limit:", "threshold");
	start_together(up, down, a);
	return WALE_EXIT_OK;
}

void link_request_free(struct link_request *a)
{
	link_config_free(&a->both);
	link_config_free(&a->up);
	link_config_free(&a->down);
}
