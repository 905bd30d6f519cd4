// SPDX-License-Identifier: GPL-2.0
/*
 * link_json.c - the configuration and the statistics of a link as JSON
 */
#include "json.h"
#include "link_config.h"
#include "link_stats.h"
#include "units.h"

static void json_named_rate(struct json *j, const char *name, uint64_t rate)
{
	if (rate == WALE_RATE_UNLIMITED)
		json_put_string(j, name, "unlimited");
	else
		json_put_u64(j, name, rate);
}

static void json_rate(struct json *j, uint64_t rate)
{
	json_named_rate(j, "rate", rate);
}

/* A value that has no name here is shown as its number. */
static void json_enum(struct json *j, const char *key, const char *name,
		      uint32_t value)
{
	if (name)
		json_put_string(j, key, name);
	else
		json_put_u64(j, key, value);
}

static void json_trace(struct json *j, const struct link_config *c)
{
	uint32_t i;

	if (c->trace.steps) {
		json_open(j, "trace", '[');
		for (i = 0; i < c->trace.n_steps; i++) {
			json_open(j, NULL, '{');
			json_put_u64(j, "duration_ns",
				     c->trace.steps[i].duration_ns);
			json_rate(j, c->trace.steps[i].rate);
			json_close(j, '}');
		}
		json_close(j, ']');
	}
	if (c->set & LINK_TRACE_END)
		json_enum(j, "trace_end", link_trace_end_name(c->trace_end),
			  c->trace_end);
	json_put_u64(j, "trace_steps", c->trace.n_steps);
}

static void json_sessions(struct json *j, const struct link_sessions *s)
{
	char buf[UNITS_MAX];

	json_open(j, "sessions", '{');
	json_put_number(j, "arrival",
			units_format_probability(buf, s->arrival));
	json_put_number(j, "mean", units_format_fixed32(buf, s->mean));
	json_put_u64(j, "max", s->max);
	json_put_u64(j, "step_ns", s->step_ns);
	json_close(j, '}');
}

static void json_millionths(struct json *j, const char *name, uint32_t value)
{
	char buf[UNITS_MAX];

	json_put_number(j, name, units_format_millionths(buf, value));
}

static void json_rem(struct json *j, const struct link_rem *rem)
{
	json_open(j, "rem", '{');
	if (rem->set & LINK_REM_INTERVAL)
		json_put_u64(j, "interval_ns", rem->interval_ns);
	if (rem->set & LINK_REM_GAMMA)
		json_millionths(j, "gamma", rem->gamma);
	if (rem->set & LINK_REM_ALPHA)
		json_millionths(j, "alpha", rem->alpha);
	if (rem->set & LINK_REM_TARGET)
		json_put_u64(j, "target_bytes", rem->target);
	if (rem->set & LINK_REM_PHI)
		json_millionths(j, "phi", rem->phi);
	json_close(j, '}');
}

static void json_policy(struct json *j, const struct link_config *c)
{
	const struct link_policy *policy = &c->policy;

	if (c->set & LINK_POLICY && policy->kind != WALE_POLICY_TAIL)
		json_enum(j, "policy", link_policy_name(policy->kind),
			  policy->kind);
	if (c->set & LINK_THRESHOLD_SHARE)
		json_millionths(j, "threshold_share", policy->share);
	if (c->set & LINK_THRESHOLD_NUMBER)
		json_put_u64(j, "threshold", policy->threshold);
	if (c->set & LINK_Z)
		json_millionths(j, "z", policy->z);
	if (c->set & LINK_LAST)
		json_put_u64(j, "last", policy->last);
	if (c->set & LINK_MARK)
		json_put_number(j, "mark", policy->mark ? "true" : "false");
	if (c->set & LINK_REM)
		json_rem(j, &c->rem);
	if (c->set & LINK_FLOWS)
		json_put_u64(j, "flows", c->flows);
	if (c->set & LINK_INPUT_RATE && c->input_rate != WALE_RATE_UNLIMITED)
		json_named_rate(j, "input_rate", c->input_rate);
}

static void json_share(struct json *j, const char *name, uint32_t share)
{
	char buf[UNITS_MAX];

	json_put_number(j, name, units_format_probability(buf, share));
}

static void json_model(struct json *j, const char *name, unsigned int bit,
		       const uint32_t *numbers)
{
	unsigned int i;

	json_open(j, name, '{');
	for (i = 0; link_loss_number_name(bit, i); i++)
		json_share(j, link_loss_number_name(bit, i), numbers[i]);
	json_close(j, '}');
}

static void json_drop(struct json *j, const struct link_config *c)
{
	uint32_t i;

	json_open(j, "drop", '[');
	for (i = 0; i < c->n_drop; i++) {
		json_open(j, NULL, '{');
		json_put_u64(j, "flow", c->drop[i].flow);
		json_put_u64(j, "first", c->drop[i].first);
		json_put_u64(j, "last", c->drop[i].last);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_impairments(struct json *j, const struct link_config *c)
{
	if (c->set & LINK_DROP)
		json_drop(j, c);
	if (c->set & LINK_SLOT && c->slot.max_ns) {
		json_open(j, "slot", '{');
		json_put_u64(j, "min_ns", c->slot.min_ns);
		json_put_u64(j, "max_ns", c->slot.max_ns);
		json_put_u64(j, "packets", c->slot.packets);
		json_put_u64(j, "bytes", c->slot.bytes);
		json_close(j, '}');
	}
	if (c->set & LINK_REORDER) {
		json_share(j, "reorder", c->reorder);
		json_put_u64(j, "reorder_gap", c->reorder_gap);
	}
	if (c->set & LINK_DUPLICATE)
		json_share(j, "duplicate", c->duplicate);
	if (c->set & LINK_CORRUPT)
		json_share(j, "corrupt", c->corrupt);
}

static void json_loss(struct json *j, const struct link_config *c)
{
	if (c->set & LINK_LOSS)
		json_share(j, "loss", c->loss);
	if (c->set & LINK_LOSS_GEMODEL)
		json_model(j, "loss_gemodel", LINK_LOSS_GEMODEL,
			   c->loss_numbers);
	if (c->set & LINK_LOSS_STATE)
		json_model(j, "loss_state", LINK_LOSS_STATE, c->loss_numbers);
	if (c->set & LINK_ECN)
		json_put_number(j, "ecn", c->ecn ? "true" : "false");
}

static void json_jitter(struct json *j, const struct link_jitter *jitter)
{
	json_open(j, "jitter", '{');
	json_put_u64(j, "time_ns", jitter->time_ns);
	json_put_string(j, "distribution",
			jitter->set & LINK_JITTER_NAME ? jitter->name
						       : "uniform");
	json_put_number(j, "reordering", jitter->reordering ? "true" : "false");
	json_close(j, '}');
}

void link_config_json(struct json *j, const struct link_config *c)
{
	if (c->set & LINK_TRACE)
		json_trace(j, c);
	else if (c->set & LINK_RATE)
		json_rate(j, c->rate);
	if (c->set & LINK_DELAY)
		json_put_u64(j, "delay_ns", c->delay_ns);
	if (c->set & LINK_JITTER)
		json_jitter(j, &c->jitter);
	if (c->set & LINK_LIMIT_PACKETS)
		json_put_u64(j, "limit_packets", c->limit_packets);
	if (c->set & LINK_LIMIT_BYTES)
		json_put_u64(j, "limit_bytes", c->limit_bytes);
	if (c->set & LINK_LIMIT_CELLS)
		json_put_u64(j, "limit_cells", c->limit_cells);
	json_policy(j, c);
	json_loss(j, c);
	json_impairments(j, c);
	if (c->set & LINK_OVERHEAD)
		json_enum(j, "overhead", link_overhead_name(c->overhead),
			  c->overhead);
	if (c->set & LINK_DROPS)
		json_enum(j, "drops", link_drops_name(c->drops), c->drops);
	if (c->set & LINK_GSO)
		json_enum(j, "gso", link_gso_name(c->gso), c->gso);
	if (c->set & LINK_SEED)
		json_put_u64(j, "seed", c->seed);
	if (c->set & LINK_SLACK)
		json_put_u64(j, "slack_ns", c->slack_ns);
	if (c->set & LINK_SESSIONS)
		json_sessions(j, &c->sessions);
	if (c->set & LINK_START)
		json_put_u64(j, "start_ns", c->start_ns);
	if (c->set & LINK_FEEDBACK && c->feedback_idle_ns) {
		json_open(j, "feedback", '{');
		json_put_u64(j, "idle_ns", c->feedback_idle_ns);
		json_close(j, '}');
	}
}

void link_stats_json(struct json *j, const struct link_stats *s)
{
	int type;

	for (type = 0; type <= TCA_WALE_STATS_MAX; type++) {
		if (!s->known[type])
			continue;
		if (type == TCA_WALE_STATS_RATE)
			json_rate(j, s->value[type]);
		else if (type == TCA_WALE_STATS_EPOCH_NS)
			json_put_s64(j, link_stats_name(type), s->value[type]);
		else
			json_put_u64(j, link_stats_name(type), s->value[type]);
	}
}
