// SPDX-License-Identifier: GPL-2.0
/*
 * wale_atm.c - packets as cells, on a link whose limit is in cells
 *
 *	arrives -> its flow's input link -> each cell: fits? -> the buffer, which
 *	is served cell by cell -> its last cell was served: whole? -> the line
 *
 * Each flow has a list of its packets, from their arrival on: first those that wait
 * for service, then the one whose cells arrive, then those behind it on the input
 * link.  A packet is complete when all its cells have come and none is left in the
 * buffer; none is there of one that was not admitted at all.  One that is damaged
 * vanishes then, as at the reassembly behind the link.
 *
 * The last cell of a packet says that it is the last.  If that one was not
 * admitted, the reassembly takes the packet and the next one of the flow for one:
 * both vanish, and those after them as long as no last cell comes through.  A
 * switch that knows packets (epd, seldrop, fba) passes the end of a damaged one.
 */

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "wale.h"
#include "wale_packet.h"
#include "wale_trace.h"

/* As many cells are looked ahead at for the alarm, so that no product overflows. */
#define WALE_ATM_AHEAD_MAX	65536U

/*
 * While no packet ends, the link runs once for about so many cells on the input links:
 * those that are due when a packet ends, are replayed before it departs.
 */
#define WALE_ATM_CELLS_DUE	64U

static void wale_atm_append(struct wale_input *input, struct sk_buff *skb)
{
	skb->next = NULL;
	skb->prev = input->last;
	if (input->last)
		input->last->next = skb;
	else
		input->first = skb;
	input->last = skb;
	if (!input->coming)
		input->coming = skb;
}

static void wale_atm_unlink(struct wale_input *input, struct sk_buff *skb)
{
	if (skb->prev)
		skb->prev->next = skb->next;
	else
		input->first = skb->next;
	if (skb->next)
		skb->next->prev = skb->prev;
	else
		input->last = skb->prev;
	if (input->coming == skb)
		input->coming = skb->next;
	skb->next = NULL;
	skb->prev = NULL;
}

/* A packet has come, and none of its cells is left in the buffer. */
static void wale_atm_complete(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	const struct wale_skb_cb *cb = wale_skb_cb(skb);
	u16 class = wale_skb_class(skb);

	if (cb->dropped_cells || cb->merged) {
		u32 wasted = wale_skb_cells(skb) - cb->dropped_cells;

		q->counts.wasted_cells += wasted;
		wale_skb_note_counts(q, skb)->wasted_cells += wasted;
	}
	wale_atm_unlink(&q->classes->class[class].input, skb);
	wale_packet_complete(sch, skb, now);
	q->classes->class[class].service_ns = 0;
}

/* None of its cells was admitted, or all of them were dropped. */
static void wale_atm_discard(struct Qdisc *sch, struct sk_buff *skb,
			     enum wale_drop_reason reason, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_atm_unlink(&q->classes->class[wale_skb_class(skb)].input, skb);
	wale_packet_discard(sch, skb, reason, now);
}

/* The service of the first cell in the buffer ended. */
static void wale_atm_served(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u16 class = wale_cells_pop(&q->cells);
	struct wale_class *flow = &q->classes->class[class];
	struct sk_buff *skb = flow->input.first;

	q->buffer.cells--;
	wale_class_leave_cell(q->classes, class);
	if (!flow->service_ns)
		flow->service_ns = q->server.start_ns;
	if (!--wale_skb_cb(skb)->cells && skb != flow->input.coming)
		wale_atm_complete(sch, skb, q->server.time_ns);
}

static void wale_atm_count_dropped(struct wale_sched_data *q, u16 class, u32 n)
{
	struct wale_class *flow = &q->classes->class[class];

	q->counts.dropped_cells += n;
	flow->counts.dropped_cells += n;
	flow->more = true;	/* and an input is endless only after that */
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
	struct wale_input *input = &q->classes->class[class].input;
	struct sk_buff *skb = input->coming;
	struct wale_skb_cb *cb = wale_skb_cb(skb);

	cb->dropped_cells = input->dropped;
	cb->merged = false;
	if (cb->dropped_cells == wale_skb_cells(skb)) {
		wale_atm_discard(sch, skb, WALE_DROP_BUFFER, now);
		return;
	}
	input->coming = skb->next;
	cb->merged = input->endless;
	input->endless = !admitted && wale_atm_by_cell(q);
	if (q->follow.on)
		wale_follow_step(q);
	if (cb->dropped_cells || cb->merged || wale_packet_draw_loss(q, skb))
		wale_parents_forget(sch, skb);
	if (!cb->cells)
		wale_atm_complete(sch, skb, now);
	else if (!cb->lost)
		wale_cells_mark_end(&q->cells);
}

/* May a packet whose first cell arrives enter?  It is dropped whole if not. */
static bool wale_atm_admit(struct Qdisc *sch, u16 class, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_input *input = &q->classes->class[class].input;
	enum wale_drop_reason reason;

	if (wale_atm_by_cell(q))
		return true;
	if (q->buffer.cells >= q->buffer.limit_cells)
		reason = WALE_DROP_BUFFER;
	else if (wale_mark_refuses(q, input->coming))
		reason = WALE_DROP_EARLY;
	else
		return true;
	wale_atm_count_dropped(q, class, input->cells_left);
	wale_atm_discard(sch, input->coming, reason, now);
	return false;
}

/* The packet that a cell is of, with so many cells of its flow behind that cell. */
static struct sk_buff *wale_atm_find(const struct wale_input *input, u32 behind)
{
	struct sk_buff *skb = input->coming ?: input->last;

	while (behind >= wale_skb_cb(skb)->cells) {
		behind -= wale_skb_cb(skb)->cells;
		skb = skb->prev;
	}
	return skb;
}

/* A cell in the buffer is dropped, and the packet that it is of is damaged. */
static void wale_atm_drop_cell(struct Qdisc *sch, u32 place, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_input *input;
	struct wale_skb_cb *cb;
	struct sk_buff *skb;
	u32 behind;
	u16 class;

	class = wale_cells_remove(&q->cells, place, &behind);
	q->buffer.cells--;
	wale_class_leave_cell(q->classes, class);
	wale_atm_count_dropped(q, class, 1);
	input = &q->classes->class[class].input;
	skb = wale_atm_find(input, behind);
	cb = wale_skb_cb(skb);
	cb->cells--;
	if (skb == input->coming) {
		input->dropped++;
		return;
	}
	cb->dropped_cells++;
	if (cb->dropped_cells == wale_skb_cells(skb)) {
		wale_atm_discard(sch, skb, WALE_DROP_BUFFER, now);
		return;
	}
	wale_parents_forget(sch, skb);
	if (!cb->cells)
		wale_atm_complete(sch, skb, now);
}

/* Is there room for a cell, or for the rest of the packet none at all? */
static bool wale_atm_fits(struct Qdisc *sch, const struct wale_input *input,
			  u64 now)
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
		k = wale_mark_draw_victim(q, q->buffer.cells - 1);
		if (k)
			wale_atm_drop_cell(sch, q->cells.arrived - k, now);
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
		input->cells_left = wale_skb_cells(input->coming);
		input->dropped = 0;
		input->refused = !wale_atm_admit(sch, class, now);
	}
	input->cells_left--;
	if (input->refused)
		return;
	admitted = wale_atm_fits(sch, input, now);
	if (admitted) {
		wale_skb_cb(input->coming)->cells++;
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
 * that it has, if there are no input links, but not more at a time than a run may.
 */
static void wale_atm_input(struct Qdisc *sch, u16 class, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_input *input = &q->classes->class[class].input;

	while (input->cells_left || input->coming) {
		wale_atm_cell(sch, class, now);
		if (wale_cells_interleave(&q->cells)) {
			wale_cells_inputs_again(&q->cells, q->classes, class);
			return;
		}
		q->run.budget--;
		if (!input->cells_left && input->coming && q->run.budget <= 0) {
			wale_cells_inputs_resume(&q->cells, q->classes, class);
			return;
		}
	}
	wale_class_end_input(q->classes, class);
}

/*
 * A packet arrives on the input link of its flow: its first cell is there now, if that is
 * idle.  Return: false if it was refused at once, whole.
 */
static bool wale_atm_begin(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u16 class = wale_skb_class(skb);
	struct wale_input *input = &q->classes->class[class].input;
	u32 cells = wale_skb_cells(skb);

	wale_atm_append(input, skb);
	if (q->classes->class[class].arriving) {
		wale_ends_add(q->classes, class);
		return true;
	}
	wale_cells_inputs_start(&q->cells, q->classes, class, now);
	wale_atm_input(sch, class, now);
	if (q->classes->class[class].arriving)
		wale_ends_add(q->classes, class);
	return !input->refused && input->dropped < cells;
}

static void wale_atm_accept(struct Qdisc *sch, struct sk_buff *skb, u64 now,
			    struct sk_buff **to_free)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	bool lost;

	if (q->impair)
		wale_impair_admit(q, skb);
	lost = wale_skb_cb(skb)->lost;
	wale_packet_disown(skb, lost);
	wale_packet_enter(q, skb, false);
	if (!lost)
		wale_parents_hold(sch, skb);
	trace_wale_enqueue(sch, skb, now);
	if (!wale_atm_begin(sch, skb, now))
		q->entry->verdict = NET_XMIT_DROP;
	else if (!lost)
		q->entry->accepted = true;
}

/**
 * wale_atm_arrive() - the next cell of the input links arrives
 * @sch: the qdisc, served up to @now
 * @now: ns, as wale_cells_inputs_next() said
 */
void wale_atm_arrive(struct Qdisc *sch, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_atm_input(sch, wale_cells_inputs_take(&q->cells, q->classes), now);
}

/* How many cells are to come of the packet whose cells arrive, or of the next one? */
static u32 wale_atm_cells_left(const struct wale_input *input)
{
	if (input->cells_left || !input->coming)
		return input->cells_left;
	return wale_skb_cells(input->coming);
}

/* When is the link to run for what comes on the input links?  When a packet ends. */
static u64 wale_atm_next_arrival(const struct wale_sched_data *q)
{
	u64 next = wale_cells_inputs_next(&q->cells, q->classes), many_ns;

	if (!q->cells.busy || !wale_cells_interleave(&q->cells))
		return next;	/* all cells of an input arrive at once */
	many_ns = div_u64(WALE_ATM_CELLS_DUE * q->cells.cell_time.ns,
			  q->cells.busy);
	return clamp(wale_ends_first(q->classes, &q->cells,
				     wale_atm_cells_left),
		     next, next + many_ns);
}

/* Before when can no packet be complete? */
static u64 wale_atm_earliest_end(const struct wale_sched_data *q)
{
	u32 ahead = wale_cells_ahead(&q->cells, WALE_ATM_AHEAD_MAX);
	u64 end, next;

	if (!q->server.busy || ahead == q->buffer.cells)
		return wale_atm_next_arrival(q);
	/* a packet that is not complete there has a cell to come */
	end = wale_server_earliest_end(&q->server, &q->schedule,
				       ahead * WALE_ATM_CELL *
				       WALE_WORK_PER_BYTE);
	if (q->policy.kind != WALE_POLICY_RANDOM_TAIL || !ahead)
		return end;
	/* cells that arrive may take the place of those ahead, but the one in service */
	next = wale_server_earliest_end(&q->server, &q->schedule,
					WALE_ATM_CELL * WALE_WORK_PER_BYTE);
	return min(end,
		   max(next, wale_cells_inputs_next(&q->cells, q->classes)));
}

static bool wale_atm_next(struct Qdisc *sch, u32 *len)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	*len = WALE_ATM_CELL;
	return q->buffer.cells;
}

const struct wale_station wale_atm_station = {
	.accept		= wale_atm_accept,
	.next		= wale_atm_next,
	.served		= wale_atm_served,
	.earliest_end	= wale_atm_earliest_end,
	.restless	= true,
};
