// SPDX-License-Identifier: GPL-2.0
/*
 * guest_batches.c - the windows of guests that are on several machines
 *
 * Each machine has a controller (guest_windows.c), guests with numbers in a row, and a struct
 * wire_memory of its own with the rings of all.  When all guests of a machine stand still at the
 * end of a window, its controller sends one batch to each other one, over a TCP connection that
 * the launcher has made:
 *
 *	struct batch_head
 *	struct batch_guest	for each of its guests
 *	struct batch_ring	for each ring between the two machines
 *	records			what was written to these rings in the window
 *
 * Records go from the memory of one machine to that of the other without another copy.  After
 * the exchange all controllers know the same of all guests, and each decides alone, as the others
 * do, when the next window begins.  Numbers are in the machine's byte order: the magic number tells
 * if the other one differs.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "guest_batches.h"

/* A ring goes round its end at most once in a batch. */
#define PIECES_MAX	(1 + 2 * WIRE_RINGS_MAX)

/* What is sent or received, piece by piece, as the connection has room or data. */
struct pieces {
	struct iovec piece[PIECES_MAX];
	unsigned int at, count;
	uint64_t done;
};

struct fixed {
	struct batch_head head;
	char rest[WIRE_GUESTS_MAX * sizeof(struct batch_guest) +
		  WIRE_RINGS_MAX * sizeof(struct batch_ring)];
};

struct peer {
	const char *name;
	int fd;
	unsigned int first, count;	/* its guests */
	uint32_t ring[WIRE_RINGS_MAX];	/* the numbers of rings between it and us */
	unsigned int rings;
	struct fixed sent, received;
	struct pieces out, in;
	int checked;			/* what was received, but for the records */
};

static struct peer peers[WIRE_GUESTS_MAX];
static unsigned int n_peers;
static struct wire_memory *memory;
static unsigned int first_here, n_here;
static uint64_t window;

void fail(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

/* FD:FIRST:COUNT:NAME, from the launcher. */
void batches_add_peer(const char *text)
{
	struct peer *peer = &peers[n_peers];
	int name = 0;

	if (n_peers++ == WIRE_GUESTS_MAX)
		fail(1, "expected at most %d machines", WIRE_GUESTS_MAX);
	if (sscanf(text, "%d:%u:%u:%n", &peer->fd, &peer->first, &peer->count, &name) != 3 ||
	    !name || !peer->count || peer->count > WIRE_GUESTS_MAX ||
	    peer->first > WIRE_GUESTS_MAX - peer->count)
		fail(1, "expected FD:FIRST:COUNT:NAME of a machine, got %s", text);
	peer->name = text + name;
}

static int is_of(unsigned int guest, unsigned int first, unsigned int count)
{
	return guest >= first && guest - first < count;
}

static int is_here(unsigned int guest)
{
	return is_of(guest, first_here, n_here);
}

static struct wire_ring *ring_of(uint32_t number)
{
	return (void *)memory + memory->entry[number].offset;
}

void batches_begin(struct wire_memory *shared, unsigned int first, unsigned int count)
{
	memory = shared;
	first_here = first;
	n_here = count;
	for (struct peer *peer = peers; peer < peers + n_peers; peer++)
		for (uint32_t n = 0; n < memory->rings; n++) {
			const struct wire_ring_entry *entry = &memory->entry[n];
			int sends = is_of(entry->from, peer->first, peer->count);
			int receives = is_of(entry->to, peer->first, peer->count);

			if ((sends && is_here(entry->to)) || (receives && is_here(entry->from)))
				peer->ring[peer->rings++] = n;
		}
}

static struct batch_guest *guests_in(struct fixed *fixed)
{
	return (void *)fixed->rest;
}

static struct batch_ring *rings_in(struct fixed *fixed, unsigned int guests)
{
	return (void *)(fixed->rest + guests * sizeof(struct batch_guest));
}

static size_t fixed_bytes(unsigned int guests, unsigned int rings)
{
	return sizeof(struct batch_head) + guests * sizeof(struct batch_guest) +
	       rings * sizeof(struct batch_ring);
}

static void add_piece(struct pieces *pieces, void *from, size_t bytes)
{
	if (bytes)
		pieces->piece[pieces->count++] = (struct iovec){ from, bytes };
}

static void only_piece(struct pieces *pieces, void *from, size_t bytes)
{
	pieces->at = pieces->count = 0;
	pieces->done = 0;
	add_piece(pieces, from, bytes);
}

/* What a ring has between a position and another one, of which it may go round its end. */
static void add_records(struct pieces *pieces, uint32_t number, uint64_t from, uint64_t bytes)
{
	uint64_t size = memory->entry[number].size, place = from & (size - 1);
	uint64_t straight = bytes < size - place ? bytes : size - place;
	char *data = (char *)ring_of(number) + WIRE_PAGE;

	add_piece(pieces, data + place, straight);
	add_piece(pieces, data, bytes - straight);
}

/* What is sent to a peer. */
static void fill(struct peer *peer, const struct batch_head *head, const struct batch_guest *guests)
{
	struct batch_ring *entries = rings_in(&peer->sent, n_here);

	peer->sent.head = *head;
	peer->sent.head.rings = peer->rings;
	memcpy(guests_in(&peer->sent), guests + first_here, n_here * sizeof(*guests));
	only_piece(&peer->out, &peer->sent, fixed_bytes(n_here, peer->rings));
	for (unsigned int n = 0; n < peer->rings; n++) {
		uint32_t number = peer->ring[n];
		const struct wire_ring *ring = ring_of(number);

		entries[n] = (struct batch_ring){ .number = number, .position = ring->tail };
		if (!is_here(memory->entry[number].from))
			continue;
		if (ring->head - ring->head_seen > memory->entry[number].size)
			fail(1, "ring %u: more was written in a window than it has room for", number);
		entries[n].position = ring->head;
		entries[n].bytes = ring->head - ring->head_seen;
		peer->sent.head.data += entries[n].bytes;
		add_records(&peer->out, number, ring->head_seen, entries[n].bytes);
	}
}

static void __attribute__((noreturn)) damaged(const struct peer *peer, const char *what)
{
	fail(1, "the machine %s sent a batch that is damaged: %s", peer->name, what);
}

static void check_head(const struct peer *peer, uint64_t now_ns)
{
	const struct batch_head *head = &peer->received.head;

	if (head->magic != BATCH_MAGIC)
		damaged(peer, "it does not begin as one");
	if (head->version != BATCH_VERSION)
		fail(1, "the machine %s sends batches of version %u: expected %d", peer->name,
		     head->version, BATCH_VERSION);
	if (head->guests != peer->count || head->rings != peer->rings)
		damaged(peer, "it is about other guests or rings");
	if (head->window != window || head->now_ns != now_ns)
		fail(EXIT_LOST, "the machine %s is in another window: it has ended one at %.9f s, "
		     "and we one at %.9f s", peer->name, head->now_ns / 1e9, now_ns / 1e9);
}

/* A ring that the peer writes, and we read: its records come to where they are in the peer's. */
static void check_written(struct peer *peer, const struct batch_ring *entry)
{
	uint64_t size = memory->entry[entry->number].size;
	struct wire_ring *ring = ring_of(entry->number);

	if (entry->position != ring->head + entry->bytes)
		damaged(peer, "records are missing");
	if (entry->bytes > size || entry->position - ring->tail > size)
		damaged(peer, "a ring has no room for its records");
	add_records(&peer->in, entry->number, ring->head, entry->bytes);
}

/* A ring that we write. */
static void check_read(const struct peer *peer, const struct batch_ring *entry)
{
	struct wire_ring *ring = ring_of(entry->number);

	if (entry->bytes || entry->position < ring->tail || entry->position > ring->head)
		damaged(peer, "a ring was read further than it is written");
	ring->tail = entry->position;
}

/* All but the records is there. */
static void check(struct peer *peer, uint64_t now_ns)
{
	const struct batch_ring *entries = rings_in(&peer->received, peer->count);
	uint64_t data = 0;

	check_head(peer, now_ns);
	only_piece(&peer->in, NULL, 0);
	for (unsigned int n = 0; n < peer->rings; n++) {
		if (entries[n].number != peer->ring[n])
			damaged(peer, "it is about other rings");
		if (is_here(memory->entry[peer->ring[n]].from))
			check_read(peer, &entries[n]);
		else
			check_written(peer, &entries[n]);
		data += entries[n].bytes;
	}
	if (data != peer->received.head.data)
		damaged(peer, "its length is not that of its records");
	peer->checked = 1;
}

static int is_done(const struct pieces *pieces)
{
	return pieces->at == pieces->count;
}

static void advance(struct pieces *pieces, size_t bytes)
{
	pieces->done += bytes;
	while (bytes) {
		struct iovec *piece = &pieces->piece[pieces->at];
		size_t part = bytes < piece->iov_len ? bytes : piece->iov_len;

		piece->iov_base += part;
		piece->iov_len -= part;
		bytes -= part;
		if (!piece->iov_len)
			pieces->at++;
	}
}

static void __attribute__((noreturn)) lost(const struct peer *peer, const char *why)
{
	fail(EXIT_LOST, "the connection with the machine %s broke at the end of window %llu: %s",
	     peer->name, (unsigned long long)window, why);
}

/* Send or receive as much as can be without waiting. */
static void move(struct peer *peer, struct pieces *pieces, int sending)
{
	struct msghdr msg = {
		.msg_iov = pieces->piece + pieces->at,
		.msg_iovlen = pieces->count - pieces->at,
	};
	ssize_t n = sending ? sendmsg(peer->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) :
			      recvmsg(peer->fd, &msg, MSG_DONTWAIT);

	if (n > 0)
		advance(pieces, n);
	else if (!n)
		lost(peer, pieces->done || peer->checked ? "it ended within a batch" : "it ended");
	else if (errno != EAGAIN && errno != EINTR)
		lost(peer, strerror(errno));
}

static void take(struct peer *peer, uint64_t now_ns)
{
	move(peer, &peer->in, 0);
	if (is_done(&peer->in) && !peer->checked)
		check(peer, now_ns);
}

static int is_left(const struct peer *peer)
{
	return !is_done(&peer->out) || !is_done(&peer->in) || !peer->checked;
}

/* All send and receive at once: who only sent first might wait for one that does so, too. */
static void move_all(uint64_t now_ns)
{
	for (;;) {
		struct pollfd fds[WIRE_GUESTS_MAX];
		int left = 0;

		for (unsigned int n = 0; n < n_peers; n++) {
			short events = is_done(&peers[n].in) ? 0 : POLLIN;

			if (!is_done(&peers[n].out))
				events |= POLLOUT;
			left += is_left(&peers[n]);
			fds[n] = (struct pollfd){ events ? peers[n].fd : -1, events, 0 };
		}
		if (!left)
			return;
		if (poll(fds, n_peers, -1) < 0 && errno != EINTR)
			fail(1, "poll: %s", strerror(errno));
		for (unsigned int n = 0; n < n_peers; n++) {
			if (!is_done(&peers[n].out) && fds[n].revents)
				move(&peers[n], &peers[n].out, 1);
			if (!is_done(&peers[n].in) && fds[n].revents & ~POLLOUT)
				take(&peers[n], now_ns);
		}
	}
}

/* Which guests something was sent for, of what is written here. */
static uint32_t fed_here(void)
{
	uint32_t fed = 0;

	for (uint32_t n = 0; n < memory->rings; n++)
		if (is_here(memory->entry[n].from) && ring_of(n)->head != ring_of(n)->head_seen)
			fed |= 1U << memory->entry[n].to;
	return fed;
}

/* What the peer has said, now that all of it is here. */
static void apply(struct peer *peer, struct batch_guest *guests)
{
	const struct batch_ring *entries = rings_in(&peer->received, peer->count);

	memcpy(guests + peer->first, guests_in(&peer->received), peer->count * sizeof(*guests));
	for (unsigned int n = 0; n < peer->count; n++)
		memory->stage[peer->first + n] = guests[peer->first + n].stage;
	if (peer->received.head.over)
		memory->over = 1;
	for (unsigned int n = 0; n < peer->rings; n++)
		if (!is_here(memory->entry[peer->ring[n]].from))
			ring_of(peer->ring[n])->head = entries[n].position;
}

/*
 * Tell all peers how the guests here stand, and learn it of theirs.  Return: a bit for each guest
 * for which a guest has sent something in the window.
 */
uint32_t batches_exchange(struct batch_guest *guests, uint64_t now_ns)
{
	struct batch_head head = {
		.magic = BATCH_MAGIC,
		.version = BATCH_VERSION,
		.window = window,
		.now_ns = now_ns,
		.guests = n_here,
		.fed = fed_here(),
		.over = memory->over,
	};
	uint32_t fed = head.fed;

	for (struct peer *peer = peers; peer < peers + n_peers; peer++) {
		fill(peer, &head, guests);
		only_piece(&peer->in, &peer->received, fixed_bytes(peer->count, peer->rings));
		peer->checked = 0;
	}
	move_all(now_ns);
	for (struct peer *peer = peers; peer < peers + n_peers; peer++) {
		apply(peer, guests);
		fed |= peer->received.head.fed;
	}
	window++;
	return fed;
}
