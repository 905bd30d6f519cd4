// SPDX-License-Identifier: GPL-2.0
/*
 * guest_windows.c - one virtual time for several User-Mode Linux guests that run at once
 *
 *	guest_windows [-f FIRST] [-p FD:FIRST:COUNT:NAME]... LOOKAHEAD_NS MEMORY FOLDER...
 *
 * Each guest was started in a FOLDER with time-travel=ext:time, and asks here, on the socket
 * "time" of its folder, when its time may go on (include/uapi/linux/um_timetravel.h of the
 * kernel).  Time goes on in windows: from the earliest event of any guest until LOOKAHEAD_NS
 * later, the least time that a packet takes from one guest to another.  So nothing that a guest
 * does in a window can matter to another one in the same window, and all guests that have
 * something to do in it run at the same time of the host.  Where nobody has anything to do, the
 * next window begins later.
 *
 * Between two windows all guests stand still.  Then MEMORY (kmod/wire/wire_ring.h) is looked at:
 * a guest for which something has come is told so by a byte on the socket "wake" of its folder,
 * has an interrupt at the beginning of the window, and answers with a byte.  Nothing of this
 * depends on which guest is faster.
 *
 * Linux 6.12 and later need two messages a turn: each guest has a page of its own in which both
 * sides read the rest, so that all may run at once.  Linux 6.1 does it with messages alone.
 *
 * With guests on several machines each machine has such a program, for the guests with numbers from
 * FIRST on, and a connection FD to that of each other machine, which has COUNT guests from its FIRST
 * on.  What they tell each other between two windows is in guest_batches.c; then all begin the same
 * window.
 *
 * It ends when all guests have ended, or with a sentence and 1; 2 if another machine has left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <signal.h>
#include <unistd.h>

#include "guest_batches.h"

/* The protocol's messages, and the operations that matter here. */
struct message {
	uint32_t op;
	uint32_t seq;
	uint64_t time;
};

enum {
	ACK,
	START,
	REQUEST,
	WAIT,
	GET,
	UPDATE,
	RUN,
	FREE_UNTIL,
};

#define NEVER	((uint64_t)INT64_MAX)

/* What a guest and this program share by the protocol, with one client: the guest. */
#define SHARED_VERSION	2
#define SHARED_CLIENT	1

struct shared {
	union {
		struct {
			uint32_t version;
			uint32_t len;
			uint64_t free_until;
			uint64_t current_time;
			uint16_t running_id;
			uint16_t max_clients;
		};
		char page[4096];
	};
	union {
		struct {
			uint32_t capa;
			uint32_t flags;
			uint64_t req_time;
			uint64_t name;
		};
		char room[128];
	} client[SHARED_CLIENT + 1];
};

struct guest {
	const char *folder;
	volatile struct shared *shared;
	int shared_fd;
	int time_listener, wake_listener;
	int time, wake;		/* -1: not connected, or gone */
	int gone, waiting, introduced, woken;
	int away;		/* on another machine */
	int connected;		/* it can be woken */
	uint64_t request;	/* its next event */
	uint32_t seq;
};

static struct guest guests[WIRE_GUESTS_MAX];
static unsigned int n_guests;	/* on all machines */
static struct wire_memory *memory;
static int no_log;
static uint64_t now_ns;

static int listener(const char *folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, name);
	if (chdir(folder))
		fail(1, "%s: %s", folder, strerror(errno));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		fail(1, "%s/%s: %s", folder, name, strerror(errno));
	return fd;
}

static void share_page(struct guest *guest)
{
	guest->shared_fd = memfd_create("time", MFD_CLOEXEC);
	if (guest->shared_fd < 0 || ftruncate(guest->shared_fd, sizeof(struct shared)))
		fail(1, "memory: %s", strerror(errno));
	guest->shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			     guest->shared_fd, 0);
	if (guest->shared == MAP_FAILED)
		fail(1, "memory: %s", strerror(errno));
	guest->shared->version = SHARED_VERSION;
	guest->shared->len = sizeof(struct shared);
	guest->shared->running_id = SHARED_CLIENT;
	guest->shared->max_clients = SHARED_CLIENT + 1;
}

/* A kernel that knows the page has said so in it when it got it. */
static int knows_page(const struct guest *guest)
{
	return guest->shared->client[SHARED_CLIENT].capa & 1;
}

static void add_guest(struct guest *guest, const char *folder)
{
	share_page(guest);
	guest->folder = folder;
	guest->time_listener = listener(folder, "time");
	guest->wake_listener = listener(folder, "wake");
	guest->away = guest->waiting = 0;
}

/* Those with numbers from @first on are here; what is said of others comes from their machines. */
static void add_guests(unsigned int first, char *const *folders, unsigned int here)
{
	if (n_guests > WIRE_GUESTS_MAX || here > n_guests || first > n_guests - here)
		fail(1, "expected at most %u guests, got %u from number %u on", n_guests, here, first);
	for (unsigned int n = 0; n < n_guests; n++)
		guests[n] = (struct guest){
			.time_listener = -1,
			.wake_listener = -1,
			.time = -1,
			.wake = -1,
			.away = 1,
			.waiting = 1,
			.request = NEVER,
		};
	for (unsigned int n = 0; n < here; n++)
		add_guest(&guests[first + n], folders[n]);
}

static void map_memory(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		fail(1, "%s: %s", path, strerror(errno));
	if ((size_t)st.st_size < sizeof(*memory))
		fail(1, "%s: expected at least %zu bytes", path, sizeof(*memory));
	memory = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		fail(1, "%s: %s", path, strerror(errno));
	close(fd);
	if (memory->magic != WIRE_MAGIC || memory->version != WIRE_VERSION)
		fail(1, "%s: expected version %d of the memory of guests", path, WIRE_VERSION);
}

static void leave(struct guest *guest)
{
	close(guest->time);
	guest->time = -1;
	guest->gone = 1;
	guest->waiting = 0;
	guest->request = NEVER;
}

static void send_message(struct guest *guest, uint32_t op, uint32_t seq, uint64_t time)
{
	struct message message = { .op = op, .seq = seq, .time = time };

	if (send(guest->time, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
		leave(guest);
}

/* The answer to START: the page, and a log that kernels want and do not use. */
static void answer_start(struct guest *guest, uint32_t seq)
{
	struct message message = { .op = ACK, .seq = seq, .time = SHARED_CLIENT };
	struct iovec iov = { &message, sizeof(message) };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	const int fds[2] = { guest->shared_fd, no_log };
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(head), fds, sizeof(fds));
	if (sendmsg(guest->time, &msg, MSG_NOSIGNAL) != sizeof(message))
		leave(guest);
}

static void take_message(struct guest *guest)
{
	struct message message;
	ssize_t n = recv(guest->time, &message, sizeof(message), MSG_WAITALL);

	if (n != sizeof(message)) {
		leave(guest);
		return;
	}
	switch (message.op) {
	case ACK:
		return;
	case START:
		answer_start(guest, message.seq);
		return;
	case REQUEST:
		guest->request = message.time;
		break;
	case WAIT:
		guest->waiting = 1;
		if (!knows_page(guest))
			break;
		guest->request = guest->shared->client[SHARED_CLIENT].req_time;
		return;
	}
	send_message(guest, ACK, message.seq, message.op == GET ? now_ns : 0);
}

static int accepted(int *from)
{
	int fd = accept4(*from, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		fail(1, "accept: %s", strerror(errno));
	close(*from);
	*from = -1;
	return fd;
}

/* Wait until a guest says something; poll() passes over -1. */
static void listen_to_guests(void)
{
	struct pollfd fds[3 * WIRE_GUESTS_MAX];
	unsigned int n;

	for (n = 0; n < n_guests; n++) {
		fds[3 * n] = (struct pollfd){ guests[n].time, POLLIN, 0 };
		fds[3 * n + 1] = (struct pollfd){ guests[n].time_listener, POLLIN, 0 };
		fds[3 * n + 2] = (struct pollfd){ guests[n].wake_listener, POLLIN, 0 };
	}
	if (poll(fds, 3 * n_guests, -1) < 0 && errno != EINTR)
		fail(1, "poll: %s", strerror(errno));
	for (n = 0; n < n_guests; n++) {
		if (fds[3 * n].revents)
			take_message(&guests[n]);
		if (fds[3 * n + 1].revents)
			guests[n].time = accepted(&guests[n].time_listener);
		if (fds[3 * n + 2].revents)
			guests[n].wake = accepted(&guests[n].wake_listener);
	}
}

static int all_stand_still(void)
{
	for (unsigned int n = 0; n < n_guests; n++)
		if (!guests[n].gone && !guests[n].waiting)
			return 0;
	return 1;
}

/* A guest connects to be woken while it runs: that is seen before the next window. */
static void take_connections(void)
{
	for (unsigned int n = 0; n < n_guests; n++) {
		struct pollfd fd = { guests[n].wake_listener, POLLIN, 0 };

		if (poll(&fd, 1, 0) > 0)
			guests[n].wake = accepted(&guests[n].wake_listener);
		if (!guests[n].away)
			guests[n].connected = guests[n].wake >= 0;
	}
}

/* Have a guest that stands still ask for a turn now: its machine does that. */
static void wake(struct guest *guest)
{
	char byte = 0;

	guest->introduced = 1;
	if (guest->away) {
		guest->request = now_ns;
		return;
	}
	guest->woken = 1;
	guest->shared->current_time = now_ns;
	if (send(guest->wake, &byte, 1, MSG_NOSIGNAL) != 1)
		leave(guest);
}

/* Its answer, or what it asks before that. */
static void take_answer(struct guest *guest)
{
	struct pollfd fds[2] = {
		{ guest->wake, POLLIN, 0 },
		{ guest->time, POLLIN, 0 },
	};
	char byte;

	if (poll(fds, 2, -1) < 0)
		return;
	if (fds[1].revents)
		take_message(guest);
	else if (recv(guest->wake, &byte, 1, 0) != 1)
		leave(guest);
	else
		guest->woken = 0;
}

static void take_answers(void)
{
	for (unsigned int n = 0; n < n_guests; n++) {
		struct guest *guest = &guests[n];

		while (guest->woken && !guest->gone)
			take_answer(guest);
		if (!guest->away && !guest->gone && knows_page(guest))
			guest->request = guest->shared->client[SHARED_CLIENT].req_time;
	}
}

static void check_ring(unsigned int number, const struct wire_ring *ring)
{
	static const char *const why[] = {
		[WIRE_FULL] = "it is full: more is sent in a window than the link's rate allows",
		[WIRE_LATE] = "a packet would arrive before the next window begins",
		[WIRE_DAMAGED] = "what is in it is not what a guest writes",
		[WIRE_MEMORY] = "the receiving guest has no memory for what arrives",
	};
	const struct wire_ring_entry *entry = &memory->entry[number];
	uint32_t error = ring->error;

	if (!error)
		return;
	fail(1, "the link from guest %u to guest %u failed at %.9f s: %s", entry->from, entry->to,
	     now_ns / 1e9, error <= WIRE_MEMORY ? why[error] : "for no known reason");
}

/* What has been sent until now is there for its receivers. */
static void look_at_rings(void)
{
	for (unsigned int n = 0; n < memory->rings; n++) {
		const struct wire_ring_entry *entry = &memory->entry[n];
		struct wire_ring *ring = (void *)memory + entry->offset;

		check_ring(n, ring);
		if (guests[entry->to].gone)
			ring->tail = ring->head;
		ring->head_seen = ring->head;
		ring->tail_seen = ring->tail;
	}
}

/* Guests that wait for others to be as far are told when all are. */
static void look_at_stages(int *has_come)
{
	uint32_t least = UINT32_MAX;

	for (unsigned int n = 0; n < n_guests; n++)
		if (!guests[n].gone && memory->stage[n] < least)
			least = memory->stage[n];
	if (least == memory->stage_seen)
		return;
	memory->stage_seen = least;
	for (unsigned int n = 0; n < n_guests; n++)
		has_come[n] = 1;
}

/* A guest in which something went wrong ends the experiment in all. */
static void look_for_end(int *has_come)
{
	if (memory->over == memory->over_seen)
		return;
	memory->over_seen = memory->over;
	for (unsigned int n = 0; n < n_guests; n++)
		has_come[n] = 1;
}

static void run(struct guest *guest)
{
	guest->waiting = 0;
	if (knows_page(guest)) {
		guest->shared->free_until = now_ns;
		guest->shared->current_time = guest->request;
	} else {
		send_message(guest, FREE_UNTIL, ++guest->seq, now_ns);
	}
	if (!guest->gone)
		send_message(guest, RUN, ++guest->seq, guest->request);
}

/* When the first event of a guest is. */
static uint64_t first_event_ns(void)
{
	uint64_t first_ns = NEVER;

	for (unsigned int n = 0; n < n_guests; n++)
		if (!guests[n].gone && guests[n].request < first_ns)
			first_ns = guests[n].request;
	return first_ns;
}

/* How the guests of all machines stand, and for which of them something was sent. */
static uint32_t exchange(void)
{
	struct batch_guest all[WIRE_GUESTS_MAX];
	uint32_t fed;

	for (unsigned int n = 0; n < n_guests; n++)
		all[n] = (struct batch_guest){
			.request = guests[n].request,
			.stage = memory->stage[n],
			.flags = (guests[n].gone ? BATCH_GONE : 0) |
				 (guests[n].connected ? BATCH_CONNECTED : 0),
		};
	fed = batches_exchange(all, now_ns);
	for (unsigned int n = 0; n < n_guests; n++) {
		guests[n].request = all[n].request;
		guests[n].gone = !!(all[n].flags & BATCH_GONE);
		guests[n].connected = !!(all[n].flags & BATCH_CONNECTED);
	}
	return fed;
}

/* All stand still: the next window, at whose beginning something has come for some: @fed. */
static void begin_window(uint64_t lookahead_ns, uint32_t fed)
{
	int has_come[WIRE_GUESTS_MAX] = {};
	uint64_t first_ns;

	for (unsigned int n = 0; n < n_guests; n++)
		has_come[n] = fed >> n & 1;
	look_at_rings();
	look_at_stages(has_come);
	look_for_end(has_come);
	memory->now_ns = now_ns;
	for (unsigned int n = 0; n < n_guests; n++) {
		struct guest *guest = &guests[n];

		if (!guest->gone && guest->connected && (has_come[n] || !guest->introduced))
			wake(guest);
	}
	take_answers();
	first_ns = first_event_ns();
	now_ns = first_ns < NEVER - lookahead_ns ? first_ns + lookahead_ns : NEVER;
	memory->end_ns = now_ns;
	for (unsigned int n = 0; n < n_guests; n++)
		if (!guests[n].gone && !guests[n].away &&
		    (guests[n].request < now_ns || first_ns == NEVER))
			run(&guests[n]);
}

static int all_gone(void)
{
	for (unsigned int n = 0; n < n_guests; n++)
		if (!guests[n].gone)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	unsigned int first = 0;
	uint64_t lookahead_ns;
	int option;

	while ((option = getopt(argc, argv, "+f:p:")) != -1)
		if (option == 'f')
			first = strtoul(optarg, NULL, 10);
		else if (option == 'p')
			batches_add_peer(optarg);
		else
			return 1;
	argc -= optind;
	argv += optind;
	if (argc < 3)
		fail(1, "expected LOOKAHEAD_NS MEMORY FOLDER...");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lookahead_ns = strtoull(argv[0], NULL, 10);
	map_memory(argv[1]);
	no_log = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (no_log < 0)
		fail(1, "/dev/null: %s", strerror(errno));
	n_guests = memory->guests;
	add_guests(first, argv + 2, argc - 2);
	batches_begin(memory, first, argc - 2);
	puts("ready");
	fflush(stdout);
	for (;;) {
		uint32_t fed;

		while (!all_stand_still())
			listen_to_guests();
		take_connections();
		fed = exchange();
		if (all_gone())
			return 0;
		begin_window(lookahead_ns, fed);
	}
}
