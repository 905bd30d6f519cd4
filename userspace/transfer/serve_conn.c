// SPDX-License-Identifier: GPL-2.0
/*
 * serve_conn.c - one connection of "wale serve": see serve_conn.h
 *
 * The data go out with sendfile(2): from the page cache, through no buffer of
 * this process.  TCP_CORK, which a connection has from its listener, holds back a
 * last short segment until the trailer is there to fill it.
 */
#include "serve_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_TURN (1024 * 1024) /* bytes given to TCP before others' turn */
#define SEND_CALLS 64 /* sendfile calls in a turn: small files repeated */

static void set_option(const struct conn *conn, int option, int value)
{
	setsockopt(conn->watch.fd, IPPROTO_TCP, option, &value, sizeof(value));
}

static void wait_for(struct conn *conn, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = conn };

	if (conn->events == events)
		return;
	epoll_ctl(conn->server->epoll_fd, EPOLL_CTL_MOD, conn->watch.fd,
		  &event);
	conn->events = events;
}

static bool is_active(const struct conn *conn)
{
	return conn->state < CONN_LAST;
}

/* Its address may have one more. */
static void forget_address(struct conn *conn)
{
	serve_peer_drop(conn->address);
	conn->address = NULL;
}

/*
 * It is no longer one of those that count against the limit of all.  One that had
 * a file counts against its address as long as it is there: by reading slowly a
 * client decides how long that is.
 */
static void deactivate(struct conn *conn)
{
	conn->server->n_active--;
	if (!conn->file)
		forget_address(conn);
}

static void set_state(struct conn *conn, enum conn_state state)
{
	bool was_active = is_active(conn);

	conn->state = state;
	if (was_active && !is_active(conn))
		deactivate(conn);
	conn->stalled = 0;
}

/* Give back everything but the socket. */
static void release(struct conn *conn)
{
	if (conn->digest)
		served_digest_put(conn->digest);
	if (conn->file)
		served_file_put(conn->file);
	free(conn->request);
	free(conn->name);
}

/* Gone, with its result printed if it had a request. */
static void conn_close(struct conn *conn)
{
	struct server *server = conn->server;

	conn_record(conn);
	if (is_active(conn))
		deactivate(conn);
	forget_address(conn);
	if (conn->next)
		conn->next->prev = conn->prev;
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		server->conns = conn->next;
	server->n_conns--;
	close(conn->watch.fd);
	release(conn);
	free(conn);
}

/* Close at once: what is still in the socket is thrown away. */
static void conn_reset(struct conn *conn, const char *status)
{
	struct linger hard = { .l_onoff = 1 };

	if (conn->file && !conn->status)
		conn->status = status;
	conn_record(conn);
	setsockopt(conn->watch.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	conn_close(conn);
}

/* The client went before it had everything, as at the end of a duration. */
static void client_closed(struct conn *conn)
{
	wale_refuse(&conn->why, WALE_E_CLOSED,
		    "the client closed the connection before the end");
	conn_reset(conn, "stopped");
}

enum flow { FLOW_DONE, FLOW_WAIT, FLOW_GONE };

/* Send what is in @out. */
static enum flow flush_out(struct conn *conn, int flags)
{
	while (conn->out_pos < conn->out_len) {
		ssize_t n = send(conn->watch.fd, conn->out + conn->out_pos,
				 conn->out_len - conn->out_pos,
				 flags | MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? FLOW_WAIT : FLOW_GONE;
		conn->out_pos += (size_t)n;
		conn->written += (uint64_t)n;
	}
	return FLOW_DONE;
}

static void set_out(struct conn *conn, int len)
{
	conn->out_pos = 0;
	conn->out_len = len < 0 ? 0 : (size_t)len;
	if (conn->out_len >= sizeof(conn->out))
		conn->out_len = sizeof(conn->out) - 1;
}

/* So many that are over are still there that this one gets no time. */
static bool is_crowded(const struct server *server)
{
	return server->n_conns - server->n_active > server->max_lingering;
}

/* What is not read would make close(2) throw away what was sent. */
static void close_read(struct conn *conn)
{
	char buffer[WALE_REQUEST_MAX];

	(void)!recv(conn->watch.fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	conn_close(conn);
}

/* The last words are out: tell the end, and wait for the client's. */
static void send_last(struct conn *conn)
{
	enum flow flow = flush_out(conn, 0);

	if (flow == FLOW_WAIT && !is_crowded(conn->server)) {
		wait_for(conn, EPOLLIN | EPOLLOUT);
		return;
	}
	if (flow != FLOW_DONE) {
		conn_reset(conn, "stopped");
		return;
	}
	set_option(conn, TCP_CORK, 0);
	shutdown(conn->watch.fd, SHUT_WR);
	if (is_crowded(conn->server)) {
		close_read(conn);
		return;
	}
	set_state(conn, CONN_LINGER);
	wait_for(conn, EPOLLIN);
}

/* Refuse the request, for the reason in conn->why. */
static void refuse(struct conn *conn)
{
	conn->status = "refused";
	conn_record(conn);
	set_out(conn, snprintf(conn->out, sizeof(conn->out),
			       WALE_PROTO " ERROR %s %s\n", conn->why.code,
			       conn->why.text));
	set_state(conn, CONN_LAST);
	send_last(conn);
}

/* End a transfer that went wrong, for the reason in conn->why. */
static void abort_transfer(struct conn *conn, const char *status)
{
	conn->status = status;
	/* the line that was on its way, if any, must come whole */
	if (flush_out(conn, 0) != FLOW_DONE) {
		conn_reset(conn, status);
		return;
	}
	set_out(conn, snprintf(conn->out, sizeof(conn->out),
			       "%s" WALE_PROTO " ABORT %s %s\n",
			       conn->state == CONN_DATA ? "\n" : "",
			       conn->why.code, conn->why.text));
	set_state(conn, CONN_LAST);
	send_last(conn);
}

static void abort_changed(struct conn *conn)
{
	wale_refuse(&conn->why, WALE_E_CHANGED,
		    "the file changed while it was sent");
	abort_transfer(conn, "changed");
}

/* A proc file of one line, for an error message. */
static void read_setting(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	snprintf(text, size, "?");
	if (!file)
		return;
	if (fgets(text, (int)size, file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

/* Set the congestion control asked for, and learn which one is in force. */
static bool apply_cc(struct conn *conn, const char *cc)
{
	socklen_t len = WALE_CC_MAX + 1;
	char list[128];

	if (*cc && setsockopt(conn->watch.fd, IPPROTO_TCP, TCP_CONGESTION, cc,
			      (socklen_t)strlen(cc)) < 0) {
		if (errno == EPERM) {
			read_setting(
				"/proc/sys/net/ipv4/tcp_allowed_congestion_control",
				list, sizeof(list));
			return wale_refuse(
				&conn->why, WALE_E_CC_REFUSED,
				"congestion control '%s' needs CAP_NET_ADMIN at the server, or to be in its sysctl net.ipv4.tcp_allowed_congestion_control: %s",
				cc, list);
		}
		if (errno == ENOENT) {
			read_setting(
				"/proc/sys/net/ipv4/tcp_available_congestion_control",
				list, sizeof(list));
			return wale_refuse(
				&conn->why, WALE_E_CC_UNKNOWN,
				"the server has no congestion control '%s'; available: %s",
				cc, list);
		}
		return wale_refuse(&conn->why, WALE_E_INTERNAL,
				   "cannot set congestion control '%s': %s", cc,
				   strerror(errno));
	}
	if (*cc)
		snprintf(conn->cc, sizeof(conn->cc), "%s", cc);
	else if (getsockopt(conn->watch.fd, IPPROTO_TCP, TCP_CONGESTION,
			    conn->cc, &len) < 0)
		conn->cc[0] = '\0';
	conn->cc[WALE_CC_MAX] = '\0';
	return true;
}

/* Which bytes to send; checked against the size of the file. */
static bool set_range(struct conn *conn, const struct wale_request *req,
		      uint64_t size)
{
	uint64_t left;

	if (req->offset > size)
		return wale_refuse(
			&conn->why, WALE_E_RANGE,
			"offset %llu is beyond the end of the file, which has %llu bytes",
			(unsigned long long)req->offset,
			(unsigned long long)size);
	left = size - req->offset;
	conn->offset = req->offset;
	if (req->repeat) {
		conn->length = req->has_bytes ? req->bytes : WALE_BYTES_ENDLESS;
		if (!size && conn->length)
			return wale_refuse(
				&conn->why, WALE_E_RANGE,
				"the file is empty: there is nothing to repeat");
		if (!req->has_bytes && req->sha256)
			return wale_refuse(
				&conn->why, WALE_E_RANGE,
				"a transfer without an end has no digest: expected bytes=N or sha256=0");
		return true;
	}
	conn->length = req->has_bytes ? req->bytes : left;
	if (conn->length > left)
		return wale_refuse(
			&conn->why, WALE_E_RANGE,
			"the file has only %llu bytes from offset %llu: expected bytes=N up to that, or repeat=1",
			(unsigned long long)left,
			(unsigned long long)req->offset);
	return true;
}

/* Everything a transfer needs; false with a reason if it cannot start. */
static bool start_transfer(struct conn *conn, const struct wale_request *req)
{
	struct served_file *file;

	if (!apply_cc(conn, req->cc))
		return false;
	file = served_file_open(conn->server->folder_fd, req->name, &conn->why);
	if (!file)
		return false;
	if (!set_range(conn, req, (uint64_t)file->stat.st_size)) {
		served_file_put(file);
		return false;
	}
	if (req->sha256) {
		conn->digest =
			served_digest_get(file, conn->offset, conn->length);
		if (!conn->digest) {
			served_file_put(file);
			return wale_refuse(&conn->why, WALE_E_INTERNAL,
					   "out of memory");
		}
	}
	conn->file = file;
	return true;
}

static void send_data(struct conn *conn);

/* A request line of @len bytes is in conn->request. */
static void take_request(struct conn *conn, size_t len)
{
	struct wale_request req;
	int n;

	conn->start_ns = clock_ns();
	if (!wale_request_parse(conn->request, len, &req, &conn->why)) {
		refuse(conn);
		return;
	}
	conn->name = strdup(req.name);
	if (!conn->name)
		wale_refuse(&conn->why, WALE_E_INTERNAL, "out of memory");
	if (!conn->name || !start_transfer(conn, &req)) {
		refuse(conn);
		return;
	}
	free(conn->request);
	conn->request = NULL;

	n = snprintf(conn->out, sizeof(conn->out),
		     WALE_PROTO " OK bytes=%llu size=%llu cc=%s sha256=%d\n",
		     (unsigned long long)conn->length,
		     (unsigned long long)conn->file->stat.st_size, conn->cc,
		     conn->digest != NULL);
	set_out(conn, n);
	conn->head_len = conn->out_len;
	set_state(conn, CONN_DATA);
	send_data(conn);
}

static void read_request(struct conn *conn)
{
	size_t room = WALE_REQUEST_MAX - conn->request_len;
	char *end;
	ssize_t n;

	n = recv(conn->watch.fd, conn->request + conn->request_len, room,
		 MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 || (!n && !conn->request_len)) {
		conn_close(conn);
		return;
	}
	end = memchr(conn->request + conn->request_len, '\n', (size_t)n);
	conn->request_len += (size_t)n;
	if (end && end + 1 == conn->request + conn->request_len) {
		take_request(conn, (size_t)(end - conn->request));
		return;
	}
	if (end)
		wale_refuse(
			&conn->why, WALE_E_REQUEST,
			"there is something after the request: expected nothing after its LF");
	else if (!n)
		wale_refuse(
			&conn->why, WALE_E_REQUEST,
			"the request was cut off after %zu bytes: expected a line that ends with LF",
			conn->request_len);
	else if (conn->request_len == WALE_REQUEST_MAX)
		wale_refuse(
			&conn->why, WALE_E_REQUEST,
			"the request is too long: expected a line of at most %d bytes",
			WALE_REQUEST_MAX);
	else
		return;
	refuse(conn);
}

/* Send END, or go where that leads. */
static void send_end(struct conn *conn)
{
	enum flow flow = flush_out(conn, 0);

	if (flow == FLOW_GONE) {
		client_closed(conn);
	} else if (flow == FLOW_DONE) {
		set_option(conn, TCP_CORK, 0);
		set_state(conn, CONN_WAIT);
		wait_for(conn, EPOLLIN);
	} else {
		wait_for(conn, EPOLLIN | EPOLLOUT);
	}
}

/* The data are sent, and the digest is finished or not wanted. */
static void finish_data(struct conn *conn)
{
	char hex[WALE_SHA256_HEX] = "-";

	/* so that an abort is on a line of its own */
	set_state(conn, CONN_END);
	if (!served_file_unchanged(conn->file) ||
	    (conn->digest && conn->digest->error == ENODATA)) {
		abort_changed(conn);
		return;
	}
	if (conn->digest && conn->digest->error) {
		wale_refuse(&conn->why, WALE_E_READ, "cannot read the file: %s",
			    strerror(conn->digest->error));
		abort_transfer(conn, "failed");
		return;
	}
	if (conn->digest)
		wale_hex(conn->digest->value, hex);
	set_out(conn, snprintf(conn->out, sizeof(conn->out),
			       WALE_PROTO " END sha256=%s\n", hex));
	send_end(conn);
}

static void data_sent(struct conn *conn)
{
	if (conn->digest) {
		served_digest_allow(conn->digest, conn->sent);
		served_digest_hurry(conn->digest);
	}
	if (!conn->digest || conn->digest->ready || conn->digest->error) {
		finish_data(conn);
		return;
	}
	set_option(conn, TCP_CORK, 0);
	set_state(conn, CONN_DIGEST);
	wait_for(conn, EPOLLIN);
}

/* sendfile failed, or found no data where the file was longer before. */
static void send_failed(struct conn *conn, ssize_t n)
{
	if (!n) {
		wale_refuse(&conn->why, WALE_E_CHANGED,
			    "the file became shorter while it was sent");
		abort_transfer(conn, "changed");
	} else if (errno == EPIPE || errno == ECONNRESET ||
		   errno == ETIMEDOUT || errno == EHOSTUNREACH ||
		   errno == ENETUNREACH) {
		client_closed(conn);
	} else {
		wale_refuse(&conn->why, WALE_E_READ, "cannot read the file: %s",
			    strerror(errno));
		abort_transfer(conn, "failed");
	}
}

static void send_data(struct conn *conn)
{
	enum flow flow = flush_out(conn, MSG_MORE);
	uint64_t turn = SEND_TURN;

	if (flow == FLOW_GONE) {
		client_closed(conn);
		return;
	}
	if (flow == FLOW_WAIT)
		turn = 0;
	for (int i = 0; i < SEND_CALLS && turn && conn->sent < conn->length;
	     i++) {
		uint64_t size = (uint64_t)conn->file->stat.st_size;
		uint64_t at = served_file_position(conn->file,
						   conn->offset + conn->sent);
		uint64_t want = conn->length - conn->sent;
		off_t from = (off_t)at;
		ssize_t n;

		if (want > size - at)
			want = size - at;
		if (want > turn)
			want = turn;
		n = sendfile(conn->watch.fd, conn->file->fd, &from,
			     (size_t)want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			send_failed(conn, n);
			return;
		}
		conn->sent += (uint64_t)n;
		conn->written += (uint64_t)n;
		turn -= (uint64_t)n;
	}
	if (flow == FLOW_DONE && conn->sent == conn->length) {
		data_sent(conn);
		return;
	}
	if (conn->digest)
		served_digest_allow(conn->digest, conn->sent);
	wait_for(conn, EPOLLIN | EPOLLOUT);
}

/* The client closed after END: it has everything.  Tell it what TCP knows. */
static void finish(struct conn *conn)
{
	const struct tcp_info *info;

	if (conn_unacked(conn)) {
		client_closed(conn);
		return;
	}
	if (!served_file_unchanged(conn->file)) {
		/* what was in the socket may have changed with the file */
		abort_changed(conn);
		return;
	}
	conn->status = "complete";
	conn_record(conn);
	info = conn_tcp_info(conn);
	set_out(conn,
		snprintf(
			conn->out, sizeof(conn->out),
			WALE_PROTO
			" DONE retransmits=%u min_rtt_us=%u rtt_us=%u rttvar_us=%u\n",
			info->tcpi_total_retrans, info->tcpi_min_rtt,
			info->tcpi_rtt, info->tcpi_rttvar));
	flush_out(conn, 0);
	conn_close(conn);
}

/* The client sent something, or closed, after its request. */
static void read_more(struct conn *conn)
{
	char buffer[4096];
	ssize_t n = recv(conn->watch.fd, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (conn->state == CONN_LAST || conn->state == CONN_LINGER) {
		if (n <= 0)
			conn_close(conn);
		return;
	}
	if (n > 0) {
		wale_refuse(
			&conn->why, WALE_E_REQUEST,
			"there is something after the request: expected nothing after its LF");
		abort_transfer(conn, "failed");
		return;
	}
	if (!n && conn->state == CONN_WAIT) {
		finish(conn);
		return;
	}
	client_closed(conn);
}

static void conn_output(struct conn *conn)
{
	switch (conn->state) {
	case CONN_DATA:
		send_data(conn);
		break;
	case CONN_END:
		send_end(conn);
		break;
	case CONN_LAST:
		send_last(conn);
		break;
	default:
		break;
	}
}

void conn_ready(struct conn *conn, uint32_t events)
{
	/* either may end the connection, so only one of the two at a time */
	if (conn->state == CONN_REQUEST)
		read_request(conn);
	else if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_more(conn);
	else if (events & EPOLLOUT)
		conn_output(conn);
}

void conn_tick(struct conn *conn)
{
	uint64_t acked = conn->written - conn_unacked(conn);
	bool progress =
		acked != conn->acked_mark && conn->state != CONN_REQUEST;

	conn->acked_mark = acked;
	if (progress || conn->state == CONN_DIGEST) {
		conn->stalled = 0;
		return;
	}
	/* the first tick came after less than a whole one */
	if (conn->stalled++ < (is_active(conn) ? SERVE_TICKS : 1))
		return;
	if (conn->state == CONN_REQUEST) {
		wale_refuse(&conn->why, WALE_E_TIMEOUT,
			    "no complete request came within %.3g s",
			    (double)conn->server->idle_timeout_ns / 1e9);
		refuse(conn);
		return;
	}
	if (conn->state == CONN_WAIT && !conn_unacked(conn)) {
		/* it has everything, and only does not close */
		if (!served_file_unchanged(conn->file)) {
			abort_changed(conn);
			return;
		}
		conn->status = "complete";
		conn->idle_ns = conn_tcp_info(conn)->tcpi_last_ack_recv *
				UINT64_C(1000000);
		conn_close(conn);
		return;
	}
	if (!conn->status)
		wale_refuse(&conn->why, WALE_E_TIMEOUT,
			    "nothing was acknowledged for %.3g s",
			    (double)conn->server->idle_timeout_ns / 1e9);
	conn_reset(conn, "timeout");
}

void conns_digest_finished(struct server *server,
			   const struct served_digest *digest)
{
	struct conn *conn, *next;

	for (conn = server->conns; conn; conn = next) {
		next = conn->next;
		if (conn->state == CONN_DIGEST && conn->digest == digest)
			finish_data(conn);
	}
}

void conns_stop(struct server *server)
{
	struct conn *conn, *next;

	for (conn = server->conns; conn; conn = next) {
		next = conn->next;
		if (!conn->file || conn->status)
			continue;
		wale_refuse(&conn->why, WALE_E_STOPPING,
			    "the server was stopped");
		abort_transfer(conn, "aborted");
	}
	while (server->conns)
		conn_close(server->conns);
}

/* May there be one more?  False with the reason. */
static bool conn_admit(struct conn *conn, const struct sockaddr_storage *peer)
{
	const struct server *server = conn->server;

	if (server->n_active > server->max_transfers)
		return wale_refuse(
			&conn->why, WALE_E_BUSY,
			"the server has its maximum of %u transfers at once: try again later",
			server->max_transfers);
	if (!server->max_per_address)
		return true;
	conn->address = serve_peer_add(peer);
	if (!conn->address)
		return wale_refuse(&conn->why, WALE_E_BUSY,
				   "the server has no memory left");
	if (serve_peer_transfers(conn->address) > server->max_per_address)
		return wale_refuse(
			&conn->why, WALE_E_BUSY,
			"your address has its maximum of %u transfers at once: try again later",
			server->max_per_address);
	return true;
}

void conn_open(struct server *server, int fd,
	       const struct sockaddr_storage *peer, const char *local)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };

	if (conn)
		conn->request = malloc(WALE_REQUEST_MAX + 1);
	if (!conn || !conn->request ||
	    epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		if (conn)
			free(conn->request);
		free(conn);
		close(fd);
		return;
	}
	conn->watch = (struct watch){ .kind = WATCH_CONN, .fd = fd };
	conn->events = EPOLLIN;
	conn->server = server;
	conn->local = local;
	conn->next = server->conns;
	if (conn->next)
		conn->next->prev = conn;
	server->conns = conn;
	server->n_conns++;
	server->n_active++;
	address_text(peer, conn->peer);
	if (!conn_admit(conn, peer))
		refuse(conn);
}
