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
 * The buffer remembers of each cell only whose it is.  A packet knows the place
 * of its last cell: it is complete when the server has passed that place.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
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
 * wale_cells_set_ring() - another ring, with the cells of the old one
 * @cells: the cells
 * @ring: has room for them
 * @size: of it, a power of two
 */
void wale_cells_set_ring(struct wale_cells *cells, u16 *ring, u32 size)
{
	u32 at;

	for (at = cells->served; at != cells->arrived; at++)
		ring[at & (size - 1)] = cells->class[at & cells->mask];
	cells->class = ring;
	cells->mask = size - 1;
}

/**
 * wale_cells_push() - a cell is admitted
 * @cells: the cells; fewer than the ring has room for
 * @class: whose it is
 */
void wale_cells_push(struct wale_cells *cells, u16 class)
{
	cells->class[cells->arrived++ & cells->mask] = class;
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
 * @classes: whose they are
 * @place: of the cell
 *
 * Takes as many steps as there are cells behind it.
 *
 * Return: whose it was.
 */
u16 wale_cells_remove(struct wale_cells *cells, struct wale_classes *classes,
		      u32 place)
{
	u16 victim = cells->class[place & cells->mask];
	struct wale_input *input = &classes->class[victim].input;
	u32 at;

	if (input->last_cell == place)
		input->last_cell--;
	for (at = place + 1; at != cells->arrived; at++) {
		u16 class = cells->class[at & cells->mask];

		input = &classes->class[class].input;
		if (input->last_cell == at)
			input->last_cell--;
		cells->class[(at - 1) & cells->mask] = class;
	}
	cells->arrived--;
	return victim;
}

static bool wale_turn_before(const struct wale_turn *a,
			     const struct wale_turn *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	if (a->fraction != b->fraction)
		return a->fraction < b->fraction;
	return a->order < b->order;
}

/**
 * wale_inputs_start() - the first cell of a packet is there, on an idle input
 * @cells: the cells
 * @classes: with the inputs
 * @class: whose input it is
 * @now: ns
 *
 * wale_inputs_again() must follow.
 */
void wale_inputs_start(struct wale_cells *cells, struct wale_classes *classes,
		       u16 class, u64 now)
{
	classes->class[class].arriving = true;
	classes->class[class].input.next = (struct wale_instant){ .ns = now };
}

/**
 * wale_inputs_next() - when does the next cell arrive?
 * @cells: the cells
 * @classes: with the inputs
 *
 * Return: ns, rounded up; U64_MAX: all inputs are idle.
 */
u64 wale_inputs_next(const struct wale_cells *cells,
		     const struct wale_classes *classes)
{
	const struct wale_turn *next = classes->turn;

	return cells->busy ? next->ns + !!next->fraction : U64_MAX;
}

/**
 * wale_inputs_take() - the next cell arrives, or the input becomes idle
 * @cells: the cells; some input is busy
 * @classes: with the inputs
 *
 * wale_inputs_again() must follow, or the input made idle.
 *
 * Return: whose input it is.
 */
u16 wale_inputs_take(struct wale_cells *cells, struct wale_classes *classes)
{
	const struct wale_turn last = classes->turn[--cells->busy];
	struct wale_turn *turn = classes->turn;
	u16 class = turn->class;
	u32 at = 0, below;

	while ((below = 2 * at + 1) < cells->busy) {
		if (below + 1 < cells->busy &&
		    wale_turn_before(&turn[below + 1], &turn[below]))
			below++;
		if (wale_turn_before(&last, &turn[below]))
			break;
		turn[at] = turn[below];
		at = below;
	}
	turn[at] = last;
	return class;
}

/**
 * wale_inputs_again() - the input carries another cell, or stays busy as long
 * @cells: the cells, which interleave
 * @classes: with the inputs
 * @class: whose input it is
 */
void wale_inputs_again(struct wale_cells *cells, struct wale_classes *classes,
		       u16 class)
{
	struct wale_instant *next = &classes->class[class].input.next;
	u64 fraction = (u64)next->fraction + cells->cell_time.fraction;
	struct wale_turn *turn = classes->turn, new;
	u32 at = cells->busy++, above;

	next->ns += cells->cell_time.ns + (fraction >> 32);
	next->fraction = (u32)fraction;
	new = (struct wale_turn){
		.ns = next->ns,
		.order = cells->turns++,
		.fraction = next->fraction,
		.class = class,
	};
	while (at) {
		above = (at - 1) / 2;
		if (wale_turn_before(&turn[above], &new))
			break;
		turn[at] = turn[above];
		at = above;
	}
	turn[at] = new;
}
