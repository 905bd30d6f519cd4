// SPDX-License-Identifier: GPL-2.0
/*
 * test_datagram.c - packets at a constant rate: when they are due, what they
 * say, what is counted of them
 */
#include <inttypes.h>
#include <string.h>

#include "tests/tap.h"
#include "transfer/datagram.h"

#define SECOND UINT64_C(1000000000)

static struct datagram_schedule at_frequency(uint64_t fixed32)
{
	struct datagram_schedule schedule;

	datagram_schedule_frequency(&schedule, fixed32);
	return schedule;
}

static void test_schedule(void)
{
	struct datagram_schedule third = at_frequency(UINT64_C(3) << 32);
	struct datagram_schedule half = at_frequency(UINT64_C(1) << 31);
	struct datagram_schedule rate;

	ok(datagram_due_ns(&third, 0) == 333333333 &&
		   datagram_due_ns(&third, 1) == 666666666 &&
		   datagram_due_ns(&third, 2) == SECOND,
	   "3 packets/s: each is due at its own multiple");
	ok(datagram_due_ns(&third, 3 * UINT64_C(1000000000) - 1) ==
		   SECOND * SECOND,
	   "nothing adds up, in 31 years");
	ok(datagram_due_ns(&half, 0) == 2 * SECOND, "a packet in two seconds");
	ok(datagram_schedule_rate(&rate, 576, 38016) &&
		   datagram_due_ns(&rate, 65) == SECOND,
	   "38016 bytes/s in packets of 576: 66 packets/s");
	ok(datagram_due_ns(&rate, UINT64_MAX) == UINT64_MAX,
	   "what is due later than 64 bits of ns is due never");
	ok(!datagram_schedule_rate(&rate, 576, 0) &&
		   !datagram_schedule_rate(&rate, 576, UINT64_MAX) &&
		   !datagram_schedule_frequency(&rate, 0),
	   "no rate, and an unlimited one, are refused");
}

/* count_until() is the inverse of due_ns(), to the packet. */
static void test_count_until(void)
{
	static const uint64_t fixed[] = { UINT64_C(3) << 32, UINT64_C(1) << 31,
					  UINT64_C(66) << 32, 12345678901,
					  UINT64_C(1000000) << 32 };
	static const uint64_t numbers[] = { 0, 1, 2, 65, 66, 1000, 123456789 };
	size_t wrong = 0, i, j;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		struct datagram_schedule s = at_frequency(fixed[i]);

		for (j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++) {
			uint64_t due = datagram_due_ns(&s, numbers[j]);

			wrong +=
				datagram_count_until(&s, due) != numbers[j] + 1;
			wrong +=
				datagram_count_until(&s, due - 1) != numbers[j];
		}
	}
	ok(!wrong, "how many are due until a time: %zu wrong", wrong);
}

static void test_header(void)
{
	struct datagram sent = { .number = 0x0102030405060708,
				 .due_ns = UINT64_MAX - 1 };
	uint8_t bytes[DATAGRAM_HEADER_BYTES + 1] = { 0 };
	struct datagram seen = { 0 };

	datagram_write(bytes, &sent);
	ok(datagram_read(bytes, sizeof(bytes), &seen) &&
		   seen.number == sent.number && seen.due_ns == sent.due_ns,
	   "a packet says what was written into it");
	ok(bytes[8] == 1 && bytes[15] == 8, "in network order");
	ok(!datagram_read(bytes, DATAGRAM_HEADER_BYTES - 1, &seen),
	   "a packet that is too short is none of ours");
	bytes[0] ^= 1;
	ok(!datagram_read(bytes, sizeof(bytes), &seen),
	   "nor one that begins otherwise");
}

static void add(struct datagram_count *count, uint64_t number, uint64_t due_ns,
		uint64_t now_ns)
{
	const struct datagram d = { .number = number, .due_ns = due_ns };

	datagram_count_add(count, &d, now_ns, 576);
}

static void test_count(void)
{
	struct datagram_count c;

	datagram_count_init(&c);
	ok(!datagram_count_missing(&c) && c.min_gap_ns == UINT64_MAX,
	   "nothing came, nothing is missing");
	add(&c, 1, 100, 150);
	ok(c.packets == 1 && c.next == 2 && datagram_count_missing(&c) == 1,
	   "the first that came was the second");
	add(&c, 4, 400, 460);
	add(&c, 3, 300, 465);
	add(&c, 4, 400, 500);
	ok(c.packets == 4 && c.bytes == 4 * 576 && c.next == 5 && c.late == 1 &&
		   c.duplicates == 1,
	   "one came late, one twice");
	ok(datagram_count_missing(&c) == 2, "2 of 5 are missing");
	ok(c.first_ns == 150 && c.last_ns == 500 && c.min_gap_ns == 5 &&
		   c.max_gap_ns == 310,
	   "gaps");
	ok(c.min_delay_ns == 50 && c.max_delay_ns == 165 &&
		   c.delay_sum_ns == 50 + 60 + 165 + 100,
	   "delays");
	add(&c, 5, 600, 590);
	ok(c.min_delay_ns == -10, "clocks may differ");
	add(&c, UINT64_MAX, UINT64_MAX, 700);
	add(&c, UINT64_MAX, 0, UINT64_MAX);
	ok(c.packets == 7, "nonsense overflows nothing");

	datagram_count_init(&c);
	for (uint64_t n = 0; n < 300000; n++)
		if (n % 1000)
			add(&c, n, 0, n);
	ok(datagram_count_missing(&c) == 300 && !c.late && !c.duplicates,
	   "each thousandth of many is missing");
	add(&c, 299000, 0, 300001);
	add(&c, 299000, 0, 300002);
	add(&c, 298999, 0, 300003);
	ok(datagram_count_missing(&c) == 299 && c.late == 1 &&
		   c.duplicates == 2,
	   "one comes late, and again");
	add(&c, 1 << 30, 0, 300004);
	add(&c, 1 << 30, 0, 300005);
	add(&c, (1 << 30) - 65000, 0, 300006);
	ok(c.late == 2 && c.duplicates == 3, "after a leap");

	datagram_count_init(&c);
	add(&c, 0, 0, 1000);
	add(&c, 1, 0, 1200);
	ok(datagram_count_ns(&c) == 200, "from the first to the last");
	add(&c, 2, 0, 900);
	ok(!c.min_gap_ns && c.max_gap_ns == 200 && !datagram_count_ns(&c),
	   "a clock that is set back makes no gap");
}

int main(void)
{
	test_schedule();
	test_count_until();
	test_header();
	test_count();
	return tap_done();
}
