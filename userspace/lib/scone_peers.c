// SPDX-License-Identifier: GPL-2.0
/*
 * scone_peers.c - the advice that counts, of each peer that packets came from
 *
 * Of each signal the time when it last came is kept, so that the lowest of the last period is
 * known however many packets come.
 */
#include <string.h>

#include "scone_peers.h"

static struct scone_peer *find(struct scone_peers *peers,
			       const struct scone_packet *packet)
{
	struct scone_peer *peer, *unused = NULL;
	size_t i;

	for (i = 0; i < SCONE_PEERS_MAX; i++) {
		peer = &peers->peer[i];
		if (!peer->used)
			unused = unused ? unused : peer;
		else if (peer->family == packet->family &&
			 !memcmp(peer->address, packet->from,
				 sizeof(peer->address)))
			return peer;
	}
	return unused;
}

struct scone_peer *scone_peers_hear(struct scone_peers *peers,
				    const struct scone_packet *packet,
				    uint64_t now_ns)
{
	struct scone_peer *peer = find(peers, packet);

	if (!peer)
		return NULL;
	if (!peer->used) {
		memset(peer, 0, sizeof(*peer));
		peer->used = true;
		peer->family = packet->family;
		peer->told = SCONE_UNKNOWN;
		memcpy(peer->address, packet->from, sizeof(peer->address));
	}
	peer->heard_ns[packet->signal] = now_ns;
	peer->last_ns = now_ns;
	return peer;
}

uint8_t scone_peer_lowest(const struct scone_peer *peer, uint64_t now_ns)
{
	uint8_t signal;

	for (signal = 0; signal <= SCONE_SIGNAL_MAX; signal++)
		if (peer->heard_ns[signal] &&
		    now_ns - peer->heard_ns[signal] < SCONE_PERIOD_NS)
			return signal;
	return SCONE_UNKNOWN;
}
