/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_classes.h - the flows that a link tells apart   (pure)
 */
#ifndef _WALE_CLASSES_H
#define _WALE_CLASSES_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/prefetch.h>
#include <linux/types.h>

#include "wale_buffer.h"
#include "wale_cells.h"
#include "wale_counts.h"
#include "wale_ends.h"

#define WALE_CLASS_NONE	0xffff

/* What a flow is known by: a class that was named, or a hash with this bit. */
#define WALE_KEY_HASH	BIT_ULL(63)

/**
 * struct wale_place - whose a place is
 * @key: of the flow; 0: nobody had the place yet
 * @next: in the same bucket
 * @older: has held nothing for longer
 * @newer: has held nothing for less long
 */
struct wale_place {
	u64 key;
	u16 next;
	u16 older;
	u16 newer;
};

/**
 * struct wale_class - what the flow in a place has on the link, and had
 * @arriving: cells arrive on its input link, or a cell time has not passed since the
 *	last one
 * @more: there can be more in @counts and in @input than what was offered and sent
 * @buffer: what it has in the buffer; the limits are unused
 * @counts: of its packets, since it got the place
 * @input: its input link
 * @service_ns: when the first cell of its packet that is in service began to be
 *	served; 0: none was
 *
 * There can be more of them than any cache has room for: a packet needs one line for
 * where it is, and the next for what most packets count.  Whose a place is, is not
 * here: to find a place, or the oldest, many are looked at.
 */
struct wale_class {
	bool arriving;
	bool more;
	struct wale_buffer buffer;
	struct wale_counts counts;
	struct wale_input input;
	u64 service_ns;
} ____cacheline_aligned;

/**
 * struct wale_classes - the places
 * @count: number of them; class[1 .. @count]
 * @mask: number of buckets, a power of two, less one
 * @busy: classes with packets in the buffer
 * @busy_cells: classes with cells in the buffer
 * @oldest: the place that has held nothing for longest
 * @newest: and for least long
 * @crowded: packets for which there was no place
 * @secret: of the hashes
 * @turn: a heap: first the busy input whose cell is next; see wale_cells.c
 * @ends: another: first the input whose packet ends next
 * @bucket: the first place of each, by the low bits of the key
 * @place: whose each place is; place[0] is nobody's
 * @class: what each has; class[0] is the crowd
 */
struct wale_classes {
	u32 count;
	u32 mask;
	u32 busy;
	u32 busy_cells;
	u16 oldest;
	u16 newest;
	u64 crowded;
	u64 secret[2];
	struct wale_turn *turn;
	struct wale_ends ends;
	u16 *bucket;
	struct wale_place *place;
	struct wale_class class[];
};

size_t wale_classes_size(u32 count);
void wale_classes_init(struct wale_classes *classes, u32 count);
void wale_classes_begin(struct wale_classes *classes,
			const struct wale_buffer *buffer,
			const struct wale_counter *line);
u16 wale_classes_find(struct wale_classes *classes, u64 key);
u16 wale_classes_name(struct wale_classes *classes, u16 i);
void wale_class_enter(struct wale_classes *classes, u16 i, u32 len);
void wale_class_leave(struct wale_classes *classes, u16 i, u32 len);
void wale_class_depart(struct wale_classes *classes, u16 i, u32 len);
void wale_class_enter_cell(struct wale_classes *classes, u16 i);
void wale_class_leave_cell(struct wale_classes *classes, u16 i);
void wale_class_end_input(struct wale_classes *classes, u16 i);
void wale_class_purge(struct wale_classes *classes, u16 i);

/* What is counted of most packets of the flow, into the cache: the next one is of it. */
static inline void wale_class_prefetch(const struct wale_classes *classes, u16 i)
{
	prefetchw(&classes->class[i]);
	prefetchw(&classes->class[i].counts);
}

static inline bool wale_class_is_idle(const struct wale_class *class)
{
	return !class->buffer.packets && !class->counts.line.packets &&
	       !class->arriving;
}

#endif /* _WALE_CLASSES_H */
