// SPDX-License-Identifier: GPL-2.0
/*
 * link_loss.c - which packets a link loses, as words: each by itself, or in bursts
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const struct model {
	const char *name;
	unsigned int bit;
	unsigned int n;
	const char *numbers[LINK_LOSS_NUMBERS];
	uint32_t usual[LINK_LOSS_NUMBERS]; /* the second: 1 - the first */
	const char *expected;
} models[] = {
	{ "gemodel",
	  LINK_LOSS_GEMODEL,
	  4,
	  { "p", "r", "1-h", "1-k" },
	  { 0, 0, WALE_LOSS_ALWAYS, 0 },
	  "gemodel P [R [1-H [1-K]]], each from 0% to 100%" },
	{ "state",
	  LINK_LOSS_STATE,
	  5,
	  { "p13", "p31", "p32", "p23", "p14" },
	  { 0, 0, 0, WALE_LOSS_ALWAYS, 0 },
	  "state P13 [P31 [P32 [P23 [P14]]]], each from 0% to 100%" },
};

/* 1 - p, where 2^32 - 1 is one. */
static uint32_t complement(uint32_t p)
{
	if (p == WALE_LOSS_ALWAYS)
		return 0;
	return p ? -p : WALE_LOSS_ALWAYS;
}

/* The numbers behind the name of a model. */
static int parse_model(struct link_config *c, const struct model *model,
		       int argc, char **argv, struct link_error *error)
{
	uint32_t *number = c->loss_numbers;
	unsigned int i = 0;
	int err = 0;

	memcpy(number, model->usual, sizeof(model->usual[0]) * model->n);
	for (; i < model->n && (int)i < argc; i++) {
		if (!isdigit((unsigned char)*argv[i]))
			break;
		err = units_parse_percent(argv[i], &number[i]);
		if (err)
			return link_parse_failed(argv[i], err, model->expected,
						 error);
	}
	if (!i)
		return link_error_set(error, LINK_ERROR_MISSING, model->name,
				      "expected %s", model->expected);
	if (i == 1)
		number[1] = complement(number[0]);
	c->set |= model->bit;
	return i;
}

/* loss P, loss gemodel P ..., loss state P13 ... */
int link_parse_loss(struct link_config *c, int argc, char **argv,
		    struct link_error *error)
{
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (strcmp(argv[1], models[i].name))
			continue;
		err = parse_model(c, &models[i], argc - 2, argv + 2, error);
		return err < 0 ? err : err + 2;
	}
	err = units_parse_percent(argv[1], &c->loss);
	if (err)
		return link_parse_failed(
			argv[1], err,
			"a loss from 0% to 100%, such as 1%, or gemodel, or state",
			error);
	c->set |= LINK_LOSS;
	return 2;
}

/* ecn, noecn */
int link_parse_ecn(struct link_config *c, int argc, char **argv,
		   struct link_error *error)
{
	(void)argc;
	(void)error;
	c->ecn = *argv[0] == 'e';
	return 1;
}

void link_loss_print(FILE *to, const struct link_config *c)
{
	char buf[UNITS_MAX];
	unsigned int i, k;

	if (c->set & LINK_LOSS)
		fprintf(to, "loss %s ", units_format_percent(buf, c->loss));
	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (!(c->set & models[i].bit))
			continue;
		fprintf(to, "loss %s ", models[i].name);
		for (k = 0; k < models[i].n; k++)
			fprintf(to, "%s ",
				units_format_percent(buf, c->loss_numbers[k]));
	}
	if (c->set & LINK_ECN)
		fputs(c->ecn ? "ecn " : "noecn ", to);
}

const char *link_loss_number_name(unsigned int bit, unsigned int i)
{
	const struct model *model = &models[bit == LINK_LOSS_STATE];

	return i < model->n ? model->numbers[i] : NULL;
}
