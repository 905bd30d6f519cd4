// SPDX-License-Identifier: GPL-2.0
/*
 * link_json.c - the configuration and the statistics of a link as JSON
 */
#include "json.h"
#include "link_config.h"
#include "link_stats.h"
#include "units.h"

static void json_rate(struct json *j, const char *key, uint64_t rate)
{
	if (rate == WALE_RATE_UNLIMITED)
		json_put_string(j, key, "unlimited");
	else
		json_put_u64(j, key, rate);
}

static void json_trace(struct json *j, const struct link_config *c)
{
	if (c->trace.values)
		link_trace_json(j, &c->trace);
	if (link_is_set(&c->link, TCA_WALE_TRACE_END))
		link_value_json(j, &c->link, &link_options_set,
				TCA_WALE_TRACE_END);
	json_put_u64(j, "trace_steps", c->trace.n_steps);
}

static void json_drop(struct json *j, const struct link_config *c)
{
	uint32_t i;

	json_open(j, "drop_list", '[');
	for (i = 0; i < c->n_drop; i++) {
		json_open(j, NULL, '{');
		json_put_u64(j, "flow", c->drop[i].flow);
		json_put_u64(j, "first", c->drop[i].first);
		json_put_u64(j, "last", c->drop[i].last);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_jitter(struct json *j, const struct link_config *c)
{
	const struct link_values *jitter = &c->nest[LINK_NEST_JITTER];

	json_open(j, "jitter", '{');
	json_put_u64(j, "time_ns", jitter->value[TCA_WALE_JITTER_TIME64]);
	json_put_string(j, "distribution",
			link_is_set(jitter, TCA_WALE_JITTER_NAME)
				? c->table.name
				: "uniform");
	json_put_number(j, "overtaking",
			jitter->value[TCA_WALE_JITTER_REORDERING] ? "true"
								  : "false");
	json_close(j, '}');
}

static void json_threshold(struct json *j, const struct link_config *c,
			   int type)
{
	char buf[UNITS_MAX];

	if (type == TCA_WALE_THRESHOLD)
		json_put_u64(j, "threshold", c->link.value[type]);
	else
		json_put_number(
			j, "threshold_share",
			units_format_millionths(buf, c->link.value[type]));
}

static void json_option(struct json *j, const struct link_config *c, int type)
{
	const struct link_attribute *a = &link_options_set.attributes[type];

	switch (a->form) {
	case LINK_TRACE:
		json_trace(j, c);
		break;
	case LINK_WORDS: /* of a trace */
		break;
	case LINK_DROP:
		json_drop(j, c);
		break;
	case LINK_JITTER:
		json_jitter(j, c);
		break;
	case LINK_OVERHEAD:
		link_value_json(j, &c->link, &link_options_set, type);
		if (link_is_set(&c->link, TCA_WALE_OVERHEAD_BYTES))
			json_put_s64(j, "overhead_bytes",
				     link_overhead_bytes(c));
		break;
	case LINK_THRESHOLD:
		json_threshold(j, c, type);
		break;
	default:
		if (!a->nest)
			link_value_json(j, &c->link, &link_options_set, type);
		else if (c->nest[a->index].set)
			link_values_json(j, &c->nest[a->index], a->nest,
					 a->key);
	}
}

void link_config_json(struct json *j, const struct link_config *c)
{
	const unsigned char *type;

	for (type = link_order; *type; type++)
		if (link_config_shows(c, *type))
			json_option(j, c, *type);
}

void link_stats_json(struct json *j, const struct link_stats *s)
{
	int type;

	for (type = 0; type <= TCA_WALE_STATS_MAX; type++) {
		if (!s->known[type])
			continue;
		if (type == TCA_WALE_STATS_RATE)
			json_rate(j, "rate", s->value[type]);
		else if (type == TCA_WALE_STATS_EPOCH_NS)
			json_put_s64(j, link_stats_name(type), s->value[type]);
		else
			json_put_u64(j, link_stats_name(type), s->value[type]);
	}
}
