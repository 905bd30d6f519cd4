// SPDX-License-Identifier: GPL-2.0
/*
 * rate_path.c - the options of a path, as users type them
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"
#include "rate_path.h"
#include "units.h"

static int parse_age(struct rate_path *path, const char *value,
		     struct rate_error *error)
{
	path->age_limit = 0;
	if (!strcmp(value, "none"))
		return 0;
	if (units_parse_time(value, &path->age_limit) || !path->age_limit ||
	    path->age_limit > RATE_FEEDBACK_TIME_MAX)
		return rate_error_set(error,
				      "age: \"%.40s\": expected none or a time "
				      "up to 86400s, such as 3s",
				      value);
	return 0;
}

static int parse_lag(struct rate_path *path, const char *value,
		     struct rate_error *error)
{
	if (!strcmp(value, "now")) {
		path->lag = RATE_FEEDBACK_LAG_NOW;
		return 0;
	}
	if (!strcmp(value, "rtt")) {
		path->lag = RATE_FEEDBACK_LAG_RTT;
		return 0;
	}
	if (units_parse_time(value, &path->lag_time) ||
	    path->lag_time > RATE_FEEDBACK_TIME_MAX)
		return rate_error_set(error,
				      "lag: \"%.40s\": expected now, rtt, or a "
				      "time up to 86400s, such as 200ms",
				      value);
	path->lag = RATE_FEEDBACK_LAG_FIXED;
	path->set |= RATE_PATH_LAG_TIME;
	return 0;
}

static int parse_beta(struct rate_path *path, const char *value,
		      struct rate_error *error)
{
	uint64_t beta;

	if (units_parse_count(value, RATE_FEEDBACK_BETA_MAX, &beta))
		return rate_error_set(error,
				      "beta: \"%.40s\": expected a number of "
				      "packets, 0 to %u",
				      value, RATE_FEEDBACK_BETA_MAX);
	path->beta = beta;
	return 0;
}

/* The channel has whole percents; -1 if @fraction, in 2^-32, is no such number. */
static int whole_percent(uint32_t fraction)
{
	int64_t hundredfold = (int64_t)fraction * 100;
	int64_t percent = (hundredfold + (INT64_C(1) << 31)) >> 32;

	/* a fraction is rounded, and all is one less than 2^32 */
	return llabs(hundredfold - (percent << 32)) <= 100 ? percent : -1;
}

static int parse_swing(struct rate_path *path, const char *value,
		       struct rate_error *error)
{
	uint32_t fraction;
	int percent = -1;

	if (!units_parse_percent(value, &fraction))
		percent = whole_percent(fraction);
	if (percent < 0)
		return rate_error_set(error,
				      "swing: \"%.40s\": expected whole "
				      "percents, 0%% to %u%%",
				      value, RATE_FEEDBACK_SWING_MAX);
	path->swing = percent;
	return 0;
}

static int parse_phi(struct rate_path *path, const char *value,
		     struct rate_error *error)
{
	uint32_t phi;

	if (units_parse_millionths(value, &phi) ||
	    phi < RATE_FEEDBACK_PHI_MIN || phi > RATE_FEEDBACK_PHI_MAX)
		return rate_error_set(error,
				      "phi: \"%.40s\": expected a number from "
				      "1.001 to 1000",
				      value);
	path->phi = phi;
	return 0;
}

static int parse_rise(struct rate_path *path, const char *value,
		      struct rate_error *error)
{
	int rise = rate_rise_value(value);

	if (rise < 0)
		return rate_error_set(error,
				      "rise: \"%.40s\": expected fast or "
				      "additive",
				      value);
	path->rise = rise;
	return 0;
}

static int parse_base_rtt(struct rate_path *path, const char *value,
			  struct rate_error *error)
{
	path->base_rtt = 0;
	if (!strcmp(value, "measured"))
		return 0;
	if (units_parse_time(value, &path->base_rtt) || !path->base_rtt ||
	    path->base_rtt > RATE_FEEDBACK_RTT_MAX)
		return rate_error_set(error,
				      "base-rtt: \"%.40s\": expected measured, "
				      "or a time up to 60s, such as 100ms",
				      value);
	return 0;
}

static int parse_layer(struct rate_path *path, const char *value,
		       struct rate_error *error)
{
	int layer = rate_layer_value(value);

	if (layer < 0)
		return rate_error_set(error,
				      "layer: \"%.40s\": expected ip, "
				      "ethernet, atm or payload",
				      value);
	path->layer = layer;
	return 0;
}

static int parse_time(struct rate_path *path, const char *value,
		      struct rate_error *error)
{
	if (units_parse_time(value, &path->time))
		return rate_error_set(error,
				      "time: \"%.40s\": expected ns of "
				      "CLOCK_MONOTONIC",
				      value);
	return 0;
}

/* The index of a device in the other namespace; 0, with @error, if none. */
static uint32_t device_in(int netns_fd, const char *name,
			  struct rate_error *error)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	uint32_t ifindex = 0;

	if (home < 0 || setns(netns_fd, CLONE_NEWNET)) {
		rate_error_set(error, "netns: cannot look into it: %s",
			       strerror(errno));
	} else {
		ifindex = rate_device_index(name);
		if (!ifindex)
			rate_error_set(error,
				       "there is no device \"%.40s\" there",
				       name);
		if (setns(home, CLONE_NEWNET)) {
			rate_error_set(error, "netns: cannot return: %s",
				       strerror(errno));
			ifindex = 0;
		}
	}
	if (home >= 0)
		close(home);
	return ifindex;
}

/* follow dev DEV [netns NAME|PID]: how many words it took, or -1. */
static int parse_follow(struct rate_path *path, int argc, char **argv,
			struct rate_error *error)
{
	bool netns = argc > 3 && !strcmp(argv[3], "netns");
	char why[NETNS_WHY_MAX];
	int fd;

	if (argc < 3 || strcmp(argv[1], "dev") || (netns && argc < 5))
		return rate_error_set(error, "follow: expected dev DEV "
					     "[netns NAME|PID]");
	if (!netns) {
		path->follow_ifindex = rate_device_index(argv[2]);
		if (!path->follow_ifindex)
			return rate_error_set(error,
					      "follow: there is no device "
					      "\"%.40s\"",
					      argv[2]);
		return 3;
	}
	fd = netns_open(argv[4], why);
	if (fd < 0)
		return rate_error_set(error, "netns: %s", why);
	path->follow_ifindex = device_in(fd, argv[2], error);
	if (!path->follow_ifindex) {
		close(fd);
		return -1;
	}
	path->follow_netns_fd = fd;
	return 5;
}

static const struct option {
	const char *name;
	unsigned int bit;
	int (*parse)(struct rate_path *path, const char *value,
		     struct rate_error *error);
} options[] = {
	{ "age", RATE_PATH_AGE_LIMIT, parse_age },
	{ "lag", RATE_PATH_LAG, parse_lag },
	{ "beta", RATE_PATH_BETA, parse_beta },
	{ "swing", RATE_PATH_SWING, parse_swing },
	{ "phi", RATE_PATH_PHI, parse_phi },
	{ "rise", RATE_PATH_RISE, parse_rise },
	{ "base-rtt", RATE_PATH_BASE_RTT, parse_base_rtt },
	{ "layer", RATE_PATH_LAYER, parse_layer },
	{ "time", RATE_PATH_TIME, parse_time },
};

static const struct option *find_option(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

/* Every option once. */
static int take(struct rate_path *path, unsigned int bit, const char *word,
		struct rate_error *error)
{
	if (path->set & bit)
		return rate_error_set(error,
				      "\"%.40s\" sets for the second time what "
				      "is set",
				      word);
	path->set |= bit;
	return 0;
}

/* Options that are one word. */
static int parse_word(struct rate_path *path, const char *word,
		      struct rate_error *error)
{
	int meaning = rate_meaning_value(word), err;
	char wrong[UNITS_WRONG_MAX];

	if (meaning >= 0) {
		path->meaning = meaning;
		return take(path, RATE_PATH_MEANING, word, error) ? -1 : 1;
	}
	if (!strcmp(word, "pace") || !strcmp(word, "nopace")) {
		path->pace = *word == 'p';
		return take(path, RATE_PATH_PACE, word, error) ? -1 : 1;
	}
	/* Only a rate begins so. */
	if ((*word >= '0' && *word <= '9') || !strcmp(word, "unlimited")) {
		err = units_parse_rate(word, &path->rate);
		if (err)
			return rate_error_set(
				error, "\"%.40s\": %s", word,
				units_rate_wrong(
					wrong, err, path->rate,
					"a rate such as 10mbit, or unlimited"));
		return take(path, RATE_PATH_RATE, word, error) ? -1 : 1;
	}
	return 0;
}

int rate_path_parse(struct rate_path *path, int argc, char **argv,
		    struct rate_error *error)
{
	const struct option *option;

	if (argc < 1)
		return 0;
	if (!strcmp(*argv, "follow")) {
		if (take(path, RATE_PATH_FOLLOW, *argv, error))
			return -1;
		return parse_follow(path, argc, argv, error);
	}
	option = find_option(*argv);
	if (!option)
		return parse_word(path, *argv, error);
	if (argc < 2)
		return rate_error_set(error, "%s: expected a value", *argv);
	if (take(path, option->bit, *argv, error) ||
	    option->parse(path, argv[1], error))
		return -1;
	return 2;
}

void rate_path_close(struct rate_path *path)
{
	if (path->set & RATE_PATH_FOLLOW && path->follow_netns_fd >= 0)
		close(path->follow_netns_fd);
	path->follow_netns_fd = -1;
}
