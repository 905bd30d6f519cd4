// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_transfer_stream.c - what a server sends, as "wale get" takes it
 *
 * The input comes out of a socket, as from a server that means harm, in pieces
 * of the length that its first byte says.  The transfer must come to an end; it
 * is complete only if all that was promised came; and what is told of it, of a
 * failure too, is JSON with all that is known, and text that does nothing to a
 * terminal.
 */
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "json_check.h"
#include "lib/utf8.h"
#include "transfer/get_transfer.h"

static const struct get_options options = { .digest = true };

static void start(struct transfer *t, int fd, int epoll_fd, uint8_t how)
{
	struct epoll_event event = { .events = EPOLLIN,
				     .data.ptr = &t->socket };

	memset(t, 0, sizeof(*t));
	t->opt = &options;
	t->epoll_fd = epoll_fd;
	t->host = (char *)"host";
	t->name = (char *)"name";
	t->source = "host:name";
	t->request.name = t->name;
	t->request.sha256 = how & 1;
	t->request.has_bytes = how & 2;
	t->request.bytes = 5;
	t->socket = (struct get_watch){ GET_SOCKET, fd, t };
	t->timer = (struct get_watch){ GET_DURATION, -1, t };
	t->output.fd = -1;
	t->lowat = 1;
	t->state = GET_REPLY;
	sha256_init(&t->context);
	must(!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event));
}

/* What was printed: the texts are to be freed. */
struct printed {
	char *out, *err;
	size_t out_length, err_length;
};

static void report(struct transfer *t, bool json, struct printed *p)
{
	struct get_options opt = options;
	FILE *old_out = stdout, *old_err = stderr;

	opt.json = json;
	t->opt = &opt;
	stdout = open_memstream(&p->out, &p->out_length);
	stderr = open_memstream(&p->err, &p->err_length);
	if (stdout && stderr)
		transfer_report(t);
	fclose(stdout);
	fclose(stderr);
	stdout = old_out;
	stderr = old_err;
	t->opt = &options;
}

/* One line, of nothing but characters that can be seen. */
static void check_line(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	must(length && text[length - 1] == '\n');
	for (size_t n, left = length - 1; left; s += n, left -= n) {
		n = utf8_length(s, left);
		must(n && !utf8_is_control(s));
	}
}

/* What "wale get" prints, with --json and without: of a failure, why. */
static void check_report(struct transfer *t)
{
	bool failed = *t->error;
	struct printed p;

	for (int json = 0; json < 2; json++) {
		report(t, json, &p);
		must(!failed == !p.err_length);
		if (failed) {
			check_line(p.err, p.err_length);
			must(strstr(p.err, t->error));
		}
		must(!p.out_length == (failed && !json));
		if (p.out_length)
			check_line(p.out, p.out_length);
		if (json)
			json_check(p.out, p.out_length);
		free(p.out);
		free(p.err);
	}
}

/* Who checked the digest has got it from the server. */
static bool has_digest(const struct transfer *t, const char *data, size_t size)
{
	size_t length = strlen(t->hex), i;

	for (i = 0; i + length <= size; i++)
		if (!strncasecmp(data + i, t->hex, length))
			return true;
	return false;
}

static void check_over(struct transfer *t, const char *data, size_t size)
{
	must(t->state == GET_OVER && t->socket.fd < 0 && t->timer.fd < 0);
	must(!t->completed == !!*t->error);
	must(memchr(t->error, '\0', sizeof(t->error)));
	must(memchr(t->cc, '\0', sizeof(t->cc)));
	must(t->received <= t->length);
	if (t->completed) {
		must(t->received == t->length);
		must(!t->request.has_bytes || t->length == t->request.bytes);
		must(t->verified || t->has_stats);
		must(!t->verified || has_digest(t, data, size));
		must(!t->request.sha256 || t->verified);
	}
	check_report(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int epoll_fd = -1;
	static struct transfer t;
	const char *all = (const char *)data;
	size_t piece, all_size = size;
	int pair[2];

	if (size < 2 || size > 60000)
		return 0;
	if (epoll_fd < 0)
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	start(&t, pair[0], epoll_fd, data[0]);
	piece = data[0] < 4 ? size : data[0];
	data++;
	size--;
	while (size && t.state != GET_OVER) {
		size_t n = piece < size ? piece : size;

		must(send(pair[1], data, n, MSG_NOSIGNAL) == (ssize_t)n);
		transfer_ready(&t, EPOLLIN);
		data += n;
		size -= n;
	}
	close(pair[1]);
	if (t.state != GET_OVER)
		transfer_ready(&t, EPOLLIN | EPOLLRDHUP);
	check_over(&t, all, all_size);
	return 0;
}
