// SPDX-License-Identifier: GPL-2.0
/*
 * rate_history.c - the steps of one rate   (pure)
 *
 * A sender whose feedback takes time asks for the rate as it was at a time t:
 * R(t - Delta) of equation (1) of Karnik and Kumar (2005).
 *
 *	ring: ... | n-3 | n-2 | n-1 |    last: n
 *
 * Readers may run while a step is added (rate_source.c makes them read again);
 * whatever they see, they stay within the ring.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "rate_history.h"

static u32 rate_history_held(const struct rate_history *h,
			     const struct rate_ring *ring)
{
	return ring ? min(READ_ONCE(h->count), ring->size) : 0;
}

static bool rate_step_same(const struct rate_step *a, const struct rate_step *b)
{
	return a->rate == b->rate && a->flows == b->flows &&
	       a->meaning == b->meaning && a->layer == b->layer;
}

/**
 * rate_history_push() - the rate changes
 * @h: the history
 * @step: the new step; one that begins before the last one begins with it
 *
 * Return: true if anything but the time has changed.
 */
bool rate_history_push(struct rate_history *h, const struct rate_step *step)
{
	u64 since = step->since;

	if (h->begun && rate_step_same(&h->last, step))
		return false;

	/* a step of no length never held */
	if (h->begun && step->since > h->last.since) {
		if (h->ring) {
			u32 slot = h->count & (h->ring->size - 1);

			h->forgot |= h->count >= h->ring->size;
			h->ring->steps[slot] = h->last;
			/* a count that has wrapped still says that the ring is full */
			if (!++h->count)
				h->count = h->ring->size;
		} else {
			h->forgot = true;
		}
	} else if (h->begun) {
		since = h->last.since;
	}
	h->last = *step;
	h->last.since = since;
	h->begun = true;
	return true;
}

/**
 * rate_history_at() - the rate as it was
 * @h: the history
 * @when: ns
 * @step: set to the step that held at @when, or to the oldest one remembered
 *
 * Return: false if there was no rate yet at that time.
 */
bool rate_history_at(const struct rate_history *h, u64 when,
		     struct rate_step *step)
{
	const struct rate_ring *ring = READ_ONCE(h->ring);
	u32 held = rate_history_held(h, ring);
	u32 count = READ_ONCE(h->count);
	u32 low = 0, high = held;

	*step = h->last;
	if (!h->begun || when >= h->last.since)
		return h->begun;

	/* the number of remembered steps that began by then */
	while (low < high) {
		u32 middle = low + (high - low) / 2;
		u32 slot = (count - held + middle) & (ring->size - 1);

		if (ring->steps[slot].since <= when)
			low = middle + 1;
		else
			high = middle;
	}
	if (!held)
		return h->forgot;
	*step = ring->steps[(count - held + (low ? low - 1 : 0)) &
			    (ring->size - 1)];
	return low || h->forgot;
}

/**
 * rate_history_wants() - is the ring too small?
 * @h: the history
 * @keep_ns: how far back it should reach
 *
 * Return: the number of steps of a ring that should replace it; 0: keep this one.
 */
u32 rate_history_wants(const struct rate_history *h, u64 keep_ns)
{
	const struct rate_ring *ring = h->ring;

	if (!ring)
		return RATE_RING_MIN;
	if (h->count < ring->size || ring->size >= RATE_RING_MAX)
		return 0;
	/* the step that will be overwritten next */
	if (h->last.since - ring->steps[h->count & (ring->size - 1)].since >=
	    keep_ns)
		return 0;
	return ring->size * 2;
}

/**
 * rate_history_resize() - give the history a larger ring
 * @h: the history
 * @ring: empty, larger than the present one; @ring->size is set
 *
 * Return: the old ring, or NULL.
 */
struct rate_ring *rate_history_resize(struct rate_history *h,
				      struct rate_ring *ring)
{
	struct rate_ring *old = h->ring;
	u32 held = rate_history_held(h, old);
	u32 i;

	for (i = 0; i < held; i++)
		ring->steps[i] = old->steps[(h->count - held + i) &
					    (old->size - 1)];
	h->count = held;
	WRITE_ONCE(h->ring, ring);
	return old;
}
