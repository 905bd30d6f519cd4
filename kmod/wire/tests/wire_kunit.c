// SPDX-License-Identifier: GPL-2.0
/*
 * wire_kunit.c - tests of what a guest believes of a ring between guests
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../wire_ring.h"

#define LEN	1514

static struct wire_record good_record(void)
{
	return (struct wire_record) {
		.arrival_ns = 1000,
		.sequence = 7,
		.len = LEN,
		.bytes = wire_record_bytes(LEN),
	};
}

static bool is_good(const struct wire_record *record)
{
	return wire_record_is_good(record, record->bytes, 7, 1000);
}

static void wire_takes_what_a_sender_writes(struct kunit *test)
{
	struct wire_record record = good_record();

	KUNIT_EXPECT_TRUE(test, is_good(&record));
	KUNIT_EXPECT_EQ(test, record.bytes % 8, 0);
	record.partial = 1;
	record.csum_start = 34;
	record.csum_offset = 16;
	record.gso_size = 1448;
	record.gso_type = 1;
	KUNIT_EXPECT_TRUE(test, is_good(&record));
}

static void wire_refuses_lengths(struct kunit *test)
{
	static const u32 lengths[] = { 0, 13, WIRE_PACKET_MAX + 1, U32_MAX, U32_MAX - 40 };

	for (int n = 0; n < ARRAY_SIZE(lengths); n++) {
		struct wire_record record = good_record();

		record.len = lengths[n];
		record.bytes = wire_record_bytes(lengths[n]);
		KUNIT_EXPECT_FALSE(test, is_good(&record));
	}
}

static void wire_refuses_what_is_not_written(struct kunit *test)
{
	struct wire_record record = good_record();

	KUNIT_EXPECT_FALSE(test, wire_record_is_good(&record, record.bytes - 1, 7, 1000));
	record.bytes += 8;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record.bytes = 0;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
}

static void wire_refuses_disorder(struct kunit *test)
{
	struct wire_record record = good_record();

	record.sequence = 8;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record = good_record();
	record.arrival_ns = 999;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
}

static void wire_refuses_sums_and_segments(struct kunit *test)
{
	struct wire_record record = good_record();

	record.partial = 1;
	record.csum_start = LEN - 1;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record.csum_start = U16_MAX;
	record.csum_offset = U16_MAX;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record = good_record();
	record.partial = 2;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record = good_record();
	record.gso_size = 1448;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
}

static void wire_takes_rates_of_one_length_only(struct kunit *test)
{
	struct wire_record record = good_record();

	record.is_rate = 1;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record.len = sizeof(struct wire_rate);
	record.bytes = wire_record_bytes(record.len);
	KUNIT_EXPECT_TRUE(test, is_good(&record));
	record.is_rate = 2;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record.is_rate = 1;
	record.partial = 1;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
	record.partial = 0;
	record.gso_size = 1;
	record.gso_type = 1;
	KUNIT_EXPECT_FALSE(test, is_good(&record));
}

static void wire_knows_its_room(struct kunit *test)
{
	struct wire_ring ring = { .head = 4096 + 1000, .tail = 5000, .tail_seen = 1000 };

	KUNIT_EXPECT_FALSE(test, wire_ring_has_room(&ring, 4096, 8));
	KUNIT_EXPECT_TRUE(test, wire_ring_has_room(&ring, 8192, 4096));
	KUNIT_EXPECT_FALSE(test, wire_ring_has_room(&ring, 8192, 4104));
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(wire_takes_what_a_sender_writes),
	KUNIT_CASE(wire_refuses_lengths),
	KUNIT_CASE(wire_refuses_what_is_not_written),
	KUNIT_CASE(wire_refuses_disorder),
	KUNIT_CASE(wire_refuses_sums_and_segments),
	KUNIT_CASE(wire_takes_rates_of_one_length_only),
	KUNIT_CASE(wire_knows_its_room),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);

MODULE_DESCRIPTION("Tests of the rings between guests");
MODULE_LICENSE("GPL");
