// SPDX-License-Identifier: GPL-2.0
/*
 * test_link_config.c - the options of a link: words to attributes and back
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/link_config.h"
#include "lib/link_stats.h"
#include "tests/payload.h"
#include "tests/tap.h"
#include "tests/words.h"

/* 0, an enum link_error_kind, or -1 for an unknown option. */
static int parse(struct link_config *c, struct words *w, const char *text,
		 struct link_error *error)
{
	int i, taken;

	memset(c, 0, sizeof(*c));
	split(w, text);
	for (i = 0; i < w->n; i += taken) {
		taken = link_config_parse(c, w->n - i, w->word + i, error);
		if (taken < 0)
			return error->kind;
		if (!taken)
			return -1;
	}
	return 0;
}

static void print(char *buf, size_t size, const struct link_config *c)
{
	FILE *file = fmemopen(buf, size, "w");

	link_config_print(file, c);
	fclose(file);
}

/* Words, attributes, configuration, words again: the last two agree. */
static void test_round_trip(const char *text, const char *expected)
{
	static struct payload payload;
	struct link_config c, back;
	char printed[1024], again[1024];
	struct link_error error;
	struct words w;
	bool passed;

	passed = !parse(&c, &w, text, &error);
	payload.length = 0;
	passed = passed && !link_config_encode(&c, payload_put, &payload) &&
		 !link_config_decode(&back, payload.data, payload.length);
	link_config_free(&c);
	if (!passed) {
		ok(false, "\"%s\" is understood", text);
		return;
	}
	print(printed, sizeof(printed), &back);
	link_config_free(&back);
	if (!ok(!strcmp(printed, expected), "\"%s\" is shown as \"%s\"", text,
		expected))
		printf("# got \"%s\"\n", printed);

	passed = !parse(&c, &w, printed, &error);
	print(again, sizeof(again), &c);
	link_config_free(&c);
	ok(passed && !strcmp(again, printed), "\"%s\" can be pasted back",
	   printed);
}

static void test_error(const char *text, int kind, const char *says)
{
	struct link_error error = { .text = "" };
	struct link_config c;
	struct words w;
	int got = parse(&c, &w, text, &error);

	if (!ok(got == kind && strstr(error.text, says),
		"\"%s\" is refused, saying \"%s\"", text, says))
		printf("# got %d, \"%s\"\n", got, error.text);
	link_config_free(&c);
}

#define X32 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void test_errors(void)
{
	test_error("rate", LINK_ERROR_MISSING, "expected rate RATE");
	test_error("rate 10foo", LINK_ERROR_INVALID, "a rate");
	test_error("rate 1mbit rate 2mbit", LINK_ERROR_DUPLICATE, "2mbit");
	test_error("loop hold", LINK_ERROR_DUPLICATE, "hold");
	test_error("limit 20p limit 30kb", LINK_ERROR_DUPLICATE, "30kb");
	test_error("limit 4294967296", LINK_ERROR_INVALID, "out of range");
	test_error("limit 20q", LINK_ERROR_INVALID, "packets");
	test_error("limit 30kbit", LINK_ERROR_INVALID, "such as 30kb");
	test_error("limit p", LINK_ERROR_INVALID, "packets");
	test_error("limit 1.5p", LINK_ERROR_INVALID, "packets");
	test_error("limit unlimited", LINK_ERROR_INVALID, "such as 30kb");
	test_error("line 0", LINK_ERROR_INVALID, "out of range");
	test_error("line 20 cells", LINK_ERROR_INVALID, "or unlimited");
	test_error("line 18446744073709551615b", LINK_ERROR_INVALID, "range");
	test_error("line 20 line unlimited", LINK_ERROR_DUPLICATE, "unlimited");
	test_error("loss 101%", LINK_ERROR_INVALID, "out of range");
	test_error("loss gemodel", LINK_ERROR_MISSING, "1-H");
	test_error("loss gemodel delay 5ms", LINK_ERROR_MISSING, "1-H");
	test_error("loss gemodel 1% 101%", LINK_ERROR_INVALID, "out of range");
	test_error("loss gemodel 1% 2% 3% 4% 5%", -1, "");
	test_error("loss state 1x", LINK_ERROR_INVALID, "P13");
	test_error("loss state 1% loss 2%", LINK_ERROR_DUPLICATE, "2%");
	test_error("loss often", LINK_ERROR_INVALID, "gemodel");
	test_error("loss_ecn noloss_ecn", LINK_ERROR_DUPLICATE, "noloss_ecn");
	test_error("jitter", LINK_ERROR_MISSING, "");
	test_error("jitter 86401s", LINK_ERROR_INVALID, "out of range");
	test_error("jitter 5ms distribution", LINK_ERROR_MISSING, "uniform");
	test_error("jitter 5ms distribution cauchy", LINK_ERROR_INVALID,
		   "normal");
	test_error("jitter 5ms distribution /nonexistent/x", LINK_ERROR_INVALID,
		   "path");
	test_error("jitter 5ms distribution " X32 X32 X32 X32,
		   LINK_ERROR_INVALID, "a distribution");
	test_error("jitter 1ms distribution uniform distribution uniform",
		   LINK_ERROR_DUPLICATE, "uniform");
	test_error("jitter 1ms jitter 2ms", LINK_ERROR_DUPLICATE, "2ms");
	test_error("reorder", LINK_ERROR_MISSING, "");
	test_error("reorder 101%", LINK_ERROR_INVALID, "out of range");
	test_error("reorder 1% gap", LINK_ERROR_MISSING, "a gap");
	test_error("reorder 1% gap 0", LINK_ERROR_INVALID, "out of range");
	test_error("reorder 1% gap 4294967296", LINK_ERROR_INVALID, "range");
	test_error("duplicate often", LINK_ERROR_INVALID, "a share");
	test_error("corrupt 2%x", LINK_ERROR_INVALID, "a share");
	test_error("drop", LINK_ERROR_MISSING, "");
	test_error("drop_list packets", LINK_ERROR_MISSING, "20-25");
	test_error("drop_list flow 3", LINK_ERROR_INVALID, "packets LIST");
	test_error("drop_list flow 65536 packets 1", LINK_ERROR_INVALID,
		   "a flow");
	test_error("drop_list packets 5 drop_list off", LINK_ERROR_INVALID,
		   "either off");
	test_error("drop_list off drop_list packets 5", LINK_ERROR_INVALID,
		   "either off");
	test_error("drop_list off drop_list off", LINK_ERROR_INVALID,
		   "either off");
	test_error("drop_list packets 0", LINK_ERROR_INVALID, "out of range");
	test_error("drop_list packets 5-4", LINK_ERROR_INVALID, "out of range");
	test_error("drop_list packets 5,", LINK_ERROR_INVALID, "20-25");
	test_error("drop_list packets 1-2-3", LINK_ERROR_INVALID, "20-25");
	test_error("drop_list packets 4294967296", LINK_ERROR_INVALID, "range");
	test_error("slot", LINK_ERROR_MISSING, "");
	test_error("slack 2s", LINK_ERROR_INVALID, "from 0 to 1s");
	test_error("slack soon", LINK_ERROR_INVALID, "such as 10us");
	test_error("slack 1us slack 1us", LINK_ERROR_DUPLICATE, "1us");
	test_error("slot 0", LINK_ERROR_INVALID, "out of range");
	test_error("slot 5ms 4ms", LINK_ERROR_INVALID, "out of range");
	test_error("slot 1ms 86401s", LINK_ERROR_INVALID, "out of range");
	test_error("slot 5ms packets", LINK_ERROR_MISSING, "a number");
	test_error("slot 5ms bytes few", LINK_ERROR_INVALID, "a number");
	test_error("slot soon", LINK_ERROR_INVALID, "a time");
	test_error("overhead frame", LINK_ERROR_INVALID, "ethernet");
	test_error("breaker rate 8bit after 0", LINK_ERROR_INVALID,
		   "a time from 1ns to 86400s");
	test_error("policer", LINK_ERROR_MISSING, "policer off|rate RATE");
	test_error("policer 10mbit", LINK_ERROR_INVALID,
		   "off, or rate, burst or excess");
	test_error("policer rate unlimited", LINK_ERROR_INVALID,
		   "a rate from 8bit");
	test_error("policer rate 10mbit burst 0", LINK_ERROR_INVALID,
		   "a burst, a size from 1b");
	test_error("policer rate 10mbit excess lose", LINK_ERROR_INVALID,
		   "excess drop or excess mark");
	test_error("policer burst 1kb burst 2kb", LINK_ERROR_DUPLICATE, "2kb");
	test_error("scone", LINK_ERROR_MISSING, "");
	test_error("scone half", LINK_ERROR_INVALID, "off, link, share, or");
	test_error("scone 99kbit", LINK_ERROR_INVALID, "from 100kbit");
	test_error("scone unlimited", LINK_ERROR_INVALID, "from 100kbit");
	test_error("scone link period", LINK_ERROR_MISSING, "a time");
	test_error("scone link period 99ms", LINK_ERROR_INVALID, "from 100ms");
	test_error("scone link average 601s", LINK_ERROR_INVALID, "to 600s");
	test_error("scone link period 1s period 1s", LINK_ERROR_DUPLICATE,
		   "1s");
	test_error("loss 1% 101%", LINK_ERROR_INVALID, "out of range");
	test_error("corrupt_fix corrupt 5% fix", LINK_ERROR_DUPLICATE, "fix");
	test_error("loss_correlation 5% loss 1% 5%", LINK_ERROR_DUPLICATE,
		   "5%");
	test_error("overhead -", LINK_ERROR_INVALID, "ethernet");
	test_error("overhead 4097", LINK_ERROR_INVALID, "out of range");
	test_error("overhead -4097", LINK_ERROR_INVALID, "out of range");
	test_error("overhead pppoe 4096", LINK_ERROR_INVALID, "out of range");
	test_error("overhead 1.5", LINK_ERROR_INVALID, "ethernet");
	test_error("drops never", LINK_ERROR_INVALID, "remote");
	test_error("gso", LINK_ERROR_MISSING, "");
	test_error("gso on", LINK_ERROR_INVALID, "gso split or gso keep");
	test_error("gso keep gso split", LINK_ERROR_DUPLICATE, "split");
	test_error("seed -1", LINK_ERROR_INVALID, "whole number");
	test_error("trace 1s:2mbit,3", LINK_ERROR_INVALID, "step 1");
	test_error("trace 1s:2mbit,", LINK_ERROR_INVALID, "side of a comma");
	test_error("trace 1x:2mbit", LINK_ERROR_INVALID, "a time such");
	test_error("trace 1s:unlimited", LINK_ERROR_INVALID,
		   "step 1 of the trace: \"unlimited\": expected a rate");
	test_error(
		"rate 300bit", LINK_ERROR_INVALID,
		"not a whole number of bytes/s; the nearest are 296bit and 304bit");
	test_error("rate 7bit", LINK_ERROR_INVALID, "the least is 8bit");
	test_error("rate 12345678bit", LINK_ERROR_INVALID,
		   "12345672bit and 12345680bit");
	test_error("input_rate 155520001bit", LINK_ERROR_INVALID,
		   "155520Kbit and 155520008bit");
	test_error(
		"trace 1s:1mbit,1s:7bit", LINK_ERROR_INVALID,
		"step 2 of the trace: \"7bit\": not a whole number of bytes/s; the least is 8bit");
	test_error("trace file", LINK_ERROR_MISSING, "path");
	test_error("trace file /nonexistent/x", LINK_ERROR_FILE, "open");
	test_error("trace file /", LINK_ERROR_FILE, "cannot read");
	test_error(
		"trace 1s:1mbit,0s:1mbit", LINK_ERROR_INVALID,
		"step 2 of the trace: \"0s\": out of range: expected a duration from 1us to 86400s");
	test_error("trace 1s:1mbit,1s:8001tbit", LINK_ERROR_INVALID,
		   "step 2 of the trace: \"8001tbit\": out of range");
	test_error("trace 1s:0,2s:0bit", LINK_ERROR_INVALID,
		   "the trace has no rate above 0");
	test_error("start", LINK_ERROR_MISSING, "start at TIME");
	test_error("start at", LINK_ERROR_MISSING, "a time must follow");
	test_error("start now", LINK_ERROR_INVALID, "start at TIME");
	test_error("start at noon", LINK_ERROR_INVALID, "in UTC as");
	test_error("start at +5", LINK_ERROR_INVALID, "from now as +5s");
	test_error("start at 2026-11-22T10:00:00", LINK_ERROR_INVALID, "UTC");
	test_error("start at 2026-11-31T10:00:00Z", LINK_ERROR_INVALID, "UTC");
	test_error("start at 2026-1-02T10:00:00Z", LINK_ERROR_INVALID, "UTC");
	test_error("start at 2026-11-22T10:00:00.Z", LINK_ERROR_INVALID, "UTC");
	test_error("start at 1969-11-22T10:00:00Z", LINK_ERROR_INVALID,
		   "out of range");
	test_error("start at 2555-01-01T00:00:00Z", LINK_ERROR_INVALID,
		   "out of range");
	test_error("start at @0", LINK_ERROR_INVALID, "out of range");
	test_error("start at @99999999999999999999", LINK_ERROR_INVALID,
		   "out of range");
	test_error("start at @1.5s", LINK_ERROR_INVALID, "UTC");
	test_error("start at @1.0123456789", LINK_ERROR_INVALID, "UTC");
	test_error("start at @noon", LINK_ERROR_INVALID, "UTC");
	test_error("start at +soon", LINK_ERROR_INVALID, "from now");
	test_error("start at -10000000000s", LINK_ERROR_INVALID,
		   "out of range");
	test_error("start at @1 start at @2", LINK_ERROR_DUPLICATE, "at");
	test_error("sessions", LINK_ERROR_MISSING, "sessions off|arrival");
	test_error("sessions rate 1mbit", LINK_ERROR_INVALID, "arrival");
	test_error("sessions mean", LINK_ERROR_MISSING, "number");
	test_error("sessions max 3 max 4", LINK_ERROR_DUPLICATE, "4");
	test_error("feedback idle", LINK_ERROR_MISSING, "idle time");
	test_error("feedback idle 0", LINK_ERROR_INVALID, "out of range");
	test_error("feedback idle soon", LINK_ERROR_INVALID, "idle time");
	test_error("feedback feedback", LINK_ERROR_DUPLICATE, "feedback");
	test_error("feedback nofeedback", LINK_ERROR_DUPLICATE, "nofeedback");
	test_error("nofeedback idle 2s", -1, "");
	test_error("feedback 2s", -1, "");
	test_error("frobnicate 3", -1, "");
	test_error("limit 20p cells", -1, "");
	test_error("limit 4294967296 cells", LINK_ERROR_INVALID, "range");
	test_error("limit 20 cells limit 20p", LINK_ERROR_DUPLICATE, "20p");
	test_error("policy red", LINK_ERROR_INVALID, "seldrop");
	test_error("threshold 0%", LINK_ERROR_INVALID, "out of range");
	test_error("threshold 101%", LINK_ERROR_INVALID, "out of range");
	test_error("threshold 90% threshold 5", LINK_ERROR_DUPLICATE, "5");
	test_error("threshold much", LINK_ERROR_INVALID, "a share");
	test_error("limit 30kb policy epd threshold 20p", LINK_ERROR_INVALID,
		   "in the unit of the limit");
	test_error("threshold 900 cells limit 30kb", LINK_ERROR_INVALID,
		   "in the unit of the threshold");
	test_error("share_factor 1001", LINK_ERROR_INVALID, "0 to 1000");
	test_error("share_factor 4295", LINK_ERROR_INVALID, "0 to 1000");
	test_error("share_factor -1", LINK_ERROR_INVALID, "0 to 1000");
	test_error("victims 0", LINK_ERROR_INVALID, "1 to 1024");
	test_error("victims 1025", LINK_ERROR_INVALID, "1 to 1024");
	test_error("flows 65535", LINK_ERROR_INVALID, "1 to 65534");
	test_error("input_rate fast", LINK_ERROR_INVALID, "a rate");
	test_error("policy_ecn nopolicy_ecn", LINK_ERROR_DUPLICATE, "");
	test_error("mark policy_ecn", LINK_ERROR_DUPLICATE, "");
	test_error("drop_report local drops local", LINK_ERROR_DUPLICATE, "");
	test_error("drops nobody", LINK_ERROR_INVALID, "drop_report");
	test_error("z 1001", LINK_ERROR_INVALID, "0 to 1000");
	test_error("rem", LINK_ERROR_MISSING, "");
	test_error("rem delay 5ms", LINK_ERROR_INVALID, "interval, gamma");
	test_error("rem interval 999us", LINK_ERROR_INVALID, "1ms to 1s");
	test_error("rem interval 2s", LINK_ERROR_INVALID, "1ms to 1s");
	test_error("rem gamma 0", LINK_ERROR_INVALID, "out of range");
	test_error("rem gamma 1001", LINK_ERROR_INVALID, "out of range");
	test_error("rem alpha 1.000001", LINK_ERROR_INVALID, "0 to 1");
	test_error("rem target 2000gb", LINK_ERROR_INVALID, "out of range");
	test_error("rem phi 1", LINK_ERROR_INVALID, "1.001 to 1000");
	test_error("rem phi 2 rem phi 2", LINK_ERROR_DUPLICATE, "phi");
	test_error("rem phi 2 phi 3", LINK_ERROR_DUPLICATE, "3");
	test_error("rem phi 2 gamma", LINK_ERROR_MISSING, "a gamma");
}

/* What is said, all of it, of a line that an unknown word ends. */
static void test_unknown(const char *text, const char *dashes,
			 const char *expected)
{
	struct link_config c = { .n_drop = 0 };
	struct link_error error;
	char said[256] = "";
	int i, taken = 0, before = 0;
	struct words w;
	FILE *memory;

	split(&w, text);
	for (i = 0; i < w.n; i += taken) {
		taken = link_config_parse(&c, w.n - i, w.word + i, &error);
		if (taken <= 0)
			break;
		before = taken;
	}
	if (!taken)
		link_config_unknown(w.word + i, before, dashes, &error);
	memory = fmemopen(said, sizeof(said), "w");
	link_error_print(memory, &error);
	fclose(memory);
	said[strcspn(said, "\n")] = '\0';
	if (!ok(error.kind == LINK_ERROR_UNKNOWN && !strcmp(said, expected),
		"\"%s\" is answered by %s", text, said))
		printf("# expected %s\n", expected);
	link_config_free(&c);
}

static void test_unknown_words(void)
{
	test_unknown("ratte 5mbit", "",
		     "\"ratte\" is not an option: help lists them");
	test_unknown("delay 1ms --ratte 5mbit", "--",
		     "\"--ratte\" is not an option: --help lists them");
	test_unknown("rate 10 mbit", "",
		     "\"mbit\" is not an option: write 10mbit");
	test_unknown("limit 1.5 kb delay 5 ms", "",
		     "\"kb\" is not an option: write 1.5kb");
	test_unknown("limit 10 20", "",
		     "\"20\" is not an option, nor part of the one before it: "
		     "limit SIZE|PACKETS|N cells");
	test_unknown("gap 5", "",
		     "\"gap\" is not an option by itself: it is part of "
		     "reorder PERCENT [gap N]");
	test_unknown("loss gemodel 1% 2% 3% 4% 5%", "--",
		     "\"5%\" is not an option, nor part of the one before it: "
		     "--loss gemodel P [R [1-H [1-K]]]");
	test_unknown(
		"corrupt 1% 25%", "",
		"\"25%\" is not an option, nor part of the one before it: "
		"corrupt PERCENT [fix] (only loss and jitter have a correlation)");
	test_unknown("fix", "",
		     "\"fix\" is not an option by itself: it is part of "
		     "corrupt PERCENT [fix]");
	test_unknown("delay 50ms 5ms", "",
		     "\"5ms\" is not an option, nor part of the one before it: "
		     "delay TIME (jitter is an option of its own)");
	test_unknown("feedback off", "",
		     "\"off\" is not an option, nor part of the one before it: "
		     "feedback [idle TIME]");
	test_unknown("stop 5", "",
		     "\"5\" is not an option, nor part of the one before it: "
		     "stop");
}

/* What every link has is not shown. */
static void test_tail(void)
{
	char printed[64] = "";
	struct link_error error;
	struct link_config c;
	struct words w;

	ok(!parse(&c, &w, "policy tail input_rate unlimited", &error) &&
		   c.link.set == (LINK_BIT(TCA_WALE_POLICY) |
				  LINK_BIT(TCA_WALE_INPUT_RATE64)) &&
		   c.link.value[TCA_WALE_POLICY] == WALE_POLICY_TAIL,
	   "policy tail and no input links");
	print(printed, sizeof(printed), &c);
	ok(!*printed, "are shown as nothing");
}

static void test_cells_stats(void)
{
	static struct payload payload;
	struct link_stats s;
	uint64_t value;
	char buf[512] = "";
	FILE *memory = fmemopen(buf, sizeof(buf), "w");
	int type;

	for (type = TCA_WALE_STATS_DROPPED_EARLY_PACKETS;
	     type <= TCA_WALE_STATS_CROWDED_PACKETS; type++) {
		value = 100 + type;
		payload_put(&payload, type, &value, sizeof(value));
	}
	link_stats_decode(&s, payload.data, payload.length);
	link_stats_print(memory, &s, " ", "\n");
	fclose(memory);
	if (!ok(strstr(buf, " early 128p 129b partial 130p 131b ") &&
			strstr(buf, "\n cells: backlog 132 peak 133 dropped "
				    "134 wasted 135") &&
			strstr(buf, "\n busy flows 136 crowded 137p"),
		"statistics of cells and flows as text"))
		printf("# got %s\n", buf);
	ok(!strstr(buf, "rate now"), "a class has no rate");
}

/* Attributes cut short, or of the wrong size, harm nobody. */
static void test_broken_attributes(void)
{
	static struct payload payload;
	struct link_config c, back;
	struct link_error error;
	struct link_stats stats;
	struct words w;
	size_t length;

	parse(&c, &w,
	      "rate 1mbit delay 5ms trace 1s:1mbit,2s:2mbit seed 3 "
	      "sessions arrival 0.2 mean 20 max 63 step 50ms "
	      "feedback idle 3s",
	      &error);
	link_config_encode(&c, payload_put, &payload);
	link_config_free(&c);
	for (length = 0; length <= payload.length; length++) {
		char *copy = malloc(length ? length : 1);

		memcpy(copy, payload.data, length);
		link_config_decode(&back, copy, length);
		link_config_free(&back);
		link_stats_decode(&stats, copy, length);
		free(copy);
	}
	ok(true, "attributes cut at every length");
}

static void test_sessions_off(void)
{
	struct payload payload = { .length = 0 };
	struct link_error error;
	struct link_config c;
	struct attribute a;
	const char *at = payload.data;
	struct words w;

	ok(!parse(&c, &w, "sessions off", &error) &&
		   !link_config_encode(&c, payload_put, &payload) &&
		   attribute_next(&at, &payload.length, &a) &&
		   a.type == TCA_WALE_SESSIONS && !a.length,
	   "sessions off is an empty nest");
}

static void test_nofeedback(void)
{
	struct payload payload = { .length = 0 };
	struct link_error error;
	struct link_config c;
	struct attribute a;
	const char *at = payload.data;
	char printed[64] = "";
	struct words w;

	ok(!parse(&c, &w, "nofeedback", &error) &&
		   !link_config_encode(&c, payload_put, &payload) &&
		   attribute_next(&at, &payload.length, &a) &&
		   a.type == TCA_WALE_FEEDBACK && !a.length,
	   "nofeedback is an empty nest");
	print(printed, sizeof(printed), &c);
	ok(!*printed, "and shown as nothing");
}

static void test_feedback_stats(void)
{
	static struct payload payload;
	struct link_stats s;
	uint64_t value;
	char buf[2048] = "";
	FILE *memory = fmemopen(buf, sizeof(buf), "w");
	int type;

	for (type = TCA_WALE_STATS_PAD + 1; type <= TCA_WALE_STATS_MAX;
	     type++) {
		value = type == TCA_WALE_STATS_ATTACHED ? 0 : 100 + type;
		payload_put(&payload, type, &value, sizeof(value));
	}
	link_stats_decode(&s, payload.data, payload.length);
	link_stats_print(memory, &s, " ", "\n");
	fclose(memory);
	if (!ok(strstr(buf, " purge 122p 123b ") &&
			strstr(buf, "\n active flows 124 uncounted 125p "
				    "published 126 (rate_feedback is not "
				    "there)"),
		"statistics of feedback as text"))
		printf("# got %s\n", buf);
}

/* A file with these contents, as a distribution. */
static void test_table(const char *contents, const char *expected)
{
	char path[] = "/tmp/wale-table-XXXXXX", text[64];
	struct link_error error = { .text = "" };
	FILE *file = fdopen(mkstemp(path), "w");
	struct link_config c;
	char got[240] = "";
	struct words w;
	uint32_t i;

	fputs(contents, file);
	fclose(file);
	snprintf(text, sizeof(text), "jitter 1ms distribution %s", path);
	if (parse(&c, &w, text, &error))
		snprintf(got, sizeof(got), "%s", error.text);
	else
		for (i = 0; i < c.table.n_entries; i++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got),
				 "%d ", c.table.entries[i]);
	if (!ok(strstr(got, expected), "a table gives \"%s\"", expected))
		printf("# got \"%s\"\n", got);
	link_config_free(&c);
	unlink(path);
}

static void test_tables(void)
{
	test_table("# a table\n 1 -2\t3# three\n\n-32768 32767",
		   "1 -2 3 -32768 32767 ");
	test_table("# nothing\n", "not a table");
	test_table("1 2 x\n", "not a table");
	test_table("1 2x\n", "not a table");
	test_table("32768\n", "not a table");
	test_table("-32769\n", "not a table");
}

static void test_json(void)
{
	char buf[1024] = "";
	FILE *memory = fmemopen(buf, sizeof(buf), "w");
	struct json_file file = { .file = memory };
	struct json j = { &json_file_ops, &file };
	struct link_error error;
	struct link_config c;
	struct words w;

	parse(&c, &w, "trace 1s:8mbit,2s:0 stop loss 0.0123% limit 20 feedback",
	      &error);
	json_open(&j, NULL, '{');
	link_config_json(&j, &c);
	json_close(&j, '}');
	fclose(memory);
	link_config_free(&c);
	if (!ok(!strcmp(buf,
			"{\"trace\": [{\"duration_ns\": 1000000000, "
			"\"rate\": 1000000}, {\"duration_ns\": 2000000000, "
			"\"rate\": 0}], \"trace_end\": \"stop\", "
			"\"trace_steps\": 2, \"limit_packets\": 20, "
			"\"loss\": 0.000123, "
			"\"feedback\": {\"idle_ns\": 2000000000}}"),
		"options as JSON"))
		printf("# got %s\n", buf);
}

int main(void)
{
	test_round_trip("rate 10mbit delay 50ms limit 30kb loss 1%",
			"rate 10Mbit delay 50ms limit 30Kb loss 1% ");
	test_round_trip("trace 1s:8mbit start at 2026-11-22T10:00:00Z",
			"trace 1s:8Mbit start at 2026-11-22T10:00:00Z ");
	test_round_trip(
		"start at @1795341600.000000001 trace 1s:8bit hold",
		"trace 1s:8bit hold start at 2026-11-22T10:00:00.000000001Z ");
	test_round_trip("start at @1.5", "start at 1970-01-01T00:00:01.5Z ");
	test_round_trip("start at @18446744072",
			"start at 2554-07-21T23:34:32Z ");
	test_round_trip("limit 20", "limit 20p ");
	test_round_trip("limit 20P", "limit 20p ");
	test_round_trip("limit 20b", "limit 20b ");
	test_round_trip("line 20 limit 30kb", "limit 30Kb line 20p ");
	test_round_trip("line unlimited", "line unlimited ");
	test_round_trip("limit 5gb", "limit 5120Mb ");
	test_round_trip("rate unlimited seed 18446744073709551615",
			"rate unlimited seed 18446744073709551615 ");
	test_round_trip("loss gemodel 1%", "loss gemodel 1% 99% 100% 0% ");
	test_round_trip("loss gemodel 1% 10% rate 1mbit loss_ecn",
			"rate 1Mbit loss gemodel 1% 10% 100% 0% loss_ecn ");
	test_round_trip("loss gemodel 0 0 50% 0.5%",
			"loss gemodel 0% 0% 50% 0.5% ");
	test_round_trip("noloss_ecn loss state 5%",
			"loss state 5% 95% 0% 100% 0% noloss_ecn ");
	test_round_trip("loss state 5% 20% 30% 40% 1% seed 3",
			"loss state 5% 20% 30% 40% 1% seed 3 ");
	test_round_trip("jitter 5ms delay 20ms", "delay 20ms jitter 5ms ");
	test_round_trip("jitter 5ms overtaking loss 0%",
			"jitter 5ms overtaking loss 0% ");
	test_round_trip(
		"jitter 0 distribution uniform noovertaking drop_report local",
		"drop_report local ");
	test_round_trip("reorder 25% gap 5", "reorder 25% gap 5 ");
	test_round_trip("duplicate 1% reorder 100% corrupt 0.1% loss 2%",
			"loss 2% reorder 100% duplicate 1% corrupt 0.1% ");
	test_round_trip("corrupt 0%", "corrupt 0% ");
	test_round_trip("flows 9 breaker rate 8bit after 5s rate 16bit",
			"rate 16bit flows 9 breaker rate 8bit after 5s ");
	test_round_trip("policer burst 30kb rate 10mbit",
			"policer rate 10Mbit burst 30Kb ");
	test_round_trip("policer rate 8bit burst 1 excess mark rate 8bit",
			"rate 8bit policer rate 8bit burst 1b excess mark ");
	test_round_trip("corrupt 1% fix seed 3",
			"corrupt 1% corrupt_fix seed 3 ");
	test_round_trip("nocorrupt_fix corrupt 1%",
			"corrupt 1% nocorrupt_fix ");
	test_round_trip("drop_list packets 10,11,20-25 delay 1ms",
			"delay 1ms drop_list packets 10,11,20-25 ");
	test_round_trip(
		"drop_list flow 3 packets 5 drop_list flow 65535 packets 1-9 "
		"drop_list packets 7",
		"drop_list flow 3 packets 5 drop_list flow 65535 packets 1-9 "
		"drop_list packets 7 ");
	test_round_trip("drop_list off", "drop_list off ");
	test_round_trip("slot 5ms delay 1ms", "delay 1ms slot 5ms 5ms ");
	test_round_trip("slot 0 5ms bytes 3000 packets 2",
			"slot 0ns 5ms packets 2 bytes 3000 ");
	test_round_trip("slot off", "slot off ");
	test_round_trip("scone share period 67s delay 1ms",
			"delay 1ms scone share period 67s ");
	test_round_trip("scone link average 0", "scone link average 0ns ");
	test_round_trip("scone 10mbit", "scone 10Mbit ");
	test_round_trip("scone off", "scone off ");
	test_tables();
	test_round_trip("overhead 8 mpu 64", "overhead 8 mpu 64 ");
	test_round_trip("loss 1% 25%", "loss 1% loss_correlation 25% ");
	test_round_trip("loss 1% 25 seed 3",
			"loss 1% loss_correlation 25% seed 3 ");
	test_round_trip("jitter 5ms 25% overtaking",
			"jitter 5ms overtaking jitter_correlation 25% ");
	test_round_trip("overhead -14", "overhead -14 ");
	test_round_trip("overhead pppoe", "overhead ethernet 8 ");
	test_round_trip("overhead vlan -1", "overhead ethernet 3 ");
	test_round_trip("overhead atm +10", "overhead atm 10 ");
	test_round_trip("overhead ethernet", "overhead ethernet ");
	test_round_trip("overhead atm drop_report local",
			"overhead atm drop_report local ");
	test_round_trip("gso keep seed 5 drop_report local",
			"drop_report local gso keep seed 5 ");
	test_round_trip("gso split", "gso split ");
	test_round_trip("drops local", "drop_report local ");
	test_round_trip("policy seldrop z 2 mark",
			"policy seldrop share_factor 2 policy_ecn ");
	test_round_trip("nomark policy random_tail last 5",
			"policy random_tail victims 5 nopolicy_ecn ");
	test_round_trip("loss 1% ecn", "loss 1% loss_ecn ");
	test_round_trip("loss 1% noecn", "loss 1% noloss_ecn ");
	test_round_trip("drop packets 3 drop_list packets 5",
			"drop_list packets 3,5 ");
	test_round_trip("drop off", "drop_list off ");
	test_round_trip("jitter 5ms reordering", "jitter 5ms overtaking ");
	test_round_trip("jitter 5ms noreordering", "jitter 5ms ");
	test_round_trip("hold trace 10s:2mbit,5s:0",
			"trace 10s:2Mbit,5s:0bit hold ");
	test_round_trip("rate 800kbit sessions arrival 0.2 mean 20 max 63 "
			"step 50ms delay 1ms",
			"rate 800Kbit delay 1ms sessions arrival 0.2 mean 20 "
			"max 63 step 50ms ");
	test_round_trip("feedback", "feedback idle 2s ");
	test_round_trip("feedback idle 1ms rate 1mbit",
			"rate 1Mbit feedback idle 1ms ");
	test_round_trip("feedback idle 1234567ns loss 0%",
			"loss 0% feedback idle 1234567ns ");
	test_round_trip(
		"limit 1000 cells overhead atm policy seldrop "
		"threshold 90% share_factor 0.8 flows 15 input_rate 155520kbit",
		"limit 1000 cells policy seldrop threshold 90% share_factor 0.8 "
		"flows 15 input_rate 155520Kbit overhead atm ");
	test_round_trip(
		"policy fba threshold 900 cells share_factor 2 limit 1000 cells",
		"limit 1000 cells policy fba threshold 900 cells share_factor 2 ");
	test_round_trip("limit 30kb policy epd threshold 27kb",
			"limit 30Kb policy epd threshold 27Kb ");
	test_round_trip("limit 20 policy epd threshold 18",
			"limit 20p policy epd threshold 18p ");
	test_round_trip("policy epd threshold 33.3333%",
			"policy epd threshold 33.3333% ");
	test_round_trip("policy random_tail victims 5",
			"policy random_tail victims 5 ");
	test_round_trip("share_factor 0.000001", "share_factor 0.000001 ");
	test_round_trip("policy_ecn policy seldrop",
			"policy seldrop policy_ecn ");
	test_round_trip("nopolicy_ecn", "nopolicy_ecn ");
	test_round_trip("rem phi 1.001 gamma 0.000001 delay 1ms policy_ecn "
			"policy rem",
			"delay 1ms policy rem policy_ecn rem gamma 0.000001 "
			"phi 1.001 ");
	test_round_trip("rem interval 1ms alpha 0 target 0b",
			"rem interval 1ms alpha 0 target 0b ");
	test_errors();
	test_unknown_words();
	test_tail();
	test_cells_stats();
	test_broken_attributes();
	test_sessions_off();
	test_nofeedback();
	test_feedback_stats();
	test_json();
	return tap_done();
}
