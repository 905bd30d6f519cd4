// SPDX-License-Identifier: GPL-2.0
/*
 * scone_packet.c - SCONE packets in what arrives: rate advice of the network
 */
#include <math.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "scone_packet.h"

#define UDP_HEADER 8

/* Some bytes of a packet. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

static unsigned int u16_at(const uint8_t *data)
{
	return data[0] << 8 | data[1];
}

static void shorten(struct bytes *bytes, size_t length)
{
	if (bytes->left > length)
		bytes->left = length;
}

static bool skip(struct bytes *bytes, size_t length)
{
	if (bytes->left < length)
		return false;
	bytes->at += length;
	bytes->left -= length;
	return true;
}

/* False for what is no UDP, or a fragment of it. */
static bool skip_ipv4(struct scone_packet *packet, struct bytes *bytes)
{
	const uint8_t *ip = bytes->at;
	size_t header;

	if (bytes->left < 20)
		return false;
	header = 4 * (ip[0] & 0x0f);
	if (header < 20 || ip[9] != IPPROTO_UDP || u16_at(ip + 6) & 0x3fff)
		return false;
	packet->family = AF_INET;
	memcpy(packet->from, ip + 12, 4);
	shorten(bytes, u16_at(ip + 2));
	return skip(bytes, header);
}

/* Nor what has extension headers, of which a fragment's is one. */
static bool skip_ipv6(struct scone_packet *packet, struct bytes *bytes)
{
	const uint8_t *ip = bytes->at;

	if (bytes->left < 40 || ip[6] != IPPROTO_UDP)
		return false;
	packet->family = AF_INET6;
	memcpy(packet->from, ip + 8, 16);
	skip(bytes, 40);
	shorten(bytes, u16_at(ip + 4));
	return true;
}

static bool skip_headers(struct scone_packet *packet, struct bytes *bytes)
{
	unsigned int version = bytes->left ? bytes->at[0] >> 4 : 0;
	size_t length;

	memset(packet, 0, sizeof(*packet));
	if (!(version == 4 && skip_ipv4(packet, bytes)) &&
	    !(version == 6 && skip_ipv6(packet, bytes)))
		return false;
	if (bytes->left < UDP_HEADER)
		return false;
	length = u16_at(bytes->at + 4);
	if (length < UDP_HEADER)
		return false;
	shorten(bytes, length);
	return skip(bytes, UDP_HEADER);
}

static bool has_version(const struct bytes *bytes)
{
	const uint8_t *at = bytes->at;
	uint32_t version;

	if (bytes->left < SCONE_HEAD || !(at[0] & SCONE_LONG_HEADER))
		return false;
	version = (uint32_t)u16_at(at + 1) << 16 | u16_at(at + 3);
	return (version & SCONE_VERSION_MASK) == SCONE_VERSION;
}

/* A connection identifier, with the byte that says how long it is. */
static bool take_identifier(struct bytes *bytes, struct bytes *identifier)
{
	*identifier = *bytes;
	if (!bytes->left || !skip(bytes, 1 + bytes->at[0]))
		return false;
	shorten(identifier, 1 + identifier->at[0]);
	return true;
}

/* Another packet follows, and has this destination. */
static bool is_followed(struct bytes rest, struct bytes destination)
{
	if (!rest.left)
		return false;
	if (rest.at[0] & SCONE_LONG_HEADER)
		skip(&rest, SCONE_HEAD < rest.left ? SCONE_HEAD : rest.left);
	else if (skip(&rest, 1))
		skip(&destination, 1);
	return rest.left >= destination.left &&
	       !memcmp(rest.at, destination.at, destination.left);
}

enum scone_kind scone_packet_read(struct scone_packet *packet,
				  const uint8_t *data, size_t length)
{
	struct bytes bytes = { data, length }, destination, source;
	const uint8_t *head;

	if (!skip_headers(packet, &bytes) || !has_version(&bytes))
		return SCONE_NONE;
	head = bytes.at;
	skip(&bytes, SCONE_HEAD);
	if (!take_identifier(&bytes, &destination) ||
	    !take_identifier(&bytes, &source) ||
	    !is_followed(bytes, destination))
		return SCONE_MALFORMED;
	packet->signal = (head[0] & 0x3f) << 1 | head[1] >> 7;
	return SCONE_SIGNAL;
}

uint64_t scone_rate(uint8_t signal)
{
	unsigned int decade = signal / SCONE_SIGNALS_PER_DECADE;
	double rate = SCONE_RATE_MIN;

	while (decade--)
		rate *= 10;
	signal %= SCONE_SIGNALS_PER_DECADE;
	return ceil(rate * exp10((double)signal / SCONE_SIGNALS_PER_DECADE));
}
