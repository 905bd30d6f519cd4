// SPDX-License-Identifier: GPL-2.0
/*
 * link_attributes.c - the configuration of a link as netlink attributes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "link_config.h"

static int encode_sessions(const struct link_sessions *s, attribute_put_fn put,
			   void *to)
{
	char buf[64] = { 0 };
	size_t length = 0;

	if (s->set & SESSIONS_ARRIVAL)
		attribute_append(buf, &length, TCA_WALE_SESSIONS_ARRIVAL,
				 &s->arrival, sizeof(s->arrival));
	if (s->set & SESSIONS_MEAN)
		attribute_append(buf, &length, TCA_WALE_SESSIONS_MEAN, &s->mean,
				 sizeof(s->mean));
	if (s->set & SESSIONS_MAX)
		attribute_append(buf, &length, TCA_WALE_SESSIONS_LIMIT, &s->max,
				 sizeof(s->max));
	if (s->set & SESSIONS_STEP)
		attribute_append(buf, &length, TCA_WALE_SESSIONS_STEP,
				 &s->step_ns, sizeof(s->step_ns));
	return put(to, TCA_WALE_SESSIONS | NLA_F_NESTED, buf, length);
}

static int encode_rem(const struct link_rem *rem, attribute_put_fn put,
		      void *to)
{
	char buf[64] = { 0 };
	size_t length = 0;

	if (rem->set & LINK_REM_INTERVAL)
		attribute_append(buf, &length, TCA_WALE_REM_INTERVAL,
				 &rem->interval_ns, sizeof(rem->interval_ns));
	if (rem->set & LINK_REM_GAMMA)
		attribute_append(buf, &length, TCA_WALE_REM_GAMMA, &rem->gamma,
				 sizeof(rem->gamma));
	if (rem->set & LINK_REM_ALPHA)
		attribute_append(buf, &length, TCA_WALE_REM_ALPHA, &rem->alpha,
				 sizeof(rem->alpha));
	if (rem->set & LINK_REM_TARGET)
		attribute_append(buf, &length, TCA_WALE_REM_TARGET,
				 &rem->target, sizeof(rem->target));
	if (rem->set & LINK_REM_PHI)
		attribute_append(buf, &length, TCA_WALE_REM_PHI, &rem->phi,
				 sizeof(rem->phi));
	return put(to, TCA_WALE_REM | NLA_F_NESTED, buf, length);
}

/* A nest of 32-bit numbers, whose types are 1, 2 ... */
static int encode_numbers(int type, const uint32_t *numbers, int n,
			  attribute_put_fn put, void *to)
{
	char buf[64] = { 0 };
	size_t length = 0;
	int i;

	for (i = 0; i < n; i++)
		attribute_append(buf, &length, i + 1, &numbers[i],
				 sizeof(numbers[i]));
	return put(to, type | NLA_F_NESTED, buf, length);
}

/* Without slots, the nest is empty: off. */
static int encode_slot(const struct link_slot *slot, attribute_put_fn put,
		       void *to)
{
	char buf[64] = { 0 };
	size_t length = 0;

	if (slot->max_ns) {
		attribute_append(buf, &length, TCA_WALE_SLOT_MIN64,
				 &slot->min_ns, sizeof(slot->min_ns));
		attribute_append(buf, &length, TCA_WALE_SLOT_MAX64,
				 &slot->max_ns, sizeof(slot->max_ns));
		attribute_append(buf, &length, TCA_WALE_SLOT_PACKETS,
				 &slot->packets, sizeof(slot->packets));
		attribute_append(buf, &length, TCA_WALE_SLOT_BYTES,
				 &slot->bytes, sizeof(slot->bytes));
	}
	return put(to, TCA_WALE_SLOT | NLA_F_NESTED, buf, length);
}

/* The nest with the table is too long for the stack of some. */
static int encode_jitter(const struct link_jitter *jitter, attribute_put_fn put,
			 void *to)
{
	size_t size = jitter->n_entries * sizeof(*jitter->entries);
	char *buf = calloc(1, size + sizeof(*jitter) + 64);
	size_t length = 0;
	int err;

	if (!buf)
		return -ENOMEM;
	if (jitter->set & LINK_JITTER_TIME)
		attribute_append(buf, &length, TCA_WALE_JITTER_TIME64,
				 &jitter->time_ns, sizeof(jitter->time_ns));
	if (jitter->set & LINK_JITTER_TABLE)
		attribute_append(buf, &length, TCA_WALE_JITTER_TABLE,
				 size ? jitter->entries : (int16_t *)buf, size);
	if (jitter->set & LINK_JITTER_NAME)
		attribute_append(buf, &length, TCA_WALE_JITTER_NAME,
				 jitter->name, strlen(jitter->name) + 1);
	if (jitter->set & LINK_JITTER_REORDERING)
		attribute_append(buf, &length, TCA_WALE_JITTER_REORDERING,
				 &jitter->reordering,
				 sizeof(jitter->reordering));
	err = put(to, TCA_WALE_JITTER | NLA_F_NESTED, buf, length);
	free(buf);
	return err;
}

/* Without an idle time, the nest is empty: off. */
static int encode_feedback(uint64_t idle_ns, attribute_put_fn put, void *to)
{
	char buf[16] = { 0 };
	size_t length = 0;

	if (idle_ns)
		attribute_append(buf, &length, TCA_WALE_FEEDBACK_IDLE, &idle_ns,
				 sizeof(idle_ns));
	return put(to, TCA_WALE_FEEDBACK | NLA_F_NESTED, buf, length);
}

/* @beside: bytes of the other large attribute, as all must fit into 64 kB. */
static int encode_trace(const struct link_trace *trace, size_t beside,
			attribute_put_fn put, void *to)
{
	const size_t room = WALE_TRACE_STEPS_MAX * sizeof(*trace->steps);
	int fd;

	if (trace->n_steps * sizeof(*trace->steps) + beside <= room)
		return put(to, TCA_WALE_TRACE, trace->steps,
			   trace->n_steps * sizeof(*trace->steps));
	fd = link_trace_fd(trace);
	if (fd >= 0)
		return put(to, TCA_WALE_TRACE_FD, &fd, sizeof(fd));
	errno = -fd;
	return -EREMOTEIO;
}

int link_config_encode(const struct link_config *c, attribute_put_fn put,
		       void *to)
{
	const struct attribute_field fields[] = {
#define FIELD(bit, type, member) { bit, type, &c->member, sizeof(c->member) }
		FIELD(LINK_RATE, TCA_WALE_RATE64, rate),
		FIELD(LINK_DELAY, TCA_WALE_DELAY64, delay_ns),
		FIELD(LINK_LIMIT_PACKETS, TCA_WALE_LIMIT_PACKETS,
		      limit_packets),
		FIELD(LINK_LIMIT_BYTES, TCA_WALE_LIMIT_BYTES, limit_bytes),
		FIELD(LINK_LOSS, TCA_WALE_LOSS, loss),
		FIELD(LINK_OVERHEAD, TCA_WALE_OVERHEAD, overhead),
		FIELD(LINK_DROPS, TCA_WALE_DROPS, drops),
		FIELD(LINK_SEED, TCA_WALE_SEED, seed),
		FIELD(LINK_TRACE_END, TCA_WALE_TRACE_END, trace_end),
		FIELD(LINK_LIMIT_CELLS, TCA_WALE_LIMIT_CELLS, limit_cells),
		FIELD(LINK_POLICY, TCA_WALE_POLICY, policy.kind),
		FIELD(LINK_THRESHOLD_NUMBER, TCA_WALE_THRESHOLD,
		      policy.threshold),
		FIELD(LINK_THRESHOLD_SHARE, TCA_WALE_THRESHOLD_SHARE,
		      policy.share),
		FIELD(LINK_Z, TCA_WALE_Z, policy.z),
		FIELD(LINK_LAST, TCA_WALE_LAST, policy.last),
		FIELD(LINK_MARK, TCA_WALE_MARK, policy.mark),
		FIELD(LINK_FLOWS, TCA_WALE_FLOWS, flows),
		FIELD(LINK_INPUT_RATE, TCA_WALE_INPUT_RATE64, input_rate),
		FIELD(LINK_ECN, TCA_WALE_LOSS_ECN, ecn),
		FIELD(LINK_REORDER, TCA_WALE_REORDER, reorder),
		FIELD(LINK_REORDER, TCA_WALE_REORDER_GAP, reorder_gap),
		FIELD(LINK_DUPLICATE, TCA_WALE_DUPLICATE, duplicate),
		FIELD(LINK_CORRUPT, TCA_WALE_CORRUPT, corrupt),
		{ LINK_DROP, TCA_WALE_DROP_LIST, c->drop,
		  c->n_drop * sizeof(c->drop[0]) },
		FIELD(LINK_START, TCA_WALE_START, start_ns),
		FIELD(LINK_SLACK, TCA_WALE_SLACK, slack_ns),
		FIELD(LINK_GSO, TCA_WALE_GSO, gso),
#undef FIELD
	};
	const size_t table =
		c->set & LINK_JITTER && c->jitter.set & LINK_JITTER_TABLE
			? c->jitter.n_entries * sizeof(*c->jitter.entries)
			: 0;
	int err;

	err = attribute_put_fields(fields, sizeof(fields) / sizeof(fields[0]),
				   c->set, put, to);
	if (!err && c->set & LINK_TRACE)
		err = encode_trace(&c->trace, table, put, to);
	if (!err && c->set & LINK_SESSIONS)
		err = encode_sessions(&c->sessions, put, to);
	if (!err && c->set & LINK_REM)
		err = encode_rem(&c->rem, put, to);
	if (!err && c->set & LINK_LOSS_GEMODEL)
		err = encode_numbers(TCA_WALE_LOSS_GEMODEL, c->loss_numbers,
				     TCA_WALE_LOSS_GEMODEL_MAX, put, to);
	if (!err && c->set & LINK_LOSS_STATE)
		err = encode_numbers(TCA_WALE_LOSS_STATE, c->loss_numbers,
				     TCA_WALE_LOSS_STATE_MAX, put, to);
	if (!err && c->set & LINK_SLOT)
		err = encode_slot(&c->slot, put, to);
	if (!err && c->set & LINK_JITTER)
		err = encode_jitter(&c->jitter, put, to);
	if (!err && c->set & LINK_FEEDBACK)
		err = encode_feedback(c->feedback_idle_ns, put, to);
	return err;
}

static void decode_sessions(struct link_sessions *s, const void *data,
			    size_t length)
{
	const char *at = data;
	struct attribute a;

	memset(s, 0, sizeof(*s));
	while (attribute_next(&at, &length, &a)) {
		switch (a.type) {
		case TCA_WALE_SESSIONS_ARRIVAL:
			s->set |= SESSIONS_ARRIVAL;
			s->arrival = attribute_u32(&a);
			break;
		case TCA_WALE_SESSIONS_MEAN:
			s->set |= SESSIONS_MEAN;
			s->mean = attribute_u64(&a);
			break;
		case TCA_WALE_SESSIONS_LIMIT:
			s->set |= SESSIONS_MAX;
			s->max = attribute_u32(&a);
			break;
		case TCA_WALE_SESSIONS_STEP:
			s->set |= SESSIONS_STEP;
			s->step_ns = attribute_u64(&a);
			break;
		}
	}
}

static void decode_rem(struct link_rem *rem, const void *data, size_t length)
{
	const char *at = data;
	struct attribute a;

	memset(rem, 0, sizeof(*rem));
	while (attribute_next(&at, &length, &a)) {
		switch (a.type) {
		case TCA_WALE_REM_INTERVAL:
			rem->set |= LINK_REM_INTERVAL;
			rem->interval_ns = attribute_u64(&a);
			break;
		case TCA_WALE_REM_GAMMA:
			rem->set |= LINK_REM_GAMMA;
			rem->gamma = attribute_u32(&a);
			break;
		case TCA_WALE_REM_ALPHA:
			rem->set |= LINK_REM_ALPHA;
			rem->alpha = attribute_u32(&a);
			break;
		case TCA_WALE_REM_TARGET:
			rem->set |= LINK_REM_TARGET;
			rem->target = attribute_u64(&a);
			break;
		case TCA_WALE_REM_PHI:
			rem->set |= LINK_REM_PHI;
			rem->phi = attribute_u32(&a);
			break;
		}
	}
}

static void decode_numbers(uint32_t *numbers, int n,
			   const struct attribute *nest)
{
	const char *at = nest->data;
	size_t length = nest->length;
	struct attribute a;

	while (attribute_next(&at, &length, &a))
		if (a.type >= 1 && a.type <= n)
			numbers[a.type - 1] = attribute_u32(&a);
}

static void decode_slot(struct link_slot *slot, const struct attribute *nest)
{
	const char *at = nest->data;
	size_t length = nest->length;
	struct attribute a;

	while (attribute_next(&at, &length, &a)) {
		switch (a.type) {
		case TCA_WALE_SLOT_MIN64:
			slot->min_ns = attribute_u64(&a);
			break;
		case TCA_WALE_SLOT_MAX64:
			slot->max_ns = attribute_u64(&a);
			break;
		case TCA_WALE_SLOT_PACKETS:
			slot->packets = attribute_u32(&a);
			break;
		case TCA_WALE_SLOT_BYTES:
			slot->bytes = attribute_u32(&a);
			break;
		}
	}
}

/* The kernel shows the name of a table, and not the table. */
static void decode_jitter(struct link_jitter *jitter,
			  const struct attribute *nest)
{
	const char *at = nest->data;
	size_t length = nest->length;
	struct attribute a;

	while (attribute_next(&at, &length, &a)) {
		switch (a.type) {
		case TCA_WALE_JITTER_TIME64:
			jitter->set |= LINK_JITTER_TIME;
			jitter->time_ns = attribute_u64(&a);
			break;
		case TCA_WALE_JITTER_NAME:
			jitter->set |= LINK_JITTER_NAME;
			snprintf(jitter->name, sizeof(jitter->name), "%.*s",
				 (int)a.length, (const char *)a.data);
			break;
		case TCA_WALE_JITTER_REORDERING:
			jitter->set |= LINK_JITTER_REORDERING;
			jitter->reordering = attribute_u32(&a);
			break;
		}
	}
}

static uint64_t decode_feedback(const void *data, size_t length)
{
	uint64_t idle_ns = 0;
	const char *at = data;
	struct attribute a;

	while (attribute_next(&at, &length, &a))
		if (a.type == TCA_WALE_FEEDBACK_IDLE)
			idle_ns = attribute_u64(&a);
	return idle_ns;
}

static int decode_trace(struct link_trace *trace, const struct attribute *a)
{
	free(trace->steps);
	trace->steps = malloc(a->length ? a->length : 1);
	if (!trace->steps)
		return -ENOMEM;
	memcpy(trace->steps, a->data, a->length);
	trace->n_steps = a->length / sizeof(*trace->steps);
	return 0;
}

static bool decode_impairment(struct link_config *c, const struct attribute *a)
{
	switch (a->type) {
	case TCA_WALE_LOSS:
		c->set |= LINK_LOSS;
		c->loss = attribute_u32(a);
		return true;
	case TCA_WALE_LOSS_GEMODEL:
		c->set |= LINK_LOSS_GEMODEL;
		decode_numbers(c->loss_numbers, TCA_WALE_LOSS_GEMODEL_MAX, a);
		return true;
	case TCA_WALE_LOSS_STATE:
		c->set |= LINK_LOSS_STATE;
		decode_numbers(c->loss_numbers, TCA_WALE_LOSS_STATE_MAX, a);
		return true;
	case TCA_WALE_LOSS_ECN:
		c->set |= LINK_ECN;
		c->ecn = attribute_u32(a);
		return true;
	case TCA_WALE_REORDER:
		c->set |= LINK_REORDER;
		c->reorder = attribute_u32(a);
		return true;
	case TCA_WALE_REORDER_GAP:
		c->reorder_gap = attribute_u32(a);
		return true;
	case TCA_WALE_DUPLICATE:
		c->set |= LINK_DUPLICATE;
		c->duplicate = attribute_u32(a);
		return true;
	case TCA_WALE_CORRUPT:
		c->set |= LINK_CORRUPT;
		c->corrupt = attribute_u32(a);
		return true;
	case TCA_WALE_DROP_LIST:
		c->set |= LINK_DROP;
		c->n_drop = a->length / sizeof(c->drop[0]);
		if (c->n_drop > WALE_DROP_RANGES_MAX)
			c->n_drop = WALE_DROP_RANGES_MAX;
		memcpy(c->drop, a->data, c->n_drop * sizeof(c->drop[0]));
		return true;
	case TCA_WALE_SLOT:
		c->set |= LINK_SLOT;
		decode_slot(&c->slot, a);
		return true;
	case TCA_WALE_JITTER:
		c->set |= LINK_JITTER;
		decode_jitter(&c->jitter, a);
		return true;
	}
	return false;
}

static void decode_buffer(struct link_config *c, const struct attribute *a)
{
	switch (a->type) {
	case TCA_WALE_LIMIT_PACKETS:
		c->set |= LINK_LIMIT_PACKETS;
		c->limit_packets = attribute_u32(a);
		break;
	case TCA_WALE_LIMIT_BYTES:
		c->set |= LINK_LIMIT_BYTES;
		c->limit_bytes = attribute_u64(a);
		break;
	case TCA_WALE_LIMIT_CELLS:
		c->set |= LINK_LIMIT_CELLS;
		c->limit_cells = attribute_u32(a);
		break;
	case TCA_WALE_POLICY:
		c->set |= LINK_POLICY;
		c->policy.kind = attribute_u32(a);
		break;
	case TCA_WALE_THRESHOLD:
		c->set |= LINK_THRESHOLD_NUMBER;
		c->policy.threshold = attribute_u64(a);
		break;
	case TCA_WALE_THRESHOLD_SHARE:
		c->set |= LINK_THRESHOLD_SHARE;
		c->policy.share = attribute_u32(a);
		break;
	case TCA_WALE_Z:
		c->set |= LINK_Z;
		c->policy.z = attribute_u32(a);
		break;
	case TCA_WALE_LAST:
		c->set |= LINK_LAST;
		c->policy.last = attribute_u32(a);
		break;
	case TCA_WALE_MARK:
		c->set |= LINK_MARK;
		c->policy.mark = attribute_u32(a);
		break;
	case TCA_WALE_REM:
		c->set |= LINK_REM;
		decode_rem(&c->rem, a->data, a->length);
		break;
	case TCA_WALE_FLOWS:
		c->set |= LINK_FLOWS;
		c->flows = attribute_u32(a);
		break;
	case TCA_WALE_INPUT_RATE64:
		c->set |= LINK_INPUT_RATE;
		c->input_rate = attribute_u64(a);
		break;
	}
}

static int decode_one(struct link_config *c, const struct attribute *a)
{
	switch (a->type) {
	case TCA_WALE_RATE64:
		c->set |= LINK_RATE;
		c->rate = attribute_u64(a);
		break;
	case TCA_WALE_DELAY64:
		c->set |= LINK_DELAY;
		c->delay_ns = attribute_u64(a);
		break;
	case TCA_WALE_OVERHEAD:
		c->set |= LINK_OVERHEAD;
		c->overhead = attribute_u32(a);
		break;
	case TCA_WALE_DROPS:
		c->set |= LINK_DROPS;
		c->drops = attribute_u32(a);
		break;
	case TCA_WALE_SEED:
		c->set |= LINK_SEED;
		c->seed = attribute_u64(a);
		break;
	case TCA_WALE_TRACE:
		c->set |= LINK_TRACE;
		return decode_trace(&c->trace, a);
	case TCA_WALE_TRACE_END:
		c->set |= LINK_TRACE_END;
		c->trace_end = attribute_u32(a);
		break;
	case TCA_WALE_TRACE_STEPS:
		c->set |= LINK_TRACE;
		if (!c->trace.steps)
			c->trace.n_steps = attribute_u32(a);
		break;
	case TCA_WALE_START:
		c->set |= LINK_START;
		c->start_ns = attribute_u64(a);
		break;
	case TCA_WALE_SLACK:
		c->set |= LINK_SLACK;
		c->slack_ns = attribute_u32(a);
		break;
	case TCA_WALE_GSO:
		c->set |= LINK_GSO;
		c->gso = attribute_u32(a);
		break;
	case TCA_WALE_SESSIONS:
		decode_sessions(&c->sessions, a->data, a->length);
		if (c->sessions.set)
			c->set |= LINK_SESSIONS;
		break;
	case TCA_WALE_FEEDBACK:
		c->set |= LINK_FEEDBACK;
		c->feedback_idle_ns = decode_feedback(a->data, a->length);
		break;
	default:
		if (!decode_impairment(c, a))
			decode_buffer(c, a);
		break;
	}
	return 0;
}

int link_config_decode(struct link_config *c, const void *data, size_t length)
{
	const char *at = data;
	struct attribute a;
	int err;

	memset(c, 0, sizeof(*c));
	while (attribute_next(&at, &length, &a)) {
		err = decode_one(c, &a);
		if (err)
			return err;
	}
	return length ? -EINVAL : 0;
}
