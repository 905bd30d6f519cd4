/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_cells.h - cells on the input links and in the buffer   (pure)
 */
#ifndef _WALE_CELLS_H
#define _WALE_CELLS_H

#include <linux/types.h>

struct sk_buff;
struct wale_class;
struct wale_classes;

/* So many cells a ring has room for, or more: those of a word of its bits. */
#define WALE_RING_MIN	64

/**
 * struct wale_instant - a time, finer than a ns
 * @ns: whole
 * @fraction: of a ns, in 2^-32
 */
struct wale_instant {
	u64 ns;
	u32 fraction;
};

/**
 * struct wale_input - the input link of a flow, as far as the buffer sees it
 * @next: when its next cell arrives, if one does
 * @first: the packets of the flow in the buffer and on the input, in their order
 * @coming: the first of them whose last cell has not come; NULL: there is none
 * @last: the last of them
 * @cells_left: of the packet whose cells arrive; 0: none
 * @dropped: cells of that packet that were not admitted
 * @endless: cells without an end are before the packet whose cells arrive
 * @refused: the packet whose cells arrive was dropped whole, and is not in the list
 * @ending: it is among those of struct wale_ends
 */
struct wale_input {
	struct wale_instant next;
	struct sk_buff *first;
	struct sk_buff *coming;
	struct sk_buff *last;
	u32 cells_left;
	u32 dropped;
	bool endless;
	bool refused;
	bool ending;
};

/**
 * struct wale_turn - a busy input, in the heap of those
 * @ns: when its next cell arrives, whole ns
 * @order: of two whose cells arrive at the same time, the lower one is first
 * @fraction: of a ns, in 2^-32
 * @class: whose input it is
 */
struct wale_turn {
	u64 ns;
	u64 order;
	u32 fraction;
	u16 class;
};

/**
 * struct wale_cells - the cells in the buffer, in order, and those on the inputs
 * @ends: a bit for each cell in the buffer: does it complete a packet that then was
 *	whole?  A ring; it begins the piece of memory that @class is in, too
 * @class: of each cell in the buffer; a ring
 * @mask: size of the ring, a power of two, less one
 * @served: place of the first cell in the buffer
 * @arrived: place behind the last
 * @cell_time: of an input link; zero: all cells of a packet arrive at once
 * @busy: number of inputs that are
 * @amid: the first of them goes on at the instant at which it stopped
 * @order: of the turn that was taken last
 * @turns: that inputs have taken
 *
 * Places are numbers modulo 2^32.
 */
struct wale_cells {
	u64 *ends;
	u16 *class;
	u32 mask;
	u32 served;
	u32 arrived;
	struct wale_instant cell_time;
	u32 busy;
	bool amid;
	u64 order;
	u64 turns;
};

void wale_cells_init(struct wale_cells *cells);
void wale_cells_set_rate(struct wale_cells *cells, u64 rate);
size_t wale_cells_ring_size(u32 size);
void wale_cells_set_ring(struct wale_cells *cells, u64 *ring, u32 size);
void wale_cells_push(struct wale_cells *cells, u16 class);
void wale_cells_mark_end(struct wale_cells *cells);
u32 wale_cells_ahead(const struct wale_cells *cells, u32 most);
void wale_cells_clear(struct wale_cells *cells);
u16 wale_cells_pop(struct wale_cells *cells);
u16 wale_cells_remove(struct wale_cells *cells, u32 place, u32 *behind);

void wale_cells_inputs_start(struct wale_cells *cells,
			     struct wale_classes *classes, u16 class, u64 now);
u64 wale_cells_inputs_next(const struct wale_cells *cells,
			   const struct wale_classes *classes);
u16 wale_cells_inputs_take(struct wale_cells *cells,
			   struct wale_classes *classes);
void wale_cells_inputs_again(struct wale_cells *cells,
			     struct wale_classes *classes, u16 class);
void wale_cells_inputs_resume(struct wale_cells *cells,
			      struct wale_classes *classes, u16 class);

static inline bool wale_cells_interleave(const struct wale_cells *cells)
{
	return cells->cell_time.ns || cells->cell_time.fraction;
}

#endif /* _WALE_CELLS_H */
