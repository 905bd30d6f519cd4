// SPDX-License-Identifier: GPL-2.0
/*
 * test_link_values.c - each option of the table: its range, as words; and the room of
 * attributes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/link_config.h"
#include "tests/tap.h"

/* A value as words, behind the name of its option: 0, or -1 if it is refused. */
static int read_back(const struct link_set *set, int type, uint64_t value,
		     uint64_t *back, struct link_error *error)
{
	struct link_values values = { .set = 0 };
	char text[128] = "", *word, *rest = text;
	FILE *memory = fmemopen(text, sizeof(text), "w");
	int err = 0;

	link_value_set(&values, type, value);
	link_value_print(memory, &values, set, type);
	fclose(memory);
	strsep(&rest, " ");
	word = strsep(&rest, " ");
	if (word)
		err = link_value_parse(&values, set, type, word, error);
	*back = values.value[type];
	return err;
}

/* Is a value understood as it is printed? */
static bool is_good(const struct link_set *set, int type, uint64_t value)
{
	struct link_error error;
	uint64_t back;

	return !read_back(set, type, value, &back, &error) && back == value;
}

static bool is_refused(const struct link_set *set, int type, uint64_t value)
{
	struct link_error error;
	uint64_t back;

	return read_back(set, type, value, &back, &error) &&
	       strstr(error.text, set->attributes[type].expected);
}

/* The ends of the range of each option, and what is beyond them. */
static void test_ranges(const struct link_set *set)
{
	const struct link_attribute *a;
	uint64_t most;
	int type;

	for (type = 1; type <= set->max; type++) {
		a = &set->attributes[type];
		if (a->nest)
			test_ranges(a->nest);
		if (!a->form || a->form >= LINK_ENUM)
			continue;
		most = a->width == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
		ok(is_good(set, type, a->min) && is_good(set, type, a->max) &&
			   is_good(set, type, a->usual ? a->usual : a->min),
		   "%s: what it can be is read as it is printed", a->key);
		ok((!a->min || is_refused(set, type, a->min - 1)) &&
			   (a->max == most ||
			    is_refused(set, type, a->max + 1)),
		   "%s: what is out of range is refused", a->key);
	}
}

/* A nest in the making is never longer than its buffer. */
static void test_append(void)
{
	char buf[16] = { 0 }, *large = calloc(2, UINT16_MAX);
	const uint64_t value = 1;
	size_t length = 0;

	ok(!attribute_append(buf, sizeof(buf), &length, 1, &value, 8) &&
		   length == 12,
	   "an attribute that fits is appended");
	ok(attribute_append(buf, sizeof(buf), &length, 2, &value, 1) ==
			   -EMSGSIZE &&
		   length == 12,
	   "one that does not is refused");
	length = 0;
	ok(attribute_append(large, 2 * UINT16_MAX, &length, 1, large,
			    UINT16_MAX - 3) == -EMSGSIZE &&
		   !length,
	   "and so is one too long for its header");
	free(large);
}

int main(void)
{
	test_ranges(&link_options_set);
	test_append();
	return tap_done();
}
