// SPDX-License-Identifier: GPL-2.0
/*
 * test_rate_trace.c - traces that "wale rate play" plays
 */
#include <inttypes.h>
#include <string.h>

#include "lib/rate_trace.h"
#include "tests/tap.h"

/* OFFSET RATE, OFFSET RATE, ... END */
static const char *as_text(const struct rate_trace *trace)
{
	static char buf[512];
	size_t length = 0, i;

	for (i = 0; i < trace->n_steps; i++)
		length += snprintf(buf + length, sizeof(buf) - length,
				   "%" PRIu64 " %" PRIu64 ", ",
				   trace->steps[i].offset_ns,
				   trace->steps[i].rate);
	snprintf(buf + length, sizeof(buf) - length, "%" PRIu64, trace->end_ns);
	return buf;
}

static int read_text(struct rate_trace *trace, const char *text,
		     struct rate_error *error)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int err = rate_trace_read_file(trace, file, "T", error);

	fclose(file);
	return err;
}

static const struct {
	const char *text;
	const char *steps; /* or what the error says */
	bool bad;
} cases[] = {
	{ "10s 8kbit\n", "0 1000, 10000000000", false },
	{ "# a day\n\n 1ms\t8bit # slow\n2ms 16bit", "0 1, 1000000 2, 3000000",
	  false },
	{ "at 0ns 8bit\nat 5ns 16bit\n", "0 1, 5 2, 5", false },
	{ "at 10ns 8bit\nat 20ns end\n", "10 1, 20", false },
	{ "5ns 8bit\nat 10ns 16bit\nat 13ns 24bit\n3ns 8bit\n",
	  "T:4: the step before it begins at 13ns", true },
	{ "at 0 8bit\nat 2s end\n3ns 24bit\n", "0 1, 2000000000 3, 2000000003",
	  false },
	{ "2s 8bit\nat 2s 16bit\n", "0 1, 2000000000 2, 2000000000", false },
	{ "0s 8bit\n7ns 16bit\n", "T:1: \"0s\": expected a duration above 0",
	  true },
	{ "7ns 8bit\n\n0 16bit\n", "T:3: \"0\": expected a duration above 0",
	  true },
	{ "1s 8bit\n0.1ns 16bit\n", "T:2: \"0.1ns\": expected a duration",
	  true },
	{ "at 1s 8bit\nat 1s 16bit\n",
	  "T:2: the step before it begins at 1s, too: each must take time",
	  true },
	{ "at 1s 8bit\n1s 16bit\n", "T:2: the step before it begins at 1s",
	  true },
	{ "1ns 0bit\n1ns unlimited\r\n", "0 0, 1 18446744073709551615, 2",
	  false },
	{ "", "T: the trace has no steps", true },
	{ "# nothing\n", "T: the trace has no steps", true },
	{ "at 5ns end\n", "T: the trace has no steps", true },
	{ "1s\n", "T:1: expected DURATION RATE or at TIME RATE", true },
	{ "1s 1mbit\n1s 1mbit 16\n", "T:2: \"16\": a second rate", true },
	{ "at 1s\n", "T:1: expected DURATION RATE or at", true },
	{ "by 1s 1mbit\n", "T:1: \"by\": expected a time", true },
	{ "at 1s 1mbit x\n", "T:1: expected DURATION RATE or at", true },
	{ "x 1mbit\n", "T:1: \"x\": expected a time", true },
	{ "-1s 1mbit\n", "T:1: \"-1s\": expected a time", true },
	{ "1s 1foo\n", "T:1: \"1foo\": expected a rate", true },
	{ "5 8bit\n", "T:1: \"5\": expected a time with a unit", true },
	{ "at 0 8bit\nat 0 16bit\n", "T:2: the step before it begins at 0ns",
	  true },
	{ "at 9 8bit\n", "T:1: \"9\": expected a time with a unit", true },
	{ "2min 8Mbps\n1d 8bit/s\nat 25h 1mibit\n",
	  "0 8000000, 120000000000 1, 90000000000000 131072, 90000000000000",
	  false },
	{ "1s 300bit\n",
	  "T:1: \"300bit\": not a whole number of bytes/s; "
	  "the nearest are 296bit and 304bit",
	  true },
	{ "at 0s 7bit\n", "T:1: \"7bit\": not a whole", true },
	{ "1s 20ms 8bit 1%\n1s down\n1s unlimited\n",
	  "0 1, 1000000000 0, 2000000000 18446744073709551615, 3000000000",
	  false },
	{ "duration delay rate\n1s - 8bit\n", "0 1, 1000000000", false },
	{ "1s unlimited 20ms 10p\n1s 1000000tbit 0%\n",
	  "0 18446744073709551615, 1000000000 125000000000000000, 2000000000",
	  false },
	{ "1s unlimited foo\n", "T:1: \"foo\": expected a rate", true },
	{ "1s unlimited unlimited\n", "T:1: \"unlimited\": a second rate",
	  true },
	{ "1s down unlimited\n", "T:1: \"unlimited\": a second rate", true },
	{ "1s unlimited 8bit\n", "T:1: \"8bit\": a second rate", true },
	{ "1s unlimited 30kb\n", "T:1: \"30kb\": 1024 or 1000?", true },
	{ "duration delay rate\n1s unlimited 8bit\n",
	  "T:2: \"unlimited\": a rate, where the first line has delay", true },
	{ "duration delay rate\n1s unlimited\n", "T:2: expected 3 words",
	  true },
	{ "1s 20ms\n", "T:1: expected a rate in each step", true },
	{ "1s 20ms 10p\n", "T:1: expected a rate in each step", true },
	{ "1s 8bit 20ms 2s\n", "T:1: \"2s\": a second delay", true },
	{ "1s end\n", "T:1: \"end\": expected a rate", true },
	{ "10ns 1mbit\nat 9ns 2mbit\n", "T:2: 9ns is before 10ns", true },
	{ "1e10s 1mbit\n", "too long", true },
	{ "1e9s 1mbit\n1e9s 1mbit\n1e9s 1mbit\n", "T:3: the trace is too long",
	  true },
};

static void test_cases(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rate_error error = { "" };
		struct rate_trace trace;
		const char *got;
		bool bad;

		/* An empty buffer cannot be a stream everywhere. */
		bad = read_text(&trace, *cases[i].text ? cases[i].text : "\n",
				&error);
		got = bad ? error.text : as_text(&trace);
		ok(bad == cases[i].bad && (bad ? !!strstr(got, cases[i].steps)
					       : !strcmp(got, cases[i].steps)),
		   "case %zu: %s", i, got);
		rate_trace_free(&trace);
	}
}

static void test_many_steps(void)
{
	struct rate_trace trace;
	struct rate_error error;
	FILE *file = tmpfile();
	int i;

	for (i = 0; i < 100000; i++)
		fprintf(file, "1ms %dbps\n", i);
	rewind(file);
	ok(!rate_trace_read_file(&trace, file, "T", &error) &&
		   trace.n_steps == 100000 &&
		   trace.steps[99999].offset_ns == UINT64_C(99999000000) &&
		   trace.steps[99999].rate == 99999,
	   "100,000 steps");
	rate_trace_free(&trace);
	fclose(file);
	ok(rate_trace_read(&trace, "/no/such/file", &error) &&
		   strstr(error.text, "/no/such/file: cannot open the trace"),
	   "no file");
	ok(rate_trace_read(&trace, "/", &error) &&
		   strstr(error.text, "/: cannot read the trace"),
	   "a folder: %s", error.text);
	rate_trace_free(&trace);
}

int main(void)
{
	test_cases();
	test_many_steps();
	return tap_done();
}
