/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scone_packet.h - SCONE packets in what arrives: rate advice of the network
 *
 * The draft and its numbers are in net/scone.h.
 */
#ifndef WALE_SCONE_PACKET_H
#define WALE_SCONE_PACKET_H

#include <net/scone.h>
#include <stddef.h>
#include <stdint.h>

enum scone_kind {
	SCONE_NONE, /* something else, or a fragment */
	SCONE_MALFORMED, /* it has the version, but is not what the draft says */
	SCONE_SIGNAL,
};

struct scone_packet {
	int family; /* AF_INET or AF_INET6 */
	unsigned char from[16]; /* network order; IPv4 in the first 4 */
	uint8_t signal; /* 0 .. SCONE_UNKNOWN */
};

/*
 * Reads a packet from its IP header on.  The end may be missing, but not of the headers.
 * *packet is set for SCONE_SIGNAL alone.
 */
enum scone_kind scone_packet_read(struct scone_packet *packet,
				  const uint8_t *data, size_t length);

/* The rate of a signal up to SCONE_SIGNAL_MAX: bytes/s, rounded up. */
uint64_t scone_rate(uint8_t signal);

#endif /* WALE_SCONE_PACKET_H */
