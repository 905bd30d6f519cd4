// SPDX-License-Identifier: GPL-2.0
/*
 * link_loss.c - which packets a link loses, as words: each by itself, or in bursts
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const int models[] = { TCA_WALE_LOSS_GEMODEL, TCA_WALE_LOSS_STATE };

/* 1 - p, where 2^32 - 1 is one. */
static uint32_t complement(uint32_t p)
{
	if (p == WALE_LOSS_ALWAYS)
		return 0;
	return p ? -p : WALE_LOSS_ALWAYS;
}

/* The syntax of a model, without "loss". */
static const char *syntax_of(int type)
{
	const struct link_option *o = link_options;

	while (o->type != type)
		o++;
	return strchr(o->syntax, ' ') + 1;
}

/*
 * The numbers behind the name of a model; those that are not there are usual, and the
 * second is 1 - the first.
 */
static int parse_model(struct link_config *c, int type, int argc, char **argv,
		       struct link_error *error)
{
	static const char all[] = ", each from 0% to 100%";
	const struct link_attribute *a = &link_options_set.attributes[type];
	struct link_values *numbers = &c->nest[a->index];
	char expected[100];
	int i = 0, k, err;
	uint32_t share;

	snprintf(expected, sizeof(expected), "%s%s", syntax_of(type), all);
	for (; i < a->nest->max && i < argc; i++) {
		if (!isdigit((unsigned char)*argv[i]))
			break;
		err = units_parse_percent(argv[i], &share);
		if (err)
			return link_parse_failed(argv[i], err, expected, error);
		link_value_set(numbers, i + 1, share);
	}
	if (!i)
		return link_error_set(error, LINK_ERROR_MISSING, a->word,
				      "expected %s", expected);
	for (k = i + 1; k <= a->nest->max; k++)
		link_value_set(numbers, k,
			       k == 2 ? complement(numbers->value[1])
				      : a->nest->attributes[k].usual);
	c->link.set |= LINK_BIT(type);
	return i;
}

/* A share without a word of its own, as netem has it; returns 1, 0 if there is none, or -1. */
int link_parse_correlation(struct link_config *c, int type, int argc,
			   char **argv, struct link_error *error)
{
	if (argc < 1 || !isdigit((unsigned char)*argv[0]))
		return 0;
	if (link_is_set(&c->link, type))
		return link_error_set(error, LINK_ERROR_DUPLICATE,
				      link_options_set.attributes[type].word,
				      "%s", argv[0]);
	return link_value_parse(&c->link, &link_options_set, type, argv[0],
				error)
		       ? -1
		       : 1;
}

/* loss P [CORRELATION], loss gemodel P ..., loss state P13 ... */
int link_parse_losses(struct link_config *c, const struct link_option *o,
		      int argc, char **argv, struct link_error *error)
{
	const struct link_attribute *a = link_options_set.attributes;
	uint32_t share = 0;
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (strcmp(argv[1], a[models[i]].word))
			continue;
		err = parse_model(c, models[i], argc - 2, argv + 2, error);
		return err < 0 ? err : err + 2;
	}
	err = units_parse_percent(argv[1], &share);
	if (err)
		return link_parse_failed(
			argv[1], err,
			"a loss from 0% to 100%, such as 1%, or gemodel, or state",
			error);
	link_value_set(&c->link, TCA_WALE_LOSS, share);
	err = link_parse_correlation(c, TCA_WALE_LOSS_CORRELATION, argc - 2,
				     argv + 2, error);
	return err < 0 ? -1 : 2 + err;
}

void link_print_losses(FILE *to, const struct link_config *c, int type)
{
	const struct link_attribute *a = &link_options_set.attributes[type];
	char buf[UNITS_MAX];
	int i;

	fprintf(to, "loss %s ", a->word);
	for (i = 1; i <= a->nest->max; i++)
		fprintf(to, "%s ",
			units_format_percent(buf, c->nest[a->index].value[i]));
}
