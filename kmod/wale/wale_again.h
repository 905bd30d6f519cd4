/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_again.h - draws that depend on the one before   (pure)
 *
 * With probability c, a packet has the draw of the packet before it, u[n-1], and else
 * one of its own.  So each u[n] has the same distribution, whatever c is, and so has
 * what is computed from it, such as a loss or a delay.  Of any function f,
 *
 *	corr(f(u[n]), f(u[n-k])) = c^k
 */
#ifndef _WALE_AGAIN_H
#define _WALE_AGAIN_H

#include "wale_loss.h"
#include "wale_random.h"

/**
 * struct wale_again - what is remembered from packet to packet
 * @stream: says whether a draw stays
 * @last: the last draw
 * @begun: there was one
 */
struct wale_again {
	struct wale_stream stream;
	u64 last;
	bool begun;
};

static inline void wale_again_init(struct wale_again *again, u64 seed,
				   enum wale_purpose purpose)
{
	wale_stream_init(&again->stream, seed, purpose);
	again->begun = false;
}

/**
 * wale_again_draw() - the draw of the next packet
 * @again: what is remembered
 * @correlation: fraction of 2^32; WALE_LOSS_ALWAYS: one
 * @draw: its own, which may not be used
 *
 * Return: the draw.
 */
static inline u64 wale_again_draw(struct wale_again *again, u32 correlation,
				  u64 draw)
{
	u64 chance = wale_stream_draw(&again->stream) >> 32;

	if (!again->begun || chance >= wale_chance(correlation))
		again->last = draw;
	again->begun = true;
	return again->last;
}

#endif /* _WALE_AGAIN_H */
