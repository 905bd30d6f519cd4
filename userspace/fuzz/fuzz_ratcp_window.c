// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_ratcp_window.c - the window rule of RATCP, at any rate and round trip
 *
 * The formulas of ratcp_window.c in 128 bits; what they may be at most; that more
 * rate or a longer round trip never makes a window smaller; and of a window that
 * lives through any sequence of acknowledgments, timeouts and rates: it is at
 * least one packet, never above W_rate after an acknowledgment, and grows only
 * as its phase allows.
 */
#include <linux/limits.h>
#include <linux/minmax.h>

#include "fuzz.h"
#include "ratcp_window.h"

#define WINDOW_MAX (1U << 30)
#define OPS_MAX 1000

static u32 model_packets(u64 rate, u32 rtt_us, u32 size)
{
	u128 packets = (u128)rate * rtt_us / ((u128)1000000 * size);

	if (rate >= RATCP_RATE_HUGE || packets > WINDOW_MAX)
		return WINDOW_MAX;
	return packets;
}

static void check_formulas(struct tape *tape)
{
	u64 rate = tape_number(tape), more = tape_number(tape);
	u32 rtt_us = tape_number(tape), size = tape_range(tape, 1, U32_MAX);
	u32 beta = tape_range(tape, 0, RATE_FEEDBACK_BETA_MAX);
	u8 swing = tape_range(tape, 0, RATE_FEEDBACK_SWING_MAX);
	u32 packets = ratcp_rate_packets(rate, rtt_us, size), peak, backlog;

	must(packets == model_packets(rate, rtt_us, size));
	if (rate <= U64_MAX - more)
		must(ratcp_rate_packets(rate + more, rtt_us, size) >= packets);
	if (rtt_us < U32_MAX)
		must(ratcp_rate_packets(rate, rtt_us + 1, size) >= packets);
	if (size > 1)
		must(ratcp_rate_packets(rate, rtt_us, size - 1) >= packets);

	peak = ratcp_rate_packets(more, rtt_us, size);
	backlog = ratcp_backlog(beta, swing, packets, peak);
	must(backlog >= beta);
	must(backlog - beta ==
	     (peak > packets ? (u64)(peak - packets) * swing / 100 : 0));
	must(ratcp_rate_window(packets, backlog) ==
	     max(min((u64)packets + backlog, (u64)WINDOW_MAX), 1ULL));
}

/* The highest rate of the last minute, on a clock that does not wrap. */
static void check_peak(struct tape *tape)
{
	u64 peak = 0, expected = 0, seen_at = 0, now = tape_number(tape) >> 8;
	u32 seen = now;
	int i;

	seen_at = now;
	for (i = 0; tape->left && i < 20; i++) {
		u64 rate = tape_number(tape), before = expected;

		/* about a minute, or anything */
		now += tape_u8(tape) & 1
			       ? RATCP_PEAK_JIFFIES + tape_u8(tape) % 3 - 1
			       : tape_range(tape, 0, U32_MAX / 2);
		if (rate >= expected || now - seen_at > RATCP_PEAK_JIFFIES) {
			expected = rate;
			seen_at = now;
		}
		must(ratcp_peak_update(&peak, &seen, rate, now) ==
		     (expected != before));
		must(peak == expected);
	}
}

static void check_limit(struct ratcp_window *w, u32 rate_window, u32 in_flight)
{
	struct ratcp_window before = *w;

	ratcp_window_limit(w, rate_window, in_flight);
	must(w->cwnd == min(before.cwnd, rate_window));
	must(w->ssthresh <= before.ssthresh);
	if (w->phase == RATE_FEEDBACK_PHASE_INACTIVE)
		must(in_flight >= w->cwnd);
	if (before.cwnd > rate_window)
		must(w->phase != RATE_FEEDBACK_PHASE_SLOW_START);
	if (w->phase == RATE_FEEDBACK_PHASE_SLOW_START)
		must(w->cwnd < w->ssthresh && w->cwnd < rate_window);
}

static void check_grow(struct ratcp_window *w, u32 rate_window, u32 acked)
{
	struct ratcp_window before = *w;
	bool slow = before.phase == RATE_FEEDBACK_PHASE_SLOW_START;
	bool fast = w->rise == RATE_FEEDBACK_RISE_FAST && !w->marked;

	ratcp_window_grow(w, rate_window, acked);
	must(w->cwnd >= before.cwnd && w->cwnd <= rate_window);
	if (before.phase == RATE_FEEDBACK_PHASE_INACTIVE || !acked)
		must(w->cwnd == before.cwnd);
	if (!fast || w->phase == RATE_FEEDBACK_PHASE_SLOW_START)
		must(w->cwnd - before.cwnd <= acked);
	if (!fast && !slow)
		must(w->cwnd - before.cwnd <=
		     ((u64)before.cwnd_cnt + acked) / before.cwnd);
	if (slow && w->phase == RATE_FEEDBACK_PHASE_SLOW_START)
		must(w->cwnd < w->ssthresh);
	if (!slow)
		must(w->phase == before.phase);
}

/* As an acknowledgment comes, in ratcp.c. */
static void acknowledge(struct ratcp_window *w, struct tape *tape, u32 rate)
{
	u32 in_flight = tape_range(tape, 0, WINDOW_MAX);

	check_limit(w, rate, in_flight);
	if (tape_u8(tape) & 1)
		check_grow(w, rate, tape_range(tape, 0, WINDOW_MAX));
	must(w->cwnd >= 1 && w->cwnd <= rate);
}

static void check_window(struct tape *tape)
{
	struct ratcp_window w = {
		.cwnd = tape_range(tape, 1, WINDOW_MAX),
		.ssthresh = tape_range(tape, 1, S32_MAX),
		.phase = RATE_FEEDBACK_PHASE_SLOW_START,
		.rise = tape_u8(tape) & 1,
	};
	u32 rate = tape_range(tape, 1, WINDOW_MAX);
	int i;

	for (i = 0; tape->left && i < OPS_MAX; i++) {
		switch (tape_u8(tape) % 8) {
		case 0:
			rate = tape_range(tape, 1, WINDOW_MAX);
			break;
		case 1:
			ratcp_window_timeout(&w, rate);
			must(w.cwnd == 1 && w.ssthresh == rate);
			break;
		case 2:
			w.marked = true;
			break;
		case 3:
			w.rise = tape_u8(tape) & 1;
			break;
		default:
			acknowledge(&w, tape, rate);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };

	switch (tape_u8(&tape) % 4) {
	case 0:
		check_formulas(&tape);
		break;
	case 1:
		check_peak(&tape);
		break;
	default:
		check_window(&tape);
	}
	return 0;
}
