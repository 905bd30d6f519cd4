// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_link_policy.c - who shares the buffer of a link: conditions, flows, cells
 *
 * The input says what happens to one of them.  What must hold:
 *
 *   - a drop condition is what its formula says, in 128 bits;
 *   - two flows with packets on the link never have one place, and a flow keeps
 *     its place while it has packets; the counts of busy flows are right;
 *   - cells of input links come in the order of time, and each input's a cell
 *     time apart, however the rate is changed; whose cell leaves the buffer is
 *     whose it was, and the first that ends a packet is known, also when others
 *     were dropped from it.
 */
#include <linux/limits.h>
#include <linux/pkt_sched_wale.h>

#include "fuzz.h"
#include "wale_cells.h"
#include "wale_classes.h"
#include "wale_policy.h"

#define PLACES 7
#define KEYS 16
#define RING 128
#define OPS_MAX 400

static void check_policy(struct tape *in)
{
	u32 limit = 1 + (u32)tape_number(in) % U32_MAX;
	u32 threshold = (u32)tape_number(in) % limit;
	u32 total = (u32)tape_number(in) % limit;
	u32 flow = total ? (u32)tape_number(in) % (total + 1ULL) : 0;
	struct wale_policy policy = {
		.kind = tape_u8(in) % __WALE_POLICY_MAX,
		.z = (u32)tape_number(in) % (WALE_POLICY_Z_MAX + 1),
		.threshold = threshold,
	};
	struct wale_congestion congestion = {
		.total = total,
		.limit = limit,
		.flow = flow,
		.active = 1 + (u32)tape_number(in) % 65535,
	};
	u128 load = (u128)flow * congestion.active * WALE_POLICY_UNIT;
	bool refuses = false;

	if (total > threshold && policy.kind == WALE_POLICY_EPD)
		refuses = true;
	if (total > threshold && policy.kind == WALE_POLICY_SELDROP)
		refuses = load > (u128)policy.z * total;
	if (total > threshold && policy.kind == WALE_POLICY_FBA)
		refuses = load * (total - threshold) >
			  (u128)policy.z * total * (limit - threshold);
	must(wale_policy_refuses(&policy, &congestion) == refuses);

	policy.share = 1 + (u32)tape_number(in) % WALE_POLICY_UNIT;
	must(wale_policy_threshold(&policy, limit) ==
	     (u64)limit * policy.share / WALE_POLICY_UNIT);
}

static struct wale_classes *new_classes(void)
{
	size_t line = _Alignof(struct wale_classes);
	size_t size = (wale_classes_size(PLACES) + line - 1) / line * line;
	struct wale_classes *classes = aligned_alloc(line, size);

	must(classes);
	memset(classes, 0, size);
	wale_classes_init(classes, PLACES);
	return classes;
}

static void check_classes(struct tape *in)
{
	struct wale_classes *classes = new_classes();
	unsigned int packets[KEYS] = { 0 }, busy, i, op;
	u16 place[KEYS] = { 0 };

	for (op = 0; op < OPS_MAX && in->left; op++) {
		u8 byte = tape_u8(in);
		unsigned int k = byte % KEYS;

		if (byte & 0x10 && packets[k] && place[k]) {
			wale_class_leave(classes, place[k], 100);
			packets[k]--;
			continue;
		}
		i = wale_classes_find(classes, WALE_KEY_HASH | k << 2);
		must(i <= PLACES);
		if (packets[k])
			must(place[k] == i);
		place[k] = i;
		if (!i)
			continue; /* the crowd */
		wale_class_enter(classes, i, 100);
		packets[k]++;
		must(classes->class[i].buffer.packets == packets[k]);
		for (busy = 0, i = 0; i < KEYS; i++)
			busy += packets[i] > 0;
		must(classes->busy == busy && busy <= PLACES);
	}
	free(classes);
}

/* The order and the distance of the cells of inputs. */
static void check_inputs(struct tape *in)
{
	struct wale_classes *classes = new_classes();
	u64 now = 0, last[PLACES + 1] = { 0 };
	bool known[PLACES + 1] = { 0 };
	struct wale_cells cells;
	unsigned int op;
	u16 i;

	wale_cells_init(&cells);
	wale_cells_set_rate(&cells, WALE_INPUT_RATE_MIN + (u32)tape_number(in));
	for (op = 0; op < OPS_MAX && in->left; op++) {
		u8 byte = tape_u8(in);
		u64 next = wale_cells_inputs_next(&cells, classes);

		must(next >= now);
		if (byte & 0x80 && next != U64_MAX) {
			i = wale_cells_inputs_take(&cells, classes);
			must(!known[i] || next - last[i] >= cells.cell_time.ns);
			now = next;
			last[i] = now;
			known[i] = true;
			if (byte & 0x40)
				wale_cells_inputs_again(&cells, classes, i);
			else
				classes->class[i].arriving = false;
			continue;
		}
		i = 1 + byte % PLACES;
		if (byte & 0x40) {
			wale_cells_set_rate(&cells,
					    WALE_INPUT_RATE_MIN +
						    (u32)tape_number(in));
			memset(known, 0, sizeof(known));
		} else if (!classes->class[i].arriving) {
			wale_cells_inputs_start(&cells, classes, i, now);
			last[i] = now;
			known[i] = true;
			wale_cells_inputs_again(&cells, classes, i);
		}
	}
	free(classes);
}

struct model_cell {
	u16 class;
	bool end;
};

/* Remove cell k of the model; return how many of the same class were behind it. */
static u32 remove_from(struct model_cell *model, unsigned int n, unsigned int k)
{
	u32 behind = 0;
	unsigned int i;

	for (i = k + 1; i < n; i++)
		behind += model[i].class == model[k].class;
	memmove(model + k, model + k + 1, (n - 1 - k) * sizeof(*model));
	return behind;
}

static void check_ring(struct tape *in)
{
	u64 ring[(RING / 8 + RING * sizeof(u16)) / sizeof(u64)] = { 0 };
	struct model_cell model[RING];
	unsigned int n = 0, op, k;
	struct wale_cells cells;
	u32 behind;

	wale_cells_init(&cells);
	must(wale_cells_ring_size(RING) == sizeof(ring));
	wale_cells_set_ring(&cells, ring, RING);
	cells.served = (u32)tape_number(in);
	cells.arrived = cells.served;
	for (op = 0; op < OPS_MAX && in->left; op++) {
		u8 byte = tape_u8(in);

		if (byte & 0x80 && n) {
			must(wale_cells_pop(&cells) == model[0].class);
			remove_from(model, n--, 0);
		} else if (byte & 0x40 && n) {
			k = byte % n;
			must(wale_cells_remove(&cells, cells.served + k,
					       &behind) == model[k].class);
			must(behind == remove_from(model, n--, k));
		} else if (n < RING) {
			model[n].class = 1 + byte % PLACES;
			model[n].end = byte & 0x20;
			wale_cells_push(&cells, model[n].class);
			if (model[n++].end)
				wale_cells_mark_end(&cells);
		}
		must(cells.arrived - cells.served == n);
		for (k = 0; k < n && !model[k].end;)
			k++;
		must(wale_cells_ahead(&cells, RING) == k);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape in = { data, size };

	switch (tape_u8(&in) % 4) {
	case 0:
		check_policy(&in);
		break;
	case 1:
		check_classes(&in);
		break;
	case 2:
		check_inputs(&in);
		break;
	default:
		check_ring(&in);
	}
	return 0;
}
