/* SPDX-License-Identifier: GPL-2.0 */
/*
 * serve_peers.h - how many transfers each address has at "wale serve"
 *
 * An address is all of IPv4 (also when it is written as IPv6), and the first
 * 64 bits of IPv6, which is what one host or one home is given.
 */
#ifndef WALE_SERVE_PEERS_H
#define WALE_SERVE_PEERS_H

#include <sys/socket.h>

struct serve_peer;

/* One more of @address; NULL without memory. */
struct serve_peer *serve_peer_add(const struct sockaddr_storage *address);

/* One less; @peer may be NULL. */
void serve_peer_drop(struct serve_peer *peer);

unsigned int serve_peer_transfers(const struct serve_peer *peer);

#endif
