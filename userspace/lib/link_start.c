// SPDX-License-Identifier: GPL-2.0
/*
 * link_start.c - when a trace, or sessions, begin, as words
 *
 * A time of day, in UTC; seconds since 1970, as date(1) has them; or a time from
 * now.  It is printed as the first of these.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "link_config.h"
#include "units.h"

#define NS_PER_S 1000000000ULL

static const char day_and_time[] = "%Y-%m-%dT%H:%M:%S";

/* Whole seconds, and what is behind the point, if there is one. */
static int add_fraction(uint64_t seconds, const char **text, uint64_t *ns)
{
	uint64_t unit = NS_PER_S, fraction = 0;
	const char *c = *text;

	if (*c == '.') {
		while (isdigit((unsigned char)*++c) && unit > 1) {
			unit /= 10;
			fraction += (*c - '0') * unit;
		}
		if (unit == NS_PER_S || isdigit((unsigned char)*c))
			return -EINVAL;
	}
	*text = c;
	if (seconds > UINT64_MAX / NS_PER_S - 1)
		return -ERANGE;
	*ns = seconds * NS_PER_S + fraction;
	return 0;
}

/* @SECONDS, behind the @ */
static int parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t seconds = 0;
	int err;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++) {
		if (seconds > UINT64_MAX / 100)
			return -ERANGE;
		seconds = 10 * seconds + (*text - '0');
	}
	err = add_fraction(seconds, &text, ns);
	return err ? err : *text ? -EINVAL : 0;
}

/* 2026-11-22T10:00:00.5Z, and nothing that only looks like it */
static int parse_date(const char *text, uint64_t *ns)
{
	const char *rest;
	char again[32];
	struct tm tm = { .tm_sec = 0 };
	time_t seconds;
	size_t length;
	int err;

	rest = strptime(text, day_and_time, &tm);
	if (!rest)
		return -EINVAL;
	seconds = timegm(&tm); /* and 30 February is 2 March */
	length = strftime(again, sizeof(again), day_and_time, &tm);
	if (length != (size_t)(rest - text) || strncmp(text, again, length))
		return -EINVAL;
	if (seconds < 0)
		return -ERANGE;
	err = add_fraction(seconds, &rest, ns);
	return err ? err : strcmp(rest, "Z") ? -EINVAL : 0;
}

/* +5s, -1.5s */
static int parse_from_now(const char *text, uint64_t *ns)
{
	uint64_t now = link_start_now(), by;
	int err = units_parse_time(text + 1, &by);

	if (err)
		return err;
	if (by && !isalpha((unsigned char)text[strlen(text) - 1]))
		return -EINVAL; /* +5 might be meant as seconds */
	if (by > (*text == '-' ? now : UINT64_MAX - now))
		return -ERANGE;
	*ns = *text == '-' ? now - by : now + by;
	return 0;
}

uint64_t link_start_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* start at TIME */
int link_parse_start(struct link_config *c, const struct link_option *o,
		     int argc, char **argv, struct link_error *error)
{
	uint64_t start_ns = 0;
	const char *word;
	int err;

	if (strcmp(argv[1], "at"))
		return link_parse_failed(argv[1], -EINVAL, "start at TIME",
					 error);
	if (argc < 3)
		return link_error_set(error, LINK_ERROR_MISSING, argv[0],
				      "a time must follow at");
	word = argv[2];
	if (*word == '@')
		err = parse_seconds(word + 1, &start_ns);
	else if (*word == '+' || *word == '-')
		err = parse_from_now(word, &start_ns);
	else
		err = parse_date(word, &start_ns);
	if (!err && !start_ns)
		err = -ERANGE;
	if (err)
		return link_parse_failed(
			word, err,
			"a time after 1970, in UTC as 2026-11-22T10:00:00Z, as seconds since 1970 @1795341600, or from now as +5s",
			error);
	link_value_set(&c->link, TCA_WALE_START, start_ns);
	return 3;
}

void link_print_start(FILE *to, const struct link_config *c, int type)
{
	uint64_t fraction = c->link.value[type] % NS_PER_S;
	time_t seconds = c->link.value[type] / NS_PER_S;
	char text[32];
	struct tm tm;
	int digits = 9;

	strftime(text, sizeof(text), day_and_time, gmtime_r(&seconds, &tm));
	fprintf(to, "start at %s", text);
	for (; digits && fraction % 10 == 0; digits--)
		fraction /= 10;
	if (digits)
		fprintf(to, ".%0*" PRIu64, digits, fraction);
	fputs("Z ", to);
}
