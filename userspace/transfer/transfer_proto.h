/* SPDX-License-Identifier: GPL-2.0 */
/*
 * transfer_proto.h - the protocol between "wale get" and "wale serve"
 *
 * One TCP connection carries one transfer: a request line, a reply line, the
 * data, and one or two trailer lines.  A line is UTF-8 text without control
 * characters (C0, DEL, C1), ended by one LF; its fields are separated by one
 * space.  It can be typed: `printf 'WALE/1 GET name=a.bin\n' | nc HOST 7770`,
 * with a netcat that keeps its sending side open.
 *
 *   client                                  server
 *     | WALE/1 GET [FIELD]... name=NAME        |
 *     |--------------------------------------->|
 *     |  WALE/1 OK bytes=N size=S cc=CC sha256=0|1
 *     |<---------------------------------------|
 *     |  N bytes of data                       |
 *     |<=======================================|
 *     |  WALE/1 END sha256=HEX|-               |
 *     |<---------------------------------------|
 *     | end of stream (half-close)             |
 *     |--------------------------------------->|
 *     |  WALE/1 DONE retransmits=R ...         |
 *     |<---------------------------------------|
 *
 * Request.  Fields, each at most once, in any order, the name last (it goes to
 * the end of the line, so that it may hold spaces):
 *   cc=CC      congestion control of the server's side of this connection, set
 *              with TCP_CONGESTION before the first byte is sent; the default
 *              is what the server's host uses
 *   offset=O   first byte of the file to send (default 0)
 *   bytes=N    how many bytes to send (default: from O to the end)
 *   repeat=1   when the file ends before N bytes are sent, go on at its start
 *   sha256=0   do not compute a digest (default 1)
 *   name=NAME  path of a regular file, relative to the served folder.  Taken
 *              as it is: nothing is decoded.  No empty, "." or ".." component,
 *              no leading "/".
 * The line has at most WALE_REQUEST_MAX bytes with its LF.  A request with a
 * field that the server does not know is refused.  The client sends nothing
 * after it, and keeps its sending side open until it has read END: an end of
 * stream before that stops the transfer.
 *
 * Reply.  OK tells how many bytes of data follow, the size of the file, the
 * congestion control in force, and whether END will have a digest.  A client
 * ignores fields of OK, END and DONE that it does not know.  Anything that
 * keeps the server from sending is told instead by
 *   WALE/1 ERROR CODE TEXT
 * with a CODE of the table below and a sentence for people, and then the
 * connection is closed.
 *
 * Data.  N bytes.  If the server cannot go on (the file became shorter, the
 * server ends), it sends as its last words
 *   LF WALE/1 ABORT CODE TEXT
 * and closes.  These bytes come instead of data; the client knows by the
 * early end of the stream that the transfer failed, and looks for an ABORT
 * line at the very end only to tell why.
 *
 * Trailer.  END carries the SHA-256 of the N bytes, computed by the server
 * from the file while it sends; "-" if none was wanted.  ABORT CODE TEXT in
 * its place says that the data sent cannot be trusted, most often because the
 * file changed meanwhile.
 *
 * DONE is sent when the client has closed its sending side, that is, when it
 * has everything.  It holds what the server's TCP knows at that moment (struct
 * tcp_info): retransmits (segments), min_rtt_us, rtt_us, rttvar_us.  It proves
 * too that the file was the same until all of it was acknowledged: without a
 * digest, a client that must be sure waits for it.  ABORT may come instead.
 */
#ifndef WALE_TRANSFER_PROTO_H
#define WALE_TRANSFER_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/command.h"

#define WALE_PORT 7770
#define WALE_PROTO "WALE/1"

#define WALE_NAME_MAX 4095 /* bytes of NAME, as PATH_MAX */
#define WALE_CC_MAX 15 /* bytes of CC, as TCP_CA_NAME_MAX */
#define WALE_REQUEST_MAX 4352 /* bytes of a request with its LF */
#define WALE_REPLY_MAX 512 /* bytes of any line of the server, with LF */
#define WALE_SHA256_SIZE 32
#define WALE_SHA256_HEX (2 * WALE_SHA256_SIZE + 1) /* with its NUL */

/* the data of a transfer without a limit: "until the client stops" */
#define WALE_BYTES_ENDLESS BYTES_MAX

/* CODE of ERROR and ABORT */
#define WALE_E_REQUEST "bad-request" /* the line is not a request */
#define WALE_E_NAME "bad-name" /* the name can be no file here */
#define WALE_E_NOT_FOUND "not-found" /* no such file */
#define WALE_E_OUTSIDE "outside" /* leads out of the served folder */
#define WALE_E_NOT_FILE "not-a-file" /* a folder, socket, device ... */
#define WALE_E_READ "cannot-read" /* open or read failed */
#define WALE_E_RANGE "bad-range" /* offset, bytes or repeat */
#define WALE_E_CC_UNKNOWN "cc-unknown" /* no such congestion control */
#define WALE_E_CC_REFUSED "cc-refused" /* not allowed to this server */
#define WALE_E_BUSY "busy" /* too many transfers at once */
#define WALE_E_TIMEOUT "timeout" /* the request did not come */
#define WALE_E_CHANGED "changed" /* the file changed meanwhile */
#define WALE_E_STOPPING "stopping" /* the server ends */
#define WALE_E_CLOSED "closed" /* the client went: in the server's log only */
#define WALE_E_INTERNAL "internal" /* memory, sockets */

/**
 * struct wale_request - a request line, parsed
 * @cc: name of the congestion control, "" for the server's default
 * @name: the file; points into the parsed line
 * @offset: first byte to send
 * @bytes: how many, if @has_bytes
 * @has_bytes: a number was given
 * @repeat: start again at the end of the file
 * @sha256: a digest is wanted
 */
struct wale_request {
	char cc[WALE_CC_MAX + 1];
	const char *name;
	uint64_t offset;
	uint64_t bytes;
	bool has_bytes;
	bool repeat;
	bool sha256;
};

/**
 * struct wale_refusal - why something is refused
 * @code: one of WALE_E_*
 * @text: one sentence without control characters
 */
struct wale_refusal {
	const char *code;
	char text[384];
};

/**
 * enum wale_reply_kind - what a line of the server is
 * @WALE_REPLY_BAD: none of the others
 */
enum wale_reply_kind {
	WALE_REPLY_BAD,
	WALE_REPLY_OK,
	WALE_REPLY_ERROR,
	WALE_REPLY_END,
	WALE_REPLY_ABORT,
	WALE_REPLY_DONE,
};

/**
 * struct wale_reply - a line of the server, parsed
 * @kind: what it is; only its own members below are set
 * @bytes: OK: data bytes that follow
 * @has_bytes: OK: it says so, as it must
 * @size: OK: size of the file
 * @cc: OK: congestion control in force
 * @sha256: OK: END will have a digest
 * @has_digest: END: it has one
 * @digest: END: the digest, in lower case hex
 * @retransmits: DONE: segments sent again
 * @min_rtt_us: DONE: smallest round trip
 * @rtt_us: DONE: smoothed round trip at the end
 * @text: ERROR and ABORT: the sentence; points into the parsed line
 */
struct wale_reply {
	enum wale_reply_kind kind;
	uint64_t bytes;
	bool has_bytes;
	uint64_t size;
	char cc[WALE_CC_MAX + 1];
	bool sha256;
	bool has_digest;
	char digest[WALE_SHA256_HEX];
	uint64_t retransmits;
	uint64_t min_rtt_us;
	uint64_t rtt_us;
	const char *text;
};

/*
 * Fill @why and return false.  The sentence is made printable, as by
 * wale_make_printable().
 */
bool wale_refuse(struct wale_refusal *why, const char *code, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));

/* Parse @line of @len bytes, without its LF.  A NUL is put at its end. */
bool wale_request_parse(char *line, size_t len, struct wale_request *req,
			struct wale_refusal *why);

/* Write @req with its LF; returns its length, 0 if it does not fit. */
size_t wale_request_format(char *buf, size_t size,
			   const struct wale_request *req);

/* Parse a line of the server, a string without its LF. */
void wale_reply_parse(char *line, struct wale_reply *reply);

/* Is this a name that a request may carry? */
bool wale_name_valid(const char *name, size_t len, struct wale_refusal *why);

void wale_hex(const uint8_t digest[WALE_SHA256_SIZE],
	      char text[WALE_SHA256_HEX]);

/* 64 hex digits in any case, to lower case. */
bool wale_hex_valid(const char *text, char lower[WALE_SHA256_HEX]);

/*
 * Replace by '?' what must not be printed as it comes from elsewhere: control
 * characters, bytes that are not UTF-8, and the characters that reorder a line.
 */
void wale_make_printable(char *text);

#endif
