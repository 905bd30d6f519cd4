// SPDX-License-Identifier: GPL-2.0
/*
 * get_transfer.c - one transfer of "wale get": see get_transfer.h
 *
 * The clock is read when the transfer starts, and at the first and the last
 * byte of its data.
 */
#include "get_transfer.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (256 * 1024) /* one recv */
#define LOWAT_SHARE 64 /* of the receive buffer, see get_transfer.h */

static void watch_close(struct get_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

static void over(struct transfer *t)
{
	t->state = GET_OVER;
	watch_close(&t->socket);
	watch_close(&t->timer);
}

void transfer_fail(struct transfer *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->error, sizeof(t->error), fmt, ap);
	va_end(ap);
	/* what did not fit may have been cut in a character */
	wale_make_printable(t->error);
	t->completed = NULL;
	output_discard(&t->output);
	over(t);
}

/* The data are what they should be: keep them. */
static void succeed(struct transfer *t, const char *completed)
{
	if (!output_commit(&t->output)) {
		transfer_fail(t, "cannot finish '%s': %s", t->output.path,
			      strerror(errno));
		return;
	}
	t->completed = completed;
	output_discard(&t->output);
	over(t);
}

static bool watch_add(struct transfer *t, struct get_watch *watch,
		      uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	return !epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event);
}

static void watch_events(struct transfer *t, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = &t->socket };

	epoll_ctl(t->epoll_fd, EPOLL_CTL_MOD, t->socket.fd, &event);
}

static void set_lowat(struct transfer *t, unsigned int lowat)
{
	if (lowat == t->lowat)
		return;
	setsockopt(t->socket.fd, SOL_SOCKET, SO_RCVLOWAT, &lowat,
		   sizeof(lowat));
	t->lowat = lowat;
}

/* SO_RCVLOWAT with --batch, when so many bytes are @missing. */
static unsigned int batch_lowat(const struct transfer *t, uint64_t missing)
{
	return missing < t->opt->batch ? (unsigned int)missing : t->opt->batch;
}

/* Options that must be set before connect(2). */
static bool prepare_socket(struct transfer *t)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} local = { .sa.sa_family = (sa_family_t)t->address->ai_family };
	socklen_t len = t->address->ai_addrlen;
	int on = 1, size = (int)t->opt->rcvbuf;

	if (size && setsockopt(t->socket.fd, SOL_SOCKET, SO_RCVBUF, &size,
			       sizeof(size)) < 0)
		return false;
	t->lowat = 1;
	/* a server that sends less ends the stream; without this number it need not */
	if (t->opt->batch && t->request.has_bytes && t->request.bytes)
		set_lowat(t, batch_lowat(t, t->request.bytes));
	if (!t->local_port)
		return true;
	if (local.sa.sa_family == AF_INET6)
		local.in6.sin6_port = htons(t->local_port);
	else
		local.in.sin_port = htons(t->local_port);
	setsockopt(t->socket.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return !bind(t->socket.fd, &local.sa, len);
}

/* Connect to @t->address, or to one after it. */
static void connect_next(struct transfer *t)
{
	int err = 0;

	for (; t->address; t->address = t->address->ai_next) {
		t->socket.fd =
			socket(t->address->ai_family,
			       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			       IPPROTO_TCP);
		if (t->socket.fd >= 0 && prepare_socket(t) &&
		    (!connect(t->socket.fd, t->address->ai_addr,
			      t->address->ai_addrlen) ||
		     errno == EINPROGRESS) &&
		    watch_add(t, &t->socket, EPOLLOUT)) {
			t->state = GET_CONNECT;
			return;
		}
		err = errno;
		watch_close(&t->socket);
	}
	transfer_fail(t, "cannot connect to %s port %u: %s", t->host,
		      t->opt->port, strerror(err));
}

bool transfer_resolve(struct transfer *t)
{
	struct addrinfo hints = { .ai_family = t->opt->family,
				  .ai_flags = AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	char port[8];
	int err;

	snprintf(port, sizeof(port), "%u", t->opt->port);
	err = getaddrinfo(t->host, port, &hints, &t->addresses);
	if (!err)
		return true;
	t->addresses = NULL;
	snprintf(t->error, sizeof(t->error), "host '%s' has no address: %s",
		 t->host, gai_strerror(err));
	return false;
}

void transfer_start(struct transfer *t, int epoll_fd)
{
	t->epoll_fd = epoll_fd;
	t->socket = (struct get_watch){ GET_SOCKET, -1, t };
	t->timer = (struct get_watch){ GET_DURATION, -1, t };
	sha256_init(&t->context);
	if ((!t->addresses && !transfer_resolve(t)) || !output_open(t)) {
		over(t);
		return;
	}
	t->address = t->addresses;
	t->start_ns = t->session ? t->epoch_ns + t->arrival_ns : clock_ns();
	connect_next(t);
}

/* The two ends of the connection, to find it in the logs of others. */
static void note_ends(struct transfer *t)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);

	if (!getsockname(t->socket.fd, (struct sockaddr *)&address, &len))
		address_text(&address, t->local);
	memcpy(&address, t->address->ai_addr, t->address->ai_addrlen);
	address_text(&address, t->remote);
}

/* Return: false: there is no other address. */
static bool connect_elsewhere(struct transfer *t)
{
	if (!t->address->ai_next)
		return false;
	watch_close(&t->socket);
	t->address = t->address->ai_next;
	t->stalled = 0;
	connect_next(t);
	return true;
}

/* connect(2) is over, one way or the other: if it failed, the request cannot be sent. */
static void connected(struct transfer *t)
{
	char line[WALE_REQUEST_MAX];
	size_t n = wale_request_format(line, sizeof(line), &t->request);

	/*
	 * Nothing else is in the socket's buffer, which has room for it.  A
	 * server that is busy may have closed already: what it said is read.
	 */
	if (send(t->socket.fd, line, n, MSG_NOSIGNAL) < 0) {
		/* the event was of an address that was tried before */
		if (errno == EAGAIN || connect_elsewhere(t))
			return;
		transfer_fail(t, "cannot connect to %s port %u: %s", t->host,
			      t->opt->port, strerror(errno));
		return;
	}
	note_ends(t);
	t->state = GET_REPLY;
	watch_events(t, EPOLLIN | EPOLLRDHUP);
}

/*
 * How much must be there before the next wake-up: a share of the receive
 * buffer, which the kernel makes larger as the path needs it, and at the end
 * exactly what is missing, so that the last byte is seen when it comes.
 */
static void adapt_lowat(struct transfer *t)
{
	uint64_t missing = t->length - t->received;
	socklen_t len = sizeof(int);
	int size = 0;

	/* the end of the stream comes with DONE, and wakes whoever waits */
	if (t->opt->batch && t->state == GET_FINAL)
		return;
	if (t->state != GET_DATA) {
		set_lowat(t, 1);
		return;
	}
	if (t->opt->batch) {
		set_lowat(t, batch_lowat(t, missing));
		return;
	}
	if (t->received >= t->lowat_review) {
		getsockopt(t->socket.fd, SOL_SOCKET, SO_RCVBUF, &size, &len);
		t->lowat_full = (unsigned int)size / LOWAT_SHARE;
		if (t->lowat_full > READ_SIZE)
			t->lowat_full = READ_SIZE;
		if (!t->lowat_full)
			t->lowat_full = 1;
		t->lowat_review = t->received * 2 + 1;
	}
	set_lowat(t, missing < t->lowat_full ? (unsigned int)missing
					     : t->lowat_full);
}

/* The digest of what came, in @t->hex. */
static void finish_digest(struct transfer *t)
{
	uint8_t value[WALE_SHA256_SIZE];

	if (!t->opt->digest)
		return;
	sha256_digest(&t->context, sizeof(value), value);
	wale_hex(value, t->hex);
}

static void all_data_came(struct transfer *t)
{
	if (!t->last_ns)
		t->last_ns = clock_ns();
	t->state = GET_TRAILER;
	watch_close(&t->timer);
	finish_digest(t);
}

static void first_data_came(struct transfer *t)
{
	t->first_ns = clock_ns();
	if (!t->opt->duration_ns)
		return;
	t->timer.fd = timer_create_fd();
	if (t->timer.fd < 0 || !watch_add(t, &t->timer, EPOLLIN) ||
	    timer_set_fd(t->timer.fd, t->opt->duration_ns, 0) < 0)
		transfer_fail(t, "cannot set a timer: %s", strerror(errno));
}

/* Take data from @p; returns how many bytes of the @n were data. */
static size_t take_data(struct transfer *t, const char *p, size_t n)
{
	if (n > t->length - t->received)
		n = (size_t)(t->length - t->received);
	if (!t->received)
		first_data_came(t);
	if (t->state != GET_DATA)
		return n;
	t->received += n;
	if (t->received == t->length)
		t->last_ns = clock_ns(); /* before any other work */
	if (t->opt->digest)
		sha256_update(&t->context, n, (const uint8_t *)p);
	if (!output_write(&t->output, p, n)) {
		transfer_fail(t, "cannot write: %s", strerror(errno));
		return n;
	}
	return n;
}

static void take_reply(struct transfer *t, const struct wale_reply *reply)
{
	if (reply->kind == WALE_REPLY_ERROR) {
		transfer_fail(t, "refused by the server: %s", reply->text);
		return;
	}
	if (reply->kind != WALE_REPLY_OK) {
		transfer_fail(
			t,
			"the answer is not that of 'wale serve': expected '" WALE_PROTO
			" OK ...'");
		return;
	}
	if (t->request.has_bytes && reply->bytes != t->request.bytes) {
		transfer_fail(t, "the server offers %llu bytes: expected %llu",
			      (unsigned long long)reply->bytes,
			      (unsigned long long)t->request.bytes);
		return;
	}
	t->length = reply->bytes;
	t->server_digest = reply->sha256;
	memcpy(t->cc, reply->cc, sizeof(t->cc));
	t->state = GET_DATA;
	if (!t->length)
		all_data_came(t);
}

/* END: compare the digests, then tell the server that all is here. */
static void take_end(struct transfer *t, const struct wale_reply *reply)
{
	if (t->request.sha256 && !reply->has_digest) {
		transfer_fail(t, "the server sent no SHA-256 at the end");
		return;
	}
	if (*t->opt->expected && strcmp(t->opt->expected, t->hex)) {
		t->mismatch = true;
		transfer_fail(t, "the SHA-256 of what came is %s: expected %s",
			      t->hex, t->opt->expected);
		return;
	}
	if (reply->has_digest && *t->hex && strcmp(reply->digest, t->hex)) {
		t->mismatch = true;
		transfer_fail(
			t,
			"the SHA-256 of what came is %s, but that of the file at the server %s: it was damaged on the way or changed",
			t->hex, reply->digest);
		return;
	}
	t->verified = *t->hex && (reply->has_digest || *t->opt->expected);
	t->state = GET_FINAL;
	shutdown(t->socket.fd, SHUT_WR);
}

/* The connection is over after END: DONE was read, or will not come. */
static void end_final(struct transfer *t, const char *why)
{
	if (t->verified || t->has_stats)
		succeed(t, "all");
	else
		transfer_fail(t, "the server did not confirm the end: %s", why);
}

/* The last line in what came, if it tells of an abort. */
static bool find_abort(struct transfer *t, struct wale_reply *reply)
{
	static const char start[] = WALE_PROTO " ABORT ";
	size_t len = t->tail_len;
	char *line;

	if (!len || t->tail[len - 1] != '\n')
		return false;
	t->tail[--len] = '\0';
	line = memrchr(t->tail, '\n', len);
	line = line ? line + 1 : t->tail;
	if (strncmp(line, start, sizeof(start) - 1))
		return false;
	len = (size_t)(t->tail + len - line) + 2; /* with both LF */
	wale_reply_parse(line, reply);
	if (t->state == GET_DATA && t->received >= len)
		t->received -= len; /* they were no data */
	return true;
}

/* The stream ended, or an answer made no sense. */
static void fail_early(struct transfer *t, const char *why)
{
	struct wale_reply reply;

	if (find_abort(t, &reply))
		transfer_fail(t, "the server stopped the transfer: %s",
			      reply.text);
	else if (t->state == GET_REPLY)
		transfer_fail(t, "no answer from the server: %s", why);
	else if (t->length >= WALE_BYTES_ENDLESS)
		transfer_fail(t, "cut off after %llu bytes: %s",
			      (unsigned long long)t->received, why);
	else
		transfer_fail(t, "cut off after %llu of %llu bytes: %s",
			      (unsigned long long)t->received,
			      (unsigned long long)t->length, why);
}

static void take_line(struct transfer *t)
{
	struct wale_reply reply;

	t->line[t->line_len] = '\0';
	t->line_len = 0;
	wale_reply_parse(t->line, &reply);
	if (t->state == GET_REPLY) {
		take_reply(t, &reply);
	} else if (t->state == GET_TRAILER && reply.kind == WALE_REPLY_END) {
		take_end(t, &reply);
	} else if (t->state == GET_TRAILER && reply.kind == WALE_REPLY_ABORT) {
		transfer_fail(t, "the server stopped the transfer: %s",
			      reply.text);
	} else if (t->state == GET_FINAL && reply.kind == WALE_REPLY_DONE) {
		t->has_stats = true;
		t->retransmits = reply.retransmits;
		t->min_rtt_us = reply.min_rtt_us;
		end_final(t, "");
	} else if (t->state == GET_FINAL) {
		end_final(t, *reply.text ? reply.text : "bad answer");
	} else {
		fail_early(t, "the line after the data makes no sense");
	}
}

/* Add to the line of the server; returns how many bytes of @n were used. */
static size_t take_line_part(struct transfer *t, const char *p, size_t n)
{
	const char *end = memchr(p, '\n', n);
	size_t len = end ? (size_t)(end - p) : n;

	if (t->line_len + len >= sizeof(t->line)) {
		fail_early(t, "the answer is not that of 'wale serve'");
		return n;
	}
	memcpy(t->line + t->line_len, p, len);
	t->line_len += len;
	if (!end)
		return n;
	take_line(t);
	return len + 1;
}

/* Remember the end of all that came. */
static void keep_tail(struct transfer *t, const char *p, size_t n)
{
	size_t keep = sizeof(t->tail) - 1;

	if (n >= keep) {
		memcpy(t->tail, p + n - keep, keep);
		t->tail_len = keep;
		return;
	}
	if (t->tail_len + n > keep) {
		size_t drop = t->tail_len + n - keep;

		memmove(t->tail, t->tail + drop, t->tail_len - drop);
		t->tail_len -= drop;
	}
	memcpy(t->tail + t->tail_len, p, n);
	t->tail_len += n;
}

static void take(struct transfer *t, const char *p, size_t n)
{
	keep_tail(t, p, n);
	while (n && t->state != GET_OVER) {
		size_t used = t->state == GET_DATA ? take_data(t, p, n)
						   : take_line_part(t, p, n);

		p += used;
		n -= used;
		if (t->state == GET_DATA && t->received == t->length)
			all_data_came(t);
	}
	if (t->state != GET_OVER)
		adapt_lowat(t);
}

/* Receive once, at most @limit bytes; returns false when there was nothing. */
static bool receive(struct transfer *t, size_t limit)
{
	static char buffer[READ_SIZE];
	ssize_t n;

	if (limit > sizeof(buffer))
		limit = sizeof(buffer);
	n = recv(t->socket.fd, buffer, limit, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0) {
		take(t, buffer, (size_t)n);
		return true;
	}
	if (t->state == GET_FINAL)
		end_final(t, n ? strerror(errno) : "it closed");
	else
		fail_early(t, n ? strerror(errno)
				: "the server closed the connection");
	return false;
}

/*
 * How much of what is there nobody looks at.  The kernel need not copy it, but
 * what came last stays in the socket: if the stream ends there, it says why.
 * A kernel that is short of memory wakes a reader before it has @lowat bytes.
 */
static size_t unseen(const struct transfer *t, uint32_t events)
{
	int there = 0;

	if (t->state != GET_DATA || !t->received || t->opt->digest ||
	    t->output.fd >= 0 || events != EPOLLIN || t->lowat <= GET_TAIL ||
	    t->length - t->received <= t->lowat)
		return 0;
	if (ioctl(t->socket.fd, SIOCINQ, &there) < 0 ||
	    (unsigned int)there < t->lowat)
		return 0;
	return t->lowat - GET_TAIL;
}

/* Throw away @size bytes of data that are in the socket. */
static void skip(struct transfer *t, size_t size)
{
	ssize_t n = recv(t->socket.fd, NULL, size, MSG_DONTWAIT | MSG_TRUNC);

	if (n <= 0)
		return;
	t->tail_len = 0;
	t->received += (size_t)n;
	adapt_lowat(t);
}

void transfer_ready(struct transfer *t, uint32_t events)
{
	enum get_state state = t->state;
	uint64_t received = t->received;
	size_t size = unseen(t, events);

	if (state == GET_CONNECT)
		connected(t);
	else if (size)
		skip(t, size);
	else if (state != GET_OVER)
		receive(t, READ_SIZE);
	/* a piece of a line is no progress: the server has it whole */
	if (state == GET_CONNECT || t->state != state ||
	    t->received != received)
		t->active = true;
}

void transfer_duration_over(struct transfer *t)
{
	int left = 0;

	if (t->state != GET_DATA)
		return;
	/* what is in the socket came in time */
	if (ioctl(t->socket.fd, SIOCINQ, &left) < 0)
		left = 0;
	while (left > 0 && t->state == GET_DATA) {
		uint64_t before = t->received;

		if (!receive(t, (size_t)left))
			break;
		left -= (int)(t->received - before);
	}
	if (t->state != GET_DATA)
		return;
	t->last_ns = clock_ns();
	finish_digest(t);
	shutdown(t->socket.fd, SHUT_WR);
	succeed(t, "duration");
}

/* Bytes in the socket that are too few to be woken for are progress too. */
static bool more_waits(struct transfer *t)
{
	int waiting = 0;
	bool more;

	if (ioctl(t->socket.fd, SIOCINQ, &waiting) < 0)
		return false;
	more = waiting > t->waiting;
	t->waiting = waiting;
	return more;
}

void transfer_tick(struct transfer *t, unsigned int limit)
{
	char why[64];

	if (more_waits(t) || t->active)
		t->stalled = 0;
	t->active = false;
	if (t->state == GET_OVER || t->stalled++ < limit)
		return;
	if (t->state == GET_CONNECT && connect_elsewhere(t))
		return;
	snprintf(why, sizeof(why), "%s came for %.3g s",
		 t->line_len ? "no whole line" : "nothing",
		 (double)t->opt->timeout_ns / 1e9);
	if (t->state == GET_FINAL)
		end_final(t, why);
	else if (t->state == GET_CONNECT)
		transfer_fail(t, "cannot connect to %s port %u: %s", t->host,
			      t->opt->port, why);
	else
		fail_early(t, why);
}
