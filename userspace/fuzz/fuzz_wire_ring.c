// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_wire_ring.c - what a guest takes from a ring that another guest fills
 *
 * Whatever is in the ring, a record that is taken lies within what is written, and the next one
 * comes after it.  What a sender writes is taken, every packet of it.
 */
#include "fuzz.h"
#include "wire_ring.h"

#define SIZE (1U << 17)

static unsigned char ring[SIZE], packet[WIRE_PACKET_MAX];

/* Round the end, as wire_device.c does. */
static void put(uint64_t at, const void *from, uint32_t len)
{
	for (uint32_t n = 0; n < len; n++)
		ring[(at + n) % SIZE] = ((const unsigned char *)from)[n];
}

static struct wire_record any_record(struct tape *tape, uint32_t sequence)
{
	struct wire_record record = {
		.arrival_ns = tape_number(tape),
		.sequence = tape_u8(tape) % 8 ? sequence
					      : (uint32_t)tape_number(tape),
		.len = (uint32_t)tape_number(tape),
		.gso_type = (uint32_t)tape_number(tape),
		.gso_size = (uint16_t)tape_number(tape),
		.csum_start = (uint16_t)tape_number(tape),
		.csum_offset = (uint16_t)tape_number(tape),
		.partial = tape_u8(tape) % 3,
		.is_rate = tape_u8(tape) % 3,
	};

	if (record.is_rate && tape_u8(tape) % 4)
		record.len = sizeof(struct wire_rate);
	record.bytes = tape_u8(tape) % 8 ? wire_record_bytes(record.len)
					 : (uint32_t)tape_number(tape);
	return record;
}

/* Take all that can be taken; return how many records that were. */
static uint32_t take_all(uint64_t tail, uint64_t head)
{
	struct wire_record record;
	uint64_t last_ns = 0;
	uint32_t n = 0;

	while (tail != head &&
	       wire_ring_next(ring, SIZE, tail, head, n, last_ns, &record)) {
		must(record.bytes && record.bytes <= head - tail);
		must(record.len + sizeof(record) <= record.bytes);
		must(record.len <= sizeof(packet));
		must(record.arrival_ns >= last_ns);
		if (record.is_rate)
			must(record.len == sizeof(struct wire_rate));
		if (record.partial)
			must(record.csum_start + record.csum_offset + 2U <=
			     record.len);
		wire_ring_read(ring, SIZE, tail + sizeof(record), packet,
			       record.len);
		last_ns = record.arrival_ns;
		tail += record.bytes;
		n++;
	}
	return n;
}

static void check_damaged(struct tape *tape)
{
	uint64_t tail = tape_number(tape) & ~7ULL, at = tail;
	uint32_t n = 0;

	while (tape->left && at - tail < SIZE / 2) {
		struct wire_record record = any_record(tape, n++);

		put(at, &record, sizeof(record));
		at += record.bytes % (SIZE / 4);
	}
	take_all(tail, tape_u8(tape) % 4 ? at : tail + tape_number(tape));
}

static void check_written(struct tape *tape)
{
	struct wire_ring state = { .head = tape_number(tape) & ~7ULL };
	uint64_t tail = state.tail_seen = state.head;
	uint32_t n = 0;

	while (tape->left) {
		struct wire_record record = {
			.arrival_ns = n / 2,
			.sequence = n,
			.len = (uint32_t)tape_range(tape, WIRE_PACKET_MIN,
						    WIRE_PACKET_MAX),
		};

		record.bytes = wire_record_bytes(record.len);
		if (!wire_ring_has_room(&state, SIZE, record.bytes))
			break;
		put(state.head, &record, sizeof(record));
		state.head += record.bytes;
		n++;
	}
	must(state.head - tail <= SIZE);
	must(take_all(tail, state.head) == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };

	memset(ring, 0, sizeof(ring));
	if (tape_u8(&tape) % 2)
		check_written(&tape);
	else
		check_damaged(&tape);
	return 0;
}
