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

/* Has it these columns, and these numbers in its steps? */
static bool has_steps(const struct link_trace *trace, uint32_t columns,
		      const uint64_t *values)
{
	return trace->columns == columns &&
	       !memcmp(trace->values, values,
		       trace->n_steps * link_trace_step_size(columns));
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
	link_trace_free(&trace);
}

static void test_trace_files(void)
{
	struct link_error error = { .text = "" };
	struct link_trace trace;

	ok(read_trace("# two steps\n\n1s 8mbit # fast\n\t500ms   0\r\n", &trace,
		      &error) == 2 &&
		   has_steps(&trace, WALE_TRACE_RATE,
			     (uint64_t[]){ 1000000000, 1000000, 500000000, 0 }),
	   "a trace file with comments, blank lines and an outage");
	link_trace_free(&trace);
	ok(read_trace("1h 1mibit\n1d 250kB/s\n2min 8Mbps\n1sec 8kbit/s\n",
		      &trace, &error) == 4 &&
		   has_steps(&trace, WALE_TRACE_RATE,
			     (uint64_t[]){ 3600000000000, 131072,
					   86400000000000, 250000, 120000000000,
					   8000000, 1000000000, 1000 }),
	   "a trace file with units that scenarios have, too");
	link_trace_free(&trace);
	test_bad_trace("1s 8mbit\n1s\n", "2: expected DURATION RATE");
	test_bad_trace("1s 8mbit 8\n", "1: \"8\": a second rate");
	test_bad_trace("1s 8mbit\n1s 12345678bit\n",
		       "2: \"12345678bit\": not a whole number of bytes/s; "
		       "the nearest are 12345672bit and 12345680bit");
	test_bad_trace("# a\n# b\n1s 8mbit\n1s 7xbit\n",
		       "4: \"7xbit\": expected a rate");
	test_bad_trace("1s 8mbit\n# two\n2000 8mbit\n",
		       "3: \"2000\": expected a time with a unit");
	test_bad_trace("\n1s 8mbit\n1s 8mbit x\n", "3: \"x\": expected a rate");
	test_bad_trace("1s 8mbit\n1x 8mbit\n", "2: \"1x\": expected a time");
	test_bad_trace("1s 8mbit\n0s 8mbit\n", "2: \"0s\": out of range");
	test_bad_trace("86401s 8mbit\n", "1: \"86401s\": out of range");
	test_bad_trace("1s 1e30bit\n", "1: \"1e30bit\": out of range");
	test_bad_trace("1s unlimited\n", "1: \"unlimited\": expected a rate");
	test_bad_trace("", " the trace has no steps");
	test_bad_trace("# nothing\n", " the trace has no steps");
	test_bad_trace("1s 0bit\n# x\n", " the trace has no rate above 0");
}

/* What a file means that has more than rates. */
static void test_columns(void)
{
	const uint64_t same = WALE_TRACE_SAME, down = WALE_TRACE_DOWN;
	struct link_error error = { .text = "" };
	struct link_trace trace;

	ok(read_trace("1s 8mbit 20ms 50% 100p\n1s 45ms 8bit # later\n1s down\n"
		      "1s -\n",
		      &trace, &error) == 4 &&
		   has_steps(&trace, 15,
			     (uint64_t[]){ 1000000000, 1000000,	   20000000,
					   1u << 31,   100,	   1000000000,
					   1,	       45000000,   same,
					   same,       1000000000, down,
					   same,       same,	   same,
					   1000000000, same,	   same,
					   same,       same }),
	   "values in any order, and what is not given: %s", error.text);
	link_trace_free(&trace);
	ok(read_trace("# c\nduration limit delay\n1s 30KiB -\n1us - 0ns\n",
		      &trace, &error) == 2 &&
		   has_steps(&trace, WALE_TRACE_DELAY | WALE_TRACE_LIMIT_BYTES,
			     (uint64_t[]){ 1000000000, same, 30720, 1000, 0,
					   same }),
	   "columns with names: %s", error.text);
	link_trace_free(&trace);
	test_bad_trace("1s 8mbit 20ms 8mbit\n", "1: \"8mbit\": a second rate");
	test_bad_trace("1s 1p 20ms 1KiB\n", "1: \"1KiB\": a second limit");
	test_bad_trace(
		"1s 1p\n1s 1KiB\n",
		"2: the limits of a trace must be all in packets, or all in bytes");
	test_bad_trace("1s 30kB\n", "1: \"30kB\": 1024 or 1000?");
	test_bad_trace("1s 0p\n", "1: \"0p\": out of range");
	test_bad_trace("1s 0B\n", "1: \"0B\": out of range");
	test_bad_trace("1s 4294967296p\n", "1: \"4294967296p\": out of range");
	test_bad_trace("1s 101%\n", "1: \"101%\": expected a loss");
	test_bad_trace("1s 2d\n", "1: \"2d\": out of range: expected a delay");
	test_bad_trace("1s -\n", " the trace has no values");
	test_bad_trace("1s down\n1s 0\n", " the trace has no rate above 0");
	test_bad_trace("duration\n1s\n",
		       "1: expected rate, delay, loss or limit");
	test_bad_trace("duration rate rate\n", "1: \"rate\": a second time");
	test_bad_trace("duration speed\n",
		       "1: \"speed\": expected rate, delay");
	test_bad_trace("duration rate delay\n1s 8mbit\n",
		       "2: expected 3 words");
	test_bad_trace("duration rate delay\n1s 20ms 8mbit\n",
		       "2: \"20ms\": a delay, where the first line has rate");
	test_bad_trace("1s 8mbit\nduration rate\n",
		       "2: \"rate\": expected a rate");
}

/* Options of tc that are a trace: how they are printed, or what is wrong. */
static void test_words(const char *words, const char *printed)
{
	char *copy = strdup(words), *argv[16], *rest = copy, *text = NULL;
	struct link_error error = { .text = "" };
	struct link_config c = { 0 };
	size_t length;
	int argc = 0, taken;
	FILE *file;

	while ((argv[argc] = strsep(&rest, "|")))
		argc++;
	taken = link_config_parse(&c, argc, argv, &error);
	file = open_memstream(&text, &length);
	link_config_print(file, &c);
	fclose(file);
	ok(printed ? taken == argc && !strcmp(text, printed) : taken < 0,
	   "%s: %s%s", words, text, error.text);
	free(text);
	link_config_free(&c);
	free(copy);
}

static void test_lines(void)
{
	test_words("trace|5s:8mbit,20ms,0.1%,100p 1s:down 1s:0bit",
		   "trace 5s:8Mbit,20ms,0.1%,100p,1s:down,1s:0bit ");
	test_words("trace|5s:8mbit,20ms,0.1%,100p,1s:down,1s:0bit",
		   "trace 5s:8Mbit,20ms,0.1%,100p,1s:down,1s:0bit ");
	test_words("trace|5s:8mbit|1s:20ms,30kb|1s:-",
		   "trace 5s:8Mbit,1s:20ms,30Kb,1s:- ");
	test_words("trace|off", "trace off ");
	test_words("trace|20ms,1s:8mbit", NULL);
	test_words("trace|1s:8mbit,16mbit", NULL);
	test_words("trace|1s:", NULL);
	test_words("trace|1s:1p 1s:1kb", NULL);
	test_words("trace|1s:-", NULL);
	test_words("trace|1s:8mbit,", NULL);
	test_words("trace|1s:8mbit,,1s:0", NULL);
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
	       !memcmp(steps, trace->values, size);
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
	link_trace_free(&trace);

	sprintf(at, ",1s:8");
	memset(&trace, 0, sizeof(trace));
	ok(!link_trace_parse(&trace, text, &error), "one step more");
	c.trace = trace;
	payload.length = 0;
	ok(!link_config_encode(&c, payload_put, &payload) &&
		   is_file_of(&payload, &trace),
	   "is in a file");
	link_trace_free(&trace);
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
	link_trace_free(&trace);
	free(text);
}

int main(void)
{
	test_trace_files();
	test_columns();
	test_lines();
	test_long_trace();
	test_trace_beside_a_table();
	return tap_done();
}
