// SPDX-License-Identifier: GPL-2.0
/*
 * collide.c - flows whose hashes would fall into one bucket of a link, were the secret
 * of the link's hashes drawn from its seed
 *
 *	collide SEED BUCKETS COUNT
 *
 * Prints COUNT destinations of UDP datagrams from 10.0.0.1, port 5000: an address in
 * 10.0.0.0/8 and a port, a line for each.  Then one more, to which datagrams are sent
 * in fragments, of which no ports are looked at: its port is 0.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define GAMMA 0x9e3779b97f4a7c15ULL
#define PURPOSE 3 /* what the streams of a seed have no number for any more */

static uint64_t draw(uint64_t key, uint64_t n)
{
	uint64_t z = key + (n + 1) * GAMMA;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

/* SipHash-2-4 of whole words. */
static uint64_t sip_hash(const uint64_t *words, unsigned int count,
			 const uint64_t key[2])
{
	uint64_t last = (uint64_t)(count * 8) << 56;
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
		key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL,
	};
	unsigned int i;

	for (i = 0; i <= count; i++) {
		uint64_t word = i < count ? words[i] : last;

		v[3] ^= word;
		sip_round(v);
		sip_round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* As struct wale_tuple of kmod/wale/wale_class.c. */
union tuple {
	struct {
		uint32_t source[4];
		uint32_t destination[4];
		uint16_t ports[2];
		uint16_t ethertype;
		uint8_t protocol;
		uint8_t unused;
	};
	uint64_t words[5];
};

static void print(uint32_t host, uint32_t port)
{
	printf("10.%u.%u.%u %u\n", host >> 16, host >> 8 & 255, host & 255, port);
}

int main(int argc, char **argv)
{
	uint64_t stream, key[2], mask, bucket = 0, hash;
	union tuple tuple = { 0 };
	uint32_t host, port;
	long count, found = 0;

	if (argc != 4)
		return 2;
	stream = draw(strtoull(argv[1], NULL, 0), PURPOSE);
	key[0] = draw(stream, 0);
	key[1] = draw(stream, 1);
	mask = strtoull(argv[2], NULL, 0) - 1;
	count = atol(argv[3]);

	tuple.source[0] = htonl(0x0a000001);
	tuple.ports[0] = htons(5000);
	tuple.ethertype = htons(0x0800);
	tuple.protocol = 17;
	for (host = 2; found < count; host++) {
		tuple.destination[0] = htonl(0x0a000000 + host);
		for (port = 1; port < 65536 && found < count; port++) {
			tuple.ports[1] = htons(port);
			hash = sip_hash(tuple.words, 5, key) & mask;
			if (!found)
				bucket = hash;
			if (hash != bucket)
				continue;
			print(host, port);
			found++;
		}
	}
	tuple.ports[0] = 0;
	tuple.ports[1] = 0;
	do {
		tuple.destination[0] = htonl(0x0a000000 + ++host);
		hash = sip_hash(tuple.words, 5, key) & mask;
	} while (hash != bucket);
	print(host, 0);
	return 0;
}
