// SPDX-License-Identifier: GPL-2.0
/*
 * test_link_trace.c - traces of a link: files of them, and those too long for an attribute
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/link_config.h"
#include "tests/payload.h"
#include "tests/tap.h"

/* A file with this text, read as a trace; the steps, or -1 with the error. */
static int read_trace(const char *text, struct link_trace *trace,
		      struct link_error *error)
{
	char path[] = "/tmp/wale-test-XXXXXX";
	int fd = mkstemp(path), err;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	close(fd);
	memset(trace, 0, sizeof(*trace));
	err = link_trace_read(trace, path, error);
	unlink(path);
	return err ? -1 : (int)trace->n_steps;
}

/* What a file with this text is refused with, behind its name. */
static void test_bad_trace(const char *text, const char *says)
{
	struct link_error error = { .text = "" };
	struct link_trace trace;

	if (!ok(read_trace(text, &trace, &error) < 0 &&
			error.kind == LINK_ERROR_FILE &&
			!strncmp(error.text, says, strlen(says)),
		"a trace file: %s", says))
		printf("# got %s\n", error.text);
	free(trace.steps);
}

static void test_trace_files(void)
{
	struct link_error error = { .text = "" };
	struct link_trace trace;

	ok(read_trace("# two steps\n\n1s 8mbit # fast\n\t500ms   0\r\n", &trace,
		      &error) == 2 &&
		   trace.steps[0].duration_ns == 1000000000 &&
		   trace.steps[0].rate == 1000000 &&
		   trace.steps[1].duration_ns == 500000000 &&
		   trace.steps[1].rate == 0,
	   "a trace file with comments, blank lines and an outage");
	free(trace.steps);
	ok(read_trace("1h 1mibit\n1d 250kB/s\n2min 8Mbps\n1sec 8kbit/s\n",
		      &trace, &error) == 4 &&
		   trace.steps[0].duration_ns == UINT64_C(3600000000000) &&
		   trace.steps[0].rate == 131072 &&
		   trace.steps[1].duration_ns == UINT64_C(86400000000000) &&
		   trace.steps[1].rate == 250000 &&
		   trace.steps[2].rate == 8000000 &&
		   trace.steps[3].rate == 1000,
	   "a trace file with units that scenarios have, too");
	free(trace.steps);
	test_bad_trace("1s 8mbit\n1s\n", "2: expected DURATION RATE");
	test_bad_trace("1s 8mbit 3\n", "1: expected DURATION RATE");
	test_bad_trace("1s 8mbit\n1s 12345678bit\n",
		       "2: \"12345678bit\": not a whole number of bytes/s; "
		       "the nearest are 12345672bit and 12345680bit");
	test_bad_trace("# a\n# b\n1s 8mbit\n1s 7xbit\n",
		       "4: \"7xbit\": expected a rate");
	test_bad_trace("1s 8mbit\n# two\n2000 8mbit\n",
		       "3: \"2000\": expected a time with a unit");
	test_bad_trace("\n1s 8mbit\n1s 8mbit x\n", "3: expected DURATION RATE");
	test_bad_trace("1s 8mbit\n1x 8mbit\n", "2: \"1x\": expected a time");
	test_bad_trace("1s 8mbit\n0s 8mbit\n", "2: \"0s\": out of range");
	test_bad_trace("86401s 8mbit\n", "1: \"86401s\": out of range");
	test_bad_trace("1s 1e30bit\n", "1: \"1e30bit\": out of range");
	test_bad_trace("1s unlimited\n", "1: \"unlimited\": expected a rate");
	test_bad_trace("", " the trace has no steps");
	test_bad_trace("# nothing\n", " the trace has no steps");
	test_bad_trace("1s 0bit\n# x\n", " the trace has no rate above 0");
}

/* Is the only attribute a descriptor of a file with just these steps? */
static bool is_file_of(const struct payload *payload,
		       const struct link_trace *trace)
{
	size_t length = payload->length, size = trace->n_steps * 16;
	const char *at = payload->data;
	struct attribute a;
	struct stat stat;
	char *steps;
	bool same;
	int fd;

	if (!attribute_next(&at, &length, &a) || length ||
	    a.type != TCA_WALE_TRACE_FD)
		return false;
	fd = attribute_u32(&a);
	steps = malloc(size);
	same = !fstat(fd, &stat) && stat.st_size == (off_t)size &&
	       pread(fd, steps, size, 0) == (ssize_t)size &&
	       !memcmp(steps, trace->steps, size);
	free(steps);
	return same;
}

/* The longest trace of an attribute fits into one; with a step more, it is a file. */
static void test_long_trace(void)
{
	static struct payload payload;
	struct link_trace trace = { 0 };
	struct link_error error;
	struct link_config c = { .link.set = LINK_BIT(TCA_WALE_TRACE) };
	char *text = malloc(WALE_TRACE_STEPS_MAX * 8 + 16), *at = text;
	int i;

	for (i = 0; i < WALE_TRACE_STEPS_MAX; i++)
		at += sprintf(at, "%s1s:8", i ? "," : "");
	ok(!link_trace_parse(&trace, text, &error) &&
		   trace.n_steps == WALE_TRACE_STEPS_MAX,
	   "a trace of %d steps", WALE_TRACE_STEPS_MAX);
	c.trace = trace;
	ok(!link_config_encode(&c, payload_put, &payload), "and its attribute");
	free(trace.steps);

	sprintf(at, ",1s:8");
	memset(&trace, 0, sizeof(trace));
	ok(!link_trace_parse(&trace, text, &error), "one step more");
	c.trace = trace;
	payload.length = 0;
	ok(!link_config_encode(&c, payload_put, &payload) &&
		   is_file_of(&payload, &trace),
	   "is in a file");
	free(trace.steps);
	free(text);
}

/* What both take of a message would be more than its nest may have. */
static void test_trace_beside_a_table(void)
{
	static struct payload payload;
	struct link_trace trace = { 0 };
	struct link_error error;
	struct link_config c = { .link.set = LINK_BIT(TCA_WALE_TRACE) |
					     LINK_BIT(TCA_WALE_JITTER) };
	char *text = malloc(3600 * 8 + 16), *at = text;
	size_t length;
	int i;

	for (i = 0; i < 3600; i++)
		at += sprintf(at, "%s1s:8", i ? "," : "");
	ok(!link_trace_parse(&trace, text, &error), "a trace of 3600 steps");
	c.trace = trace;
	c.nest[LINK_NEST_JITTER].set = LINK_BIT(TCA_WALE_JITTER_TIME64) |
				       LINK_BIT(TCA_WALE_JITTER_TABLE);
	c.table.n_entries = 4096;
	c.table.entries = calloc(4096, sizeof(*c.table.entries));
	ok(!link_config_encode(&c, payload_put, &payload) &&
		   payload.length < 16384,
	   "is in a file beside a table of 4096 entries");
	length = payload.length;
	c.table.n_entries = 8;
	payload.length = 0;
	ok(!link_config_encode(&c, payload_put, &payload) &&
		   payload.length > 3600 * 16 && payload.length > length,
	   "and is not beside a short one");
	free(c.table.entries);
	free(trace.steps);
	free(text);
}

int main(void)
{
	test_trace_files();
	test_long_trace();
	test_trace_beside_a_table();
	return tap_done();
}
