/* SPDX-License-Identifier: GPL-2.0 */
/*
 * get_transfer.h - one transfer of "wale get": a state machine
 *
 *   CONNECT --> REPLY --OK--> DATA --last byte--> TRAILER --END--> FINAL
 *                               |                                    |
 *                               +--duration over--> OVER <--DONE-----+
 *
 * Any failure leads to OVER with a sentence in @error.  The time of a transfer
 * runs from the start of connect(2), or from the arrival of its session, to its
 * last byte of data.
 *
 * The receiver is woken for a 64th of its receive buffer at a time
 * (SO_RCVLOWAT), some 3 % of the window: few wake-ups, which are dear
 * in a kernel in virtual time, and so little of the window that a transfer
 * takes as long as with a reader that is always there.
 */
#ifndef WALE_GET_TRANSFER_H
#define WALE_GET_TRANSFER_H

#include <netdb.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>

#include "get_options.h"
#include "lib/command.h"
#include "transfer_proto.h"

/**
 * struct get_output - where the data go (get_output.c)
 * @fd: -1 to discard
 * @path: of the finished file, NULL if there will be none
 * @temporary: of the unfinished file, NULL if there is none
 */
struct get_output {
	int fd;
	char *path;
	char *temporary;
};

enum get_state {
	GET_IDLE,
	GET_CONNECT,
	GET_REPLY,
	GET_DATA,
	GET_TRAILER,
	GET_FINAL,
	GET_OVER,
};

enum get_watch_kind {
	GET_SOCKET,
	GET_DURATION,
	GET_SIGNAL,
	GET_TICK,
	GET_ARRIVAL,
};

/* What the data pointer of an epoll event points to. */
struct get_watch {
	enum get_watch_kind kind;
	int fd;
	struct transfer *transfer;
};

#define GET_TAIL 512 /* last bytes kept, to find the reason of an abort */

/**
 * struct transfer - one transfer
 * @opt: the command line
 * @epoll_fd: where it waits
 * @source: HOST:NAME as given
 * @host: the server, without brackets
 * @name: the file
 * @local_port: to bind to, 0 for any
 * @request: what the server is asked for
 * @session: its number from 1 on, 0 if it is no session
 * @epoch_ns: of a session, the start of the process on CLOCK_MONOTONIC
 * @arrival_ns: of a session, after @epoch_ns
 * @socket: the connection
 * @timer: of the duration
 * @state: see above
 * @addresses: of the server
 * @address: the one being tried
 * @local: address and port of this side, "" before there is a connection
 * @remote: of the server
 * @stalled: ticks without an event
 * @waiting: bytes in the socket at the last tick
 * @active: there was an event since the last tick
 * @start_ns: connect(2), or the arrival of the session
 * @first_ns: first byte of data
 * @last_ns: last byte of data, or end of the duration
 * @length: bytes of data that were promised
 * @received: bytes of data that came
 * @lowat: SO_RCVLOWAT now
 * @lowat_full: SO_RCVLOWAT while much is missing
 * @lowat_review: @received when @lowat_full is to be looked at again
 * @line: of the server, being received
 * @line_len: its length so far
 * @tail: last bytes that came, of data and lines
 * @tail_len: how many
 * @context: digest of the data
 * @output: where the data go
 * @cc: in force at the server
 * @server_digest: the server will send a digest
 * @verified: the digest was compared and is right
 * @mismatch: it is wrong
 * @has_stats: DONE came, with the next two
 * @retransmits: segments that the server sent again
 * @min_rtt_us: smallest round trip that it saw
 * @hex: digest of what came, "" if it was not computed
 * @completed: "all", "duration", or NULL while not or when failed
 * @error: what went wrong, "" if nothing did
 */
struct transfer {
	const struct get_options *opt;
	int epoll_fd;
	const char *source;
	char *host;
	char *name;
	uint16_t local_port;
	struct wale_request request;
	unsigned int session;
	uint64_t epoch_ns;
	uint64_t arrival_ns;
	struct get_watch socket;
	struct get_watch timer;
	enum get_state state;
	struct addrinfo *addresses;
	struct addrinfo *address;
	char local[ADDRESS_MAX];
	char remote[ADDRESS_MAX];
	unsigned int stalled;
	int waiting;
	bool active;
	uint64_t start_ns;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t length;
	uint64_t received;
	unsigned int lowat;
	unsigned int lowat_full;
	uint64_t lowat_review;
	char line[WALE_REPLY_MAX];
	size_t line_len;
	char tail[GET_TAIL];
	size_t tail_len;
	struct sha256_ctx context;
	struct get_output output;
	char cc[WALE_CC_MAX + 1];
	bool server_digest;
	bool verified;
	bool mismatch;
	bool has_stats;
	uint64_t retransmits;
	uint64_t min_rtt_us;
	char hex[WALE_SHA256_HEX];
	const char *completed;
	char error[WALE_REPLY_MAX + 128];
};

/*
 * Find the addresses of the server, which the caller frees in the end; false
 * with a sentence in @t->error.
 */
bool transfer_resolve(struct transfer *t);

/*
 * Begin; @t->state is GET_OVER if that failed at once.  Addresses that are not
 * there yet are found first.
 */
void transfer_start(struct transfer *t, int epoll_fd);

/* epoll says that the socket has something: @events. */
void transfer_ready(struct transfer *t, uint32_t events);

/* The duration is over. */
void transfer_duration_over(struct transfer *t);

/* Part of the timeout passed; @limit such parts are all of it. */
void transfer_tick(struct transfer *t, unsigned int limit);

/* End it with an error. */
void transfer_fail(struct transfer *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Open what data will be written to; false with a sentence in @t->error. */
bool output_open(struct transfer *t);
/* False with errno. */
bool output_write(struct get_output *output, const void *data, size_t len);
/* Give the finished file its name; false with errno. */
bool output_commit(struct get_output *output);
/* Leave nothing behind. */
void output_discard(struct get_output *output);

/* The result of a transfer that is over, as text or JSON. */
void transfer_report(const struct transfer *t);

/* What the @n sessions had together, as text. */
void sessions_report(const struct transfer *sessions, unsigned int n);

#endif
