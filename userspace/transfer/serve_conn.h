/* SPDX-License-Identifier: GPL-2.0 */
/*
 * serve_conn.h - one connection of "wale serve": a state machine
 *
 *   REQUEST --line--> DATA --all sent--> DIGEST --digest--> END --sent--> WAIT
 *      |               |                   |                               |
 *      |refused        |file changed       |file changed      client closed|
 *      v               v                   v                               v
 *     LAST <-----------+-------------------+------------------------------LAST
 *      |sent
 *      v
 *    LINGER --client closed--> gone
 *
 * A client that closes early, an error of the socket, or a timeout lead out of
 * any state.  No state blocks.
 */
#ifndef WALE_SERVE_CONN_H
#define WALE_SERVE_CONN_H

#include <linux/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/command.h"
#include "serve_file.h"
#include "serve_peers.h"
#include "transfer_proto.h"

/*
 * Ticks of the server's timer without progress until a connection ends; one, if
 * its transfer is over.
 */
#define SERVE_TICKS 4

enum watch_kind {
	WATCH_LISTENER,
	WATCH_CONN,
	WATCH_SIGNAL,
	WATCH_TICK,
	WATCH_OUTPUT,
};

/* What the data pointer of an epoll event points to. */
struct watch {
	enum watch_kind kind;
	int fd;
};

/**
 * struct server - what the connections share
 * @epoll_fd: where they wait
 * @folder_fd: the served folder
 * @max_transfers: connections that may be in a transfer
 * @max_per_address: of these, from one address; 0 for no limit
 * @max_lingering: connections that may be in LAST or LINGER
 * @idle_timeout_ns: for a request to come, and without progress
 * @once: end after this many transfers, 0 for never
 * @json: one JSON object for each transfer
 * @quiet: nothing for people
 * @conns: all connections
 * @n_conns: how many
 * @n_active: of these, not in LAST or LINGER
 * @transfers: that began to send and are over
 * @complete: of these, everything was acknowledged
 * @refused: requests that were
 * @bytes: acknowledged, of all transfers that are over
 */
struct server {
	int epoll_fd;
	int folder_fd;
	unsigned int max_transfers;
	unsigned int max_per_address;
	unsigned int max_lingering;
	uint64_t idle_timeout_ns;
	unsigned int once;
	bool json;
	bool quiet;
	struct conn *conns;
	unsigned int n_conns;
	unsigned int n_active;
	uint64_t transfers;
	uint64_t complete;
	uint64_t refused;
	uint64_t bytes;
};

enum conn_state {
	CONN_REQUEST,
	CONN_DATA,
	CONN_DIGEST,
	CONN_END,
	CONN_WAIT,
	CONN_LAST,
	CONN_LINGER,
};

/**
 * struct conn - one connection
 * @watch: its socket in the server's epoll
 * @next: in the list of the server
 * @prev: in the list of the server
 * @server: whose it is
 * @address: where its address is counted, if there is a limit
 * @state: see above
 * @events: what epoll waits for
 * @stalled: ticks without progress
 * @acked_mark: bytes acknowledged at the last tick
 * @request: buffer of WALE_REQUEST_MAX + 1 bytes while in REQUEST
 * @request_len: bytes in it
 * @name: of the file, once there is a request
 * @file: that is sent
 * @digest: of what is sent, if wanted
 * @offset: first byte
 * @length: bytes to send
 * @sent: data bytes given to TCP
 * @written: data and lines given to TCP
 * @head_len: length of the OK line
 * @out: line to send
 * @out_len: its length
 * @out_pos: bytes of it that were sent
 * @start_ns: when the request was there
 * @idle_ns: how long the client has had everything, and did not close
 * @cc: congestion control in force
 * @peer: address of the client
 * @local: the server's own address, NULL if its listener has it not
 * @has_info: the kernel was asked what it knows of it
 * @status: how it ended; NULL before it did
 * @why: what went wrong
 * @recorded: the result was printed and counted
 */
struct conn {
	struct watch watch;
	struct conn *next;
	struct conn *prev;
	struct server *server;
	struct serve_peer *address;
	enum conn_state state;
	uint32_t events;
	unsigned int stalled;
	uint64_t acked_mark;
	char *request;
	size_t request_len;
	char *name;
	struct served_file *file;
	struct served_digest *digest;
	uint64_t offset;
	uint64_t length;
	uint64_t sent;
	uint64_t written;
	size_t head_len;
	char out[WALE_REPLY_MAX];
	size_t out_len;
	size_t out_pos;
	uint64_t start_ns;
	uint64_t idle_ns;
	char cc[WALE_CC_MAX + 1];
	char peer[ADDRESS_MAX];
	const char *local;
	bool has_info;
	const char *status;
	struct wale_refusal why;
	bool recorded;
};

/*
 * Take over @fd, just accepted; closes it if that fails.  Its listener had TCP_NODELAY and
 * TCP_CORK set; @local is the listener's address, which stays, or NULL if it has no single one.
 */
void conn_open(struct server *server, int fd,
	       const struct sockaddr_storage *peer, const char *local);

/* epoll says that @conn has @events. */
void conn_ready(struct conn *conn, uint32_t events);

/* A quarter of the idle timeout passed. */
void conn_tick(struct conn *conn);

/* @digest is finished: go on with the connections that wait for it. */
void conns_digest_finished(struct server *server,
			   const struct served_digest *digest);

/* The server ends: cut every transfer. */
void conns_stop(struct server *server);

/* The transfer of @conn is over: print and count it (serve_record.c). */
void conn_record(struct conn *conn);

/* Bytes of data that the client's TCP acknowledged (serve_record.c). */
uint64_t conn_data_acked(const struct conn *conn);

/*
 * What the kernel knows of @conn, which is over: it is asked once, if no other is over
 * in between.  Zeros if that is gone (serve_record.c).
 */
const struct tcp_info *conn_tcp_info(struct conn *conn);

/* Bytes that are not acknowledged yet (serve_record.c). */
uint64_t conn_unacked(const struct conn *conn);

#endif
