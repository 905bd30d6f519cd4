// SPDX-License-Identifier: GPL-2.0
/*
 * wale_gso_kunit.c - tests of what a GSO packet takes on the wire
 *
 * The model cuts the payload piece by piece, and adds up what each takes.
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_gso.c"
#include "../wale_size.c"
#include "wale_test_framing.h"

/* Return: bytes; and how many packets there are. */
static u64 wale_gso_cut(const struct wale_gso *gso, u32 overhead, u32 *packets)
{
	u32 left = gso->payload, piece;
	u64 len = 0;

	*packets = 0;
	do {
		piece = min(left, gso->size);
		len += wale_wire_len(overhead, gso->headers + piece);
		left -= piece;
		(*packets)++;
	} while (left);
	return len;
}

static void wale_gso_check(struct kunit *test, const struct wale_gso *gso)
{
	u32 overhead, packets;
	u64 len;

	for (overhead = 0; overhead < __WALE_OVERHEAD_MAX; overhead++) {
		len = wale_gso_cut(gso, overhead, &packets);
		KUNIT_EXPECT_EQ_MSG(test, wale_gso_wire_len(gso, NULL, wale_test_framing(overhead)),
				    len > WALE_WIRE_LEN_MAX ? 0 : len,
				    "%u + %u in %u, overhead %u", gso->headers,
				    gso->payload, gso->size, overhead);
		KUNIT_EXPECT_EQ(test, wale_gso_packets(gso), packets);
	}
}

/* Whole segments, a shorter last one, one alone, and none. */
static void wale_gso_sizes(struct kunit *test)
{
	static const u32 payloads[] = {
		0, 1, 2, 7, 8, 9, 15, 16, 17, 511, 1447, 1448, 1449, 2896,
		2897, 17 * 1448, 45 * 1448, 45 * 1448 + 1, 65495, 524280,
	};
	static const u32 sizes[] = { 1, 8, 536, 1420, 1448, 8948, 65534 };
	static const u32 headers[] = { 28, 40, 52, 60, 72, 110, 180 };
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(payloads); i++)
		for (j = 0; j < ARRAY_SIZE(sizes); j++)
			for (k = 0; k < ARRAY_SIZE(headers); k++)
				wale_gso_check(test, &(struct wale_gso){
					.headers = headers[k],
					.payload = payloads[i],
					.size = sizes[j],
				});
}

/* The usual one: 45 segments in 64 kB, counted by hand. */
static void wale_gso_by_hand(struct kunit *test)
{
	const struct wale_gso gso = {
		.headers = 52, .payload = 44 * 1448 + 100, .size = 1448,
	};

	KUNIT_EXPECT_EQ(test, wale_gso_packets(&gso), 45);
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, NULL,
						wale_test_framing(WALE_OVERHEAD_RAW)),
			44 * 1500 + 152);
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, NULL,
						wale_test_framing(WALE_OVERHEAD_ETHERNET)),
			44 * 1538 + 190);
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, NULL,
						wale_test_framing(WALE_OVERHEAD_ATM)),
			(44 * 32 + 4) * 53);
}

/* What does not fit into the field of a packet is not taken for something small. */
static void wale_gso_too_long(struct kunit *test)
{
	struct wale_gso gso = {
		.headers = 1000, .payload = WALE_WIRE_LEN_MAX / 1001, .size = 1,
	};

	KUNIT_EXPECT_NE(test, wale_gso_wire_len(&gso, NULL,
						wale_test_framing(WALE_OVERHEAD_RAW)), 0);
	gso.payload++;
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, NULL,
						wale_test_framing(WALE_OVERHEAD_RAW)), 0);
	gso.payload = U32_MAX;
	KUNIT_EXPECT_EQ(test, wale_gso_packets(&gso), U32_MAX);
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, NULL,
						wale_test_framing(WALE_OVERHEAD_RAW)), 0);
}

static struct kunit_case wale_gso_cases[] = {
	KUNIT_CASE(wale_gso_sizes),
	KUNIT_CASE(wale_gso_by_hand),
	KUNIT_CASE(wale_gso_too_long),
	{}
};

static struct kunit_suite wale_gso_suite = {
	.name = "wale_gso",
	.test_cases = wale_gso_cases,
};

kunit_test_suite(wale_gso_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of what a GSO packet takes on the wire");
