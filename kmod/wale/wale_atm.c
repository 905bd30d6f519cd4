// SPDX-License-Identifier: GPL-2.0
/*
 * wale_atm.c - packets as cells, on a link whose limit is in cells
 *
 *	arrives -> its flow's input link -> each cell: fits? -> the buffer, which
 *	is served cell by cell -> its last cell was served: whole? -> the line
 *
 * A packet is on the list of its input link until its last cell has come, and
 * then, unless no cell of it was admitted, among the waiting ones, which are in
 * the order of the places of their last cells.  One that is damaged there
 * vanishes when that place was served, as at the reassembly behind the link.
 *
 * The last cell of a packet says that it is the last.  If that one was not
 * admitted, the reassembly takes the packet and the next one of the flow for one:
 * both vanish, and those after them as long as no last cell comes through.  A
 * switch that knows packets (epd, seldrop, fba) passes the end of a damaged one.
 */

#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "wale.h"

/* As many cells are looked ahead at for the alarm, so that no product overflows. */
#define WALE_ATM_AHEAD_MAX	65536U

/* Is place @a behind place @b?  Both are not far from the buffer. */
static bool wale_atm_behind(u32 a, u32 b)
{
	return (s32)(a - b) > 0;
}

/* The packets whose last cell was served leave the buffer. */
static void wale_atm_complete(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	const struct wale_skb_cb *cb;
	struct sk_buff *skb;
	u16 class;

	while ((skb = skb_peek(&q->waiting))) {
		cb = wale_skb_cb(skb);
		if (!wale_atm_behind(q->cells.served, cb->last_cell))
			break;
		if (cb->dropped_cells || cb->merged) {
			u32 wasted = wale_skb_cells(skb) - cb->dropped_cells;

			q->counts.wasted_cells += wasted;
			wale_skb_more_counts(q, skb)->wasted_cells += wasted;
		}
		class = wale_skb_class(skb);
		__skb_unlink(skb, &q->waiting);
		wale_link_complete(sch, skb, now);
		q->classes->class[class].service_ns = 0;
	}
}

/**
 * wale_atm_served() - the service of the first cell in the buffer ended
 * @sch: the qdisc
 */
void wale_atm_served(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u16 class = wale_cells_pop(&q->cells);
	struct wale_class *flow = &q->classes->class[class];

	q->buffer.cells--;
	wale_class_leave_cell(q->classes, class);
	if (!flow->service_ns)
		flow->service_ns = q->server.start_ns;
	wale_atm_complete(sch, q->server.time_ns);
}

static void wale_atm_count_dropped(struct wale_sched_data *q, u16 class, u32 n)
{
	struct wale_class *flow = &q->classes->class[class];

	q->counts.dropped_cells += n;
	flow->counts.dropped_cells += n;
	flow->more = true;	/* and an input is endless only after that */
}

/* Take the first packet off the list of an input. */
static struct sk_buff *wale_atm_take(struct wale_input *input)
{
	struct sk_buff *skb = input->first;

	if (!skb)
		return NULL;
	input->first = skb->next;
	if (!input->first)
		input->last = NULL;
	skb_mark_not_on_list(skb);
	return skb;
}

/* Among the waiting, behind those that are complete earlier. */
static void wale_atm_wait(struct wale_sched_data *q, struct sk_buff *skb)
{
	u32 last_cell = wale_skb_cb(skb)->last_cell;
	struct sk_buff *before = q->waiting.prev;

	while (before != (struct sk_buff *)&q->waiting &&
	       wale_atm_behind(wale_skb_cb(before)->last_cell, last_cell))
		before = before->prev;
	__skb_queue_after(&q->waiting, before, skb);
}

/* Are cells dropped without regard to the packets that they are of? */
static bool wale_atm_by_cell(const struct wale_sched_data *q)
{
	return q->policy.kind == WALE_POLICY_TAIL ||
	       q->policy.kind == WALE_POLICY_RANDOM_TAIL;
}

/* The last cell of a packet has come, and was admitted or not. */
static void wale_atm_arrived(struct Qdisc *sch, u16 class, bool admitted,
			     u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_class *flow = &q->classes->class[class];
	struct sk_buff *skb = wale_atm_take(&flow->input);
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	cb->dropped_cells = flow->input.dropped;
	cb->merged = false;
	if (cb->dropped_cells == wale_skb_cells(skb)) {
		wale_link_discard(sch, skb, WALE_DROP_BUFFER, now);
		return;
	}
	cb->merged = flow->input.endless;
	flow->input.endless = !admitted && wale_atm_by_cell(q);
	if (cb->dropped_cells || cb->merged || wale_link_draw_loss(q, skb))
		wale_link_forget(sch, skb);
	/* with nothing of the flow in the buffer, its place is past */
	cb->last_cell = flow->buffer.cells ? flow->input.last_cell :
					     q->cells.served - 1;
	wale_atm_wait(q, skb);
	wale_atm_complete(sch, now);
}

/* May a packet whose first cell arrives enter?  It is dropped whole if not. */
static bool wale_atm_admit(struct Qdisc *sch, u16 class, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_input *input = &q->classes->class[class].input;
	enum wale_drop_reason reason;
	struct sk_buff *skb;

	if (wale_atm_by_cell(q))
		return true;
	if (q->buffer.cells >= q->buffer.limit_cells)
		reason = WALE_DROP_BUFFER;
	else if (wale_mark_refuses(q, input->first))
		reason = WALE_DROP_EARLY;
	else
		return true;
	wale_atm_count_dropped(q, class, input->cells_left);
	skb = wale_atm_take(input);
	wale_link_discard(sch, skb, reason, now);
	return false;
}

/* A cell in the buffer is dropped, and the packet that it is of is damaged. */
static void wale_atm_drop_cell(struct Qdisc *sch, u32 place)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u16 class = wale_cells_remove(&q->cells, q->classes, place);
	struct sk_buff *skb, *damaged = NULL;

	q->buffer.cells--;
	wale_class_leave_cell(q->classes, class);
	wale_atm_count_dropped(q, class, 1);
	skb_queue_reverse_walk(&q->waiting, skb) {
		struct wale_skb_cb *cb = wale_skb_cb(skb);

		if (wale_atm_behind(place, cb->last_cell))
			break;
		cb->last_cell--;
		if (wale_skb_class(skb) == class)
			damaged = skb;
	}
	if (!damaged) {
		q->classes->class[class].input.dropped++;
		return;
	}
	wale_skb_cb(damaged)->dropped_cells++;
	wale_link_forget(sch, damaged);
}

/* Is there room for a cell, or for the rest of the packet none at all? */
static bool wale_atm_fits(struct Qdisc *sch, const struct wale_input *input)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	bool full = q->buffer.cells >= q->buffer.limit_cells;
	u32 k;

	switch (q->policy.kind) {
	case WALE_POLICY_TAIL:
		return !full;
	case WALE_POLICY_RANDOM_TAIL:
		if (!full)
			return true;
		k = wale_link_draw_victim(q, q->buffer.cells - 1);
		if (k)
			wale_atm_drop_cell(sch, q->cells.arrived - k);
		return k;	/* the arrival takes its place */
	default:
		return !full && !input->dropped;
	}
}

/* A cell of an input arrives at the buffer. */
static void wale_atm_cell(struct Qdisc *sch, u16 class, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_input *input = &q->classes->class[class].input;
	bool admitted;

	if (!input->cells_left) {
		input->cells_left = wale_skb_cells(input->first);
		input->dropped = 0;
		input->refused = !wale_atm_admit(sch, class, now);
	}
	input->cells_left--;
	if (input->refused)
		return;
	admitted = wale_atm_fits(sch, input);
	if (admitted) {
		input->last_cell = q->cells.arrived;
		wale_cells_push(&q->cells, class);
		wale_buffer_enter_cell(&q->buffer);
		wale_class_enter_cell(q->classes, class);
		if (!q->server.busy)
			wale_server_start(&q->server, &q->schedule, now,
					  WALE_ATM_CELL);
	} else {
		input->dropped++;
		wale_atm_count_dropped(q, class, 1);
	}
	if (!input->cells_left)
		wale_atm_arrived(sch, class, admitted, now);
}

/*
 * An input has carried what it carried before: its next cell, if it has one; all
 * that it has, if there are no input links.
 */
static void wale_atm_input(struct Qdisc *sch, u16 class, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_input *input = &q->classes->class[class].input;

	while (input->cells_left || input->first) {
		wale_atm_cell(sch, class, now);
		if (wale_cells_interleave(&q->cells)) {
			wale_inputs_again(&q->cells, q->classes, class);
			return;
		}
	}
	wale_class_end_input(q->classes, class);
}

/**
 * wale_atm_accept() - a packet arrives on the input link of its flow
 * @sch: the qdisc, run up to @now
 * @skb: the packet, which is counted as in the buffer
 * @now: ns; its first cell is there now, if the input link is idle
 *
 * Return: false if it was refused at once, whole.
 */
bool wale_atm_accept(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u16 class = wale_skb_class(skb);
	struct wale_input *input = &q->classes->class[class].input;
	u32 cells = wale_skb_cells(skb);

	skb_mark_not_on_list(skb);
	if (input->last)
		input->last->next = skb;
	else
		input->first = skb;
	input->last = skb;
	if (q->classes->class[class].arriving)
		return true;
	wale_inputs_start(&q->cells, q->classes, class, now);
	wale_atm_input(sch, class, now);
	return !input->refused && input->dropped < cells;
}

/**
 * wale_atm_arrive() - the next cell of the input links arrives
 * @sch: the qdisc, served up to @now
 * @now: ns, as wale_inputs_next() said
 */
void wale_atm_arrive(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_atm_input(sch, wale_inputs_take(&q->cells, q->classes), now);
}

/**
 * wale_atm_earliest_end() - before when can no packet be complete?
 * @q: the link, run up to now
 *
 * Return: ns; U64_MAX: unless another packet arrives, none will be.
 */
u64 wale_atm_earliest_end(const struct wale_sched_data *q)
{
	u64 arrival = wale_inputs_next(&q->cells, q->classes);
	u64 end;
	u32 ahead;

	if (skb_queue_empty(&q->waiting) || !q->server.busy)
		return arrival;
	ahead = wale_skb_cb(q->waiting.next)->last_cell - q->cells.served;
	/* a packet that is not among the waiting has a cell to come */
	end = wale_server_earliest_end(&q->server, &q->schedule,
				       min(ahead, WALE_ATM_AHEAD_MAX) *
				       WALE_ATM_CELL * WALE_WORK_PER_BYTE);
	/* a cell that arrives may take the place of one that is ahead */
	if (q->policy.kind == WALE_POLICY_RANDOM_TAIL)
		end = min(end, arrival);
	return end;
}

/**
 * wale_atm_purge() - empty the buffer of cells, and the input links
 * @q: the link, without waiting packets
 *
 * Return: a packet that was on an input link, or NULL: there are no more.
 */
struct sk_buff *wale_atm_purge(struct wale_sched_data *q)
{
	struct wale_input *input;
	struct sk_buff *skb;
	u16 class;

	for (; q->buffer.cells; q->buffer.cells--) {
		class = wale_cells_pop(&q->cells);
		wale_class_leave_cell(q->classes, class);
		q->classes->class[class].service_ns = 0;
	}
	while (q->cells.busy) {
		input = &q->classes->class[q->classes->turn->class].input;
		skb = wale_atm_take(input);
		if (skb)
			return skb;
		class = wale_inputs_take(&q->cells, q->classes);
		input->cells_left = 0;
		q->classes->class[class].service_ns = 0;
		wale_class_end_input(q->classes, class);
	}
	return NULL;
}
