// SPDX-License-Identifier: GPL-2.0
/*
 * test_rate_path.c - paths of the rate channel: words to attributes and back
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/rate_path.h"
#include "tests/payload.h"
#include "tests/tap.h"
#include "tests/words.h"

/* 0, or -1 with the error; -2 for a word that is no option. */
static int parse(struct rate_path *path, const char *text,
		 struct rate_error *error)
{
	struct words w;
	int i, taken;

	memset(path, 0, sizeof(*path));
	path->follow_netns_fd = -1;
	split(&w, text);
	i = rate_key_parse(&path->key, w.n, w.word, error);
	if (i < 0)
		return i;
	for (; i < w.n; i += taken) {
		taken = rate_path_parse(path, w.n - i, w.word + i, error);
		if (taken < 0)
			return -1;
		if (!taken)
			return -2;
	}
	return 0;
}

/* The path as words again. */
static const char *printed(const struct rate_path *path)
{
	static char buf[512];
	FILE *file = fmemopen(buf, sizeof(buf), "w");

	rate_path_print(file, path);
	fclose(file);
	return buf;
}

/* What is typed, and what it is when it has been to the kernel and back. */
static const struct {
	const char *typed;
	const char *shown; /* NULL: the same */
} good[] = {
	{ "dev lo", NULL },
	{ "dev if4711 10Mbit", NULL },
	{ "dev if1 10mbit", "dev lo 10Mbit" },
	{ "dev lo 10mbit link lag rtt", "dev lo 10Mbit link lag rtt" },
	{ "dev lo 0bit", NULL },
	{ "dev lo unlimited share", NULL },
	{ "dev lo 18446744073709551614bps", NULL },
	{ "dst 10.0.2.0/24 2Mbit lag 200ms age 1s", NULL },
	{ "dst 10.0.2.1 2Mbit", "dst 10.0.2.1/32 2Mbit" },
	{ "dst 0.0.0.0/0 2Mbit", NULL },
	{ "dst ::/0 2Mbit", NULL },
	{ "dst 2001:db8::/33 2Mbit", NULL },
	{ "dst 2001:db8::1", "dst 2001:db8::1/128" },
	{ "flow 10.0.0.1:5000 10.0.0.2:7770 1Mbit", NULL },
	{ "flow [2001:db8::1]:1 [::1]:65535 1Mbit beta 2", NULL },
	{ "dev lo lag now age none beta 0 rise fast nopace base-rtt measured",
	  NULL },
	{ "dev lo beta 1000000 rise additive pace base-rtt 100ms", NULL },
	{ "dev lo beta 1 swing 50% rise fast", NULL },
	{ "dev lo swing 0%", NULL },
	{ "dev lo 100Kbit weight beta 2 phi 1.1 nopace", NULL },
	{ "dev lo phi 1.001", NULL },
	{ "dev lo phi 110%", "dev lo phi 1.1" },
	{ "dev lo swing 0", "dev lo swing 0%" },
	{ "dev lo swing 100", "dev lo swing 100%" },
	{ "dev lo swing 100%", NULL },
	{ "dev lo swing 7.00%", "dev lo swing 7%" },
	{ "dev lo age 86400s lag 86400s base-rtt 60s",
	  "dev lo lag 86400s age 86400s base-rtt 60s" },
	{ "dev lo lag 0", "dev lo lag 0ns" },
	{ "dev lo 8bit layer atm", NULL },
	{ "dev lo 8bit layer payload", NULL },
	{ "dev lo follow dev if7", NULL },
};

static void test_good(void)
{
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const char *expected = good[i].shown ?: good[i].typed;
		struct payload payload = { .length = 0 };
		struct rate_error error = { "" };
		struct rate_path path, back;
		bool parsed;

		parsed = !parse(&path, good[i].typed, &error) &&
			 !rate_path_encode(&path, payload_put, &payload);
		rate_path_decode(&back, payload.data, payload.length);
		ok(parsed && !strcmp(printed(&back), expected) &&
			   !memcmp(&back.key, &path.key, sizeof(path.key)) &&
			   back.set == path.set,
		   "%s: %s%s", good[i].typed, parsed ? printed(&back) : "",
		   error.text);
	}
}

static const struct {
	const char *typed;
	const char *says;
} bad[] = {
	{ "dev", "expected a device" },
	{ "dev nosuchdevice", "no device \"nosuchdevice\"" },
	{ "dev if", "no device" },
	{ "dev if0", "no device" },
	{ "dev if2147483648", "no device" },
	{ "dst", "expected a prefix" },
	{ "dst 10.0.2", "not a prefix" },
	{ "dst 10.0.2.0/33", "not a prefix" },
	{ "dst 10.0.2.0/", "not a prefix" },
	{ "dst 2001:db8::/129", "not a prefix" },
	{ "dst 10.0.2.1/24", "bits behind its first 24" },
	{ "dst 10.0.2.128/24", "bits behind" },
	{ "dst 2001:db8::8000:0:0:0/64", "bits behind" },
	{ "dst 1234567890123456789012345678901234567890123456789", "not a" },
	{ "flow 10.0.0.1:5000", "the two ends" },
	{ "flow 10.0.0.1 10.0.0.2:1", "\"10.0.0.1\" is no end" },
	{ "flow 10.0.0.1:1 10.0.0.2:0", "\"10.0.0.2:0\" is no end" },
	{ "flow 10.0.0.1:1 10.0.0.2:65536", "no end" },
	{ "flow ::1:1 ::1:2", "no end" },
	{ "flow [10.0.0.1]:1 10.0.0.2:1", "no end" },
	{ "flow [::1:1 [::1]:2", "no end" },
	{ "flow []:1 [::1]:2", "no end" },
	{ "flow [::1]:1 10.0.0.2:2", "two families" },
	{ "dev lo 10foo", "\"10foo\": expected a rate" },
	{ "dev lo 300bit", "the nearest are 296bit and 304bit" },
	{ "dev lo 1mbit 2mbit", "\"2mbit\" sets for the second time" },
	{ "dev lo share link", "second time" },
	{ "dev lo pace nopace", "second time" },
	{ "dev lo beta 1 beta 2", "second time" },
	{ "dev lo beta", "beta: expected a value" },
	{ "dev lo beta -1", "packets, 0 to 1000000" },
	{ "dev lo beta 1000001", "packets, 0 to 1000000" },
	{ "dev lo age 0", "expected none or a time" },
	{ "dev lo age 86400000000001", "expected none or a time" },
	{ "dev lo lag soon", "expected now, rtt, or a time" },
	{ "dev lo swing", "swing: expected a value" },
	{ "dev lo swing 101", "\"101\": expected whole percents, 0% to 100%" },
	{ "dev lo swing 101%", "whole percents, 0% to 100%" },
	{ "dev lo swing 4294967346%", "whole percents" },
	{ "dev lo swing 100.001%", "whole percents" },
	{ "dev lo swing 12.5%", "whole percents" },
	{ "dev lo swing 99.99%", "whole percents" },
	{ "dev lo swing -1%", "whole percents" },
	{ "dev lo swing %", "whole percents" },
	{ "dev lo swing 50%%", "whole percents" },
	{ "dev lo swing half", "whole percents" },
	{ "dev lo swing 1% swing 1%", "second time" },
	{ "dev lo phi 1.000999", "phi: \"1.000999\": expected a number from" },
	{ "dev lo phi 1000.000001", "from 1.001 to 1000" },
	{ "dev lo phi 1.1p", "from 1.001 to 1000" },
	{ "dev lo phi -2", "from 1.001 to 1000" },
	{ "dev lo phi 18446744073710", "from 1.001 to 1000" },
	{ "dev lo phi 2 phi 2", "second time" },
	{ "dev lo 1mbit weight link", "second time" },
	{ "dev lo rise slow", "expected fast or additive" },
	{ "dev lo base-rtt 0", "expected measured" },
	{ "dev lo base-rtt 60.1s", "expected measured" },
	{ "dev lo layer raw", "expected ip, ethernet, atm or payload" },
	{ "dev lo time x", "CLOCK_MONOTONIC" },
	{ "dev lo follow", "follow: expected dev DEV" },
	{ "dev lo follow lo", "follow: expected dev DEV" },
	{ "dev lo follow dev lo netns", "follow: expected dev DEV" },
	{ "dev lo follow dev nosuch", "no device \"nosuch\"" },
	{ "dev lo follow dev lo netns no-such-namespace", "cannot open" },
	{ "dev lo follow dev lo netns 4000000000", "cannot open" },
	{ "dev lo frob", NULL },
	{ "frob lo", NULL },
};

/* Each whole percent arrives as it is. */
static void test_percents(void)
{
	unsigned int percent, wrong = 0;
	struct rate_error error;
	struct rate_path path;
	char text[32];

	for (percent = 0; percent <= 100; percent++) {
		snprintf(text, sizeof(text), "dev lo swing %u%%", percent);
		wrong += parse(&path, text, &error) || path.swing != percent;
	}
	ok(!wrong, "percents that are others: %u", wrong);
}

static void test_bad(void)
{
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rate_error error = { "" };
		struct rate_path path;
		int err = parse(&path, bad[i].typed, &error);

		ok(bad[i].says ? err == -1 && strstr(error.text, bad[i].says)
			       : err == -2,
		   "refused: %s: %s", bad[i].typed, error.text);
	}
}

/* Attributes that are cut off, unknown or too short are passed over. */
static void test_odd_attributes(void)
{
	uint32_t flows = 3, unknown[4] = { 1, 2, 3, 4 };
	struct payload payload = { .length = 0 };
	struct rate_path path;
	unsigned char byte = 1;
	size_t length;

	payload_put(&payload, RATE_FEEDBACK_A_PATH_FLOWS, &flows,
		    sizeof(flows));
	payload_put(&payload, 4711, unknown, sizeof(unknown));
	payload_put(&payload, 0, unknown, sizeof(unknown));
	payload_put(&payload, RATE_FEEDBACK_A_PATH_RATE, &flows, sizeof(flows));
	payload_put(&payload, RATE_FEEDBACK_A_PATH_DADDR, unknown, 7);
	payload_put(&payload, RATE_FEEDBACK_A_PATH_SPORT, &byte, 1);
	payload_put(&payload, RATE_FEEDBACK_A_PATH_FOLLOW | NLA_F_NESTED,
		    unknown, 3);
	rate_path_decode(&path, payload.data, payload.length);
	ok(path.flows == 3 && path.set == RATE_PATH_FOLLOW &&
		   path.key.kind == RATE_KEY_NONE,
	   "attributes that are odd");
	for (length = 0; length < payload.length; length++)
		rate_path_decode(&path, payload.data, length);
	ok(true, "attributes that are cut off");
}

static void test_flow(void)
{
	static const char name[32] = "a-name-that-is-far-too-long";
	const struct in_addr saddr = { htonl(0x0a000001) };
	const struct in_addr daddr = { htonl(0x0a000002) };
	uint16_t sport = htons(5000), dport = htons(7770);
	uint32_t path = 0, cwnd = 12, phase = 2;
	struct payload p = { .length = 0 };
	uint64_t acked = 1ULL << 40;
	struct rate_flow flow;
	char buf[RATE_KEY_MAX];

	payload_put(&p, RATE_FEEDBACK_A_FLOW_SADDR, &saddr, sizeof(saddr));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_DADDR, &daddr, sizeof(daddr));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_SPORT, &sport, sizeof(sport));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_DPORT, &dport, sizeof(dport));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_CWND, &cwnd, sizeof(cwnd));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_PHASE, &phase, sizeof(phase));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_BYTES_ACKED, &acked,
		    sizeof(acked));
	payload_put(&p, RATE_FEEDBACK_A_FLOW_CONGESTION, name, sizeof(name));
	rate_flow_decode(&flow, p.data, p.length);
	ok(!strcmp(rate_key_format(buf, &flow.key),
		   "flow 10.0.0.1:5000 10.0.0.2:7770"),
	   "a flow: %s", buf);
	ok(flow.cwnd == 12 && flow.bytes_acked == acked &&
		   !strcmp(rate_phase_name(flow.phase), "avoidance"),
	   "and what it does");
	ok(strlen(flow.congestion) == 15, "a name is cut");
	ok(!flow.has_path, "no path");
	payload_put(&p, RATE_FEEDBACK_A_FLOW_PATH, &path, sizeof(path));
	rate_flow_decode(&flow, p.data, p.length);
	ok(flow.has_path && !flow.path, "a path whose number is 0");
	rate_flow_decode(&flow, NULL, 0);
	ok(!strcmp(rate_key_format(buf, &flow.key), "flow ?:0 ?:0"),
	   "a flow without addresses: %s", buf);
}

static void test_json(void)
{
	static const char expected[] =
		"{\"id\": 7, \"dst\": \"10.0.2.0/24\", \"rate\": \"unlimited\", "
		"\"lag\": \"fixed\", \"lag_time_ns\": 5000, "
		"\"swing_percent\": 50, \"pace\": true, "
		"\"flows\": 0, \"listeners\": 0, \"publisher\": false, "
		"\"age_ns\": 0, \"updates\": 0}";
	char buf[1024] = "";
	struct json_file file = { .file = fmemopen(buf, sizeof(buf), "w") };
	struct json j = { &json_file_ops, &file };
	struct rate_error error;
	struct rate_path path;

	parse(&path, "dst 10.0.2.0/24 unlimited lag 5us swing 50% pace",
	      &error);
	path.id = 7;
	json_open(&j, NULL, '{');
	rate_path_json(&j, &path);
	json_close(&j, '}');
	fclose(file.file);
	ok(!strcmp(buf, expected), "JSON: %s", buf);
}

static void test_json_strings(void)
{
	static const char text[] =
		"a\"\\\n\x7f\xc2\x9b\xc3\xa9\xff\xed\xa0\x80";
	static const char expected[] =
		"\"a\\\"\\\\\\u000a\\u007f\\u009b\xc3\xa9\\ufffd\\ufffd\\ufffd\\ufffd\"";
	char buf[128] = "";
	FILE *file = fmemopen(buf, sizeof(buf), "w");

	json_write_string(file, text);
	fclose(file);
	ok(!strcmp(buf, expected), "bytes that are no text: %s", buf);
}

/* The namespace of a process of another user. */
static void test_no_permission(void)
{
	struct rate_error error = { "" };
	struct rate_path path;
	char text[64];
	int status = 1;
	pid_t child;

	if (geteuid()) {
		ok(true, "no permission # SKIP only root becomes another user");
		return;
	}
	snprintf(text, sizeof(text), "dev lo follow dev lo netns %d", getpid());
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(setuid(65534) || !parse(&path, text, &error) ||
		      !strstr(error.text, "no permission"));
	ok(child > 0 && waitpid(child, &status, 0) == child && !status,
	   "no permission for a namespace is told");
}

int main(void)
{
	test_good();
	test_bad();
	test_no_permission();
	test_percents();
	test_odd_attributes();
	test_flow();
	test_json();
	test_json_strings();
	return tap_done();
}
