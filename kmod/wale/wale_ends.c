// SPDX-License-Identifier: GPL-2.0
/*
 * wale_ends.c - when does the last cell of a packet arrive on an input link?   (pure)
 *
 * Until then no packet on the input links is complete, and the link need not run.  The
 * inputs are in a heap, each with a time before which no packet ends there.  That time
 * is not changed when a packet ends and the next one begins: it is still before the end
 * of the next one, and is corrected when it gets to the top.
 *
 * When the rate of the input links changes, packets may end earlier than was thought.
 * Then the heap is built again, a little at each look at it: there may be 65,534 inputs.
 */

#include <linux/limits.h>
#include <linux/types.h>

#include "wale_cells.h"
#include "wale_classes.h"
#include "wale_ends.h"

/* So many places in the heap are corrected at a time. */
#define WALE_ENDS_STEPS	16

/* When the last of so many cells arrives, ns, rounded up; U64_MAX: there is none. */
static u64 wale_ends_when(const struct wale_cells *cells,
			  const struct wale_instant *next, u32 left)
{
	u64 fraction;

	if (!left)
		return U64_MAX;
	left--;		/* a packet has fewer than 2^20 bytes: no product overflows */
	fraction = next->fraction + (u64)left * cells->cell_time.fraction;
	return next->ns + left * cells->cell_time.ns + (fraction >> 32) +
	       !!(u32)fraction;
}

static void wale_ends_rise(struct wale_end *heap, u32 at, struct wale_end new)
{
	u32 above;

	for (; at; at = above) {
		above = (at - 1) / 2;
		if (heap[above].ns <= new.ns)
			break;
		heap[at] = heap[above];
	}
	heap[at] = new;
}

static void wale_ends_sink(struct wale_end *heap, u32 count,
			   struct wale_end new)
{
	u32 at = 0, below;

	while ((below = 2 * at + 1) < count) {
		if (below + 1 < count && heap[below + 1].ns < heap[below].ns)
			below++;
		if (new.ns <= heap[below].ns)
			break;
		heap[at] = heap[below];
		at = below;
	}
	heap[at] = new;
}

/**
 * wale_ends_add() - a packet comes on an input link
 * @classes: with the inputs
 * @class: whose input it is
 */
void wale_ends_add(struct wale_classes *classes, u16 class)
{
	struct wale_ends *ends = &classes->ends;
	struct wale_input *input = &classes->class[class].input;

	if (input->ending)
		return;
	input->ending = true;
	ends->end[ends->count++].class = class;
}

/* The next one that is not in the heap yet gets there, or is removed. */
static void wale_ends_sort(struct wale_ends *ends, u64 ns)
{
	struct wale_end *end = &ends->end[ends->sorted];

	if (ns == U64_MAX)
		*end = ends->end[--ends->count];
	else
		wale_ends_rise(ends->end, ends->sorted++,
			       (struct wale_end){ ns, end->class });
}

/* The top of the heap, which has all of them, ends later than was thought, or is removed. */
static void wale_ends_correct(struct wale_ends *ends, u64 ns)
{
	struct wale_end top = { ns, ends->end->class };

	if (ns == U64_MAX) {
		top = ends->end[--ends->count];
		ends->sorted--;
	}
	if (ends->count)
		wale_ends_sink(ends->end, ends->count, top);
}

/**
 * wale_ends_first() - before when does no packet end on the input links?
 * @classes: with the inputs
 * @cells: with their rate
 * @cells_left: how many cells are to come of the first packet on an input that did not
 *	end yet; 0: there is no such packet
 *
 * Return: ns; when a packet ends, or earlier if it would take too long to find out;
 * U64_MAX: there is none.
 */
u64 wale_ends_first(struct wale_classes *classes,
		    const struct wale_cells *cells,
		    u32 (*cells_left)(const struct wale_input *input))
{
	struct wale_ends *ends = &classes->ends;
	int steps = WALE_ENDS_STEPS;
	struct wale_input *input;
	struct wale_end *end;
	bool sorted;
	u64 ns;

	for (; ends->count && steps; steps--) {
		sorted = ends->sorted == ends->count;
		end = sorted ? ends->end : &ends->end[ends->sorted];
		input = &classes->class[end->class].input;
		ns = wale_ends_when(cells, &input->next, cells_left(input));
		if (sorted && ns == end->ns)
			return ns;
		input->ending = ns != U64_MAX;
		if (sorted)
			wale_ends_correct(ends, ns);
		else
			wale_ends_sort(ends, ns);
	}
	if (!ends->count)
		return U64_MAX;
	return ends->sorted == ends->count ? ends->end->ns : 0;
}
