/* SPDX-License-Identifier: GPL-2.0 */
/*
 * datagram.h - what "wale send" and "wale receive" agree on: the packets, when
 * each is due, and what is counted of those that come   (pure)
 */
#ifndef WALE_DATAGRAM_H
#define WALE_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At the begin of a packet's payload; the rest is zeros. */
#define DATAGRAM_HEADER_BYTES 24

/* Of IP and UDP. */
#define DATAGRAM_IPV4_BYTES 28
#define DATAGRAM_IPV6_BYTES 48

#define DATAGRAM_PORT 7771

/* So many words have a bit for each of the numbers that came last. */
#define DATAGRAM_SEEN_WORDS 1024

/**
 * struct datagram - what a packet says of itself
 * @number: 0, 1, ...
 * @due_ns: when it was to leave, CLOCK_REALTIME
 */
struct datagram {
	uint64_t number;
	uint64_t due_ns;
};

void datagram_write(uint8_t to[DATAGRAM_HEADER_BYTES],
		    const struct datagram *datagram);

/* False if it is none of ours. */
bool datagram_read(const uint8_t *from, size_t len, struct datagram *datagram);

/**
 * struct datagram_schedule - packets at a constant rate
 * @period_ns: of @packets packets, 1 .. 2^63
 * @packets: 1 .. 2^63
 *
 * Packet 0 is due one interval after the start.  Times are computed from the
 * start for each packet, and rounded down to ns: nothing adds up.
 */
struct datagram_schedule {
	uint64_t period_ns;
	uint64_t packets;
};

/* Packets of @size bytes at @bytes_per_s; false if nothing is sent. */
bool datagram_schedule_rate(struct datagram_schedule *schedule, uint64_t size,
			    uint64_t bytes_per_s);

/* So many packets per second, in 2^-32; false for none. */
bool datagram_schedule_frequency(struct datagram_schedule *schedule,
				 uint64_t fixed32);

/* ns from the start to packet @number, at most UINT64_MAX. */
uint64_t datagram_due_ns(const struct datagram_schedule *schedule,
			 uint64_t number);

/* How many packets are due within @duration_ns. */
uint64_t datagram_count_until(const struct datagram_schedule *schedule,
			      uint64_t duration_ns);

/**
 * struct datagram_count - what came
 * @packets: all of ours
 * @bytes: of IP
 * @next: number after the highest that came
 * @late: that came after one with a higher number
 * @duplicates: that came again; of the last DATAGRAM_SEEN_WORDS * 64 numbers
 * @seen: which of these came
 * @first_ns: when the first one came
 * @last_ns: when the last one came
 * @min_gap_ns: least time between two arrivals, UINT64_MAX: fewer than two
 * @max_gap_ns: largest
 * @min_delay_ns: least time from when a packet was due to its arrival
 * @max_delay_ns: largest
 * @delay_sum_ns: of all
 */
struct datagram_count {
	uint64_t packets;
	uint64_t bytes;
	uint64_t next;
	uint64_t late;
	uint64_t duplicates;
	uint64_t seen[DATAGRAM_SEEN_WORDS];
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t min_gap_ns;
	uint64_t max_gap_ns;
	int64_t min_delay_ns;
	int64_t max_delay_ns;
	int64_t delay_sum_ns;
};

void datagram_count_init(struct datagram_count *count);

/* Take note of one that came at @now_ns and was @size bytes of IP. */
void datagram_count_add(struct datagram_count *count,
			const struct datagram *datagram, uint64_t now_ns,
			size_t size);

/* That are missing below the highest number that came. */
/* From the first packet to the last, ns; 0 if the clock was set back meanwhile. */
uint64_t datagram_count_ns(const struct datagram_count *count);

uint64_t datagram_count_missing(const struct datagram_count *count);

#endif
