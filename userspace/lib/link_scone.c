// SPDX-License-Identifier: GPL-2.0
/*
 * link_scone.c - the rate that is told to QUIC endpoints, as words
 */
#include <errno.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

static const char expected[] =
	"off, link, share, or a rate from 100kbit to 8000tbit";

static const struct link_set *scone_set(void)
{
	return link_options_set.attributes[TCA_WALE_SCONE].nest;
}

/* link, share, RATE: 0, or -1 if it is refused. */
static int parse_rate(struct link_values *scone, const char *word,
		      struct link_error *error)
{
	char wrong[UNITS_WRONG_MAX];
	const char *const *names =
		scone_set()->attributes[TCA_WALE_SCONE_OF].names;
	uint64_t of, rate = 0;
	int err;

	for (of = 0; names[of]; of++)
		if (!strcmp(word, names[of])) {
			link_value_set(scone, TCA_WALE_SCONE_OF, of);
			return 0;
		}
	err = units_parse_rate(word, &rate);
	if (!err && (rate < WALE_SCONE_RATE_MIN || rate > WALE_RATE_MAX))
		err = -ERANGE;
	if (err)
		return link_error_set(
			error, LINK_ERROR_INVALID, word, "%s",
			units_rate_wrong(wrong, err, rate, expected));
	link_value_set(scone, TCA_WALE_SCONE_RATE, rate);
	return 0;
}

/* period TIME, average TIME; how many words, or -1. */
static int parse_times(struct link_values *scone, int argc, char **argv,
		       struct link_error *error)
{
	int taken = 0, type;

	for (; taken < argc; taken += 2) {
		if (!strcmp(argv[taken], "period"))
			type = TCA_WALE_SCONE_PERIOD;
		else if (!strcmp(argv[taken], "average"))
			type = TCA_WALE_SCONE_AVERAGE;
		else
			break;
		if (taken + 1 == argc)
			return link_error_set(error, LINK_ERROR_MISSING,
					      argv[taken], "expected a time");
		if (link_is_set(scone, type))
			return link_error_set(error, LINK_ERROR_DUPLICATE,
					      argv[taken], "%s",
					      argv[taken + 1]);
		if (link_value_parse(scone, scone_set(), type, argv[taken + 1],
				     error))
			return -1;
	}
	return taken;
}

/* scone off, scone link|share|RATE [period TIME] [average TIME] */
int link_parse_scone(struct link_config *c, const struct link_option *o,
		     int argc, char **argv, struct link_error *error)
{
	struct link_values *scone = &c->nest[LINK_NEST_SCONE];
	int rest;

	c->link.set |= LINK_BIT(TCA_WALE_SCONE);
	if (!strcmp(argv[1], "off"))
		return 2;
	if (parse_rate(scone, argv[1], error))
		return -1;
	rest = parse_times(scone, argc - 2, argv + 2, error);
	return rest < 0 ? -1 : 2 + rest;
}

static void print_time(FILE *to, const struct link_values *scone, int type)
{
	char time[UNITS_MAX];

	if (link_is_set(scone, type))
		fprintf(to, "%s %s ", scone_set()->attributes[type].word,
			units_format_time(time, scone->value[type]));
}

void link_print_scone(FILE *to, const struct link_config *c, int type)
{
	const struct link_values *scone = &c->nest[LINK_NEST_SCONE];
	const uint64_t of = scone->value[TCA_WALE_SCONE_OF];
	char rate[UNITS_MAX];

	if (link_is_set(scone, TCA_WALE_SCONE_RATE))
		fprintf(to, "scone %s ",
			units_format_rate(rate,
					  scone->value[TCA_WALE_SCONE_RATE]));
	else if (link_is_set(scone, TCA_WALE_SCONE_OF) &&
		 of <= WALE_SCONE_OF_SHARE)
		fprintf(to, "scone %s ",
			scone_set()->attributes[TCA_WALE_SCONE_OF].names[of]);
	else
		fputs("scone off ", to);
	print_time(to, scone, TCA_WALE_SCONE_PERIOD);
	print_time(to, scone, TCA_WALE_SCONE_AVERAGE);
}
