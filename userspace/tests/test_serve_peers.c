// SPDX-License-Identifier: GPL-2.0
/*
 * test_serve_peers.c - which connections "wale serve" takes for those of one
 * address, and how many it counts
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "transfer/serve_peers.h"

static struct sockaddr_storage address(const char *text)
{
	struct sockaddr_storage storage = { 0 };
	struct sockaddr_in6 *in6 = (void *)&storage;
	struct sockaddr_in *in = (void *)&storage;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
		in->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
		in6->sin6_family = AF_INET6;
	return storage;
}

static void test_same(const char *one, const char *other, bool same)
{
	struct sockaddr_storage first = address(one), second = address(other);
	struct serve_peer *a = serve_peer_add(&first);
	struct serve_peer *b = serve_peer_add(&second);

	ok((a == b) == same, "%s and %s are %s", one, other,
	   same ? "one" : "two");
	ok(serve_peer_transfers(b) == (same ? 2 : 1), "so is the count");
	serve_peer_drop(a);
	serve_peer_drop(b);
}

static void test_counts(void)
{
	struct serve_peer *peers[1000];
	unsigned int wrong = 0;
	char text[32];

	for (int i = 0; i < 1000; i++) {
		struct sockaddr_storage storage;

		snprintf(text, sizeof(text), "10.0.%d.%d", i % 10, i % 100);
		storage = address(text);
		peers[i] = serve_peer_add(&storage);
	}
	for (int i = 0; i < 1000; i++)
		wrong += serve_peer_transfers(peers[i]) != 10;
	ok(!wrong, "100 addresses have 10 transfers each");
	for (int i = 0; i < 900; i++)
		serve_peer_drop(peers[i]);
	for (int i = 900; i < 1000; i++)
		wrong += serve_peer_transfers(peers[i]) != 1;
	ok(!wrong, "and 1 when 9 of them are over");
	for (int i = 900; i < 1000; i++)
		serve_peer_drop(peers[i]);
	serve_peer_drop(NULL);
}

int main(void)
{
	test_same("192.0.2.1", "192.0.2.1", true);
	test_same("192.0.2.1", "192.0.2.2", false);
	test_same("192.0.2.1", "::ffff:192.0.2.1", true);
	test_same("::ffff:192.0.2.1", "::ffff:192.0.2.2", false);
	test_same("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true);
	test_same("2001:db8::1", "2001:db8:0:1::1", false);
	test_same("::1", "0.0.0.0", false);
	test_counts();
	return tap_done();
}
