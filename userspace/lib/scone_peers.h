/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scone_peers.h - the advice that counts, of each peer that packets came from
 */
#ifndef WALE_SCONE_PEERS_H
#define WALE_SCONE_PEERS_H

#include <stdbool.h>

#include "scone_packet.h"

/* Others have to wait until one of these was not heard of for a period. */
#define SCONE_PEERS_MAX 1024

struct scone_peer {
	bool used;
	int family;
	unsigned char address[16];
	uint8_t told; /* what was published; for the owner of the table */
	uint64_t told_ns;
	uint64_t last_ns; /* any advice */
	uint64_t heard_ns[SCONE_SIGNAL_MAX + 1]; /* each signal, last; or 0 */
};

struct scone_peers {
	struct scone_peer peer[SCONE_PEERS_MAX];
};

/*
 * The peer that a packet with advice (not SCONE_UNKNOWN) came from; NULL if the table is full.
 * A new one has told SCONE_UNKNOWN.
 */
struct scone_peer *scone_peers_hear(struct scone_peers *peers,
				    const struct scone_packet *packet,
				    uint64_t now_ns);

/* The lowest signal of the last period; SCONE_UNKNOWN if there was none. */
uint8_t scone_peer_lowest(const struct scone_peer *peer, uint64_t now_ns);

#endif /* WALE_SCONE_PEERS_H */
