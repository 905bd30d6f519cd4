// SPDX-License-Identifier: GPL-2.0
/*
 * wale_buffer_kunit.c - tests of how sch_wale shares its buffer: policies, flows
 * and cells
 *
 * As in wale_kunit.c, the tables are of models that do not know this code, and
 * the pure files are included.
 */

#include <kunit/test.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "../wale_buffer.c"
#include "../wale_cells.c"
#include "../wale_classes.c"
#include "../wale_ends.c"
#include "../wale_policy.c"
#include "../wale_random.h"

#include "vectors/wale_vectors_policy.h"

/* A buffer that is in another place */

static void wale_buffer_of_a_child(struct kunit *test)
{
	struct wale_buffer buffer = { .limit_packets = 2 };

	wale_buffer_enter(&buffer, 1000);
	wale_buffer_set(&buffer, 7, 9000);	/* its limits do not hold */
	wale_buffer_set(&buffer, 3, 9500);
	wale_buffer_leave(&buffer, 1000);
	KUNIT_EXPECT_EQ(test, buffer.packets, 2);
	KUNIT_EXPECT_EQ(test, buffer.bytes, 8500);
	KUNIT_EXPECT_EQ(test, buffer.peak_packets, 7);
	KUNIT_EXPECT_EQ(test, buffer.peak_bytes, 9500);
}

/* Policies */

static void wale_policy_table(struct kunit *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wale_vec_policies); i++) {
		const struct wale_vec_policy *vec = &wale_vec_policies[i];
		const struct wale_congestion congestion = {
			.total = vec->total, .limit = vec->limit,
			.flow = vec->flow, .active = vec->active,
		};
		const struct {
			u32 kind;
			bool refuses;
		} policies[] = {
			{ WALE_POLICY_TAIL, false },
			{ WALE_POLICY_EPD, vec->epd },
			{ WALE_POLICY_SELDROP, vec->seldrop },
			{ WALE_POLICY_FBA, vec->fba },
			{ WALE_POLICY_RANDOM_TAIL, false },
		};
		size_t k;

		for (k = 0; k < ARRAY_SIZE(policies); k++) {
			const struct wale_policy policy = {
				.kind = policies[k].kind, .z = vec->z,
				.threshold = vec->threshold,
			};

			KUNIT_EXPECT_EQ_MSG(test,
					    wale_policy_refuses(&policy,
								&congestion),
					    policies[k].refuses,
					    "row %zu policy %u", i,
					    policy.kind);
		}
	}
}

static void wale_policy_products(struct kunit *test)
{
	static const struct {
		u64 a, b, high, low;
	} vec[] = {
		{ 0, U64_MAX, 0, 0 },
		{ 1, U64_MAX, 0, U64_MAX },
		{ U64_MAX, U64_MAX, U64_MAX - 1, 1 },
		{ 1ULL << 32, 1ULL << 32, 1, 0 },
		{ 0xffffffff00000001ULL, 0xfedcba9876543210ULL,
		  0xfedcba9777777778ULL, 0x8888888876543210ULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++) {
		const struct wale_product product = wale_multiply(vec[i].a,
								  vec[i].b);

		KUNIT_EXPECT_EQ(test, product.high, vec[i].high);
		KUNIT_EXPECT_EQ(test, product.low, vec[i].low);
	}
	KUNIT_EXPECT_TRUE(test, wale_product_exceeds(U64_MAX, U64_MAX,
						     U64_MAX, U64_MAX - 1));
	KUNIT_EXPECT_FALSE(test, wale_product_exceeds(6, 10, 4, 15));
	KUNIT_EXPECT_FALSE(test, wale_product_exceeds(1, U64_MAX, 1ULL << 32,
						      1ULL << 32));
}

static void wale_policy_share(struct kunit *test)
{
	static const struct {
		u32 share;
		u64 limit, threshold;
	} vec[] = {
		{ 900000, 1000, 900 },
		{ 900000, 1, 0 },
		{ 333333, 36000, 11999 },
		{ 1, 999999, 0 },
		{ 1, 1000000, 1 },
		{ 1000000, U64_MAX - 1, U64_MAX - 1 },
		{ 500000, U64_MAX - 1, U64_MAX / 2 },
		{ 0, 1000, 77 },	/* not a share */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++) {
		const struct wale_policy policy = {
			.share = vec[i].share, .threshold = 77,
		};

		KUNIT_EXPECT_EQ(test, wale_policy_threshold(&policy,
							    vec[i].limit),
				vec[i].threshold);
	}
}

/* Flows */

static struct wale_classes *wale_test_classes(struct kunit *test, u32 count)
{
	struct wale_classes *classes = vzalloc(wale_classes_size(count));

	KUNIT_ASSERT_NOT_NULL(test, classes);
	wale_classes_init(classes, count);
	return classes;
}

static void wale_classes_places(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 3);
	const u64 a = WALE_KEY_HASH | 16, b = WALE_KEY_HASH | 32;
	const u64 c = WALE_KEY_HASH | 48, d = WALE_KEY_HASH | 64;

	/* those that nobody had, in order; all are in one bucket */
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, a), 1);
	wale_class_enter(classes, 1, 100);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, b), 2);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, c), 3);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, a), 1);
	KUNIT_EXPECT_EQ(test, classes->busy, 1);
	KUNIT_EXPECT_EQ(test, classes->mask & (a | b | c | d), 0);

	/* b was asked for before c, so that its place goes first */
	classes->class[2].counts.offered.packets = 7;
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, d), 2);
	KUNIT_EXPECT_EQ(test, classes->class[2].counts.offered.packets, 0);
	wale_class_enter(classes, 2, 100);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, b), 3);
	wale_class_enter(classes, 3, 100);

	/* each has a packet on the link: c joins the crowd */
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, c), 0);
	KUNIT_EXPECT_EQ(test, classes->crowded, 1);
	wale_class_enter(classes, 0, 100);
	KUNIT_EXPECT_EQ(test, classes->busy, 4);
	wale_class_leave(classes, 0, 100);

	/* from the buffer to the line, and off it */
	wale_count(&classes->class[1].counts.line, 100);
	wale_class_leave(classes, 1, 100);
	KUNIT_EXPECT_EQ(test, classes->busy, 2);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, c), 0);
	wale_class_depart(classes, 1, 100);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, c), 1);
	vfree(classes);
}

static void wale_classes_named(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 2);
	const u64 a = WALE_KEY_HASH | 1, b = WALE_KEY_HASH | 2;

	KUNIT_EXPECT_EQ(test, wale_classes_name(classes, 2), 2);
	wale_class_enter(classes, 2, 100);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, a), 1);
	wale_class_enter(classes, 1, 100);
	classes->class[1].counts.offered.packets = 1;

	/* its packets stay; the flow that had it finds another place */
	KUNIT_EXPECT_EQ(test, wale_classes_name(classes, 1), 1);
	KUNIT_EXPECT_EQ(test, classes->class[1].counts.offered.packets, 1);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, a), 0);
	wale_class_leave(classes, 2, 100);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, a), 2);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, b), 2);
	vfree(classes);
}

/* Packets that were there before flows were told apart. */
static void wale_classes_late(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 2);
	struct wale_buffer buffer = { .packets = 2, .bytes = 300 };
	struct wale_counter line = { 1, 70 };

	wale_classes_begin(classes, &buffer, &line);
	KUNIT_EXPECT_EQ(test, classes->busy, 1);
	KUNIT_EXPECT_EQ(test, classes->class[0].counts.offered.packets, 3);
	KUNIT_EXPECT_EQ(test, classes->class[0].counts.offered.bytes, 370);
	KUNIT_EXPECT_EQ(test, classes->class[0].buffer.peak_packets, 2);
	wale_class_leave(classes, 0, 100);
	wale_class_leave(classes, 0, 200);
	wale_class_depart(classes, 0, 70);
	KUNIT_EXPECT_EQ(test, classes->busy, 0);
	KUNIT_EXPECT_TRUE(test, wale_class_is_idle(&classes->class[0]));
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, WALE_KEY_HASH | 1), 1);
	vfree(classes);
}

/* All is dropped: the sums say so, and the places are free. */
static void wale_classes_purged(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 2);
	struct wale_class *class = &classes->class[1];
	u16 i;

	wale_classes_find(classes, WALE_KEY_HASH | 1);
	wale_class_enter(classes, 1, 100);
	wale_class_enter(classes, 1, 200);
	wale_class_enter_cell(classes, 1);
	wale_count(&class->counts.line, 70);
	class->arriving = true;
	wale_class_enter(classes, 0, 50);	/* the crowd */
	KUNIT_EXPECT_EQ(test, classes->busy, 2);
	for (i = 0; i <= 2; i++)
		wale_class_purge(classes, i);
	KUNIT_EXPECT_EQ(test, classes->busy, 0);
	KUNIT_EXPECT_EQ(test, classes->busy_cells, 0);
	KUNIT_EXPECT_EQ(test, class->counts.dropped[WALE_DROP_PURGE].packets, 3);
	KUNIT_EXPECT_EQ(test, class->counts.dropped[WALE_DROP_PURGE].bytes, 370);
	KUNIT_EXPECT_TRUE(test, wale_class_is_idle(class));
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, WALE_KEY_HASH | 2), 2);
	KUNIT_EXPECT_EQ(test, wale_classes_find(classes, WALE_KEY_HASH | 1), 1);
	vfree(classes);
}

/* Against a list of who has packets: never two flows in a place, none lost. */
static void wale_classes_random_life(struct kunit *test)
{
	enum { PLACES = 50, KEYS = 200 };
	struct wale_classes *classes = wale_test_classes(test, PLACES);
	u16 place[KEYS] = {};	/* of a flow with a packet */
	struct wale_stream stream;
	u32 step, k, held = 0;

	wale_stream_init(&stream, 1, WALE_PURPOSE_BUFFER);
	for (step = 0; step < 100000; step++) {
		u64 draw = wale_stream_draw(&stream);
		u16 i;

		k = (u32)draw % KEYS;
		if (place[k]) {
			wale_class_leave(classes, place[k], 1);
			place[k] = 0;
			held--;
			continue;
		}
		i = wale_classes_find(classes, WALE_KEY_HASH | k << 3);
		if (!i) {
			if (held != PLACES)
				break;
			continue;
		}
		if (classes->class[i].buffer.packets)
			break;
		wale_class_enter(classes, i, 1);
		place[k] = i;
		held++;
		if (classes->busy != held)
			break;
	}
	KUNIT_EXPECT_EQ(test, step, 100000);
	vfree(classes);
}

/* Cells */

static void wale_cells_time(struct kunit *test)
{
	static const struct {
		u64 rate, ns;
		u32 fraction;
	} vec[] = {
		{ WALE_RATE_UNLIMITED, 0, 0 },
		{ 53, 1000000000, 0 },
		{ 53000000000ULL, 1, 0 },
		{ 35333333333ULL, 1, 2147483649U },	/* 1.5 and a bit */
		{ 19440000, 2726, 1449330528 },	/* 155.52 Mbit/s */
		{ 52999999999ULL, 1, 1 },
	};
	struct wale_cells cells;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vec); i++) {
		wale_cells_init(&cells);
		wale_cells_set_rate(&cells, vec[i].rate);
		KUNIT_EXPECT_EQ(test, cells.cell_time.ns, vec[i].ns);
		KUNIT_EXPECT_EQ(test, cells.cell_time.fraction, vec[i].fraction);
	}
}

/* Inputs that start at 0, 300 and 650 ns, with a cell time of 1000.25 ns. */
static void wale_cells_merge(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 3);
	struct wale_cells cells;
	u32 n, i;

	wale_cells_init(&cells);
	cells.cell_time = (struct wale_instant){ 1000, 1U << 30 };
	KUNIT_EXPECT_EQ(test, wale_cells_inputs_next(&cells, classes), U64_MAX);
	for (i = 0; i < 3; i++) {
		wale_cells_inputs_start(&cells, classes, i + 1,
					300 * i + 50 * (i / 2));
		wale_cells_inputs_again(&cells, classes, i + 1);
	}
	for (n = 1; n < 1000; n++) {
		for (i = 0; i < 3; i++) {
			u64 start = 300 * i + 50 * (i / 2);

			KUNIT_ASSERT_EQ(test,
					wale_cells_inputs_next(&cells, classes),
					start + 1000 * n + DIV_ROUND_UP(n, 4));
			KUNIT_ASSERT_EQ(test,
					wale_cells_inputs_take(&cells, classes),
					i + 1);
			wale_cells_inputs_again(&cells, classes, i + 1);
		}
	}
	vfree(classes);
}

/* An input that stopped amid what it carries is the next again, of all at that instant. */
static void wale_cells_resume(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 3);
	struct wale_cells cells;
	u32 i, n;

	wale_cells_init(&cells);
	cells.cell_time = (struct wale_instant){ 1000, 0 };
	for (i = 1; i <= 3; i++) {
		wale_cells_inputs_start(&cells, classes, i, 100);
		wale_cells_inputs_again(&cells, classes, i);
	}
	cells.cell_time = (struct wale_instant){};
	for (i = 1; i <= 3; i++) {
		for (n = 0; n < 4; n++) {
			KUNIT_EXPECT_EQ(test, cells.amid, n > 0);
			KUNIT_EXPECT_EQ(test,
					wale_cells_inputs_next(&cells, classes),
					1100);
			KUNIT_EXPECT_EQ(test,
					wale_cells_inputs_take(&cells, classes),
					i);
			if (n < 3)
				wale_cells_inputs_resume(&cells, classes, i);
		}
		KUNIT_EXPECT_FALSE(test, cells.amid);
	}
	KUNIT_EXPECT_EQ(test, wale_cells_inputs_next(&cells, classes), U64_MAX);
	vfree(classes);
}

/* A shorter cell time: the next cell of one passes those of the others. */
static void wale_cells_merge_faster(struct kunit *test)
{
	struct wale_classes *classes = wale_test_classes(test, 3);
	struct wale_cells cells;
	u64 now, last = 0;
	u32 i;

	wale_cells_init(&cells);
	cells.cell_time = (struct wale_instant){ 1000, 0 };
	for (i = 1; i <= 3; i++) {
		wale_cells_inputs_start(&cells, classes, i, 100 * i);
		wale_cells_inputs_again(&cells, classes, i);
	}
	cells.cell_time = (struct wale_instant){ 30, 0 };
	for (i = 0; i < 100; i++) {
		now = wale_cells_inputs_next(&cells, classes);
		KUNIT_EXPECT_GE(test, now, last);
		last = now;
		wale_cells_inputs_again(&cells, classes,
					wale_cells_inputs_take(&cells,
							       classes));
	}
	KUNIT_EXPECT_EQ(test, last, 2180);

	/* idle one after another */
	for (i = 0; i < 3; i++)
		wale_cells_inputs_take(&cells, classes);
	KUNIT_EXPECT_EQ(test, wale_cells_inputs_next(&cells, classes), U64_MAX);
	vfree(classes);
}

/* The place of the busy input whose cell is next; 0: none is busy. */
static u16 wale_test_soonest(const struct wale_turn *turns, u32 count)
{
	u16 i, soonest = 0;

	for (i = 1; i <= count; i++)
		if (turns[i].class &&
		    (!soonest ||
		     wale_cells_turn_before(&turns[i], &turns[soonest])))
			soonest = i;
	return soonest;
}

/* Many inputs at rates that come and go, against a search; also of equal times. */
static void wale_cells_merge_many(struct kunit *test)
{
	enum { INPUTS = 100 };
	struct wale_classes *classes = wale_test_classes(test, INPUTS);
	struct wale_turn *turns, *turn;	/* of the busy ones */
	struct wale_stream stream;
	struct wale_cells cells;
	u64 order = 0, now = 0;
	u32 step;
	u16 i;

	turns = kunit_kcalloc(test, INPUTS + 1, sizeof(*turns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, turns);
	wale_stream_init(&stream, 1, WALE_PURPOSE_BUFFER);
	wale_cells_init(&cells);
	for (step = 0; step < 100000; step++) {
		u64 draw = wale_stream_draw(&stream);
		u64 ns = 10 * (1 + (u32)(draw >> 20) % 50);

		if (step % 1000 == 0)	/* many at the same time */
			cells.cell_time = (struct wale_instant){
				ns, draw & 1 ? 1U << 31 : 0
			};
		i = 1 + (u32)draw % INPUTS;
		if (turns[i].class) {
			i = wale_test_soonest(turns, INPUTS);
			now = turns[i].ns + !!turns[i].fraction;
			if (wale_cells_inputs_next(&cells, classes) != now ||
			    wale_cells_inputs_take(&cells, classes) != i)
				break;
		} else {
			wale_cells_inputs_start(&cells, classes, i, now);
		}
		turn = &turns[i];
		turn->class = 0;
		if (draw >> 40 & 7) {	/* else it becomes idle */
			wale_cells_inputs_again(&cells, classes, i);
			*turn = (struct wale_turn){
				.ns = classes->class[i].input.next.ns,
				.order = order++,
				.fraction = classes->class[i].input.next.fraction,
				.class = i,
			};
		}
	}
	KUNIT_EXPECT_EQ(test, step, 100000);
	vfree(classes);
}

static u32 wale_test_cells_left(const struct wale_input *input)
{
	return input->cells_left;
}

/* When a packet ends on one of so many inputs; U64_MAX: on none. */
static u64 wale_test_first_end(const struct wale_cells *cells,
			       const struct wale_classes *classes, u32 inputs)
{
	const struct wale_input *input;
	u64 first = U64_MAX, end;
	u32 i, n;

	for (i = 1; i <= inputs; i++) {
		struct wale_instant at;

		input = &classes->class[i].input;
		at = input->next;
		for (n = 1; n < input->cells_left; n++) {
			u64 fraction = (u64)at.fraction +
				       cells->cell_time.fraction;

			at.ns += cells->cell_time.ns + (fraction >> 32);
			at.fraction = fraction;
		}
		end = at.ns + !!at.fraction;
		if (input->cells_left)
			first = min(first, end);
	}
	return first;
}

/* Never too late, and known after a few looks, whatever the rate was before. */
static void wale_cells_first_end(struct kunit *test)
{
	enum { INPUTS = 100 };
	struct wale_classes *classes = wale_test_classes(test, INPUTS);
	struct wale_stream stream;
	struct wale_cells cells;
	struct wale_input *input;
	u64 now = 0, first, bound;
	u32 step, looks;
	u16 i;

	wale_stream_init(&stream, 2, WALE_PURPOSE_BUFFER);
	wale_cells_init(&cells);
	for (step = 0; step < 20000; step++) {
		u64 draw = wale_stream_draw(&stream);

		if (step % 500 == 0) {
			cells.cell_time.ns = 1 + (u32)(draw >> 20) % 5000;
			cells.cell_time.fraction = draw & 1 ? 1U << 31 : 0;
			wale_ends_forget(&classes->ends);
		}
		i = 1 + (u32)draw % INPUTS;
		if (classes->class[i].arriving) {
			now = wale_cells_inputs_next(&cells, classes);
			i = wale_cells_inputs_take(&cells, classes);
			input = &classes->class[i].input;
			if (!input->cells_left) {
				wale_class_end_input(classes, i);
				continue;
			}
			if (!--input->cells_left && draw >> 60)
				input->cells_left = 1 + (u32)(draw >> 40) % 40;
		} else {
			wale_cells_inputs_start(&cells, classes, i, now);
			input = &classes->class[i].input;
			input->cells_left = (u32)(draw >> 40) % 40;
		}
		wale_cells_inputs_again(&cells, classes, i);
		wale_ends_add(classes, i);
		first = wale_test_first_end(&cells, classes, INPUTS);
		for (looks = 0; looks <= 2 * INPUTS / WALE_ENDS_STEPS; looks++) {
			bound = wale_ends_first(classes, &cells,
						wale_test_cells_left);
			if (bound > first || draw >> 30 & 3)
				break;	/* or look once, and go on */
		}
		if (bound > first || (bound != first && !(draw >> 30 & 3)))
			break;
	}
	KUNIT_EXPECT_EQ(test, step, 20000);
	vfree(classes);
}

/* A ring of so many cells, at places that are about to wrap. */
static void wale_test_ring(struct kunit *test, struct wale_cells *cells, u32 size)
{
	wale_cells_init(cells);
	wale_cells_set_ring(cells, kunit_kzalloc(test, wale_cells_ring_size(size),
						 GFP_KERNEL), size);
	cells->served = U32_MAX - 1;
	cells->arrived = U32_MAX - 1;
}

static void wale_cells_ring(struct kunit *test)
{
	struct wale_cells cells;
	u32 behind, i;

	wale_test_ring(test, &cells, 64);
	for (i = 1; i <= 64; i++)
		wale_cells_push(&cells, i & 1);	/* 1 0 1 0 ... */
	wale_cells_set_ring(&cells, kunit_kzalloc(test, wale_cells_ring_size(128),
						  GFP_KERNEL), 128);
	wale_cells_push(&cells, 1);

	KUNIT_EXPECT_EQ(test, wale_cells_remove(&cells, U32_MAX, &behind), 0);
	KUNIT_EXPECT_EQ(test, behind, 31);
	KUNIT_EXPECT_EQ(test, wale_cells_remove(&cells, cells.arrived - 1,
						&behind), 1);
	KUNIT_EXPECT_EQ(test, behind, 0);
	KUNIT_EXPECT_EQ(test, wale_cells_pop(&cells), 1);
	KUNIT_EXPECT_EQ(test, wale_cells_pop(&cells), 1);
	for (i = 4; i <= 64; i++)
		KUNIT_EXPECT_EQ(test, wale_cells_pop(&cells), i & 1);
	KUNIT_EXPECT_EQ(test, cells.served, cells.arrived);
}

static void wale_cells_ends(struct kunit *test)
{
	struct wale_cells cells;
	u32 behind, i;

	wale_test_ring(test, &cells, 256);
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 0);
	for (i = 0; i < 256; i++) {
		wale_cells_push(&cells, 1);
		if (i == 150 || i == 200)
			wale_cells_mark_end(&cells);
	}
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 150);
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 100), 100);
	/* what is removed ahead of it moves it */
	wale_cells_remove(&cells, cells.served + 7, &behind);
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 149);
	/* and what is removed is none any more */
	wale_cells_remove(&cells, cells.served + 149, &behind);
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 198);
	wale_cells_set_ring(&cells, kunit_kzalloc(test, wale_cells_ring_size(512),
						  GFP_KERNEL), 512);
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 198);
	for (i = 0; i < 199; i++)
		wale_cells_pop(&cells);
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 55);
	/* a mark of what was there before is none */
	for (i = 0; i < 512; i++) {
		wale_cells_pop(&cells);
		wale_cells_push(&cells, 1);
	}
	KUNIT_EXPECT_EQ(test, wale_cells_ahead(&cells, 1000), 55);
}

static struct kunit_case wale_buffer_cases[] = {
	KUNIT_CASE(wale_buffer_of_a_child),
	KUNIT_CASE(wale_policy_table),
	KUNIT_CASE(wale_policy_products),
	KUNIT_CASE(wale_policy_share),
	KUNIT_CASE(wale_classes_places),
	KUNIT_CASE(wale_classes_named),
	KUNIT_CASE(wale_classes_late),
	KUNIT_CASE(wale_classes_purged),
	KUNIT_CASE(wale_classes_random_life),
	KUNIT_CASE(wale_cells_time),
	KUNIT_CASE(wale_cells_merge),
	KUNIT_CASE(wale_cells_resume),
	KUNIT_CASE(wale_cells_merge_faster),
	KUNIT_CASE(wale_cells_merge_many),
	KUNIT_CASE(wale_cells_first_end),
	KUNIT_CASE(wale_cells_ring),
	KUNIT_CASE(wale_cells_ends),
	{}
};

static struct kunit_suite wale_buffer_suite = {
	.name = "wale_buffer",
	.test_cases = wale_buffer_cases,
};

kunit_test_suite(wale_buffer_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of how sch_wale shares its buffer");
