/* SPDX-License-Identifier: GPL-2.0 */
/*
 * get_transfer.h - one transfer of "wale get": a state machine
 *
 *   CONNECT --> REPLY --OK--> DATA --last byte--> TRAILER --END--> FINAL
 *                               |                                    |
 *                               +--duration over--> OVER <--DONE-----+
 *
 * Any failure leads to OVER with a sentence in @error.  The time of a transfer
 * runs from the start of connect(2) to its last byte of data.
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

#include "transfer_proto.h"
#include "transfer_util.h"

/**
 * struct get_options - the command line
 * @port: of the server
 * @family: AF_UNSPEC, AF_INET or AF_INET6
 * @request: everything of the request but the name
 * @out: file or folder to write to, "-" for standard output, or NULL
 * @out_is_folder: each transfer has a file in it
 * @duration_ns: stop after this much time of data, 0 for never
 * @timeout_ns: give up after this much time without progress
 * @parallel: transfers at once
 * @local_port: of the first transfer, 0 for any
 * @rcvbuf: for SO_RCVBUF, 0 for the system's
 * @digest: compute the SHA-256 of what comes
 * @expected: digest that it must have, "" for any
 * @json: results as JSON objects
 * @progress: a line with a bar on standard error
 */
struct get_options {
	uint16_t port;
	int family;
	struct wale_request request;
	const char *out;
	bool out_is_folder;
	uint64_t duration_ns;
	uint64_t timeout_ns;
	unsigned int parallel;
	uint16_t local_port;
	unsigned int rcvbuf;
	bool digest;
	char expected[WALE_SHA256_HEX];
	bool json;
	bool progress;
};

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

enum get_watch_kind { GET_SOCKET, GET_DURATION, GET_SIGNAL, GET_TICK };

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
 * @start_ns: connect(2)
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
	char error[512];
};

/* Begin; @t->state is GET_OVER if that failed at once. */
void transfer_start(struct transfer *t, int epoll_fd);

/* epoll says that the socket has something. */
void transfer_ready(struct transfer *t);

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

#endif
