/* SPDX-License-Identifier: GPL-2.0 */
/*
 * command.h - what the subcommands of wale share: exit status, arguments with
 * units, what is said of failures, JSON output, time
 */
#ifndef WALE_COMMAND_H
#define WALE_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

struct option;

/* What a subcommand returns is the exit status of wale. */
enum wale_exit {
	WALE_EXIT_OK = 0,
	WALE_EXIT_FAILED = 1, /* understood, but could not be done */
	WALE_EXIT_USAGE = 2, /* the command line is wrong */
};

#define NSEC_PER_SEC UINT64_C(1000000000)

/* CLOCK_MONOTONIC, in ns.  In a kernel in virtual time each call costs. */
uint64_t clock_ns(void);

/* A time as tc users type it ("250ms"), but without a unit in seconds. */
bool parse_time_ns(const char *text, uint64_t *ns);

#define BYTES_MAX (UINT64_C(1) << 62) /* more than any file has */

/* A size as tc users type it: "1500", "64kb", "10mb" (kb is 1024). */
bool parse_bytes(const char *text, uint64_t *bytes);

/* So much data is given to TCP, or taken from it, at a time; also in wale_lab/fields.py. */
#define BATCH_MIN (4 << 10)
#define BATCH_MAX (4 << 20)
#define BATCH_EXPECTED "a size from 4kb to 4mb"
bool parse_batch(const char *text, unsigned int *bytes);

/* Decimal digits only, no sign, no overflow. */
bool parse_u64(const char *text, uint64_t *value);

bool parse_port(const char *text, uint16_t *port);

/* A count from @min to @max. */
bool parse_count(const char *text, unsigned int min, unsigned int max,
		 unsigned int *count);

/*
 * getopt_long(), with @shorts that begin with a colon; of what it does not take, one
 * sentence is said, and it returns '?'.
 */
int option_next(const char *command, int argc, char **argv, const char *shorts,
		const struct option *longs);

/*
 * Both speak for the subcommand whose options were asked for last.  What an option should
 * have been; @value is NULL if it is none by itself that is wrong; WALE_EXIT_USAGE.
 */
int option_bad(const char *option, const char *value, const char *expected);

/* What could not be done, and why; WALE_EXIT_FAILED. */
int command_failed(const char *what, const char *why);

/* Of a summary: ", 3 refused" if there were any. */
void print_some(uint64_t count, const char *what);

/* "1.23 MB", powers of 1000; returns @buf. */
#define HUMAN_MAX 32
const char *human_bytes(double bytes, char buf[HUMAN_MAX]);

/* "2.648 Mbit/s", the unit of a link's rate; returns @buf. */
const char *human_rate(double bytes_per_s, char buf[HUMAN_MAX]);

/* "192.0.2.1:7770", "[2001:db8::1]:7770"; v4-mapped addresses as IPv4. */
#define ADDRESS_MAX 80
void address_text(const struct sockaddr_storage *address,
		  char text[ADDRESS_MAX]);

/* A timerfd that fires after @first_ns and then every @interval_ns (0: once),
 * or never for 0.  -1 with errno.
 */
int timer_create_fd(void);
int timer_set_fd(int fd, uint64_t first_ns, uint64_t interval_ns);

/* Have it fire once, when CLOCK_MONOTONIC is @at_ns or later. */
int timer_set_fd_at(int fd, uint64_t at_ns);

/*
 * The signals that end a command: SIGINT, SIGTERM and SIGHUP, but none that whoever
 * started it has it ignore, as nohup(1) does, and a shell for what runs in the
 * background.  To be asked before anything is done about them.
 */
void end_signals(sigset_t *set);

/* These as a file descriptor, for poll(2); SIGPIPE ignored. */
int signals_open(void);

/*
 * How many bytes standard output takes without waiting, once it takes any; 0 if that is
 * not within @wait (NULL: however long), with @signals blocked (NULL: those that are).
 */
size_t stdout_room(const struct timespec *wait, const sigset_t *signals);

/*
 * Wait until standard output takes something.  Should one of these signals come while it
 * does not, the process ends at once, as nobody reads what it would have to say.  Returns
 * as stdout_room().
 */
size_t stdout_wait(void);

/* Standard error is a terminal that can go back in a line: it may show progress. */
bool stderr_shows_progress(void);

/*
 * One JSON object on one line, written member by member.  Text that is not
 * UTF-8 is written with U+FFFD in its place.
 */
struct json_line {
	FILE *out;
	bool some;
};

void json_begin(struct json_line *json, FILE *out);
void json_text(struct json_line *json, const char *key, const char *value);
void json_u64(struct json_line *json, const char *key, uint64_t value);
void json_bool(struct json_line *json, const char *key, bool value);
void json_null(struct json_line *json, const char *key);
void json_seconds(struct json_line *json, const char *key, uint64_t ns);
void json_real(struct json_line *json, const char *key, double value);
void json_end(struct json_line *json);

#endif
