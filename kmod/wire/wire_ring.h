/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wire_ring.h - memory that guests of one virtual time share   (pure)
 *
 * Guests, the program that gives them their time (guest_windows.c of the testbed) and the
 * launcher, which makes the file, all know this layout:
 *
 *	struct wire_memory	who is there, and the time
 *	struct wire_ring	one for each direction of a link, at the offset that
 *	data			its entry of struct wire_memory has; then its data
 *
 * A record of a ring is a struct wire_record and a packet, padded to 8 bytes; it may go
 * round the end.  A sender fills a ring while its receiver empties it, at the same time of the
 * host.  So that nothing depends on which of them is faster, each goes by how far the other
 * was at the beginning of the window (@head_seen, @tail_seen).
 */
#ifndef _WIRE_RING_H
#define _WIRE_RING_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#define WIRE_MAGIC	0x57495245U
#define WIRE_VERSION	3

/* Where guests have the memory, and their number in the page before: guest_preload.c. */
#define WIRE_ADDRESS	0x500000000000UL
#define WIRE_PAGE	4096UL

#define WIRE_GUESTS_MAX	32
#define WIRE_RINGS_MAX	256

/* The largest packet, with its Ethernet header: what GSO makes, and some tags. */
#define WIRE_PACKET_MIN	14
#define WIRE_PACKET_MAX	(65536 + 64)

/**
 * enum wire_error - what a guest found wrong with a ring
 * @WIRE_OK: nothing
 * @WIRE_FULL: a packet found no room
 * @WIRE_LATE: a packet would arrive within the window in which it was sent
 * @WIRE_DAMAGED: a record is not what a sender writes
 * @WIRE_MEMORY: there was no memory for a packet that arrived
 */
enum wire_error {
	WIRE_OK,
	WIRE_FULL,
	WIRE_LATE,
	WIRE_DAMAGED,
	WIRE_MEMORY,
};

/**
 * struct wire_ring - one direction of a link; positions count bytes and never go back
 * @head: how far the sender has written
 * @tail: how far the receiver has read
 * @head_seen: @head at the beginning of this window
 * @tail_seen: @tail then
 * @error: the first &enum wire_error
 */
struct wire_ring {
	__u64 head;
	__u64 tail;
	__u64 head_seen;
	__u64 tail_seen;
	__u32 error;
};

/**
 * struct wire_ring_entry - where a ring is, and between whom
 * @offset: of its struct wire_ring; its data follow one page later
 * @size: of its data, a power of two
 * @delay_ns: from the departure of a packet to its arrival
 * @from: the guest that sends
 * @to: the guest that receives
 */
struct wire_ring_entry {
	__u64 offset;
	__u64 size;
	__u64 delay_ns;
	__u32 from;
	__u32 to;
};

/**
 * struct wire_memory - the beginning of the memory
 * @magic: WIRE_MAGIC
 * @version: WIRE_VERSION
 * @guests: how many there are
 * @rings: how many there are; link N has 2N and 2N + 1
 * @now_ns: where this window began
 * @end_ns: what no guest's time reaches before the next
 * @stage_seen: the least of @stage when this window began
 * @stage: how far the experiment is in each guest
 * @over: 1: a guest wants the experiment to end everywhere
 * @over_seen: @over when this window began
 * @unused: 0
 * @entry: of each ring
 */
struct wire_memory {
	__u32 magic;
	__u32 version;
	__u32 guests;
	__u32 rings;
	__u64 now_ns;
	__u64 end_ns;
	__u32 stage_seen;
	__u32 stage[WIRE_GUESTS_MAX];
	__u32 over;
	__u32 over_seen;
	__u32 unused;
	struct wire_ring_entry entry[WIRE_RINGS_MAX];
};

/**
 * struct wire_record - what stands before a packet
 * @arrival_ns: when it arrives
 * @sequence: its number in the ring
 * @bytes: of the record, with this and the padding
 * @len: of the packet, from its Ethernet header on
 * @gso_size: of a packet of many segments; 0: it is one
 * @gso_type: as the kernel has it
 * @gso_segs: how many there are
 * @csum_start: where the sum begins that is still to be made, from the packet's start on
 * @csum_offset: where it is put, from there on
 * @partial: there is such a sum
 * @is_rate: it is no packet but a &struct wire_rate
 */
struct wire_record {
	__u64 arrival_ns;
	__u32 sequence;
	__u32 bytes;
	__u32 len;
	__u32 gso_type;
	__u16 gso_size;
	__u16 gso_segs;
	__u16 csum_start;
	__u16 csum_offset;
	__u32 partial;
	__u32 is_rate;
};

/**
 * struct wire_rate - what a link of another guest publishes
 * @since_ns: since when, in the time of all
 * @rate: bytes/s; all ones: none
 * @flows: that share it
 * @layer: enum rate_feedback_layer
 */
struct wire_rate {
	__u64 since_ns;
	__u64 rate;
	__u32 flows;
	__u32 layer;
};

/**
 * wire_record_bytes() - the room that a packet takes in a ring
 * @len: of the packet
 *
 * Return: bytes, a multiple of 8.
 */
static inline __u32 wire_record_bytes(__u32 len)
{
	return (sizeof(struct wire_record) + len + 7) & ~7U;
}

/**
 * wire_ring_has_room() - is there room for a record?
 * @ring: the ring, of which its sender knows what it saw at the window's beginning
 * @size: of its data
 * @bytes: of the record
 *
 * Return: true if there is.
 */
static inline int wire_ring_has_room(const struct wire_ring *ring, __u64 size, __u32 bytes)
{
	return ring->head - ring->tail_seen + bytes <= size;
}

/**
 * wire_record_is_good() - can a record be taken for what a sender wrote?
 * @record: a copy of it: nobody else can change that
 * @left: bytes of the ring that are written from its start on
 * @sequence: the number that it should have
 * @after_ns: the arrival of the one before
 *
 * Return: true if all of it lies within what is written, its fields agree with each other,
 * and it follows the one before.
 */
static inline int wire_record_is_good(const struct wire_record *record, __u64 left,
				      __u32 sequence, __u64 after_ns)
{
	if (record->len < WIRE_PACKET_MIN || record->len > WIRE_PACKET_MAX)
		return 0;
	if (record->bytes != wire_record_bytes(record->len) || record->bytes > left)
		return 0;
	if (record->sequence != sequence || record->arrival_ns < after_ns)
		return 0;
	if (record->partial > 1 || !record->gso_size != !record->gso_type)
		return 0;
	if (record->is_rate)
		return record->is_rate == 1 && record->len == sizeof(struct wire_rate) &&
		       !record->partial && !record->gso_size;
	return !record->partial ||
	       (__u32)record->csum_start + record->csum_offset + 2 <= record->len;
}

/**
 * wire_copy() - copy a packet, or a part of one
 * @to: where it goes
 * @from: where it is
 * @len: bytes
 *
 * User-Mode Linux has the memcpy() of processors without fast string instructions.  Sanitizers
 * see what memcpy() reads and writes.
 */
static inline void wire_copy(void *to, const void *from, unsigned long len)
{
#if defined(__KERNEL__) && defined(__x86_64__) && !defined(CONFIG_KASAN)
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
#else
	memcpy(to, from, len);
#endif
}

/**
 * wire_ring_read() - copy from the data of a ring, round its end
 * @data: of the ring
 * @size: of that
 * @at: the position
 * @to: where it goes
 * @len: bytes, not more than @size
 */
static inline void wire_ring_read(const void *data, __u64 size, __u64 at, void *to, __u32 len)
{
	__u64 place = at & (size - 1);
	__u32 first = len < size - place ? len : (__u32)(size - place);

	wire_copy(to, (const char *)data + place, first);
	wire_copy((char *)to + first, data, len - first);
}

/**
 * wire_ring_next() - the next record of a ring
 * @data: of the ring
 * @size: of that
 * @tail: where the record begins
 * @head: how far is written
 * @sequence: the number that it should have
 * @after_ns: the arrival of the one before
 * @record: a copy of it
 *
 * Return: true if there is one that can be taken for what a sender wrote; all of it lies between
 * @tail and @head, and they are not further apart than @size.
 */
static inline int wire_ring_next(const void *data, __u64 size, __u64 tail, __u64 head,
				 __u32 sequence, __u64 after_ns, struct wire_record *record)
{
	__u64 left = head - tail;

	if (left < sizeof(*record) || left > size)
		return 0;
	wire_ring_read(data, size, tail, record, sizeof(*record));
	return wire_record_is_good(record, left, sequence, after_ns);
}

#endif /* _WIRE_RING_H */
