// SPDX-License-Identifier: GPL-2.0
/*
 * wale_size_kunit.c - tests of the length that a size table says
 *
 * The numbers are by hand, from tc-stab(8).  That the kernel says the same of each
 * length, the selftest "size" sees.
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_gso.c"
#include "../wale_size.c"
#include "wale_test_framing.h"

#define WALE_SIZE_SLOTS	8

/* As tc makes it, with cells of 16 bytes and 100 bytes of its own for each slot. */
static struct qdisc_size_table *wale_size_make(struct kunit *test)
{
	struct qdisc_size_table *table;
	size_t slot;

	table = kunit_kzalloc(test, struct_size(table, data, WALE_SIZE_SLOTS),
			      GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	table->szopts.cell_log = 4;
	table->szopts.cell_align = -1;
	table->szopts.tsize = WALE_SIZE_SLOTS;
	for (slot = 0; slot < WALE_SIZE_SLOTS; slot++)
		table->data[slot] = 100 * (slot + 1);
	return table;
}

/* Without slots, the overhead is all that there is. */
static void wale_size_overhead(struct kunit *test)
{
	struct qdisc_size_table *table = wale_size_make(test);

	table->szopts.tsize = 0;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 1014), 1014);
	table->szopts.overhead = 1000;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 1014), 2014);
	table->szopts.overhead = -1000;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 1014), 14);
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 1000), 1);
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 999), 1);
	table->szopts.overhead = S32_MAX;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, U32_MAX), WALE_WIRE_LEN_MAX);
	table->szopts.overhead = S32_MIN;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 1014), 1);
}

/* Slots, and what is behind the last one. */
static void wale_size_slots(struct kunit *test)
{
	static const u32 vec[][2] = {
		{ 0, 100 }, { 1, 100 }, { 16, 100 }, { 17, 200 }, { 32, 200 },
		{ 113, 800 }, { 128, 800 },
		{ 129, 900 },		/* the last, and the first again */
		{ 145, 1000 }, { 256, 1600 },
		{ 257, 1700 },		/* the last twice */
	};
	struct qdisc_size_table *table = wale_size_make(test);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++)
		KUNIT_EXPECT_EQ(test, wale_size_len(table, vec[i][0]),
				vec[i][1]);
	table->szopts.overhead = 16;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 16), 200);
	table->szopts.overhead = -20;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 16), 100);
	table->szopts.overhead = 0;
	table->szopts.size_log = 3;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 16), 800);
	table->data[0] = 0;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 16), 1);
}

/* No product is taken for something small. */
static void wale_size_most(struct kunit *test)
{
	struct qdisc_size_table *table = wale_size_make(test);

	table->szopts.size_log = 30;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 16), WALE_WIRE_LEN_MAX);
	KUNIT_EXPECT_EQ(test, wale_size_len(table, U32_MAX), WALE_WIRE_LEN_MAX);
	table->szopts.size_log = 0;
	table->szopts.cell_log = 0;
	table->szopts.tsize = 1;
	table->data[0] = U16_MAX;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, U32_MAX), WALE_WIRE_LEN_MAX);
	table->szopts.cell_align = S16_MIN;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, 1), U16_MAX);
	table->szopts.cell_log = 30;
	table->szopts.overhead = S32_MAX;
	KUNIT_EXPECT_EQ(test, wale_size_len(table, U32_MAX), 6 * U16_MAX);
}

/* Bytes more or fewer, and a least length, are within the layer. */
static void wale_size_framings(struct kunit *test)
{
	static const struct {
		struct wale_framing framing;
		u32 ip_len;
		u32 wire_len;
	} vec[] = {
		{ { WALE_OVERHEAD_RAW, 8, 0 }, 100, 108 },
		{ { WALE_OVERHEAD_RAW, -8, 0 }, 100, 92 },
		{ { WALE_OVERHEAD_RAW, -8, 0 }, 3, 1 },
		{ { WALE_OVERHEAD_RAW, -4096, 64 }, 1500, 64 },
		{ { WALE_OVERHEAD_RAW, 18, 64 }, 46, 64 },
		{ { WALE_OVERHEAD_RAW, 18, 64 }, 47, 65 },
		{ { WALE_OVERHEAD_ETHERNET, 8, 0 }, 1492, 1538 },
		{ { WALE_OVERHEAD_ETHERNET, 8, 0 }, 38, 84 },
		{ { WALE_OVERHEAD_ETHERNET, 8, 0 }, 39, 85 },
		{ { WALE_OVERHEAD_ETHERNET, 0, 60 }, 20, 98 },
		{ { WALE_OVERHEAD_ATM, 8, 0 }, 24, 53 },
		{ { WALE_OVERHEAD_ATM, 9, 0 }, 24, 106 },
		{ { WALE_OVERHEAD_ATM, 0, 100 }, 24, 159 },
	};
	struct qdisc_size_table *table = wale_size_make(test);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++)
		KUNIT_EXPECT_EQ_MSG(test, wale_size_wire_len(NULL, &vec[i].framing, 14,
							     vec[i].ip_len),
				    vec[i].wire_len, "%zu", i);
	/* with a size table, what that says is the packet */
	table->szopts.tsize = 0;
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, &vec[0].framing, 14, 100), 122);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, &vec[6].framing, 14, 1492), 1538);
}

/* With the other overheads, it stands for the packet that comes. */
static void wale_size_beside_overhead(struct kunit *test)
{
	struct qdisc_size_table *table = wale_size_make(test);

	table->szopts.tsize = 0;
	table->szopts.overhead = 12;
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_RAW),
						 14, 1000), 1026);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_ETHERNET),
						 14, 1000), 1050);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_ATM),
						 14, 1000), 22 * 53);
	table->szopts.overhead = -1010;
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_RAW),
						 14, 1000), 4);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_ETHERNET),
						 14, 1000), 84);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_ATM),
						 14, 1000), 53);
	table->szopts.overhead = 100000;
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_RAW),
						 14, 1000), 101014);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_ETHERNET),
						 14, 1000), 65573);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(table, wale_test_framing(WALE_OVERHEAD_ATM),
						 14, 1000), 72398);
	KUNIT_EXPECT_EQ(test, wale_size_wire_len(NULL, wale_test_framing(WALE_OVERHEAD_ETHERNET),
						 14, 1000), 1038);
}

/* Each packet of a GSO packet is looked up, with its headers below IP. */
static void wale_size_of_gso(struct kunit *test)
{
	const struct wale_gso gso = {
		.below_ip = 14, .headers = 28, .payload = 250, .size = 100,
	};
	struct qdisc_size_table *table = wale_size_make(test);

	/* 142, 142 and 92 bytes */
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, table, wale_test_framing(WALE_OVERHEAD_RAW)),
			900 + 900 + 600);
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, table,
						wale_test_framing(WALE_OVERHEAD_ETHERNET)),
			924 + 924 + 624);
	table->szopts.size_log = 30;
	KUNIT_EXPECT_EQ(test, wale_gso_wire_len(&gso, table, wale_test_framing(WALE_OVERHEAD_RAW)),
			0);
}

static struct kunit_case wale_size_cases[] = {
	KUNIT_CASE(wale_size_overhead),
	KUNIT_CASE(wale_size_slots),
	KUNIT_CASE(wale_size_most),
	KUNIT_CASE(wale_size_framings),
	KUNIT_CASE(wale_size_beside_overhead),
	KUNIT_CASE(wale_size_of_gso),
	{}
};

static struct kunit_suite wale_size_suite = {
	.name = "wale_size",
	.test_cases = wale_size_cases,
};

kunit_test_suite(wale_size_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the length that a size table says");
