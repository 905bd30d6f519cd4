// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_send.c - wale send: packets of UDP at a constant rate, whatever happens
 *
 * Packet n is due at its own time of CLOCK_MONOTONIC, computed from the start,
 * so that no error adds up.  One that is late is sent at once, and counted.
 */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "datagram.h"
#include "lib/command.h"
#include "lib/units.h"
#include "transfer.h"

#define SIZE_MAX_BYTES 65535

struct sender {
	const char *host;
	uint16_t port;
	int family;
	uint64_t size; /* of IP */
	uint64_t bytes_per_s; /* 0: not given */
	uint64_t frequency; /* packets/s in 2^-32; 0: not given */
	uint64_t packets; /* 0: until the duration is over */
	uint64_t duration_ns; /* 0: without end */
	uint64_t at_ns; /* 0: now */
	bool json;

	struct datagram_schedule schedule;
	uint64_t start_ns;
	uint64_t real_ns; /* CLOCK_REALTIME at 0 of CLOCK_MONOTONIC */
	int fd;
	size_t payload;
	uint8_t buffer[SIZE_MAX_BYTES];

	/* What became of them. */
	uint64_t sent;
	uint64_t refused; /* the other end said that nobody listens */
	uint64_t unsent; /* the kernel would not have them */
	uint64_t max_late_ns;
};

static void usage(FILE *to)
{
	fputs("Usage: wale send [OPTION]... HOST\n"
	      "Send UDP packets to 'wale receive' at a constant rate, whatever happens to them.\n"
	      "\n"
	      "  -r, --rate RATE         rate of IP packets, headers included, such as 1mbit\n"
	      "  -f, --packets-per-second N  instead of a rate; N may have a fraction\n"
	      "  -s, --size SIZE         size of an IP packet, headers included (default 1500)\n"
	      "  -n, --packets N         end after N packets\n"
	      "  -d, --duration T        end after T, in seconds or such as 500ms\n"
	      "      --at T              begin the schedule at T of CLOCK_MONOTONIC; the first\n"
	      "                          packet is due one interval later (default: now)\n"
	      "  -p, --port N            UDP port of the receiver (default 7771)\n"
	      "  -4, -6                  only IPv4, only IPv6\n"
	      "  -j, --json              JSON instead of text\n"
	      "  -h, --help              this text\n"
	      "\n"
	      "SIGINT and SIGTERM end it, with a summary.\n"
	      "Exit status: 0 all packets were sent, 1 not all, 2 wrong usage.\n"
	      "\n"
	      "Examples:\n"
	      "  wale send --rate 1mbit --size 576 --duration 60s 192.0.2.1\n"
	      "  wale send --packets-per-second 50 --size 200 --packets 1000 --json server\n",
	      to);
}

static int parse_rate(struct sender *s)
{
	char wrong[UNITS_WRONG_MAX];
	int err = units_parse_rate(optarg, &s->bytes_per_s);

	if (!err && (!s->bytes_per_s || s->bytes_per_s > INT64_MAX))
		err = -EINVAL;
	if (err)
		fprintf(stderr, "wale send: --rate '%s': %s\n", optarg,
			units_rate_wrong(wrong, err, s->bytes_per_s,
					 "a rate such as 1mbit"));
	return err ? WALE_EXIT_USAGE : 0;
}

static int parse_how_fast(struct sender *s, int c)
{
	switch (c) {
	case 'r':
		return parse_rate(s);
	case 'f':
		if (units_parse_fixed32(optarg, &s->frequency) ||
		    !s->frequency || s->frequency > INT64_MAX)
			return option_bad("--packets-per-second", optarg,
					  "a number such as 50 or 0.5");
		break;
	case 's':
		if (!parse_bytes(optarg, &s->size) || s->size > SIZE_MAX_BYTES)
			return option_bad("--size", optarg,
					  "a size of at most 65535 bytes");
		break;
	}
	return 0;
}

/* 0, an exit status, or -1 after --help. */
static int parse_option(struct sender *s, int c)
{
	switch (c) {
	case 'r':
	case 'f':
	case 's':
		return parse_how_fast(s, c);
	case 'n':
		if (units_parse_count(optarg, INT64_MAX, &s->packets) ||
		    !s->packets)
			return option_bad("--packets", optarg,
					  "a number from 1 on");
		return 0;
	case 'd':
		if (!parse_time_ns(optarg, &s->duration_ns) || !s->duration_ns)
			return option_bad("--duration", optarg,
					  "a time such as 60s or 500ms");
		return 0;
	case 'a':
		if (!parse_time_ns(optarg, &s->at_ns) || !s->at_ns)
			return option_bad("--at", optarg, "a time such as 60s");
		return 0;
	case 'p':
		if (!parse_port(optarg, &s->port) || !s->port)
			return option_bad("--port", optarg,
					  "a number from 1 to 65535");
		return 0;
	case '4':
	case '6':
		s->family = c == '4' ? AF_INET : AF_INET6;
		return 0;
	case 'j':
		s->json = true;
		return 0;
	case 'h':
		usage(stdout);
		return -1;
	default:
		return WALE_EXIT_USAGE; /* option_next() has said why */
	}
}

static int check(struct sender *s, int argc, char **argv)
{
	if (argc - optind != 1) {
		fputs("wale send: expected one HOST; see 'wale send --help'\n",
		      stderr);
		return WALE_EXIT_USAGE;
	}
	if (!s->bytes_per_s == !s->frequency) {
		fputs("wale send: expected either --rate or --packets-per-second\n",
		      stderr);
		return WALE_EXIT_USAGE;
	}
	s->host = argv[optind];
	return 0;
}

static int parse(struct sender *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "rate", required_argument, NULL, 'r' },
		{ "packets-per-second", required_argument, NULL, 'f' },
		{ "size", required_argument, NULL, 's' },
		{ "packets", required_argument, NULL, 'n' },
		{ "duration", required_argument, NULL, 'd' },
		{ "at", required_argument, NULL, 'a' },
		{ "port", required_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int c, status;

	optind = 0;
	while ((c = option_next("send", argc, argv, ":r:f:s:n:d:p:46jh",
				options)) >= 0) {
		status = parse_option(s, c);
		if (status)
			return status;
	}
	return check(s, argc, argv);
}

/* Whole packets, as they are: none is cut into fragments. */
static int forbid_fragments(int fd, int family)
{
	int how = IP_PMTUDISC_DO;

	if (family == AF_INET)
		return setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &how,
				  sizeof(how));
	how = IPV6_PMTUDISC_DO;
	return setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &how,
			  sizeof(how));
}

static int open_address(struct sender *s, const struct addrinfo *to)
{
	size_t headers = to->ai_family == AF_INET ? DATAGRAM_IPV4_BYTES
						  : DATAGRAM_IPV6_BYTES;

	if (s->size < headers + DATAGRAM_HEADER_BYTES) {
		fprintf(stderr,
			"wale send: --size %llu: expected at least %zu bytes\n",
			(unsigned long long)s->size,
			headers + DATAGRAM_HEADER_BYTES);
		return WALE_EXIT_USAGE;
	}
	s->payload = s->size - headers;
	s->fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || forbid_fragments(s->fd, to->ai_family) ||
	    connect(s->fd, to->ai_addr, to->ai_addrlen))
		return command_failed(s->host, strerror(errno));
	return 0;
}

static int open_socket(struct sender *s)
{
	const struct addrinfo hints = { .ai_family = s->family,
					.ai_socktype = SOCK_DGRAM };
	struct addrinfo *to;
	char port[8];
	int err, status;

	snprintf(port, sizeof(port), "%u", s->port);
	err = getaddrinfo(s->host, port, &hints, &to);
	if (err)
		return command_failed(s->host, gai_strerror(err));
	status = open_address(s, to);
	freeaddrinfo(to);
	return status;
}

static void start_clock(struct sender *s)
{
	struct timespec real;
	uint64_t now = clock_ns();

	clock_gettime(CLOCK_REALTIME, &real);
	s->real_ns = (uint64_t)real.tv_sec * NSEC_PER_SEC +
		     (uint64_t)real.tv_nsec - now;
	s->start_ns = s->at_ns ? s->at_ns : now;
}

/* When packet @number is due; never, if that is too far away. */
static uint64_t due_ns(const struct sender *s, uint64_t number)
{
	uint64_t at;

	if (__builtin_add_overflow(s->start_ns,
				   datagram_due_ns(&s->schedule, number), &at))
		return UINT64_MAX;
	return at;
}

static volatile sig_atomic_t ended;

static void note_end(int signal_number)
{
	ended = 1;
}

/* Times to the ns: an ordinary task has 50 us of slack. */
static int prepare_sleep(void)
{
	const struct sigaction end = { .sa_handler = note_end };
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	end_signals(&set);
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&set, number) == 1 &&
		    sigaction(number, &end, NULL))
			return -1;
	return prctl(PR_SET_TIMERSLACK, 1UL);
}

static struct timespec to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(ns % NSEC_PER_SEC) };
}

/*
 * Sleep from @from_ns, or what is the time, until @at_ns; true if a signal ended
 * that.  One that comes just before a sleep does not end it: none is longer than
 * a second.
 */
static bool sleep_until(uint64_t from_ns, uint64_t at_ns)
{
	struct timespec until;

	while (!ended) {
		if (at_ns - from_ns > NSEC_PER_SEC)
			from_ns += NSEC_PER_SEC;
		else
			from_ns = at_ns;
		until = to_timespec(from_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		if (from_ns == at_ns)
			break;
	}
	return ended;
}

/* False if no packet of this size will ever leave. */
static bool send_one(struct sender *s, uint64_t number, uint64_t at_ns)
{
	const struct datagram datagram = { .number = number,
					   .due_ns = s->real_ns + at_ns };
	ssize_t n;

	datagram_write(s->buffer, &datagram);
	n = send(s->fd, s->buffer, s->payload, MSG_DONTWAIT);
	if (n < 0 && errno == ECONNREFUSED) {
		/* That was of an earlier one. */
		s->refused++;
		n = send(s->fd, s->buffer, s->payload, MSG_DONTWAIT);
	}
	if (n < 0 && errno == EMSGSIZE)
		return false;
	if (n < 0)
		s->unsent++;
	else
		s->sent++;
	return true;
}

/* How much later than it was due a packet left, at most. */
static void note_late(struct sender *s, uint64_t at_ns)
{
	uint64_t now = clock_ns();

	if (now > at_ns && now - at_ns > s->max_late_ns)
		s->max_late_ns = now - at_ns;
}

static uint64_t packets_to_send(const struct sender *s)
{
	uint64_t count = s->packets ? s->packets : UINT64_MAX, within;

	if (s->duration_ns) {
		within = datagram_count_until(&s->schedule, s->duration_ns);
		count = within < count ? within : count;
	}
	return count;
}

static int send_all(struct sender *s)
{
	uint64_t count = packets_to_send(s), before = clock_ns(), number, at;

	if (before > s->start_ns)
		before = s->start_ns;

	for (number = 0; number < count; number++) {
		at = due_ns(s, number);
		if (sleep_until(before, at))
			return 0;
		if (!send_one(s, number, at))
			return command_failed("--size",
					      "no packet of this size fits "
					      "into the way to the receiver");
		note_late(s, at);
		before = at;
	}
	/* All of the duration, though nothing more is due. */
	if (s->duration_ns && !s->packets)
		sleep_until(before, s->start_ns + s->duration_ns);
	return 0;
}

static void report_text(const struct sender *s, uint64_t ns)
{
	printf("%llu packets of %llu bytes in %.3f s, at most %.3f ms late",
	       (unsigned long long)s->sent, (unsigned long long)s->size,
	       (double)ns / 1e9, (double)s->max_late_ns / 1e6);
	print_some(s->refused, "refused");
	print_some(s->unsent, "not sent");
	putchar('\n');
}

static void report_json(const struct sender *s, uint64_t ns)
{
	struct json_line json;

	json_begin(&json, stdout);
	json_u64(&json, "packets", s->sent);
	json_u64(&json, "packet_bytes", s->size);
	json_seconds(&json, "seconds", ns);
	json_u64(&json, "start_ns", s->start_ns);
	json_u64(&json, "refused_packets", s->refused);
	json_u64(&json, "unsent_packets", s->unsent);
	json_u64(&json, "max_late_ns", s->max_late_ns);
	json_end(&json);
}

static void report(const struct sender *s, uint64_t end_ns)
{
	uint64_t ns = end_ns > s->start_ns ? end_ns - s->start_ns : 0;

	if (s->json)
		report_json(s, ns);
	else
		report_text(s, ns);
}

static int run(struct sender *s)
{
	int status;

	if (s->frequency)
		datagram_schedule_frequency(&s->schedule, s->frequency);
	else
		datagram_schedule_rate(&s->schedule, s->size, s->bytes_per_s);
	status = open_socket(s);
	if (status)
		return status;
	if (prepare_sleep())
		return command_failed("cannot start", strerror(errno));

	start_clock(s);
	status = send_all(s);
	report(s, clock_ns());
	return status ? status : s->unsent ? WALE_EXIT_FAILED : WALE_EXIT_OK;
}

int cmd_send(int argc, char **argv)
{
	struct sender *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return command_failed("cannot start", strerror(ENOMEM));
	s->port = DATAGRAM_PORT;
	s->family = AF_UNSPEC;
	s->size = 1500;
	s->fd = -1;
	status = parse(s, argc, argv);
	if (!status)
		status = run(s);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
	return status < 0 ? WALE_EXIT_OK : status;
}
