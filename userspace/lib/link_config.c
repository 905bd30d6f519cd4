// SPDX-License-Identifier: GPL-2.0
/*
 * link_config.c - the configuration of one direction of a link
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

void link_config_free(struct link_config *c)
{
	link_trace_free(&c->trace);
	free(c->table.entries);
	c->table.entries = NULL;
}

void link_config_take(struct link_config *c, const struct link_config *from,
		      int type)
{
	const struct link_attribute *a = &link_options_set.attributes[type];

	link_value_set(&c->link, type, from->link.value[type]);
	if (a->nest)
		c->nest[a->index] = from->nest[a->index];
	switch (a->form) {
	case LINK_TRACE:
		c->trace = from->trace;
		break;
	case LINK_JITTER:
		c->table = from->table;
		break;
	case LINK_DROP:
		memcpy(c->drop, from->drop, sizeof(c->drop));
		c->n_drop = from->n_drop;
		break;
	case LINK_THRESHOLD:
		c->threshold_unit = from->threshold_unit;
		break;
	case LINK_OVERHEAD:
		/* without bytes of its own, it has none */
		c->link.set &= ~LINK_BIT(TCA_WALE_OVERHEAD_BYTES);
		if (link_is_set(&from->link, TCA_WALE_OVERHEAD_BYTES))
			link_value_set(&c->link, TCA_WALE_OVERHEAD_BYTES,
				       link_overhead_bytes(from));
		break;
	default:
		break;
	}
}

/* Words. */

/* Is it a lower-case word of a syntax, behind the name? */
static bool is_part(const char *word, const char *syntax)
{
	static const char between[] = " |[],";
	const size_t length = strlen(word);

	if (*word < 'a' || *word > 'z')
		return false;
	while (*(syntax += strcspn(syntax, between))) {
		syntax += strspn(syntax, between);
		if (strcspn(syntax, between) == length &&
		    !strncmp(syntax, word, length))
			return true;
	}
	return false;
}

/* Of one option that is written in several ways, the first. */
static const struct link_option *option_named(const char *word)
{
	const char *name = link_word_now(word);
	const size_t length = strlen(name);
	const struct link_option *o;

	for (o = link_options; o->syntax; o++)
		if (strcspn(o->syntax, " ") == length &&
		    !strncmp(o->syntax, name, length))
			return o;
	return NULL;
}

/* The member of a nest, 0 for none. */
static int member_named(const struct link_set *nest, const char *word)
{
	int type;

	for (type = nest->max; type; type--)
		if (nest->attributes[type].form &&
		    !strcmp(word, nest->attributes[type].word))
			break;
	return type;
}

/* The word that names a value, and the value behind it: 0, or -1. */
static int parse_named(struct link_values *values, const struct link_set *set,
		       int type, int argc, char **argv,
		       struct link_error *error)
{
	if (argc < 2)
		return link_error_set(error, LINK_ERROR_MISSING, argv[0],
				      "expected %s",
				      set->attributes[type].expected);
	if (link_is_set(values, type))
		return link_error_set(error, LINK_ERROR_DUPLICATE, argv[0],
				      "%s", argv[1]);
	return link_value_parse(values, set, type, argv[1], error);
}

static int parse_nest(struct link_config *c, const struct link_option *o,
		      int argc, char **argv, struct link_error *error)
{
	const struct link_attribute *a = &link_options_set.attributes[o->type];
	struct link_values *values = &c->nest[a->index];
	int taken = 1, type;

	c->link.set |= LINK_BIT(o->type);
	if (argc > 1 && !strcmp(argv[1], "off") && is_part("off", o->syntax))
		return 2;
	for (; taken < argc; taken += 2) {
		type = member_named(a->nest, argv[taken]);
		if (!type)
			break;
		/* again, it is the option of that name */
		if (link_is_set(values, type) && option_named(argv[taken]))
			break;
		if (parse_named(values, a->nest, type, argc - taken,
				argv + taken, error))
			return -1;
	}
	for (type = 1; type <= a->nest->max; type++)
		if (a->nest->attributes[type].assumed &&
		    !link_is_set(values, type))
			link_value_set(values, type,
				       a->nest->attributes[type].assumed);
	if (!values->set)
		return link_parse_failed(argv[1], -EINVAL, a->expected, error);
	return taken;
}

/* The words behind a value that switch flags on: how many, or -1. */
static int parse_parts(struct link_config *c, const struct link_option *o,
		       int argc, char **argv, struct link_error *error)
{
	const struct link_attribute *a;
	int taken = 0, type;

	for (type = 1; type <= link_options_set.max; type++) {
		a = &link_options_set.attributes[type];
		if (a->part_of != o->type || taken == argc ||
		    strcmp(argv[taken], a->part))
			continue;
		if (link_is_set(&c->link, type))
			return link_error_set(error, LINK_ERROR_DUPLICATE,
					      a->word, "%s", argv[taken]);
		link_value_set(&c->link, type, 1);
		taken++;
	}
	return taken;
}

/* A value, and those that may stand behind it. */
static int parse_plain(struct link_config *c, const struct link_option *o,
		       int argc, char **argv, struct link_error *error)
{
	const struct link_attribute *a;
	int taken = 2, type, parts;

	if (link_value_parse(&c->link, &link_options_set, o->type, argv[1],
			     error))
		return -1;
	for (type = 1; type <= link_options_set.max; type++) {
		a = &link_options_set.attributes[type];
		if (a->behind != o->type)
			continue;
		if (taken == argc || strcmp(argv[taken], a->word)) {
			link_value_set(&c->link, type, a->usual);
			continue;
		}
		if (parse_named(&c->link, &link_options_set, type, argc - taken,
				argv + taken, error))
			return -1;
		taken += 2;
	}
	parts = parse_parts(c, o, argc - taken, argv + taken, error);
	return parts < 0 ? -1 : taken + parts;
}

static int parse_word(struct link_config *c, const struct link_option *o,
		      int argc, char **argv, struct link_error *error)
{
	link_value_set(&c->link, o->type, o->value);
	return 1;
}

static link_parse_fn *const parsers[LINK_FORMS] = {
	[LINK_WORD] = parse_word,
	[LINK_OFF] = parse_word,
	[LINK_NEST] = parse_nest,
	[LINK_AMOUNT] = link_parse_amount,
	[LINK_THRESHOLD] = link_parse_threshold,
	[LINK_TRACE] = link_parse_trace,
	[LINK_LOSSES] = link_parse_losses,
	[LINK_JITTER] = link_parse_jitter,
	[LINK_DROP] = link_parse_drop,
	[LINK_SLOT] = link_parse_slot,
	[LINK_START] = link_parse_start,
	[LINK_OVERHEAD] = link_parse_overhead,
	[LINK_SCONE] = link_parse_scone,
};

/* Is a number followed by its unit? */
static bool is_unit(const char *number, const char *unit)
{
	char both[64];
	uint64_t value;

	snprintf(both, sizeof(both), "%s%s", number, unit);
	return isalpha((unsigned char)*unit) &&
	       strlen(both) < sizeof(both) - 1 &&
	       (!units_parse_rate(both, &value) ||
		!units_parse_time(both, &value) ||
		!units_parse_size(both, &value));
}

static int unit_apart(char **argv, struct link_error *error)
{
	return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
			      ": write %s%s", argv[-1], argv[0]);
}

int link_config_parse(struct link_config *c, int argc, char **argv,
		      struct link_error *error)
{
	const struct link_option *o = option_named(argv[0]);
	int taken;

	if (!o)
		return 0;
	if (argc < 2 && !o->bare)
		return link_error_set(error, LINK_ERROR_MISSING, argv[0],
				      "expected %s", o->syntax);
	/* there may be a list of drops for each flow */
	if (c->link.set & o->bits && o->form != LINK_DROP)
		return link_error_set(error, LINK_ERROR_DUPLICATE, argv[0],
				      "%s", argv[o->bare ? 0 : 1]);
	taken = (parsers[o->form] ? parsers[o->form]
				  : parse_plain)(c, o, argc, argv, error);
	if (taken < 0 && argc > 2 && is_unit(argv[1], argv[2]))
		return unit_apart(argv + 2, error);
	return taken;
}

/* The only option of which the word is a part, or NULL. */
static const struct link_option *option_with_part(const char *word)
{
	const struct link_option *only = NULL, *o;

	for (o = link_options; o->syntax; o++) {
		if (!is_part(word, o->syntax))
			continue;
		if (only)
			return NULL;
		only = o;
	}
	return only;
}

/* The option of which these are the words, in the way that it is written. */
static const struct link_option *option_written(char **argv, int n)
{
	const struct link_option *first = option_named(argv[0]), *o;

	for (o = first; n > 1 && o->syntax && o->bits == first->bits; o++)
		if (is_part(argv[1], o->syntax))
			return o;
	return first;
}

/* As netem has it, whose users may type it: why there is no second value. */
static const char *second_value(const struct link_option *o)
{
	if (o->type == TCA_WALE_DELAY64)
		return "jitter is an option of its own";
	if (o->form == LINK_PERCENT && o->type != TCA_WALE_LOSS)
		return "only loss and jitter have a correlation";
	return NULL;
}

/* Of a word behind an option, of which it is no part. */
static int unknown_behind(char **argv, int before, const char *dashes,
			  struct link_error *error)
{
	const struct link_option *o = option_written(argv - before, before);
	const char *why = before == 2 ? second_value(o) : NULL;

	if (before > 1 && is_unit(argv[-1], argv[0]))
		return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
				      ": write %s%s", argv[-1], argv[0]);
	return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
			      ", nor part of the one before it: %s%s%s%s%s",
			      dashes, o->syntax, why ? " (" : "",
			      why ? why : "", why ? ")" : "");
}

int link_config_unknown(char **argv, int before, const char *dashes,
			struct link_error *error)
{
	const size_t length = strlen(dashes);
	const bool dashed = !strncmp(argv[0], dashes, length);
	const char *name = argv[0] + (dashed ? length : 0);
	const struct link_option *o;

	o = option_named(name);
	if (o)
		return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
				      " without dashes: write %s%s", dashes,
				      o->syntax);
	o = option_with_part(name);
	if (o)
		return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
				      " by itself: it is part of %s%s", dashes,
				      o->syntax);
	if (before && !(length && dashed))
		return unknown_behind(argv, before, dashes, error);
	return link_error_set(error, LINK_ERROR_UNKNOWN, argv[0],
			      ": %shelp lists them", dashes);
}

void link_config_help(FILE *to, const char *dashes)
{
	const struct link_option *o;

	for (o = link_options; o->syntax; o++)
		if (o->help)
			fprintf(to, "  %s%-18s   %s\n", dashes, o->syntax,
				o->help);
		else
			fprintf(to, "  %s%s\n", dashes, o->syntax);
}

static link_print_fn *const printers[LINK_FORMS] = {
	[LINK_AMOUNT] = link_print_amount,
	[LINK_THRESHOLD] = link_print_threshold,
	[LINK_TRACE] = link_print_trace,
	[LINK_LOSSES] = link_print_losses,
	[LINK_JITTER] = link_print_jitter,
	[LINK_DROP] = link_print_drop,
	[LINK_SLOT] = link_print_slot,
	[LINK_START] = link_print_start,
	[LINK_OVERHEAD] = link_print_overhead,
	[LINK_SCONE] = link_print_scone,
};

bool link_config_shows(const struct link_config *c, int type)
{
	const bool trace = link_is_set(&c->link, TCA_WALE_TRACE);

	switch (type) {
	case TCA_WALE_TRACE_END:
		return trace && link_is_set(&c->link, type);
	default:
		return link_is_set(&c->link, type);
	}
}

void link_config_print(FILE *to, const struct link_config *c)
{
	const struct link_attribute *a;
	const unsigned char *type;

	for (type = link_order; *type; type++) {
		a = &link_options_set.attributes[*type];
		if (!link_config_shows(c, *type))
			continue;
		if (printers[a->form]) {
			printers[a->form](to, c, *type);
		} else if (!a->nest) {
			link_value_print(to, &c->link, &link_options_set,
					 *type);
		} else if (c->nest[a->index].set) {
			fprintf(to, "%s ", a->word);
			link_values_print(to, &c->nest[a->index], a->nest);
		}
	}
}
