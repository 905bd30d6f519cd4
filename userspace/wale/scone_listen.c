// SPDX-License-Identifier: GPL-2.0
/*
 * scone_listen.c - wale scone listen: advice that arrives, for TCP to the same peer
 *
 * What is published is the lowest signal of the last period.  It changes at most as often as
 * there are signals, and is renewed once a second, however many packets come.
 */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "lib/scone_peers.h"
#include "lib/units.h"
#include "rate.h"
#include "scone.h"

/* More packets in a second are not looked at. */
#define PACKETS_PER_SECOND 1000

struct listen {
	struct genl genl;
	struct rate_path path; /* what is set, for each peer */
	struct scone_peers *peers;
	uint32_t ifindex;
	bool show;
	bool json;
	bool quiet;
	uint64_t second_ns; /* when this second began */
	uint64_t in_second;
	uint64_t signals;
	uint64_t unknown;
	uint64_t malformed;
	uint64_t skipped; /* above the limit, or of too many peers */
	uint64_t failed;
};

static int take_word(struct listen *l, int argc, char **argv)
{
	struct rate_error error;
	int taken;

	if (!strcmp(*argv, "--show")) {
		l->show = true;
		return 1;
	}
	if (!strcmp(*argv, "--json")) {
		l->json = true;
		return 1;
	}
	if (!strcmp(*argv, "--quiet")) {
		l->quiet = true;
		return 1;
	}
	if (!strcmp(*argv, "dev")) {
		if (l->ifindex) {
			scone_wrong("listen: dev is given twice");
			return -1;
		}
		l->ifindex = argc > 1 ? rate_device_index(argv[1]) : 0;
		if (l->ifindex)
			return 2;
		scone_wrong(argc > 1 ? "there is no device \"%s\""
				     : "dev: a device was expected",
			    argc > 1 ? argv[1] : "");
		return -1;
	}
	taken = rate_path_parse(&l->path, argc, argv, &error);
	if (taken < 0)
		scone_wrong("%s", error.text);
	else if (!taken)
		scone_wrong("no option \"%s\"", *argv);
	return taken > 0 ? taken : -1;
}

static int parse(struct listen *l, int argc, char **argv)
{
	const unsigned int own = RATE_PATH_RATE | RATE_PATH_TIME |
				 RATE_PATH_FOLLOW | RATE_PATH_AGE_LIMIT;
	int taken;

	for (; argc > 0; argc -= taken, argv += taken) {
		taken = take_word(l, argc, argv);
		if (taken < 0)
			return WALE_EXIT_USAGE;
	}
	if (l->path.set & own)
		return scone_wrong("listen: rate, time, age and follow come "
				   "from the advice");
	if (!(l->path.set & RATE_PATH_MEANING))
		l->path.meaning = RATE_FEEDBACK_MEANING_LINK;
	if (!(l->path.set & RATE_PATH_LAG))
		l->path.lag = RATE_FEEDBACK_LAG_RTT;
	l->path.age_limit = SCONE_PERIOD_NS;
	l->path.set |= RATE_PATH_MEANING | RATE_PATH_LAG | RATE_PATH_RATE |
		       RATE_PATH_AGE_LIMIT;
	return WALE_EXIT_OK;
}

static struct rate_key key_of(const struct scone_peer *peer)
{
	struct rate_key key = {
		.kind = RATE_KEY_DST,
		.family = peer->family,
		.prefix_len = peer->family == AF_INET ? 32 : 128,
	};

	memcpy(key.daddr, peer->address, sizeof(key.daddr));
	return key;
}

static void say(const struct listen *l, const struct rate_key *key,
		uint8_t signal)
{
	char text[RATE_KEY_MAX], rate[UNITS_MAX];
	struct json_line json;

	rate_key_format(text, key);
	if (l->quiet)
		return;
	if (l->json) {
		json_begin(&json, stdout);
		json_text(&json, "dst", strchr(text, ' ') + 1);
		if (signal == SCONE_UNKNOWN)
			json_null(&json, "rate");
		else
			json_u64(&json, "rate", scone_rate(signal));
		json_end(&json);
	} else {
		printf("%s %s\n", text,
		       signal == SCONE_UNKNOWN
			       ? "none"
			       : units_format_rate(rate, scone_rate(signal)));
	}
	fflush(stdout);
}

/* The first failure is told, others are counted. */
static void check(struct listen *l, const struct rate_key *key, int err)
{
	char buf[RATE_KEY_MAX], what[RATE_KEY_MAX + 16];

	if (!err || l->failed++)
		return;
	snprintf(what, sizeof(what), "set %s", rate_key_format(buf, key));
	scone_cannot(what, l->genl.rtnl.error);
}

static void publish(struct listen *l, struct scone_peer *peer, uint8_t signal,
		    uint64_t now_ns)
{
	const struct rate_key key = key_of(peer);

	if (signal != peer->told)
		say(l, &key, signal);
	peer->told = signal;
	peer->told_ns = now_ns;
	if (l->show)
		return;
	if (signal == SCONE_UNKNOWN) {
		rate_channel_del(&l->genl, &key);
		return;
	}
	l->path.key = key;
	l->path.rate = scone_rate(signal);
	check(l, &key, rate_channel_set(&l->genl, &l->path));
}

static void hear(struct listen *l, const struct scone_packet *packet,
		 uint64_t now_ns)
{
	struct scone_peer *peer;
	uint8_t lowest;

	if (packet->signal == SCONE_UNKNOWN) {
		l->unknown++;
		return;
	}
	peer = scone_peers_hear(l->peers, packet, now_ns);
	if (!peer) {
		l->skipped++;
		return;
	}
	l->signals++;
	lowest = scone_peer_lowest(peer, now_ns);
	if (lowest != peer->told || now_ns - peer->told_ns >= RATE_SECOND)
		publish(l, peer, lowest, now_ns);
}

static void look_at(struct listen *l, const uint8_t *data, size_t length,
		    uint64_t now_ns)
{
	struct scone_packet packet;

	switch (scone_packet_read(&packet, data, length)) {
	case SCONE_SIGNAL:
		hear(l, &packet, now_ns);
		break;
	case SCONE_MALFORMED:
		l->malformed++;
		break;
	case SCONE_NONE:
		break;
	}
}

/* Much of what is there; -1 with errno. */
static int read_packets(struct listen *l, int fd)
{
	uint64_t now_ns = rate_now();
	uint8_t data[2048];
	ssize_t length = 0;
	int i;

	if (now_ns - l->second_ns >= RATE_SECOND) {
		l->second_ns = now_ns;
		l->in_second = 0;
	}
	for (i = 0; i < PACKETS_PER_SECOND; i++) {
		length = scone_socket_read(fd, data, sizeof(data));
		if (length <= 0)
			break;
		if (l->in_second++ < PACKETS_PER_SECOND)
			look_at(l, data, length, now_ns);
		else
			l->skipped++;
	}
	return length < 0 && errno != ENETDOWN ? -1 : 0;
}

/* What was lowest, or all, may be older than a period now. */
static void forget(struct listen *l)
{
	uint64_t now_ns = rate_now();
	struct scone_peer *peer;
	uint8_t lowest;
	size_t i;

	for (i = 0; i < SCONE_PEERS_MAX; i++) {
		peer = &l->peers->peer[i];
		if (!peer->used)
			continue;
		lowest = scone_peer_lowest(peer, now_ns);
		if (lowest != peer->told)
			publish(l, peer, lowest, now_ns);
		peer->used = lowest != SCONE_UNKNOWN;
	}
}

/* What is deleted, or moved to another namespace, does not come back with this index. */
static bool device_is_gone(const struct listen *l)
{
	char name[IF_NAMESIZE];

	return l->ifindex && !if_indextoname(l->ifindex, name);
}

static int run(struct listen *l, int fd, struct rate_wait *wait)
{
	uint64_t tick_ns = rate_now() + RATE_SECOND;

	for (;;) {
		switch (rate_wait(wait, tick_ns)) {
		case RATE_WAKE_SIGNAL:
			return WALE_EXIT_OK;
		case RATE_WAKE_TIME:
			if (device_is_gone(l))
				return scone_cannot("listen",
						    "the device is gone");
			forget(l);
			tick_ns += RATE_SECOND;
			break;
		case RATE_WAKE_EVENTS:
			if (!read_packets(l, fd))
				break;
			/* fall through */
		default:
			return scone_cannot("listen", strerror(errno));
		}
	}
}

static void end(struct listen *l)
{
	struct rate_key key;
	size_t i;

	for (i = 0; !l->show && i < SCONE_PEERS_MAX; i++) {
		key = key_of(&l->peers->peer[i]);
		if (l->peers->peer[i].used)
			rate_channel_del(&l->genl, &key);
	}
	fprintf(stderr,
		"wale scone: %" PRIu64 " with advice, %" PRIu64
		" unknown, %" PRIu64 " malformed, %" PRIu64 " not looked at\n",
		l->signals, l->unknown, l->malformed, l->skipped);
}

static int listen_at(struct listen *l)
{
	struct rate_wait wait;
	int fd, status;

	fd = scone_socket_open(l->ifindex);
	if (fd < 0)
		return scone_cannot("listen", strerror(errno));
	if (rate_wait_open(&wait, fd)) {
		status = scone_cannot("listen", strerror(errno));
	} else {
		status = run(l, fd, &wait);
		rate_wait_close(&wait);
		end(l);
	}
	close(fd);
	return status ? status : l->failed ? WALE_EXIT_FAILED : WALE_EXIT_OK;
}

int scone_listen(int argc, char **argv)
{
	struct listen l = { .path = { .follow_netns_fd = -1 } };
	int status;

	status = parse(&l, argc, argv);
	if (!status && !l.show && rate_channel_open(&l.genl))
		status = scone_cannot("listen", l.genl.rtnl.error);
	if (!status) {
		l.peers = calloc(1, sizeof(*l.peers));
		status = l.peers ? listen_at(&l)
				 : scone_cannot("listen", strerror(ENOMEM));
	}
	genl_close(&l.genl);
	rate_path_close(&l.path);
	free(l.peers);
	return status;
}
