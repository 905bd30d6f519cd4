// SPDX-License-Identifier: GPL-2.0
/*
 * serve_peers.c - how many transfers each address has: see serve_peers.h
 *
 * The counts are in a balanced tree, tsearch(3), so that a flood from many
 * addresses costs no more for each than one from few.
 */
#include "serve_peers.h"

#include <netinet/in.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IPV6_PREFIX_BYTES 8

/**
 * struct serve_peer - an address that has transfers
 * @address: as IPv6, the key
 * @transfers: how many it has
 */
struct serve_peer {
	uint8_t address[16];
	unsigned int transfers;
};

static void *peers;

static int compare(const void *a, const void *b)
{
	const struct serve_peer *one = a, *other = b;

	return memcmp(one->address, other->address, sizeof(one->address));
}

static struct serve_peer key_of(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_in *in = (const void *)address;
	struct serve_peer key = { 0 };

	if (address->ss_family == AF_INET) {
		key.address[10] = 0xff;
		key.address[11] = 0xff;
		memcpy(key.address + 12, &in->sin_addr, sizeof(in->sin_addr));
	} else if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		memcpy(key.address, &in6->sin6_addr, sizeof(key.address));
	} else {
		memcpy(key.address, &in6->sin6_addr, IPV6_PREFIX_BYTES);
	}
	return key;
}

struct serve_peer *serve_peer_add(const struct sockaddr_storage *address)
{
	struct serve_peer key = key_of(address), *peer;
	struct serve_peer **found = tfind(&key, &peers, compare);

	if (found) {
		(*found)->transfers++;
		return *found;
	}
	peer = malloc(sizeof(*peer));
	if (!peer)
		return NULL;
	*peer = key;
	peer->transfers = 1;
	if (tsearch(peer, &peers, compare))
		return peer;
	free(peer);
	return NULL;
}

void serve_peer_drop(struct serve_peer *peer)
{
	if (!peer || --peer->transfers)
		return;
	tdelete(peer, &peers, compare);
	free(peer);
}

unsigned int serve_peer_transfers(const struct serve_peer *peer)
{
	return peer->transfers;
}
