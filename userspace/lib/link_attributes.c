// SPDX-License-Identifier: GPL-2.0
/*
 * link_attributes.c - the configuration of a link as netlink attributes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "link_config.h"

/* What an attribute carries. */
struct data {
	const void *at;
	size_t length;
	uint32_t u32; /* a number, or */
	uint64_t u64;
};

static void number_data(struct data *d, unsigned char width, uint64_t value)
{
	d->u32 = value;
	d->u64 = value;
	d->at = width == sizeof(d->u32) ? (void *)&d->u32 : (void *)&d->u64;
	d->length = width;
}

/* Of jitter's nest, what is not a number. */
static void table_data(struct data *d, const struct link_table *table, int type)
{
	if (type == TCA_WALE_JITTER_NAME) {
		d->at = table->name;
		d->length = strlen(table->name) + 1;
	} else {
		d->at = table->entries;
		d->length = table->n_entries * sizeof(*table->entries);
	}
}

/* Enough for all that a nest can have. */
static size_t nest_room(const struct link_config *c,
			const struct link_set *nest)
{
	const size_t most = sizeof(uint64_t) + sizeof(c->table.name);

	return nest->max * NLA_ALIGN(NLA_HDRLEN + most) +
	       NLA_ALIGN(c->table.n_entries * sizeof(*c->table.entries));
}

static int encode_nest(const struct link_config *c, int nest,
		       attribute_put_fn put, void *to)
{
	const struct link_attribute *a = &link_options_set.attributes[nest];
	const struct link_values *values = &c->nest[a->index];
	const size_t room = nest_room(c, a->nest);
	char *buf = calloc(1, room);
	size_t length = 0;
	int type, err = 0;
	struct data d;

	if (!buf)
		return -ENOMEM;
	for (type = 1; !err && type <= a->nest->max; type++) {
		const unsigned char width = a->nest->attributes[type].width;

		if (!link_is_set(values, type))
			continue;
		if (width)
			number_data(&d, width, values->value[type]);
		else
			table_data(&d, &c->table, type);
		err = attribute_append(buf, room, &length, type, d.at,
				       d.length);
	}
	if (!err)
		err = put(to, nest | NLA_F_NESTED, buf, length);
	free(buf);
	return err;
}

/* All must fit into 64 kB, of which the table of jitter may take a part. */
static int encode_trace(const struct link_config *c, attribute_put_fn put,
			void *to)
{
	const struct link_trace *trace = &c->trace;
	const size_t room =
		WALE_TRACE_STEPS_MAX * sizeof(struct wale_trace_step);
	const size_t size =
		trace->n_steps * link_trace_step_size(trace->columns);
	const size_t beside =
		link_is_set(&c->link, TCA_WALE_JITTER)
			? c->table.n_entries * sizeof(*c->table.entries)
			: 0;
	int fd, err = 0;

	if (trace->n_steps && trace->columns != WALE_TRACE_RATE)
		err = put(to, TCA_WALE_TRACE_COLUMNS, &trace->columns,
			  sizeof(trace->columns));
	if (err)
		return err;
	if (size + beside <= room)
		return put(to, TCA_WALE_TRACE, trace->values, size);
	fd = link_trace_fd(trace);
	if (fd >= 0)
		return put(to, TCA_WALE_TRACE_FD, &fd, sizeof(fd));
	errno = -fd;
	return -EREMOTEIO;
}

static int encode_option(const struct link_config *c, int type,
			 attribute_put_fn put, void *to)
{
	const struct link_attribute *a = &link_options_set.attributes[type];
	struct data d;

	if (a->nest)
		return encode_nest(c, type, put, to);
	if (type == TCA_WALE_TRACE)
		return encode_trace(c, put, to);
	if (type == TCA_WALE_DROP_LIST)
		return put(to, type, c->drop, c->n_drop * sizeof(c->drop[0]));
	number_data(&d, a->width, c->link.value[type]);
	return put(to, type, d.at, d.length);
}

int link_config_encode(const struct link_config *c, attribute_put_fn put,
		       void *to)
{
	int type, err = 0;

	for (type = 1; !err && type <= link_options_set.max; type++)
		if (link_is_set(&c->link, type))
			err = encode_option(c, type, put, to);
	return err;
}

static void decode_number(struct link_values *values, unsigned char width,
			  const struct attribute *a)
{
	link_value_set(values, a->type,
		       width == sizeof(uint32_t) ? attribute_u32(a)
						 : attribute_u64(a));
}

/* The kernel shows the name of a table, and not the table. */
static void decode_nest(struct link_config *c, int nest,
			const struct attribute *whole)
{
	const struct link_attribute *of = &link_options_set.attributes[nest];
	struct link_values *values = &c->nest[of->index];
	size_t length = whole->length;
	const char *at = whole->data;
	struct attribute a;

	memset(values, 0, sizeof(*values));
	while (attribute_next(&at, &length, &a)) {
		if (a.type > of->nest->max)
			continue;
		if (of->nest->attributes[a.type].width) {
			decode_number(values,
				      of->nest->attributes[a.type].width, &a);
		} else if (nest == TCA_WALE_JITTER &&
			   a.type == TCA_WALE_JITTER_NAME) {
			values->set |= LINK_BIT(a.type);
			snprintf(c->table.name, sizeof(c->table.name), "%.*s",
				 (int)a.length, (const char *)a.data);
		}
	}
}

/* How many steps that is, will be known when the columns are. */
static int decode_trace(struct link_trace *trace, const struct attribute *a)
{
	free(trace->values);
	trace->values = malloc(a->length ? a->length : 1);
	if (!trace->values)
		return -ENOMEM;
	memcpy(trace->values, a->data, a->length);
	trace->room = a->length / sizeof(*trace->values);
	return 0;
}

static void decode_columns(struct link_trace *trace)
{
	if (trace->columns > WALE_TRACE_COLUMNS_MAX)
		trace->columns = WALE_TRACE_COLUMNS_MAX;
	if (trace->values)
		trace->n_steps = trace->room * sizeof(*trace->values) /
				 link_trace_step_size(trace->columns);
}

static void decode_drop(struct link_config *c, const struct attribute *a)
{
	c->n_drop = a->length / sizeof(c->drop[0]);
	if (c->n_drop > WALE_DROP_RANGES_MAX)
		c->n_drop = WALE_DROP_RANGES_MAX;
	memcpy(c->drop, a->data, c->n_drop * sizeof(c->drop[0]));
}

static int decode_option(struct link_config *c, const struct attribute *a)
{
	const struct link_attribute *of = link_options_set.attributes + a->type;

	switch (a->type) {
	case TCA_WALE_TRACE_STEPS: /* of a trace that is too long to be shown */
		c->link.set |= LINK_BIT(TCA_WALE_TRACE);
		c->trace.n_steps = attribute_u32(a);
		return 0;
	case TCA_WALE_TRACE_COLUMNS:
		c->trace.columns = attribute_u32(a);
		return 0;
	case TCA_WALE_TRACE:
		c->link.set |= LINK_BIT(a->type);
		return decode_trace(&c->trace, a);
	case TCA_WALE_OVERHEAD_BYTES:
		decode_number(&c->link, of->width, a);
		return 0;
	case TCA_WALE_DROP_LIST:
		c->link.set |= LINK_BIT(a->type);
		decode_drop(c, a);
		return 0;
	}
	if (!of->form)
		return 0;
	if (!of->nest) {
		decode_number(&c->link, of->width, a);
		return 0;
	}
	c->link.set |= LINK_BIT(a->type);
	decode_nest(c, a->type, a);
	return 0;
}

int link_config_decode(struct link_config *c, const void *data, size_t length)
{
	const char *at = data;
	struct attribute a;
	int err;

	memset(c, 0, sizeof(*c));
	c->trace.columns = WALE_TRACE_RATE;
	while (attribute_next(&at, &length, &a)) {
		if (a.type > link_options_set.max)
			continue;
		err = decode_option(c, &a);
		if (err)
			return err;
	}
	decode_columns(&c->trace);
	return length ? -EINVAL : 0;
}
