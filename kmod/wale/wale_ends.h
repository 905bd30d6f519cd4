/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_ends.h - when does the last cell of a packet arrive on an input link?   (pure)
 */
#ifndef _WALE_ENDS_H
#define _WALE_ENDS_H

#include <linux/types.h>

struct wale_cells;
struct wale_classes;
struct wale_input;

/**
 * struct wale_end - an input link with a packet on it
 * @ns: no packet ends there before
 * @class: whose input it is
 */
struct wale_end {
	u64 ns;
	u16 class;
};

/**
 * struct wale_ends - the input links with packets, and some that had one
 * @end: of each; those that are sorted are a heap, the others are behind it
 * @count: number of inputs
 * @sorted: so many of them are in the heap
 */
struct wale_ends {
	struct wale_end *end;
	u32 count;
	u32 sorted;
};

void wale_ends_add(struct wale_classes *classes, u16 class);
u64 wale_ends_first(struct wale_classes *classes,
		    const struct wale_cells *cells,
		    u32 (*cells_left)(const struct wale_input *input));

/**
 * wale_ends_forget() - another rate: all of them end at other times
 * @ends: the input links
 */
static inline void wale_ends_forget(struct wale_ends *ends)
{
	ends->sorted = 0;
}

#endif /* _WALE_ENDS_H */
