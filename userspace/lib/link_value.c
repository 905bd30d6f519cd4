// SPDX-License-Identifier: GPL-2.0
/*
 * link_value.c - the value of an option that is one word: read, printed, as JSON
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "link_config.h"
#include "units.h"

static int parse_name(const char *word, const char *const *names,
		      uint64_t *value)
{
	for (*value = 0; names[*value]; (*value)++)
		if (!strcmp(word, names[*value]))
			return 0;
	return -EINVAL;
}

static int parse(const struct link_attribute *a, const char *word,
		 uint64_t *value)
{
	uint32_t share = 0;
	int err;

	switch (a->form) {
	case LINK_RATE:
		return units_parse_rate(word, value);
	case LINK_TIME:
		return units_parse_time(word, value);
	case LINK_SIZE:
		return units_parse_size(word, value);
	case LINK_COUNT:
		return units_parse_count(word, a->max, value);
	case LINK_SEED:
		return units_parse_seed(word, value);
	case LINK_FIXED32:
		return units_parse_fixed32(word, value);
	case LINK_PERCENT:
		err = units_parse_percent(word, &share);
		break;
	case LINK_PROBABILITY:
		err = units_parse_probability(word, &share);
		break;
	case LINK_MILLIONTHS:
		err = units_parse_millionths(word, &share);
		break;
	case LINK_ENUM:
		return parse_name(word, a->names, value);
	default:
		return -EINVAL;
	}
	*value = share;
	return err;
}

int link_value_parse(struct link_values *values, const struct link_set *set,
		     int type, const char *word, struct link_error *error)
{
	const struct link_attribute *a = &set->attributes[type];
	char wrong[UNITS_WRONG_MAX];
	uint64_t value = 0;
	int err = parse(a, word, &value);

	if (!err && (value < a->min || value > a->max) &&
	    (!a->also || value != a->also))
		err = -ERANGE;
	if (err && a->form == LINK_RATE)
		return link_error_set(
			error, LINK_ERROR_INVALID, word, "%s",
			units_rate_wrong(wrong, err, value, a->expected));
	if (err)
		return link_parse_failed(word, err, a->expected, error);
	link_value_set(values, type, value);
	return 0;
}

/* The name of a value, or NULL. */
static const char *name_of(const struct link_attribute *a, uint64_t value)
{
	uint64_t i;

	for (i = 0; a->names && a->names[i]; i++)
		if (i == value)
			return a->names[i];
	return NULL;
}

static const char *format(char buf[UNITS_MAX], enum link_form form,
			  uint64_t value)
{
	switch (form) {
	case LINK_RATE:
		return units_format_rate(buf, value);
	case LINK_TIME:
		return units_format_time(buf, value);
	case LINK_SIZE:
		return units_format_size(buf, value);
	case LINK_PERCENT:
		return units_format_percent(buf, value);
	case LINK_PROBABILITY:
		return units_format_probability(buf, value);
	case LINK_FIXED32:
		return units_format_fixed32(buf, value);
	case LINK_MILLIONTHS:
		return units_format_millionths(buf, value);
	default:
		snprintf(buf, UNITS_MAX, "%" PRIu64, value);
		return buf;
	}
}

void link_value_print(FILE *to, const struct link_values *values,
		      const struct link_set *set, int type)
{
	const struct link_attribute *a = &set->attributes[type];
	const uint64_t value = values->value[type];
	const char *name = name_of(a, value);
	char buf[UNITS_MAX];

	if (a->unsaid_in_text && value == a->usual)
		return;
	if (a->form == LINK_FLAG)
		fprintf(to, "%s%s ", value ? "" : "no", a->word);
	else if (a->form == LINK_WORDS && name)
		fprintf(to, "%s ", name);
	else if (name)
		fprintf(to, "%s %s ", a->word, name);
	else if (!a->names)
		fprintf(to, "%s %s ", a->word, format(buf, a->form, value));
}

/* A value that has no name here is shown as its number. */
void link_value_json(struct json *j, const struct link_values *values,
		     const struct link_set *set, int type)
{
	const struct link_attribute *a = &set->attributes[type];
	const uint64_t value = values->value[type];
	enum link_form form = a->form;
	char buf[UNITS_MAX];

	if (a->unsaid_in_json && value == a->usual)
		return;
	if (form == LINK_PERCENT)
		form = LINK_PROBABILITY;
	switch (form) {
	case LINK_FLAG:
		json_put_number(j, a->key, value ? "true" : "false");
		break;
	case LINK_PROBABILITY:
	case LINK_FIXED32:
	case LINK_MILLIONTHS:
		json_put_number(j, a->key, format(buf, form, value));
		break;
	default:
		if (name_of(a, value))
			json_put_string(j, a->key, name_of(a, value));
		else if (a->also && value == a->also)
			json_put_string(j, a->key, "unlimited");
		else
			json_put_u64(j, a->key, value);
	}
}

void link_values_print(FILE *to, const struct link_values *values,
		       const struct link_set *set)
{
	int type;

	for (type = 1; type <= set->max; type++)
		if (link_is_set(values, type) && set->attributes[type].form)
			link_value_print(to, values, set, type);
}

void link_values_json(struct json *j, const struct link_values *values,
		      const struct link_set *set, const char *name)
{
	int type;

	json_open(j, name, '{');
	for (type = 1; type <= set->max; type++)
		if (link_is_set(values, type) && set->attributes[type].form)
			link_value_json(j, values, set, type);
	json_close(j, '}');
}
