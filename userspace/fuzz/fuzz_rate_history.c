// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_rate_history.c - the steps of a rate, against a plain list
 *
 * The list has every step that ever was.  Of those, the history remembers the
 * last, and before it as many as its ring has room for; for any time since the
 * oldest that it remembers, it must tell what the list tells.
 */
#include <linux/limits.h>

#include "fuzz.h"
#include "rate_history.h"

#define OPS_MAX 4000

struct list {
	struct rate_step steps[OPS_MAX];
	size_t n;
	size_t kept; /* of those before the last */
};

static bool same(const struct rate_step *a, const struct rate_step *b)
{
	return a->since == b->since && a->rate == b->rate &&
	       a->flows == b->flows && a->meaning == b->meaning &&
	       a->layer == b->layer;
}

/* A step that begins with the last one, or before it, replaces it. */
static bool list_push(struct list *list, struct rate_step step, size_t room)
{
	struct rate_step *last = list->n ? &list->steps[list->n - 1] : NULL;
	struct rate_step as_last = step;

	if (last) {
		as_last.since = last->since;
		if (same(last, &as_last))
			return false;
	}
	if (last && step.since <= last->since) {
		*last = as_last;
		return true;
	}
	if (last)
		list->kept = list->kept < room ? list->kept + 1 : room;
	list->steps[list->n++] = step;
	return true;
}

static void check_at(const struct rate_history *h, const struct list *list,
		     u64 when)
{
	struct rate_step step;
	bool found = rate_history_at(h, when, &step);
	size_t oldest = list->n - 1 - list->kept, i = list->n;

	if (!list->n) {
		must(!found);
		return;
	}
	while (i > oldest && list->steps[i - 1].since > when)
		i--;
	/* before the oldest: it stands for those that were forgotten */
	must(found == (i > oldest || oldest > 0));
	must(same(&step, &list->steps[i > oldest ? i - 1 : oldest]));
}

static struct rate_ring *new_ring(u32 size)
{
	struct rate_ring *ring;

	ring = calloc(1, sizeof(*ring) + size * sizeof(ring->steps[0]));
	must(ring);
	ring->size = size;
	return ring;
}

/* As rate_source.c does when a step was added. */
static void grow(struct rate_history *h, struct tape *tape)
{
	u32 size = rate_history_wants(h, tape_number(tape));

	if (!size)
		return;
	must(size >= RATE_RING_MIN && size <= RATE_RING_MAX);
	must(!(size & (size - 1)));
	must(!h->ring || size == 2 * h->ring->size);
	free(rate_history_resize(h, new_ring(size)));
}

/* As if that many steps had passed that the count is about to wrap. */
static void age(struct rate_history *h)
{
	if (h->ring && h->count >= h->ring->size)
		h->count |= ~(h->ring->size - 1);
}

static struct rate_step read_step(struct tape *tape, u64 last)
{
	u8 what = tape_u8(tape);
	struct rate_step step = {
		.since = what & 1 ? last + (what >> 4) : tape_number(tape),
		.rate = what & 2 ? tape_u8(tape) % 2 : tape_number(tape),
		.flows = what & 4 ? tape_u8(tape) : 0,
		.meaning = what & 8 ? tape_u8(tape) : 0,
		.layer = what & 8 ? tape_u8(tape) : 0,
	};

	return step;
}

static void check_around(const struct rate_history *h, const struct list *list,
			 u64 when)
{
	check_at(h, list, when);
	check_at(h, list, when - 1);
	check_at(h, list, when + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };
	struct rate_history h = {};
	static struct list list;
	struct rate_step step;
	size_t i;

	list.n = 0;
	list.kept = 0;
	while (tape.left && list.n < OPS_MAX) {
		u8 op = tape_u8(&tape);

		if (op % 8 == 0) {
			grow(&h, &tape);
		} else if (op == 9) {
			age(&h);
		} else if (op % 8 == 1) {
			check_around(&h, &list, tape_number(&tape));
		} else {
			step = read_step(&tape, h.last.since);
			must(rate_history_push(&h, &step) ==
			     list_push(&list, step, h.ring ? h.ring->size : 0));
		}
	}
	for (i = 0; i < list.n; i++)
		check_around(&h, &list, list.steps[i].since);
	check_at(&h, &list, 0);
	check_at(&h, &list, U64_MAX);
	free(h.ring);
	return 0;
}
