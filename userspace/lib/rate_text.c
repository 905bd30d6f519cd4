// SPDX-License-Identifier: GPL-2.0
/*
 * rate_text.c - paths and flows for people, and as JSON
 */
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "rate_path.h"
#include "units.h"

static const char *const meanings[] = {
	[RATE_FEEDBACK_MEANING_SHARE] = "share",
	[RATE_FEEDBACK_MEANING_LINK] = "link",
	[RATE_FEEDBACK_MEANING_WEIGHT] = "weight",
};

static const char *const lags[] = {
	[RATE_FEEDBACK_LAG_NOW] = "now",
	[RATE_FEEDBACK_LAG_RTT] = "rtt",
	[RATE_FEEDBACK_LAG_FIXED] = "fixed",
};

static const char *const rises[] = {
	[RATE_FEEDBACK_RISE_FAST] = "fast",
	[RATE_FEEDBACK_RISE_ADDITIVE] = "additive",
};

static const char *const layers[] = {
	[RATE_FEEDBACK_LAYER_IP] = "ip",
	[RATE_FEEDBACK_LAYER_ETHERNET] = "ethernet",
	[RATE_FEEDBACK_LAYER_ATM] = "atm",
	[RATE_FEEDBACK_LAYER_PAYLOAD] = "payload",
};

static const char *const phases[] = {
	[RATE_FEEDBACK_PHASE_RENO] = "reno",
	[RATE_FEEDBACK_PHASE_SLOW_START] = "slow-start",
	[RATE_FEEDBACK_PHASE_AVOIDANCE] = "avoidance",
	[RATE_FEEDBACK_PHASE_INACTIVE] = "inactive",
	[RATE_FEEDBACK_PHASE_RECOVERY] = "recovery",
};

#define N(names) (sizeof(names) / sizeof((names)[0]))

static const char *name_of(const char *const *names, size_t n, uint32_t value)
{
	return value < n ? names[value] : "?";
}

static int value_of(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *rate_meaning_name(uint32_t meaning)
{
	return name_of(meanings, N(meanings), meaning);
}

const char *rate_lag_name(uint32_t lag)
{
	return name_of(lags, N(lags), lag);
}

const char *rate_rise_name(uint32_t rise)
{
	return name_of(rises, N(rises), rise);
}

const char *rate_layer_name(uint32_t layer)
{
	return name_of(layers, N(layers), layer);
}

const char *rate_phase_name(uint32_t phase)
{
	return name_of(phases, N(phases), phase);
}

int rate_meaning_value(const char *name)
{
	return value_of(meanings, N(meanings), name);
}

int rate_rise_value(const char *name)
{
	return value_of(rises, N(rises), name);
}

int rate_layer_value(const char *name)
{
	return value_of(layers, N(layers), name);
}

_Static_assert(UNITS_MAX == 48, "as in rate_path.h");

const char *rate_lag_format(char buf[48], const struct rate_path *path)
{
	if (path->lag == RATE_FEEDBACK_LAG_FIXED)
		return units_format_time(buf, path->lag_time);
	return rate_lag_name(path->lag);
}

/* A path that follows takes its rate, and what it means, from elsewhere. */
static void print_value(FILE *to, const struct rate_path *path)
{
	char buf[UNITS_MAX];

	if (path->set & RATE_PATH_FOLLOW) {
		fprintf(to, " follow dev if%u", path->follow_ifindex);
		return;
	}
	if (path->set & RATE_PATH_RATE)
		fprintf(to, " %s", units_format_rate(buf, path->rate));
	if (path->set & RATE_PATH_MEANING)
		fprintf(to, " %s", rate_meaning_name(path->meaning));
	if (path->set & RATE_PATH_LAYER)
		fprintf(to, " layer %s", rate_layer_name(path->layer));
}

void rate_path_print(FILE *to, const struct rate_path *path)
{
	char buf[RATE_KEY_MAX];

	fputs(rate_key_format(buf, &path->key), to);
	print_value(to, path);
	if (path->set & RATE_PATH_LAG)
		fprintf(to, " lag %s", rate_lag_format(buf, path));
	if (path->set & RATE_PATH_AGE_LIMIT)
		fprintf(to, " age %s",
			path->age_limit
				? units_format_time(buf, path->age_limit)
				: "none");
	if (path->set & RATE_PATH_BETA)
		fprintf(to, " beta %" PRIu32, path->beta);
	if (path->set & RATE_PATH_SWING)
		fprintf(to, " swing %" PRIu32 "%%", path->swing);
	if (path->set & RATE_PATH_PHI)
		fprintf(to, " phi %s", units_format_millionths(buf, path->phi));
	if (path->set & RATE_PATH_RISE)
		fprintf(to, " rise %s", rate_rise_name(path->rise));
	if (path->set & RATE_PATH_PACE)
		fputs(path->pace ? " pace" : " nopace", to);
	if (path->set & RATE_PATH_BASE_RTT)
		fprintf(to, " base-rtt %s",
			path->base_rtt ? units_format_time(buf, path->base_rtt)
				       : "measured");
}

static void put_bool(struct json *j, const char *name, bool value)
{
	json_put_number(j, name, value ? "true" : "false");
}

static void put_rate(struct json *j, const char *name, uint64_t rate)
{
	if (rate == RATE_UNLIMITED)
		json_put_string(j, name, "unlimited");
	else
		json_put_u64(j, name, rate);
}

void rate_key_json(struct json *j, const struct rate_key *key)
{
	char buf[RATE_KEY_MAX];

	switch (key->kind) {
	case RATE_KEY_DEV:
		json_put_string(j, "dev", rate_device_name(buf, key->ifindex));
		json_put_u64(j, "ifindex", key->ifindex);
		break;
	case RATE_KEY_DST:
		/* without the word that comes before it */
		json_put_string(j, "dst", rate_key_format(buf, key) + 4);
		break;
	case RATE_KEY_FLOW:
		json_put_string(j, "local", rate_key_local(buf, key));
		json_put_string(j, "peer", rate_key_peer(buf, key));
		break;
	default:
		break;
	}
}

/* What the kernel did not tell is left out. */
static void json_value(struct json *j, const struct rate_path *path)
{
	if (path->set & RATE_PATH_FOLLOW) {
		json_open(j, "follow", '{');
		json_put_u64(j, "ifindex", path->follow_ifindex);
		json_close(j, '}');
	}
	if (path->set & RATE_PATH_RATE)
		put_rate(j, "rate", path->rate);
	if (path->set & RATE_PATH_MEANING)
		json_put_string(j, "meaning", rate_meaning_name(path->meaning));
	if (path->set & RATE_PATH_LAYER)
		json_put_string(j, "layer", rate_layer_name(path->layer));
	if (path->set & RATE_PATH_TIME)
		json_put_u64(j, "time_ns", path->time);
}

static void json_settings(struct json *j, const struct rate_path *path)
{
	char buf[UNITS_MAX];

	if (path->set & RATE_PATH_AGE_LIMIT)
		json_put_u64(j, "age_limit_ns", path->age_limit);
	if (path->set & RATE_PATH_LAG)
		json_put_string(j, "lag", rate_lag_name(path->lag));
	if (path->set & RATE_PATH_LAG_TIME)
		json_put_u64(j, "lag_time_ns", path->lag_time);
	if (path->set & RATE_PATH_BETA)
		json_put_u64(j, "beta", path->beta);
	if (path->set & RATE_PATH_SWING)
		json_put_u64(j, "swing_percent", path->swing);
	if (path->set & RATE_PATH_PHI)
		json_put_number(j, "phi",
				units_format_millionths(buf, path->phi));
	if (path->set & RATE_PATH_RISE)
		json_put_string(j, "rise", rate_rise_name(path->rise));
	if (path->set & RATE_PATH_PACE)
		put_bool(j, "pace", path->pace);
	if (path->set & RATE_PATH_BASE_RTT)
		json_put_u64(j, "base_rtt_ns", path->base_rtt);
}

void rate_path_json(struct json *j, const struct rate_path *path)
{
	json_put_u64(j, "id", path->id);
	rate_key_json(j, &path->key);
	json_value(j, path);
	json_settings(j, path);
	json_put_u64(j, "flows", path->flows);
	json_put_u64(j, "listeners", path->listeners);
	put_bool(j, "publisher", path->publisher);
	json_put_u64(j, "age_ns", path->age);
	json_put_u64(j, "updates", path->updates);
}

static const char *format_price(char buf[UNITS_MAX], uint64_t price)
{
	snprintf(buf, UNITS_MAX, "%" PRIu64 ".%09" PRIu64, price / 1000000000,
		 price % 1000000000);
	return buf;
}

void rate_flow_json(struct json *j, const struct rate_flow *flow)
{
	char buf[16], price[UNITS_MAX];

	json_put_u64(j, "id", flow->id);
	rate_key_json(j, &flow->key);
	if (flow->ifindex)
		json_put_string(j, "dev", rate_device_name(buf, flow->ifindex));
	if (flow->has_path)
		json_put_u64(j, "path", flow->path);
	json_put_u64(j, "uid", flow->uid);
	json_put_string(j, "cc", flow->congestion);
	json_put_string(j, "phase", rate_phase_name(flow->phase));
	put_rate(j, "rate", flow->rate);
	if (flow->price)
		json_put_number(j, "price", format_price(price, flow->price));
	json_put_u64(j, "rate_window_packets", flow->rate_window);
	json_put_u64(j, "cwnd_packets", flow->cwnd);
	json_put_u64(j, "in_flight_packets", flow->in_flight);
	json_put_u64(j, "base_rtt_ns", flow->base_rtt);
	json_put_u64(j, "packet_size", flow->packet_size);
	json_put_u64(j, "mss", flow->mss);
	json_put_u64(j, "bytes_acked", flow->bytes_acked);
	json_put_u64(j, "lost_advice", flow->lost_advice);
	json_put_u64(j, "found_advice", flow->found_advice);
}
