// SPDX-License-Identifier: GPL-2.0
/*
 * test_scone_packet.c - SCONE packets that arrive, and which advice counts
 */
#include <linux/types.h>
#include <netinet/in.h>
#include <string.h>

#include "../kmod/wale/tests/vectors/wale_vectors_scone.h"
#include "lib/scone_peers.h"
#include "tests/tap.h"

#define SECOND UINT64_C(1000000000)

/* 10.0.0.7:4433 sends to 10.0.0.2: a signal of 20 (1 Mbit/s), and a packet of 1-RTT. */
static const uint8_t ipv4[] = {
	0x45, 0,   0, 48,   0,	  0,	0x40, 0,    64,	  17,	0,    0,
	10,   0,   0, 7,    10,	  0,	0,    2,    0x11, 0x51, 0x9c, 0x40,
	0,    28,  0, 0,    0xca, 0x6f, 0x7d, 0xc0, 0xfd, 4,	'a',  'b',
	'c',  'd', 0, 0x41, 'a',  'b',	'c',  'd',  1,	  2,	3,    4,
};
#define UDP 20
#define QUIC 28
#define DESTINATION (QUIC + 5)
#define SOURCE (DESTINATION + 5)
#define NEXT (SOURCE + 1)

static enum scone_kind kind_of(const uint8_t *data, size_t length)
{
	struct scone_packet packet;

	return scone_packet_read(&packet, data, length);
}

/* With one byte that is different. */
static enum scone_kind changed(size_t at, uint8_t value)
{
	uint8_t data[sizeof(ipv4)];

	memcpy(data, ipv4, sizeof(data));
	data[at] = value;
	return kind_of(data, sizeof(data));
}

static void test_rates(void)
{
	unsigned int wrong = 0, signal;

	for (signal = 0; signal <= SCONE_SIGNAL_MAX; signal++)
		wrong += scone_rate(signal) != wale_vec_scone_rates[signal];
	ok(!wrong, "the rate of each signal is that of the model");
}

static void test_ipv4(void)
{
	struct scone_packet packet;
	size_t length, whole = 0;

	ok(scone_packet_read(&packet, ipv4, sizeof(ipv4)) == SCONE_SIGNAL &&
		   packet.family == AF_INET && packet.signal == 20 &&
		   !memcmp(packet.from, ipv4 + 12, 4),
	   "IPv4: the signal, and who sent it");
	for (length = 0; length <= NEXT + 4; length++)
		whole += kind_of(ipv4, length) == SCONE_SIGNAL;
	ok(!whole, "a packet that is cut off before its end has no signal");
	ok(kind_of(ipv4, NEXT) == SCONE_MALFORMED,
	   "no packet follows: malformed");
	ok(changed(6, 0x20) == SCONE_NONE && changed(7, 1) == SCONE_NONE,
	   "fragments are left alone");
	ok(changed(9, IPPROTO_TCP) == SCONE_NONE &&
		   changed(0, 0x55) == SCONE_NONE &&
		   changed(0, 0x44) == SCONE_NONE,
	   "no UDP, or no IPv4");
	ok(changed(UDP + 5, 7) == SCONE_NONE &&
		   changed(UDP + 5, 8) == SCONE_NONE &&
		   changed(UDP + 5, 12) == SCONE_NONE,
	   "a length of UDP that is too small");
	ok(changed(3, 27) == SCONE_NONE && changed(3, 41) == SCONE_MALFORMED,
	   "a length of IPv4 that is too small");
	ok(changed(QUIC, 0x4a) == SCONE_NONE &&
		   changed(QUIC + 1, 0x6e) == SCONE_NONE &&
		   changed(QUIC + 4, 0xfc) == SCONE_NONE,
	   "a short header, or another version");
	ok(changed(DESTINATION, 255) == SCONE_MALFORMED &&
		   changed(SOURCE, 255) == SCONE_MALFORMED,
	   "identifiers that are longer than the packet: malformed");
	ok(changed(NEXT + 1, 'x') == SCONE_MALFORMED,
	   "the next packet is another connection's: malformed");
}

static void test_signals(void)
{
	struct scone_packet packet = { .signal = 1 };
	unsigned int signal, wrong = 0;
	uint8_t data[sizeof(ipv4)];

	memcpy(data, ipv4, sizeof(data));
	for (signal = 0; signal <= SCONE_UNKNOWN; signal++) {
		data[QUIC] = 0xc0 | signal >> 1;
		data[QUIC + 1] = 0x6f | (signal & 1) << 7;
		wrong += scone_packet_read(&packet, data, sizeof(data)) !=
				 SCONE_SIGNAL ||
			 packet.signal != signal;
	}
	ok(!wrong, "each signal, with the bit in the version");
}

static void test_ipv6(void)
{
	uint8_t data[40 + sizeof(ipv4) - UDP] = { 0x60 };
	struct scone_packet packet;

	data[5] = sizeof(ipv4) - UDP;
	data[6] = IPPROTO_UDP;
	data[23] = 7;
	memcpy(data + 40, ipv4 + UDP, sizeof(ipv4) - UDP);
	ok(scone_packet_read(&packet, data, sizeof(data)) == SCONE_SIGNAL &&
		   packet.family == AF_INET6 && packet.signal == 20 &&
		   packet.from[15] == 7,
	   "IPv6");
	data[6] = IPPROTO_FRAGMENT;
	ok(kind_of(data, sizeof(data)) == SCONE_NONE, "a fragment of IPv6");
}

static void test_long_header_follows(void)
{
	uint8_t data[60];

	memcpy(data, ipv4, NEXT);
	data[3] = sizeof(data);
	data[UDP + 5] = sizeof(data) - UDP;
	memcpy(data + NEXT, "\xe0\0\0\0\1\4abcd\0", 11);
	memset(data + NEXT + 11, 0, sizeof(data) - NEXT - 11);
	ok(kind_of(data, sizeof(data)) == SCONE_SIGNAL,
	   "a long header with the same destination follows");
	data[NEXT + 5] = 3;
	ok(kind_of(data, sizeof(data)) == SCONE_MALFORMED,
	   "its destination is shorter: malformed");
}

static struct scone_peers peers;

static struct scone_peer *hear(uint8_t from, uint8_t signal, uint64_t second)
{
	struct scone_packet packet = { .family = AF_INET, .signal = signal };

	packet.from[3] = from;
	return scone_peers_hear(&peers, &packet, second * SECOND);
}

static void test_lowest(void)
{
	struct scone_peer *peer = hear(1, 30, 10);

	ok(peer && peer->told == SCONE_UNKNOWN, "a new peer");
	ok(hear(1, 20, 20) == peer && hear(1, 40, 50) == peer &&
		   hear(2, 10, 50) != peer,
	   "the same one, and another");
	ok(scone_peer_lowest(peer, 50 * SECOND) == 20 &&
		   scone_peer_lowest(peer, 87 * SECOND - 1) == 20 &&
		   scone_peer_lowest(peer, 87 * SECOND) == 40 &&
		   scone_peer_lowest(peer, 117 * SECOND) == SCONE_UNKNOWN,
	   "the lowest of 67 s counts, and then none");
}

static void test_many(void)
{
	struct scone_packet packet = { .family = AF_INET6 };
	unsigned int i, heard = 0;

	for (i = 0; i < SCONE_PEERS_MAX; i++) {
		packet.from[0] = i;
		packet.from[1] = i >> 8;
		heard += !!scone_peers_hear(&peers, &packet, SECOND);
	}
	ok(heard == SCONE_PEERS_MAX - 2 && hear(1, 5, 60),
	   "those that are known have their place when others find none");
}

int main(void)
{
	test_rates();
	test_ipv4();
	test_signals();
	test_ipv6();
	test_long_header_follows();
	test_lowest();
	test_many();
	return tap_done();
}
