// SPDX-License-Identifier: GPL-2.0
/*
 * wale_cells.c - cells on the input links and in the buffer   (pure)
 *
 * Each flow has an input link, and all input links have one rate.  Their cells
 * are merged in the order of time:
 *
 *	input of flow a  |-a1-|-a2-|-a3-|            cell a1 arrives at t, a2 a
 *	input of flow b     |-b1-|-b2-|-b3-|         cell time after it
 *	buffer             a1 b1 a2 b2 a3 b3
 *
 * The inputs that are busy are in a heap, ordered by when their next cells arrive.
 * At one rate a queue would do: the cell behind the one that arrives comes a cell
 * time later, which is later than that of any other input.  But after the rate was
 * raised it comes before those of other inputs, of which there may be 65,534.
 *
 * The buffer remembers of each cell whose it is, and whether it completes a packet.
 * Cells of a flow are served in the order of its packets, each of which knows how
 * many of its cells are in the buffer.
 */

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <net/wale_wire.h>

#include "wale_cells.h"
#include "wale_classes.h"

#define WALE_CELL_WORK_NS	(WALE_ATM_CELL * 1000000000ULL)

/**
 * wale_cells_init() - no cell, no ring, no input links
 * @cells: to be set up
 */
void wale_cells_init(struct wale_cells *cells)
{
	*cells = (struct wale_cells){};
}

/**
 * wale_cells_set_rate() - the rate of each input link, from the next cell on
 * @cells: the cells
 * @rate: bytes/s, WALE_INPUT_RATE_MIN .. _MAX; or WALE_RATE_UNLIMITED
 *
 * The cell time is rounded up to 2^-32 ns.
 */
void wale_cells_set_rate(struct wale_cells *cells, u64 rate)
{
	u64 rest, high, low;

	cells->cell_time = (struct wale_instant){};
	if (rate == WALE_RATE_UNLIMITED)
		return;
	/* 53e9 / rate, 16 bits at a time: what is shifted is below 2^36 */
	cells->cell_time.ns = div64_u64_rem(WALE_CELL_WORK_NS, rate, &rest);
	high = div64_u64_rem(rest << 16, rate, &rest);
	low = div64_u64((rest << 16) + rate - 1, rate);
	low += high << 16;
	cells->cell_time.ns += low >> 32;
	cells->cell_time.fraction = (u32)low;
}

/**
 * wale_cells_ring_size() - bytes that a ring takes
 * @size: cells that it has room for: a power of two, WALE_RING_MIN at least
 *
 * Return: bytes.
 */
size_t wale_cells_ring_size(u32 size)
{
	return size / 8 + size * sizeof(u16);
}

/**
 * wale_cells_set_ring() - another ring, with the cells of the old one
 * @cells: the cells
 * @ring: of wale_cells_ring_size(); has room for them
 * @size: of it
 */
void wale_cells_set_ring(struct wale_cells *cells, u64 *ring, u32 size)
{
	u16 *class = (u16 *)(ring + size / 64);
	u32 mask = size - 1, at, run;

	for (at = cells->served; at != cells->arrived; at += run) {
		run = min(cells->arrived - at,
			  64 - at % 64);	/* those of a word of ends */
		ring[(at & mask) / 64] = cells->ends[(at & cells->mask) / 64];
		memcpy(&class[at & mask], &cells->class[at & cells->mask],
		       run * sizeof(*class));
	}
	cells->ends = ring;
	cells->class = class;
	cells->mask = mask;
}

static bool wale_cells_is_end(const struct wale_cells *cells, u32 place)
{
	return cells->ends[(place & cells->mask) / 64] & BIT_ULL(place % 64);
}

static void wale_cells_put(struct wale_cells *cells, u32 place, u16 class,
			   bool end)
{
	u64 *ends = &cells->ends[(place & cells->mask) / 64];
	u64 bit = BIT_ULL(place % 64);

	cells->class[place & cells->mask] = class;
	*ends = end ? *ends | bit : *ends & ~bit;
}

/**
 * wale_cells_push() - a cell is admitted
 * @cells: the cells; fewer than the ring has room for
 * @class: whose it is
 */
void wale_cells_push(struct wale_cells *cells, u16 class)
{
	wale_cells_put(cells, cells->arrived++, class, false);
}

/**
 * wale_cells_mark_end() - the cell that was just admitted completes a packet
 * @cells: the cells
 */
void wale_cells_mark_end(struct wale_cells *cells)
{
	u32 place = cells->arrived - 1;

	wale_cells_put(cells, place, cells->class[place & cells->mask], true);
}

/**
 * wale_cells_ahead() - how many cells are ahead of one that completes a packet?
 * @cells: the cells
 * @most: to look at
 *
 * Return: their number; if there is none: that of all cells, or @most.
 */
u32 wale_cells_ahead(const struct wale_cells *cells, u32 most)
{
	u32 count = min(cells->arrived - cells->served, most), at, n = 0;
	u64 ends;

	while (n < count) {
		at = (cells->served + n) & cells->mask;
		ends = cells->ends[at / 64] >> at % 64;
		if (ends)
			return min_t(u32, n + __ffs64(ends), count);
		n += 64 - at % 64;
	}
	return count;
}

/**
 * wale_cells_clear() - no cell, and all input links are idle
 * @cells: the cells
 */
void wale_cells_clear(struct wale_cells *cells)
{
	cells->served = cells->arrived;
	cells->busy = 0;
	cells->amid = false;
}

/**
 * wale_cells_pop() - the service of the first cell has ended
 * @cells: the cells, at least one
 *
 * Return: whose it was.
 */
u16 wale_cells_pop(struct wale_cells *cells)
{
	return cells->class[cells->served++ & cells->mask];
}

/**
 * wale_cells_remove() - a cell is dropped from the buffer, those behind move up
 * @cells: the cells
 * @place: of the cell
 * @behind: set to how many cells of the same class were behind it
 *
 * Takes as many steps as there are cells behind it.
 *
 * Return: whose it was.
 */
u16 wale_cells_remove(struct wale_cells *cells, u32 place, u32 *behind)
{
	u16 victim = cells->class[place & cells->mask];
	u32 at;

	*behind = 0;
	for (at = place + 1; at != cells->arrived; at++) {
		u16 class = cells->class[at & cells->mask];

		*behind += class == victim;
		wale_cells_put(cells, at - 1, class,
			       wale_cells_is_end(cells, at));
	}
	cells->arrived--;
	return victim;
}

static bool wale_cells_turn_before(const struct wale_turn *a,
				   const struct wale_turn *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	if (a->fraction != b->fraction)
		return a->fraction < b->fraction;
	return a->order < b->order;
}

/**
 * wale_cells_inputs_start() - the first cell of a packet is there, on an idle input
 * @cells: the cells
 * @classes: with the inputs
 * @class: whose input it is
 * @now: ns
 *
 * wale_cells_inputs_again() must follow.
 */
void wale_cells_inputs_start(struct wale_cells *cells,
			     struct wale_classes *classes, u16 class, u64 now)
{
	classes->class[class].arriving = true;
	classes->class[class].input.next = (struct wale_instant){ .ns = now };
}

/**
 * wale_cells_inputs_next() - when does the next cell arrive?
 * @cells: the cells
 * @classes: with the inputs
 *
 * Return: ns, rounded up; U64_MAX: all inputs are idle.
 */
u64 wale_cells_inputs_next(const struct wale_cells *cells,
			   const struct wale_classes *classes)
{
	const struct wale_turn *next = classes->turn;

	return cells->busy ? next->ns + !!next->fraction : U64_MAX;
}

/**
 * wale_cells_inputs_take() - the next cell arrives, or the input becomes idle
 * @cells: the cells; some input is busy
 * @classes: with the inputs
 *
 * wale_cells_inputs_again() must follow, or the input made idle.
 *
 * Return: whose input it is.
 */
u16 wale_cells_inputs_take(struct wale_cells *cells,
			   struct wale_classes *classes)
{
	const struct wale_turn last = classes->turn[--cells->busy];
	struct wale_turn *turn = classes->turn;
	u16 class = turn->class;
	u32 at = 0, below;

	cells->amid = false;
	cells->order = turn->order;
	while ((below = 2 * at + 1) < cells->busy) {
		if (below + 1 < cells->busy &&
		    wale_cells_turn_before(&turn[below + 1], &turn[below]))
			below++;
		if (wale_cells_turn_before(&last, &turn[below]))
			break;
		turn[at] = turn[below];
		at = below;
	}
	turn[at] = last;
	return class;
}

/* A busy input gets its place in the heap. */
static void wale_cells_inputs_put(struct wale_cells *cells,
				  struct wale_classes *classes, u16 class,
				  u64 order)
{
	const struct wale_instant *next = &classes->class[class].input.next;
	struct wale_turn *turn = classes->turn;
	const struct wale_turn new = {
		.ns = next->ns,
		.order = order,
		.fraction = next->fraction,
		.class = class,
	};
	u32 at = cells->busy++, above;

	while (at) {
		above = (at - 1) / 2;
		if (wale_cells_turn_before(&turn[above], &new))
			break;
		turn[at] = turn[above];
		at = above;
	}
	turn[at] = new;
}

/**
 * wale_cells_inputs_again() - the input carries another cell, or stays busy as long
 * @cells: the cells, which interleave
 * @classes: with the inputs
 * @class: whose input it is
 */
void wale_cells_inputs_again(struct wale_cells *cells,
			     struct wale_classes *classes, u16 class)
{
	struct wale_instant *next = &classes->class[class].input.next;
	u64 fraction = (u64)next->fraction + cells->cell_time.fraction;

	next->ns += cells->cell_time.ns + (fraction >> 32);
	next->fraction = (u32)fraction;
	wale_cells_inputs_put(cells, classes, class, cells->turns++);
}

/**
 * wale_cells_inputs_resume() - the input is not done yet, and is the next again
 * @cells: the cells, which do not interleave
 * @classes: with the inputs
 * @class: whose input it is, as wale_cells_inputs_take() just said
 */
void wale_cells_inputs_resume(struct wale_cells *cells,
			      struct wale_classes *classes, u16 class)
{
	wale_cells_inputs_put(cells, classes, class, cells->order);
	cells->amid = true;
}
