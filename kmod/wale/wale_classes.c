// SPDX-License-Identifier: GPL-2.0
/*
 * wale_classes.c - the flows that a link tells apart   (pure)
 *
 * A flow has a place, and with it a class of tc and statistics, while one of its
 * packets is on the link, and until another flow needs the place.  The places
 * whose flow has nothing on the link are in the order in which that came about;
 * those that nobody had yet are the first of them:
 *
 *	oldest <-> ... <-> newest
 *
 * All memory is there from the beginning, and whatever the number of flows, a
 * call takes the same time.  The keys are hashes with a secret, so that buckets
 * stay short whoever chooses the addresses, and two flows with one key do not
 * happen.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "wale_classes.h"

#define WALE_CLASS_CROWD_PLACE	0	/* on no list, in no bucket */

/* Memory takes as long as so many packets. */
#define WALE_CLASSES_AHEAD	3

/* So many that most are empty: who has no place is soon known not to. */
static u32 wale_classes_buckets(u32 count)
{
	u32 buckets = 1;

	while (buckets < 2 * count)
		buckets *= 2;
	return buckets;
}

/**
 * wale_classes_size() - bytes of a struct wale_classes
 * @count: number of places, 1 .. WALE_CLASSES_MAX
 *
 * Return: bytes.
 */
size_t wale_classes_size(u32 count)
{
	return sizeof(struct wale_classes) +
	       (count + 1) * (sizeof(struct wale_class) +
			      sizeof(struct wale_turn) +
			      sizeof(struct wale_end) +
			      sizeof(struct wale_place)) +
	       wale_classes_buckets(count) * sizeof(u16);
}

static void wale_classes_append(struct wale_classes *classes, u16 i)
{
	struct wale_place *place = &classes->place[i];

	place->older = classes->newest;
	place->newer = WALE_CLASS_NONE;
	if (classes->newest == WALE_CLASS_NONE)
		classes->oldest = i;
	else
		classes->place[classes->newest].newer = i;
	classes->newest = i;
}

static void wale_classes_unlink(struct wale_classes *classes, u16 i)
{
	const struct wale_place *place = &classes->place[i];

	if (place->older == WALE_CLASS_NONE)
		classes->oldest = place->newer;
	else
		classes->place[place->older].newer = place->newer;
	if (place->newer == WALE_CLASS_NONE)
		classes->newest = place->older;
	else
		classes->place[place->newer].older = place->older;
}

/**
 * wale_classes_init() - no flow has a place
 * @classes: zeroed memory of wale_classes_size()
 * @count: number of places
 */
void wale_classes_init(struct wale_classes *classes, u32 count)
{
	u32 i;

	classes->count = count;
	classes->mask = wale_classes_buckets(count) - 1;
	classes->turn = (struct wale_turn *)&classes->class[count + 1];
	classes->ends.end = (struct wale_end *)&classes->turn[count + 1];
	classes->place = (struct wale_place *)&classes->ends.end[count + 1];
	classes->bucket = (u16 *)&classes->place[count + 1];
	classes->oldest = WALE_CLASS_NONE;
	classes->newest = WALE_CLASS_NONE;
	for (i = 0; i <= classes->mask; i++)
		classes->bucket[i] = WALE_CLASS_NONE;
	for (i = 1; i <= count; i++)
		wale_classes_append(classes, i);
}

/**
 * wale_classes_begin() - what the link holds already is the crowd's
 * @classes: the places, which nobody has
 * @buffer: what is in the buffer
 * @line: what is on the line
 */
void wale_classes_begin(struct wale_classes *classes,
			const struct wale_buffer *buffer,
			const struct wale_counter *line)
{
	struct wale_class *crowd = &classes->class[WALE_CLASS_CROWD_PLACE];

	wale_buffer_set(&crowd->buffer, buffer->packets, buffer->bytes);
	classes->busy = !!buffer->packets;
	crowd->counts.line = *line;
	crowd->counts.offered.packets = buffer->packets + line->packets;
	crowd->counts.offered.bytes = buffer->bytes + line->bytes;
}

/* What points to the place, or to the end of the bucket that it would be in. */
static u16 *wale_classes_at(struct wale_classes *classes, u64 key)
{
	u16 *at = &classes->bucket[key & classes->mask];

	while (*at != WALE_CLASS_NONE && classes->place[*at].key != key)
		at = &classes->place[*at].next;
	return at;
}

/*
 * The place is another flow's from now on.  In its bucket it comes last, so that the
 * one that has held nothing for longest tends to be the first there.
 */
static void wale_classes_give(struct wale_classes *classes, u16 i, u64 key)
{
	struct wale_class *class = &classes->class[i];
	struct wale_place *place = &classes->place[i];
	bool first = !place->key;	/* there is nothing to forget */

	if (place->key & WALE_KEY_HASH)
		*wale_classes_at(classes, place->key) = place->next;
	place->key = key;
	place->next = WALE_CLASS_NONE;
	if (key & WALE_KEY_HASH)
		*wale_classes_at(classes, key) = i;
	if (first || !wale_class_is_idle(class))
		return;
	class->buffer = (struct wale_buffer){};
	class->counts.offered = (struct wale_counter){};
	class->counts.sent = (struct wale_counter){};
	if (!class->more)
		return;
	class->more = false;
	class->counts = (struct wale_counts){};
	class->input.endless = false;
}

/* A place that holds nothing was asked for: others are older. */
static void wale_classes_touch(struct wale_classes *classes, u16 i)
{
	if (!wale_class_is_idle(&classes->class[i]))
		return;
	wale_classes_unlink(classes, i);
	wale_classes_append(classes, i);
}

/*
 * The next flow that has no place gets the oldest: have what the flow that had it is
 * found by in the cache then.  What is counted there takes longer to come: that of the
 * place which a flow gets some packets later.
 */
static void wale_classes_prefetch(const struct wale_classes *classes)
{
	u16 i = classes->oldest;
	int ahead;

	if (i == WALE_CLASS_NONE)
		return;
	prefetchw(&classes->bucket[classes->place[i].key & classes->mask]);
	for (ahead = 0; ahead < WALE_CLASSES_AHEAD; ahead++) {
		i = classes->place[i].newer;
		if (i == WALE_CLASS_NONE)
			return;
	}
	wale_class_prefetch(classes, i);
}

/* For a flow that has none; the crowd's if all hold something. */
static u16 wale_classes_take(struct wale_classes *classes, u64 key)
{
	u16 i = classes->oldest;

	if (i == WALE_CLASS_NONE) {
		classes->crowded++;
		return WALE_CLASS_CROWD_PLACE;
	}
	wale_classes_give(classes, i, key);
	wale_classes_touch(classes, i);
	wale_classes_prefetch(classes);
	return i;
}

/**
 * wale_classes_find() - the place of a flow, a new one if it has none
 * @classes: the places
 * @key: of the flow, with WALE_KEY_HASH
 *
 * Return: the place; that of the crowd if there is none.
 */
u16 wale_classes_find(struct wale_classes *classes, u64 key)
{
	u16 i = *wale_classes_at(classes, key);

	if (i == WALE_CLASS_NONE)
		return wale_classes_take(classes, key);
	wale_classes_touch(classes, i);
	return i;
}

/**
 * wale_classes_name() - the place that was named
 * @classes: the places
 * @i: 1 .. classes->count
 *
 * Who had it by a hash and has packets on the link leaves them there.
 *
 * Return: @i.
 */
u16 wale_classes_name(struct wale_classes *classes, u16 i)
{
	if (classes->place[i].key != i)
		wale_classes_give(classes, i, i);
	wale_classes_touch(classes, i);
	return i;
}

/**
 * wale_class_enter() - a packet enters the buffer
 * @classes: the places
 * @i: the place of its flow
 * @len: bytes on the wire
 */
void wale_class_enter(struct wale_classes *classes, u16 i, u32 len)
{
	struct wale_class *class = &classes->class[i];

	if (i != WALE_CLASS_CROWD_PLACE && wale_class_is_idle(class))
		wale_classes_unlink(classes, i);
	if (!class->buffer.packets)
		classes->busy++;
	wale_buffer_enter(&class->buffer, len);
}

static void wale_class_held(struct wale_classes *classes, u16 i)
{
	if (i != WALE_CLASS_CROWD_PLACE &&
	    wale_class_is_idle(&classes->class[i]))
		wale_classes_append(classes, i);
}

/**
 * wale_class_leave() - a packet leaves the buffer, not for the line
 * @classes: the places
 * @i: the place of its flow
 * @len: bytes on the wire
 *
 * One that is on the line next is counted there first.
 */
void wale_class_leave(struct wale_classes *classes, u16 i, u32 len)
{
	struct wale_class *class = &classes->class[i];

	wale_buffer_leave(&class->buffer, len);
	if (!class->buffer.packets)
		classes->busy--;
	wale_class_held(classes, i);
}

/**
 * wale_class_depart() - a packet leaves the line
 * @classes: the places
 * @i: the place of its flow
 * @len: bytes on the wire
 */
void wale_class_depart(struct wale_classes *classes, u16 i, u32 len)
{
	wale_uncount(&classes->class[i].counts.line, len);
	wale_class_held(classes, i);
}

/**
 * wale_class_enter_cell() - a cell is admitted
 * @classes: the places
 * @i: the place of its flow
 */
void wale_class_enter_cell(struct wale_classes *classes, u16 i)
{
	struct wale_buffer *buffer = &classes->class[i].buffer;

	if (!buffer->cells)
		classes->busy_cells++;
	wale_buffer_enter_cell(buffer);
}

/**
 * wale_class_leave_cell() - a cell was served, or dropped from the buffer
 * @classes: the places
 * @i: the place of its flow
 */
void wale_class_leave_cell(struct wale_classes *classes, u16 i)
{
	struct wale_buffer *buffer = &classes->class[i].buffer;

	if (!--buffer->cells)
		classes->busy_cells--;
}

/**
 * wale_class_end_input() - the input link of a flow becomes idle
 * @classes: the places
 * @i: the place of the flow
 */
void wale_class_end_input(struct wale_classes *classes, u16 i)
{
	classes->class[i].arriving = false;
	wale_class_held(classes, i);
}

/**
 * wale_class_purge() - all that a flow has on the link is dropped
 * @classes: the places; all of them are purged, and the cells with them
 * @i: the place of the flow
 */
void wale_class_purge(struct wale_classes *classes, u16 i)
{
	struct wale_class *class = &classes->class[i];
	struct wale_counter *purged = &class->counts.dropped[WALE_DROP_PURGE];
	struct wale_input *input = &class->input;

	input->ending = false;
	if (wale_class_is_idle(class))
		return;
	purged->packets += class->buffer.packets + class->counts.line.packets;
	purged->bytes += class->buffer.bytes + class->counts.line.bytes;
	class->more = true;
	classes->busy -= !!class->buffer.packets;
	classes->busy_cells -= !!class->buffer.cells;
	class->counts.line = (struct wale_counter){};
	wale_buffer_set(&class->buffer, 0, 0);
	class->buffer.cells = 0;
	class->service_ns = 0;
	class->arriving = false;
	input->first = NULL;
	input->coming = NULL;
	input->last = NULL;
	input->cells_left = 0;
	wale_class_held(classes, i);
}
