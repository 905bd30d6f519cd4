// SPDX-License-Identifier: GPL-2.0
/*
 * datagram.c - packets at a constant rate: see datagram.h
 */
#include "datagram.h"

#include <endian.h>
#include <string.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

/* The payload begins with this, then comes the number and the time. */
static const char magic[8] = "wale udp";

__extension__ typedef unsigned __int128 u128;

void datagram_write(uint8_t to[DATAGRAM_HEADER_BYTES],
		    const struct datagram *datagram)
{
	const uint64_t number = htobe64(datagram->number);
	const uint64_t due_ns = htobe64(datagram->due_ns);

	memcpy(to, magic, sizeof(magic));
	memcpy(to + 8, &number, sizeof(number));
	memcpy(to + 16, &due_ns, sizeof(due_ns));
}

bool datagram_read(const uint8_t *from, size_t len, struct datagram *datagram)
{
	if (len < DATAGRAM_HEADER_BYTES || memcmp(from, magic, sizeof(magic)))
		return false;
	memcpy(&datagram->number, from + 8, sizeof(datagram->number));
	memcpy(&datagram->due_ns, from + 16, sizeof(datagram->due_ns));
	datagram->number = be64toh(datagram->number);
	datagram->due_ns = be64toh(datagram->due_ns);
	return true;
}

bool datagram_schedule_rate(struct datagram_schedule *schedule, uint64_t size,
			    uint64_t bytes_per_s)
{
	*schedule = (struct datagram_schedule){
		.period_ns = size * NSEC_PER_SEC,
		.packets = bytes_per_s,
	};
	return bytes_per_s && bytes_per_s <= INT64_MAX;
}

bool datagram_schedule_frequency(struct datagram_schedule *schedule,
				 uint64_t fixed32)
{
	*schedule = (struct datagram_schedule){
		.period_ns = NSEC_PER_SEC << 32,
		.packets = fixed32,
	};
	return fixed32 && fixed32 <= INT64_MAX;
}

uint64_t datagram_due_ns(const struct datagram_schedule *schedule,
			 uint64_t number)
{
	u128 due = ((u128)number + 1) * schedule->period_ns / schedule->packets;

	return due > UINT64_MAX ? UINT64_MAX : (uint64_t)due;
}

uint64_t datagram_count_until(const struct datagram_schedule *schedule,
			      uint64_t duration_ns)
{
	/* The largest n with n * period / packets < duration + 1. */
	u128 all = ((u128)duration_ns + 1) * schedule->packets - 1;

	all /= schedule->period_ns;
	return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

void datagram_count_init(struct datagram_count *count)
{
	*count = (struct datagram_count){
		.min_gap_ns = UINT64_MAX,
		.min_delay_ns = INT64_MAX,
		.max_delay_ns = INT64_MIN,
	};
}

static void count_gap(struct datagram_count *count, uint64_t gap_ns)
{
	if (gap_ns < count->min_gap_ns)
		count->min_gap_ns = gap_ns;
	if (gap_ns > count->max_gap_ns)
		count->max_gap_ns = gap_ns;
}

static uint64_t *seen_word(struct datagram_count *count, uint64_t number)
{
	return &count->seen[number / 64 % DATAGRAM_SEEN_WORDS];
}

/* The words that numbers up to this one need are of those from far below. */
static void seen_move(struct datagram_count *count, uint64_t number)
{
	uint64_t last = count->next ? (count->next - 1) / 64 : 0;
	uint64_t words = number / 64 - last;

	if (words > DATAGRAM_SEEN_WORDS)
		words = DATAGRAM_SEEN_WORDS;
	for (uint64_t i = 0; i < words; i++)
		*seen_word(count, number - i * 64) = 0;
}

static void count_number(struct datagram_count *count, uint64_t number)
{
	uint64_t bit = UINT64_C(1) << number % 64;
	uint64_t *word = seen_word(count, number);

	if (number >= count->next) {
		seen_move(count, number);
		count->next = number + 1;
	} else if ((count->next - 1) / 64 - number / 64 >=
		   DATAGRAM_SEEN_WORDS) {
		count->late++; /* so late that nobody knows */
		return;
	} else if (*word & bit) {
		count->duplicates++;
		return;
	} else {
		count->late++;
	}
	*word |= bit;
}

void datagram_count_add(struct datagram_count *count,
			const struct datagram *datagram, uint64_t now_ns,
			size_t size)
{
	int64_t delay_ns = (int64_t)(now_ns - datagram->due_ns);

	if (!count->packets)
		count->first_ns = now_ns;
	else
		/* the clock may have been set back */
		count_gap(count, now_ns > count->last_ns
					 ? now_ns - count->last_ns
					 : 0);
	count->last_ns = now_ns;
	count->packets++;
	count->bytes += size;

	if (datagram->number < UINT64_MAX)
		count_number(count, datagram->number);

	if (delay_ns < count->min_delay_ns)
		count->min_delay_ns = delay_ns;
	if (delay_ns > count->max_delay_ns)
		count->max_delay_ns = delay_ns;
	/* Whoever sends nonsense gets a nonsensical mean. */
	count->delay_sum_ns =
		(int64_t)((uint64_t)count->delay_sum_ns + (uint64_t)delay_ns);
}

uint64_t datagram_count_ns(const struct datagram_count *count)
{
	return count->last_ns > count->first_ns
		       ? count->last_ns - count->first_ns
		       : 0;
}

uint64_t datagram_count_missing(const struct datagram_count *count)
{
	uint64_t different = count->packets - count->duplicates;

	return count->next > different ? count->next - different : 0;
}
