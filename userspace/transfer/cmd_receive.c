// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_receive.c - wale receive: counts the packets of wale send
 *
 * Times of arrival are the kernel's, from when a packet came in.
 */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "datagram.h"
#include "lib/command.h"
#include "lib/units.h"
#include "transfer.h"

#define RECEIVE_BUFFER (32 * 1024 * 1024)
#define BATCH 32
#define CONTROL_BYTES \
	(CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(uint32_t)))
#define GATHER_MAX_MS 100

struct receiver {
	const char *listen;
	uint16_t port;
	uint64_t packets; /* 0: without end */
	uint64_t idle_ns; /* 0: for ever */
	const char *csv_path;
	bool json;

	FILE *csv;
	int fd, timer, signals;
	bool ample; /* the socket has room for many packets */
	size_t headers; /* of IP and UDP */
	bool known; /* who sends */
	struct sockaddr_storage sender;
	struct datagram_count count;
	uint64_t foreign; /* none of ours, or of another sender */
	uint64_t overflowed; /* that the socket had no room for */
};

static void usage(FILE *to)
{
	fputs("Usage: wale receive [OPTION]...\n"
	      "Count the packets of 'wale send': how many arrived and how many are missing, the\n"
	      "time between them, and their delay (if both ends have the same clock).\n"
	      "The first packet determines the sender; those of others are ignored.\n"
	      "\n"
	      "  -l, --listen ADDR       address to listen on (default: all of IPv6 and IPv4)\n"
	      "  -p, --port N            UDP port (default 7771)\n"
	      "  -n, --packets N         end after N packets\n"
	      "  -t, --idle-timeout T    end when no packet of the sender arrives for T\n"
	      "      --packets-csv FILE  write a line for each packet: its number, when it was due\n"
	      "                          and when it arrived, CLOCK_REALTIME in ns\n"
	      "  -j, --json              JSON instead of text\n"
	      "  -h, --help              this text\n"
	      "\n"
	      "SIGINT and SIGTERM end it, with a summary.\n"
	      "Exit status: 0 packets arrived, 1 none did, 2 wrong usage.\n"
	      "\n"
	      "Examples:\n"
	      "  wale receive --idle-timeout 5s\n"
	      "  wale receive --listen 192.0.2.1 --packets 1000 --json\n",
	      to);
}

/* 0, an exit status, or -1 after --help. */
static int parse_option(struct receiver *r, int c)
{
	switch (c) {
	case 'l':
		r->listen = optarg;
		return 0;
	case 'p':
		if (!parse_port(optarg, &r->port))
			return option_bad("--port", optarg,
					  "a number from 0 to 65535");
		return 0;
	case 'n':
		if (units_parse_count(optarg, INT64_MAX, &r->packets) ||
		    !r->packets)
			return option_bad("--packets", optarg,
					  "a number from 1 on");
		return 0;
	case 't':
		if (!parse_time_ns(optarg, &r->idle_ns) || !r->idle_ns)
			return option_bad("--idle-timeout", optarg,
					  "a time such as 5s");
		return 0;
	case 'c':
		r->csv_path = optarg;
		return 0;
	case 'j':
		r->json = true;
		return 0;
	case 'h':
		usage(stdout);
		return -1;
	default:
		return WALE_EXIT_USAGE; /* option_next() has said why */
	}
}

static int parse(struct receiver *r, int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "port", required_argument, NULL, 'p' },
		{ "packets", required_argument, NULL, 'n' },
		{ "idle-timeout", required_argument, NULL, 't' },
		{ "packets-csv", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int c, status;

	optind = 0;
	while ((c = option_next("receive", argc, argv, ":l:p:n:t:jh",
				options)) >= 0) {
		status = parse_option(r, c);
		if (status)
			return status;
	}
	if (optind == argc)
		return 0;
	fprintf(stderr,
		"wale receive: what is '%s'? See 'wale receive --help'\n",
		argv[optind]);
	return WALE_EXIT_USAGE;
}

static int set_options(struct receiver *r)
{
	int on = 1, size = RECEIVE_BUFFER, fd = r->fd;

	/* More than net.core.rmem_max is root's alone. */
	r->ample = !setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size,
			       sizeof(size));
	if (!r->ample &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on)))
		return -1;
	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
}

static int bind_address(struct receiver *r, const struct addrinfo *at)
{
	int off = 0;

	r->fd = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       0);
	if (r->fd < 0)
		return -1;
	if (at->ai_family == AF_INET6 && !r->listen &&
	    setsockopt(r->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)))
		return -1;
	if (set_options(r))
		return -1;
	return bind(r->fd, at->ai_addr, at->ai_addrlen);
}

static int open_family(struct receiver *r, int family)
{
	const struct addrinfo hints = { .ai_family = family,
					.ai_socktype = SOCK_DGRAM,
					.ai_flags = AI_PASSIVE };
	struct addrinfo *at;
	char port[8];
	int err;

	snprintf(port, sizeof(port), "%u", r->port);
	err = getaddrinfo(r->listen, port, &hints, &at);
	if (err)
		return command_failed(r->listen ? r->listen : "any address",
				      gai_strerror(err));
	err = bind_address(r, at);
	freeaddrinfo(at);
	return err ? -1 : 0;
}

/* All addresses of IPv6 and IPv4, or of IPv4 where there is no IPv6. */
static int open_socket(struct receiver *r)
{
	int status = open_family(r, r->listen ? AF_UNSPEC : AF_INET6);

	if (status < 0 && !r->listen &&
	    (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
		if (r->fd >= 0)
			close(r->fd);
		status = open_family(r, AF_INET);
	}
	return status < 0 ? command_failed("cannot listen", strerror(errno))
			  : status;
}

static int announce(const struct receiver *r)
{
	struct sockaddr_storage here;
	socklen_t len = sizeof(here);
	char text[ADDRESS_MAX];

	if (getsockname(r->fd, (struct sockaddr *)&here, &len))
		return command_failed("cannot listen", strerror(errno));
	address_text(&here, text);
	fprintf(stderr, "wale receive: on %s\n", text);
	return 0;
}

static bool is_v4(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address->ss_family == AF_INET ||
	       IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);
}

static bool is_sender(struct receiver *r, const struct sockaddr_storage *from,
		      socklen_t len)
{
	if (!r->known) {
		memcpy(&r->sender, from, len);
		r->headers =
			is_v4(from) ? DATAGRAM_IPV4_BYTES : DATAGRAM_IPV6_BYTES;
		r->known = true;
	}
	return !memcmp(&r->sender, from, len);
}

/* When the packet came in, and how many there was no room for so far. */
static uint64_t read_control(struct receiver *r, struct msghdr *message)
{
	struct cmsghdr *c;
	struct timespec ts;
	uint64_t now_ns = 0;
	uint32_t lost;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			now_ns = (uint64_t)ts.tv_sec * NSEC_PER_SEC +
				 (uint64_t)ts.tv_nsec;
		} else if (c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&lost, CMSG_DATA(c), sizeof(lost));
			r->overflowed = lost;
		}
	}
	return now_ns;
}

static void take(struct receiver *r, struct msghdr *message, size_t size)
{
	const struct sockaddr_storage *from = message->msg_name;
	const uint8_t *header = message->msg_iov->iov_base;
	uint64_t now_ns = read_control(r, message);
	struct datagram datagram;

	if (!datagram_read(header, size, &datagram) ||
	    !is_sender(r, from, message->msg_namelen)) {
		r->foreign++;
		return;
	}
	datagram_count_add(&r->count, &datagram, now_ns, size + r->headers);
	if (r->csv)
		fprintf(r->csv, "%llu,%llu,%llu\n",
			(unsigned long long)datagram.number,
			(unsigned long long)datagram.due_ns,
			(unsigned long long)now_ns);
}

static bool is_done(const struct receiver *r)
{
	return r->packets && r->count.packets >= r->packets;
}

/* Up to BATCH packets: how many there were, or -1 with errno. */
static int receive_batch(struct receiver *r)
{
	struct mmsghdr messages[BATCH];
	struct place {
		_Alignas(struct cmsghdr) uint8_t control[CONTROL_BYTES];
		uint8_t header[DATAGRAM_HEADER_BYTES];
		struct iovec into;
		struct sockaddr_storage from;
	} places[BATCH];
	int n, i;

	memset(places, 0, sizeof(places));
	for (i = 0; i < BATCH; i++) {
		struct place *place = &places[i];

		place->into.iov_base = place->header;
		place->into.iov_len = sizeof(place->header);
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &place->from,
			.msg_namelen = sizeof(place->from),
			.msg_iov = &place->into,
			.msg_iovlen = 1,
			.msg_control = place->control,
			.msg_controllen = sizeof(place->control),
		};
	}
	n = recvmmsg(r->fd, messages, BATCH, MSG_TRUNC, NULL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	for (i = 0; i < n && !is_done(r); i++)
		take(r, &messages[i].msg_hdr, messages[i].msg_len);
	return n;
}

/* All that have come by now: how many, or -1 with errno. */
static int receive_waiting(struct receiver *r)
{
	int all = 0, n;

	do {
		n = receive_batch(r);
		if (n < 0)
			return -1;
		all += n;
	} while (n == BATCH && !is_done(r));
	return all;
}

/*
 * Packets have the kernel's time: they may wait in the socket, so that fewer
 * wake-ups do for many.  How long, in ms, follows from how many there were.
 */
static int next_gathering(const struct receiver *r, int ms, int packets)
{
	if (!r->ample || packets > 4 * BATCH)
		return 0;
	if (packets > BATCH)
		return ms / 2;
	return ms < GATHER_MAX_MS ? 2 * ms + 1 : ms;
}

static int receive_all(struct receiver *r)
{
	struct pollfd fds[] = { { .fd = r->signals, .events = POLLIN },
				{ .fd = r->timer, .events = POLLIN },
				{ .fd = r->fd, .events = POLLIN } };
	bool idle = false;
	uint64_t packets;
	int gather_ms = 0, n;

	while (!is_done(r)) {
		/* what is foreign does not keep it up */
		if (r->idle_ns && !idle)
			timer_set_fd(r->timer, r->idle_ns, 0);
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return -1;
		if (gather_ms && !fds[0].revents && !fds[1].revents)
			poll(fds, 1, gather_ms);
		packets = r->count.packets;
		n = receive_waiting(r);
		if (n < 0)
			return -1;
		idle = r->count.packets == packets;
		if (fds[0].revents || (fds[1].revents && idle))
			break;
		gather_ms = next_gathering(r, gather_ms, n);
	}
	return 0;
}

static double mean_ms(int64_t sum_ns, uint64_t count)
{
	return count ? (double)sum_ns / (double)count / 1e6 : 0;
}

static void report_text(const struct receiver *r)
{
	const struct datagram_count *c = &r->count;
	double seconds = (double)datagram_count_ns(c) / 1e9;

	printf("%llu packets, %llu bytes of IP, in %.3f s; %llu missing, %llu late, %llu twice",
	       (unsigned long long)c->packets, (unsigned long long)c->bytes,
	       seconds, (unsigned long long)datagram_count_missing(c),
	       (unsigned long long)c->late, (unsigned long long)c->duplicates);
	print_some(r->overflowed, "without room here");
	putchar('\n');
	if (c->packets > 1)
		printf("between two: %.6f to %.6f ms, mean %.6f ms\n",
		       (double)c->min_gap_ns / 1e6, (double)c->max_gap_ns / 1e6,
		       seconds * 1e3 / (double)(c->packets - 1));
	if (c->packets)
		printf("on their way: %.6f to %.6f ms, mean %.6f ms\n",
		       (double)c->min_delay_ns / 1e6,
		       (double)c->max_delay_ns / 1e6,
		       mean_ms(c->delay_sum_ns, c->packets));
}

static void put_ns(struct json_line *json, const char *key, bool known,
		   int64_t ns)
{
	if (known && ns >= 0)
		json_u64(json, key, (uint64_t)ns);
	else
		json_null(json, key);
}

static void report_json(const struct receiver *r)
{
	const struct datagram_count *c = &r->count;
	bool some = c->packets, two = c->packets > 1;
	struct json_line json;

	json_begin(&json, stdout);
	json_u64(&json, "packets", c->packets);
	json_u64(&json, "bytes", c->bytes);
	json_seconds(&json, "seconds", datagram_count_ns(c));
	json_u64(&json, "missing_packets", datagram_count_missing(c));
	json_u64(&json, "late_packets", c->late);
	json_u64(&json, "duplicate_packets", c->duplicates);
	json_u64(&json, "overflowed_packets", r->overflowed);
	json_u64(&json, "foreign_packets", r->foreign);
	put_ns(&json, "min_gap_ns", two, (int64_t)c->min_gap_ns);
	put_ns(&json, "max_gap_ns", two, (int64_t)c->max_gap_ns);
	put_ns(&json, "min_delay_ns", some, c->min_delay_ns);
	put_ns(&json, "max_delay_ns", some, c->max_delay_ns);
	put_ns(&json, "mean_delay_ns", some,
	       some ? c->delay_sum_ns / (int64_t)c->packets : 0);
	json_end(&json);
}

static int open_csv(struct receiver *r)
{
	if (!r->csv_path)
		return 0;
	r->csv = fopen(r->csv_path, "we");
	if (!r->csv)
		return command_failed(r->csv_path, strerror(errno));
	fputs("number,due_ns,arrived_ns\n", r->csv);
	return 0;
}

static int close_csv(struct receiver *r)
{
	int bad_file;

	if (!r->csv)
		return 0;
	bad_file = ferror(r->csv);
	bad_file |= fclose(r->csv);
	r->csv = NULL;
	return bad_file ? command_failed(r->csv_path, "cannot write") : 0;
}

static int run(struct receiver *r)
{
	int status = open_csv(r);

	if (!status)
		status = open_socket(r);
	if (status)
		return status;
	r->timer = timer_create_fd();
	r->signals = signals_open();
	if (r->timer < 0 || r->signals < 0)
		return command_failed("cannot receive", strerror(errno));
	status = announce(r);
	if (status)
		return status;
	if (receive_all(r))
		return command_failed("cannot receive", strerror(errno));
	if (r->json)
		report_json(r);
	else
		report_text(r);
	return r->count.packets ? WALE_EXIT_OK : WALE_EXIT_FAILED;
}

int cmd_receive(int argc, char **argv)
{
	struct receiver r = {
		.port = DATAGRAM_PORT, .fd = -1, .timer = -1, .signals = -1
	};
	int status, written;

	datagram_count_init(&r.count);
	status = parse(&r, argc, argv);
	if (!status)
		status = run(&r);
	written = close_csv(&r);
	if (r.fd >= 0)
		close(r.fd);
	if (r.timer >= 0)
		close(r.timer);
	if (r.signals >= 0)
		close(r.signals);
	if (status < 0)
		return WALE_EXIT_OK;
	return status ? status : written;
}
