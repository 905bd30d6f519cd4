// SPDX-License-Identifier: GPL-2.0
/*
 * cmd_serve.c - "wale serve": send files to "wale get"
 *
 * One thread, one epoll.  Each connection is a state machine (serve_conn.c)
 * of a few hundred bytes; the data stay in the page cache.  While no socket
 * has anything to do, digests are computed in slices (serve_file.c).  The
 * clock is read twice per transfer and never in between: timeouts are counted
 * in ticks of a timer that runs only while there are connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/command.h"
#include "serve_conn.h"
#include "serve_file.h"
#include "serve_options.h"
#include "serve_output.h"
#include "serve_process.h"
#include "transfer.h"
#include "transfer_proto.h"

#define BACKLOG 4096 /* the kernel lowers it to net.core.somaxconn */
#define ACCEPT_TURN 64 /* connections taken before others' turn */
#define LINGERING_MAX 256 /* connections whose transfer is over */
#define SPARE_FDS 64 /* descriptors that are not of a transfer */

/**
 * struct loop - the process
 * @server: shared with the connections
 * @listeners: sockets that listen
 * @locals: their addresses, "" of one that listens on all of the host
 * @n_listeners: how many
 * @listening: they are in the epoll
 * @full_conns: connections when it was left
 * @signals: signalfd
 * @tick: timerfd of the timeouts
 * @ticking: it is armed
 * @output: standard output, while records wait for it
 * @output_watched: it is in the epoll
 * @spare_fd: given up to refuse a connection when descriptors are used up
 * @stop: a signal came
 */
struct loop {
	struct server server;
	struct watch listeners[SERVE_LISTENERS_MAX];
	char locals[SERVE_LISTENERS_MAX][ADDRESS_MAX];
	unsigned int n_listeners;
	bool listening;
	unsigned int full_conns;
	struct watch signals;
	struct watch tick;
	bool ticking;
	struct watch output;
	bool output_watched;
	int spare_fd;
	int stop;
};

/* As many descriptors as the host allows. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * No more connections than there are descriptors: in the worst case each has a file of
 * its own.  @spare_fd was opened last, if there was room for it.
 */
static int set_limits(struct server *server, int spare_fd)
{
	struct rlimit limit;
	rlim_t used, spare, pairs;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	used = spare_fd < 0 ? limit.rlim_cur : (rlim_t)spare_fd + 1;
	/* one more to refuse a connection, and two for a transfer */
	if (limit.rlim_cur < used + 3) {
		fprintf(stderr,
			"wale serve: %llu open files are allowed (ulimit -n): expected at least %llu\n",
			(unsigned long long)limit.rlim_cur,
			(unsigned long long)used + 3);
		return 1;
	}
	spare = limit.rlim_cur / 2;
	if (spare > SPARE_FDS)
		spare = SPARE_FDS;
	if (spare < used + 1)
		spare = used + 1;
	pairs = (limit.rlim_cur - spare) / 2;
	if (server->max_lingering > pairs / 4)
		server->max_lingering = (unsigned int)(pairs / 4);
	pairs -= server->max_lingering;
	if (server->max_transfers > pairs)
		server->max_transfers = (unsigned int)pairs;
	return 0;
}

static int add_watch(struct loop *loop, struct watch *watch)
{
	struct epoll_event event = {
		.events = watch->kind == WATCH_OUTPUT ? EPOLLOUT : EPOLLIN,
		.data.ptr = watch,
	};

	return epoll_ctl(loop->server.epoll_fd, EPOLL_CTL_ADD, watch->fd,
			 &event);
}

static void drop_watch(struct loop *loop, const struct watch *watch)
{
	epoll_ctl(loop->server.epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

/* What each connection has from its listener. */
static void set_inherited(int fd, unsigned int batch)
{
	int on = 1, size = (int)batch;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
	/* without privileges the system's limit holds */
	if (size &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* A socket that listens on @info; -1 with errno. */
static int open_listener(const struct addrinfo *info, bool dual,
			 unsigned int batch)
{
	int on = 1, v6only = !dual, err, fd;

	fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    IPPROTO_TCP);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	set_inherited(fd, batch);
	if (info->ai_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) <
		    0)
		goto fail;
	if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 ||
	    listen(fd, BACKLOG) < 0)
		goto fail;
	return fd;
fail:
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Everything is open: tell people, and who manages the service. */
static void announce(const struct loop *loop, const struct serve_options *opt)
{
	for (unsigned int i = 0; i < loop->n_listeners && !opt->quiet; i++) {
		struct sockaddr_storage address = { 0 };
		socklen_t len = sizeof(address);
		char text[ADDRESS_MAX];

		getsockname(loop->listeners[i].fd, (struct sockaddr *)&address,
			    &len);
		address_text(&address, text);
		fprintf(stderr, "wale serve: serving %s on %s\n", opt->folder,
			text);
	}
	if (!geteuid() && !opt->quiet)
		fputs("wale serve: warning: it runs as root: clients can read every file in the folder, and have the kernel load congestion controls; --user NAME takes that from it\n",
		      stderr);
	serve_notify("READY=1");
}

/* The address of listener @fd, which is that of its connections; "" if it has no single one. */
static void note_local(int fd, char local[ADDRESS_MAX])
{
	struct sockaddr_storage address = { 0 };
	const struct sockaddr_in6 *in6 = (const void *)&address;
	const struct sockaddr_in *in = (const void *)&address;
	socklen_t len = sizeof(address);

	*local = '\0';
	if (getsockname(fd, (struct sockaddr *)&address, &len))
		return;
	if (address.ss_family == AF_INET
		    ? in->sin_addr.s_addr != htonl(INADDR_ANY)
		    : !IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
		address_text(&address, local);
}

/* Listen on every address of @name; NULL: on all, IPv6 and IPv4 together. */
static int listen_on(struct loop *loop, const struct serve_options *opt,
		     const char *name)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *info;
	char port[8];
	int err, fd;

	snprintf(port, sizeof(port), "%u", opt->port);
	err = getaddrinfo(name ? name : "::", port, &hints, &list);
	if (err) {
		fprintf(stderr,
			"wale serve: --listen '%s': expected an address of this host: %s\n",
			name ? name : "::", gai_strerror(err));
		return 1;
	}
	for (info = list; info; info = info->ai_next) {
		if (loop->n_listeners == SERVE_LISTENERS_MAX)
			break;
		fd = open_listener(info, !name, opt->batch);
		if (fd < 0) {
			err = errno;
			break;
		}
		note_local(fd, loop->locals[loop->n_listeners]);
		loop->listeners[loop->n_listeners++] =
			(struct watch){ .kind = WATCH_LISTENER, .fd = fd };
	}
	freeaddrinfo(list);
	if (err == EAFNOSUPPORT && !name)
		return listen_on(loop, opt, "0.0.0.0"); /* without IPv6 */
	if (err)
		fprintf(stderr, "wale serve: cannot listen on %s port %u: %s\n",
			name ? name : "any address", opt->port, strerror(err));
	return err ? 1 : 0;
}

/* Take new connections, or leave them to the kernel's queue for now. */
static void set_listening(struct loop *loop, bool on)
{
	if (loop->listening == on)
		return;
	loop->listening = on;
	loop->full_conns = loop->server.n_conns;
	for (unsigned int i = 0; i < loop->n_listeners; i++) {
		if (on)
			add_watch(loop, &loop->listeners[i]);
		else
			drop_watch(loop, &loop->listeners[i]);
	}
}

/*
 * No descriptors are left: take one connection to tell it so.  False if there
 * was none to take.
 */
static bool refuse_without_fds(struct loop *loop, int listener)
{
	static const char text[] = WALE_PROTO
		" ERROR " WALE_E_BUSY
		" the server has no descriptors left: try again later\n";
	int err, fd;

	if (loop->spare_fd >= 0)
		close(loop->spare_fd);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		char request[WALE_REQUEST_MAX];

		/* what is not read would make close() throw the text away */
		(void)!recv(fd, request, sizeof(request), MSG_DONTWAIT);
		(void)!send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL);
		close(fd);
		loop->server.refused++;
	}
	err = errno;
	loop->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0 && err != EAGAIN)
		set_listening(loop, false);
	return fd >= 0;
}

static void accept_some(struct loop *loop, const struct watch *watch)
{
	const char *local = loop->locals[watch - loop->listeners];
	struct server *server = &loop->server;
	int listener = watch->fd;

	for (int i = 0; i < ACCEPT_TURN; i++) {
		struct sockaddr_storage peer = { 0 };
		socklen_t len = sizeof(peer);
		int fd;

		fd = accept4(listener, (struct sockaddr *)&peer, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			conn_open(server, fd, &peer, *local ? local : NULL);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EMFILE || errno == ENFILE) {
			if (!refuse_without_fds(loop, listener))
				return;
		} else if (errno == ENOBUFS || errno == ENOMEM) {
			set_listening(loop, false);
			return;
		}
	}
}

static void tick(struct loop *loop)
{
	struct conn *conn, *next;
	uint64_t times;

	(void)!read(loop->tick.fd, &times, sizeof(times));
	for (conn = loop->server.conns; conn; conn = next) {
		next = conn->next;
		conn_tick(conn);
	}
	set_listening(loop, true);
}

static void set_ticking(struct loop *loop)
{
	bool on = loop->server.n_conns || !loop->listening;
	uint64_t ns = loop->server.idle_timeout_ns / SERVE_TICKS;

	if (loop->ticking == on)
		return;
	loop->ticking = on;
	timer_set_fd(loop->tick.fd, on ? ns : 0, on ? ns : 0);
}

/* Be told when standard output takes records, while some wait. */
static void set_output_watched(struct loop *loop)
{
	bool on = serve_output_waits();

	if (loop->output_watched == on)
		return;
	loop->output_watched = on;
	if (on)
		add_watch(loop, &loop->output);
	else
		drop_watch(loop, &loop->output);
}

static void read_signal(struct loop *loop)
{
	struct signalfd_siginfo info;

	if (read(loop->signals.fd, &info, sizeof(info)) == sizeof(info))
		loop->stop = (int)info.ssi_signo;
}

/* Is the work of --once done? */
static bool once_done(struct loop *loop)
{
	struct server *server = &loop->server;

	if (!server->once || server->transfers < server->once)
		return false;
	for (unsigned int i = 0; i < loop->n_listeners; i++)
		close(loop->listeners[i].fd);
	loop->n_listeners = 0;
	return !server->n_conns;
}

static void serve_events(struct loop *loop, struct epoll_event *events, int n)
{
	bool ticked = false;

	for (int i = 0; i < n; i++) {
		struct watch *watch = events[i].data.ptr;

		switch (watch->kind) {
		case WATCH_CONN:
			conn_ready((struct conn *)watch, events[i].events);
			break;
		case WATCH_LISTENER:
			accept_some(loop, watch);
			break;
		case WATCH_SIGNAL:
			read_signal(loop);
			break;
		case WATCH_TICK:
			ticked = true;
			break;
		case WATCH_OUTPUT:
			serve_output_write();
			break;
		}
	}
	/* these end connections that may have had an event above */
	if (ticked)
		tick(loop);
	if (served_digest_pending()) {
		const struct served_digest *done = served_digest_work();

		if (done)
			conns_digest_finished(&loop->server, done);
	}
}

static int run(struct loop *loop)
{
	struct epoll_event events[256];

	while (!loop->stop && !once_done(loop)) {
		int n;

		set_ticking(loop);
		set_output_watched(loop);
		n = epoll_wait(loop->server.epoll_fd, events,
			       sizeof(events) / sizeof(events[0]),
			       served_digest_pending() ? 0 : -1);
		if (n < 0 && errno != EINTR) {
			perror("wale serve: epoll_wait");
			return 1;
		}
		serve_events(loop, events, n);
		if (loop->server.n_conns < loop->full_conns)
			set_listening(loop, true);
	}
	return 0;
}

static int open_folder(struct loop *loop, const struct serve_options *opt)
{
	loop->server.folder_fd =
		open(opt->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (loop->server.folder_fd >= 0)
		return 0;
	fprintf(stderr,
		"wale serve: '%s': expected a folder that can be read: %s\n",
		opt->folder, strerror(errno));
	return 1;
}

/* What needs privileges comes first; then they go; the folder is opened last. */
static int open_all(struct loop *loop, const struct serve_options *opt)
{
	struct serve_user user = { .text = opt->user };
	int err = 0;

	if (opt->user && !serve_user_find(&user))
		return 1;
	loop->server.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->signals = (struct watch){ WATCH_SIGNAL, signals_open() };
	loop->tick = (struct watch){ WATCH_TICK, timer_create_fd() };
	loop->output = (struct watch){ WATCH_OUTPUT, STDOUT_FILENO };
	if (loop->server.epoll_fd < 0 || loop->signals.fd < 0 ||
	    loop->tick.fd < 0 || add_watch(loop, &loop->signals) ||
	    add_watch(loop, &loop->tick)) {
		perror("wale serve: epoll, signalfd or timerfd");
		return 1;
	}
	if (!opt->n_listen)
		err = listen_on(loop, opt, NULL);
	for (unsigned int i = 0; i < opt->n_listen && !err; i++)
		err = listen_on(loop, opt, opt->listen[i]);
	if (!err && opt->user && !serve_user_become(&user))
		return 1;
	if (err || open_folder(loop, opt))
		return 1;
	loop->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return set_limits(&loop->server, loop->spare_fd);
}

static void close_all(struct loop *loop)
{
	conns_stop(&loop->server);
	served_files_forget();
	for (unsigned int i = 0; i < loop->n_listeners; i++)
		close(loop->listeners[i].fd);
	close(loop->server.epoll_fd);
	close(loop->server.folder_fd);
	close(loop->signals.fd);
	close(loop->tick.fd);
	close(loop->spare_fd);
}

static void summary(const struct server *server)
{
	char bytes[HUMAN_MAX];

	if (server->quiet)
		return;
	fprintf(stderr,
		"wale serve: %llu transfers, %llu complete, %s; %llu requests refused\n",
		(unsigned long long)server->transfers,
		(unsigned long long)server->complete,
		human_bytes((double)server->bytes, bytes),
		(unsigned long long)server->refused);
}

int cmd_serve(int argc, char **argv)
{
	struct serve_options opt;
	static struct loop loop;
	int err;

	err = serve_options_parse(argc, argv, &opt);
	if (err)
		return err < 0 ? 0 : err;
	loop.server = (struct server){
		.max_transfers = opt.max_transfers,
		.max_per_address = opt.max_per_address,
		.max_lingering = LINGERING_MAX,
		.idle_timeout_ns = opt.idle_timeout_ns,
		.once = opt.once,
		.json = opt.json,
		.quiet = opt.quiet,
	};
	raise_limit();
	err = open_all(&loop, &opt);
	if (err)
		return err;
	announce(&loop, &opt);
	set_listening(&loop, true);
	err = run(&loop);
	serve_notify("STOPPING=1");
	close_all(&loop);
	if (!serve_output_finish())
		err = 1;
	summary(&loop.server);
	return err;
}
