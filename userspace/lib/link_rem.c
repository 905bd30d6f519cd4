// SPDX-License-Identifier: GPL-2.0
/*
 * link_rem.c - options of a link that marks: whether it does, and its price
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "link_config.h"
#include "units.h"

int link_parse_mark(struct link_config *c, int argc, char **argv,
		    struct link_error *error)
{
	(void)argc;
	(void)error;
	c->policy.mark = *argv[0] == 'm';
	c->set |= LINK_MARK;
	return 1;
}

/* A number of millionths between two others. */
static int parse_share(const char *word, uint32_t min, uint32_t max,
		       uint32_t *value)
{
	int err = units_parse_millionths(word, value);

	return !err && (*value < min || *value > max) ? -ERANGE : err;
}

static int parse_interval(struct link_rem *rem, const char *word)
{
	int err = units_parse_time(word, &rem->interval_ns);

	return !err && (rem->interval_ns < WALE_REM_INTERVAL_MIN ||
			rem->interval_ns > WALE_REM_INTERVAL_MAX)
		       ? -ERANGE
		       : err;
}

static int parse_gamma(struct link_rem *rem, const char *word)
{
	return parse_share(word, 1, WALE_REM_GAMMA_MAX, &rem->gamma);
}

static int parse_alpha(struct link_rem *rem, const char *word)
{
	return parse_share(word, 0, WALE_POLICY_UNIT, &rem->alpha);
}

static int parse_target(struct link_rem *rem, const char *word)
{
	int err = units_parse_size(word, &rem->target);

	return !err && rem->target > WALE_REM_TARGET_MAX ? -ERANGE : err;
}

static int parse_phi(struct link_rem *rem, const char *word)
{
	return parse_share(word, WALE_REM_PHI_MIN, WALE_REM_PHI_MAX, &rem->phi);
}

static const struct {
	const char *name;
	unsigned int bit;
	int (*parse)(struct link_rem *rem, const char *word);
	const char *expected;
} params[] = {
	{ "interval", LINK_REM_INTERVAL, parse_interval,
	  "an interval from 1ms to 1s, such as 10ms" },
	{ "gamma", LINK_REM_GAMMA, parse_gamma,
	  "a gamma (price for each kB) from 0.000001 to 1000, such as 0.001" },
	{ "alpha", LINK_REM_ALPHA, parse_alpha,
	  "an alpha from 0 to 1, such as 0.1" },
	{ "target", LINK_REM_TARGET, parse_target,
	  "a target backlog, a size such as 20kb" },
	{ "phi", LINK_REM_PHI, parse_phi,
	  "a phi from 1.001 to 1000, such as 1.1" },
};

#define N_PARAMS (sizeof(params) / sizeof(params[0]))

/* rem, with any of interval TIME gamma G alpha A target SIZE phi PHI */
int link_parse_rem(struct link_config *c, int argc, char **argv,
		   struct link_error *error)
{
	struct link_rem *rem = &c->rem;
	int taken = 1, err;
	size_t i;

	for (; taken + 1 < argc; taken += 2) {
		for (i = 0; i < N_PARAMS; i++)
			if (!strcmp(argv[taken], params[i].name))
				break;
		if (i == N_PARAMS)
			break;
		err = params[i].parse(rem, argv[taken + 1]);
		if (err)
			return link_parse_failed(argv[taken + 1], err,
						 params[i].expected, error);
		rem->set |= params[i].bit;
	}
	if (!rem->set)
		return link_parse_failed(
			argc > 1 ? argv[1] : "", -EINVAL,
			"interval, gamma, alpha, target or phi", error);
	return taken;
}

void link_rem_print(FILE *to, const struct link_rem *rem)
{
	char buf[UNITS_MAX];

	fputs("rem ", to);
	if (rem->set & LINK_REM_INTERVAL)
		fprintf(to, "interval %s ",
			units_format_time(buf, rem->interval_ns));
	if (rem->set & LINK_REM_GAMMA)
		fprintf(to, "gamma %s ",
			units_format_millionths(buf, rem->gamma));
	if (rem->set & LINK_REM_ALPHA)
		fprintf(to, "alpha %s ",
			units_format_millionths(buf, rem->alpha));
	if (rem->set & LINK_REM_TARGET)
		fprintf(to, "target %s ", units_format_size(buf, rem->target));
	if (rem->set & LINK_REM_PHI)
		fprintf(to, "phi %s ", units_format_millionths(buf, rem->phi));
}
