// SPDX-License-Identifier: GPL-2.0
/*
 * command.c - arguments with units, JSON output, time: see
 * command.h
 */
#include "command.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/json.h"
#include "lib/units.h"

uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

bool parse_time_ns(const char *text, uint64_t *ns)
{
	size_t len = strlen(text);
	char seconds[64];

	if (len && len < sizeof(seconds) - 1 &&
	    (isdigit((unsigned char)text[len - 1]) || text[len - 1] == '.')) {
		snprintf(seconds, sizeof(seconds), "%ss", text);
		text = seconds;
	}
	return !units_parse_time(text, ns);
}

bool parse_bytes(const char *text, uint64_t *bytes)
{
	return !units_parse_size(text, bytes) && *bytes <= BYTES_MAX;
}

bool parse_batch(const char *text, unsigned int *bytes)
{
	uint64_t value;

	if (!parse_bytes(text, &value) || value < BATCH_MIN ||
	    value > BATCH_MAX)
		return false;
	*bytes = (unsigned int)value;
	return true;
}

bool parse_count(const char *text, unsigned int min, unsigned int max,
		 unsigned int *count)
{
	uint64_t value;

	if (!parse_u64(text, &value) || value < min || value > max)
		return false;
	*count = (unsigned int)value;
	return true;
}

bool parse_u64(const char *text, uint64_t *value)
{
	return !units_parse_count(text, UINT64_MAX, value);
}

bool parse_port(const char *text, uint16_t *port)
{
	unsigned int value;

	if (!parse_count(text, 0, UINT16_MAX, &value))
		return false;
	*port = (uint16_t)value;
	return true;
}

/* The subcommand that runs: whose options option_next() was asked for. */
static const char *running = "";

int option_bad(const char *option, const char *value, const char *expected)
{
	if (value)
		fprintf(stderr, "wale %s: %s '%s': expected %s\n", running,
			option, value, expected);
	else
		fprintf(stderr, "wale %s: %s: expected %s\n", running, option,
			expected);
	return WALE_EXIT_USAGE;
}

/* What getopt_long() does not take: @c is ':' or '?', @shorts as it has them. */
static void option_wrong(int c, const char *word, const char *shorts)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	bool lone = optopt && optopt <= UCHAR_MAX &&
		    (optopt == ':' || !strchr(shorts, optopt));
	const char *why = "no such option";

	if (lone || strncmp(word, "--", 2))
		word = letter;
	if (c == ':')
		why = "expected a value behind it";
	else if (optopt && !lone)
		why = "takes no value";
	fprintf(stderr, "wale %s: %s: %s; see 'wale %s --help'\n", running,
		word, why, running);
}

int option_next(const char *command, int argc, char **argv, const char *shorts,
		const struct option *longs)
{
	int c;

	running = command;
	opterr = 0;
	c = getopt_long(argc, argv, shorts, longs, NULL);
	if (c == '?' || c == ':') {
		option_wrong(c, argv[optind - 1], shorts);
		return '?';
	}
	return c;
}

int command_failed(const char *what, const char *why)
{
	fprintf(stderr, "wale %s: %s: %s\n", running, what, why);
	return WALE_EXIT_FAILED;
}

void print_some(uint64_t count, const char *what)
{
	if (count)
		printf(", %llu %s", (unsigned long long)count, what);
}

const char *human_bytes(double bytes, char buf[HUMAN_MAX])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t i = 0;

	while (bytes >= 999.5 && i + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1000;
		i++;
	}
	snprintf(buf, HUMAN_MAX, "%.*f %s",
		 !i || bytes >= 100 ? 0
		 : bytes >= 10	    ? 1
				    : 2,
		 bytes, units[i]);
	return buf;
}

const char *human_rate(double bytes_per_s, char buf[HUMAN_MAX])
{
	snprintf(buf, HUMAN_MAX, "%.3f Mbit/s", bytes_per_s * 8 / 1e6);
	return buf;
}

void address_text(const struct sockaddr_storage *address,
		  char text[ADDRESS_MAX])
{
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_in *in = (const void *)address;
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->ss_family == AF_INET) {
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(text, ADDRESS_MAX, "%s:%u", host, ntohs(in->sin_port));
	} else if (address->ss_family == AF_INET6 &&
		   IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], host,
			  sizeof(host));
		snprintf(text, ADDRESS_MAX, "%s:%u", host,
			 ntohs(in6->sin6_port));
	} else if (address->ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(text, ADDRESS_MAX, "[%s]:%u", host,
			 ntohs(in6->sin6_port));
	} else {
		snprintf(text, ADDRESS_MAX, "?");
	}
}

int timer_create_fd(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(ns % NSEC_PER_SEC) };
}

int timer_set_fd(int fd, uint64_t first_ns, uint64_t interval_ns)
{
	struct itimerspec spec = { .it_value = to_timespec(first_ns),
				   .it_interval = to_timespec(interval_ns) };

	return timerfd_settime(fd, 0, &spec, NULL);
}

int timer_set_fd_at(int fd, uint64_t at_ns)
{
	struct itimerspec spec = { .it_value = to_timespec(at_ns) };

	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void end_signals(sigset_t *set)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &now) &&
		    now.sa_handler != SIG_IGN)
			sigaddset(set, numbers[i]);
}

int signals_open(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	end_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

size_t stdout_room(const struct timespec *wait, const sigset_t *signals)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	struct stat file;

	if (!fstat(STDOUT_FILENO, &file) && S_ISREG(file.st_mode))
		return SIZE_MAX;
	return ppoll(&out, 1, wait, signals) > 0 ? PIPE_BUF : 0;
}

size_t stdout_wait(void)
{
	sigset_t none;

	sigemptyset(&none);
	return stdout_room(NULL, &none);
}

bool stderr_shows_progress(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && (!term || strcmp(term, "dumb"));
}

void json_begin(struct json_line *json, FILE *out)
{
	*json = (struct json_line){ .out = out };
	fputc('{', out);
}

static void json_key(struct json_line *json, const char *key)
{
	if (json->some)
		fputs(", ", json->out);
	json->some = true;
	json_write_string(json->out, key);
	fputs(": ", json->out);
}

void json_text(struct json_line *json, const char *key, const char *value)
{
	json_key(json, key);
	json_write_string(json->out, value);
}

void json_u64(struct json_line *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_write_u64(json->out, value);
}

void json_bool(struct json_line *json, const char *key, bool value)
{
	json_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json_line *json, const char *key)
{
	json_key(json, key);
	fputs("null", json->out);
}

void json_seconds(struct json_line *json, const char *key, uint64_t ns)
{
	json_key(json, key);
	fprintf(json->out, "%llu.%09llu",
		(unsigned long long)(ns / NSEC_PER_SEC),
		(unsigned long long)(ns % NSEC_PER_SEC));
}

void json_real(struct json_line *json, const char *key, double value)
{
	json_key(json, key);
	fprintf(json->out, "%.3f", value);
}

void json_end(struct json_line *json)
{
	fputs("}\n", json->out);
	fflush(json->out);
}
