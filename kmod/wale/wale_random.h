/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_random.h - every random draw of a link, from one seed   (pure)
 *
 * SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, section 3) in counter form:
 * draw n of a stream is a function of its key and of n alone, so that a stream
 * can neither be disturbed by another nor by the order in which draws are made.
 * Each purpose has a stream of its own, keyed by a draw from the seed.
 */
#ifndef _WALE_RANDOM_H
#define _WALE_RANDOM_H

#include <linux/types.h>

#define WALE_RANDOM_GAMMA	0x9e3779b97f4a7c15ULL

/* Of a seed that nobody gave: many readers of JSON have doubles for numbers */
#define WALE_SEED_DRAWN_BITS	53

/* What a stream is drawn for; the numbers are part of what a seed means. */
enum wale_purpose {
	WALE_PURPOSE_LOSS	= 0,
	WALE_PURPOSE_SESSIONS	= 1,
	WALE_PURPOSE_BUFFER	= 2,
	WALE_PURPOSE_MARK	= 4,
	WALE_PURPOSE_JITTER	= 5,
	WALE_PURPOSE_REORDER	= 6,
	WALE_PURPOSE_DUPLICATE	= 7,
	WALE_PURPOSE_CORRUPT	= 8,
	WALE_PURPOSE_SLOT	= 9,
	WALE_PURPOSE_LOSS_AGAIN	= 10,
	WALE_PURPOSE_JITTER_AGAIN = 11,
};

/**
 * struct wale_stream - one sequence of draws
 * @key: tells this stream from the others
 * @drawn: number of draws made
 */
struct wale_stream {
	u64 key;
	u64 drawn;
};

/**
 * wale_random_at() - draw @n of the SplitMix64 sequence that starts at @key
 * @key: state of the generator before its first draw
 * @n: index of the draw, from 0
 *
 * Return: 64 uniform bits.
 */
static inline u64 wale_random_at(u64 key, u64 n)
{
	u64 z = key + (n + 1) * WALE_RANDOM_GAMMA;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline void wale_stream_init(struct wale_stream *stream, u64 seed,
				    enum wale_purpose purpose)
{
	stream->key = wale_random_at(seed, purpose);
	stream->drawn = 0;
}

static inline u64 wale_stream_draw(struct wale_stream *stream)
{
	return wale_random_at(stream->key, stream->drawn++);
}

#endif /* _WALE_RANDOM_H */
