// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_scone_packet.c - what "wale scone listen" reads of packets
 *
 * Any packet: nothing outside of it is read.  A packet with a signal has it still when more
 * follows, names the sender of the header, and has no signal when it is cut off before the
 * packet that follows it.  The lowest signal of a peer is never above one that was just heard.
 */
#include <netinet/in.h>

#include "fuzz.h"
#include "lib/scone_peers.h"

static enum scone_kind read_exactly(struct scone_packet *packet,
				    const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size + !size);
	enum scone_kind kind;

	must(exact);
	if (size)
		memcpy(exact, data, size);
	kind = scone_packet_read(packet, exact, size);
	free(exact);
	return kind;
}

static void check_signal(const struct scone_packet *packet, const uint8_t *data)
{
	static struct scone_peers peers;
	struct scone_peer *peer;

	must(packet->signal <= SCONE_UNKNOWN);
	must(packet->family == AF_INET || packet->family == AF_INET6);
	if (packet->family == AF_INET)
		must(!memcmp(packet->from, data + 12, 4));
	else
		must(!memcmp(packet->from, data + 8, 16));
	if (packet->signal == SCONE_UNKNOWN)
		return;
	must(scone_rate(packet->signal) >= SCONE_RATE_MIN);
	memset(&peers, 0, sizeof(peers));
	peer = scone_peers_hear(&peers, packet, 1);
	must(peer && scone_peer_lowest(peer, 1) == packet->signal);
	must(scone_peer_lowest(peer, 1 + SCONE_PERIOD_NS) == SCONE_UNKNOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scone_packet packet, shorter;
	size_t left = size;

	if (read_exactly(&packet, data, size) != SCONE_SIGNAL)
		return 0;
	check_signal(&packet, data);
	while (left && read_exactly(&shorter, data, left) == SCONE_SIGNAL) {
		must(shorter.signal == packet.signal);
		left--;
	}
	while (left--)
		must(read_exactly(&shorter, data, left) != SCONE_SIGNAL);
	return 0;
}
