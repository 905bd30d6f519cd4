// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_classic_window.c - window and timer of TCP before SACK
 *
 * Whatever comes: the window is at least one packet and grows by one packet for
 * an acknowledgment at most, in congestion avoidance for a window of them; a
 * loss leaves half; the window for the stack stays within 1 .. 2^31 - 1 and sends
 * nothing for duplicate ACKs outside of fast recovery; the timer is 200 ms to
 * 120 s, and not shorter the more often it was doubled.
 */
#include "classic_window.h"
#include "fuzz.h"

#define OPS_MAX 2000

static void check_grow(struct ratcp_window *w)
{
	struct ratcp_window before = *w;

	classic_window_grow(w);
	must(w->cwnd == before.cwnd || w->cwnd == before.cwnd + 1);
	if (before.cwnd < before.ssthresh)
		must(w->cwnd == before.cwnd + 1 || before.cwnd == S32_MAX);
	else if (w->cwnd > before.cwnd)
		must(before.cwnd_cnt + 1 >= before.cwnd);
	must(w->cwnd_cnt < w->cwnd);
}

/* Congestion avoidance: a window of acknowledgments, one packet. */
static void check_one_window(struct ratcp_window w)
{
	u32 cwnd = w.cwnd, i;

	w.cwnd_cnt = 0;
	for (i = 0; i + 1 < cwnd; i++)
		check_grow(&w);
	must(w.cwnd == cwnd);
	check_grow(&w);
	must(w.cwnd == cwnd + 1);
}

static void check_loss(struct ratcp_window *w, bool restart)
{
	u32 half = max(w->cwnd / 2, 2U);

	if (restart)
		classic_window_restart(w);
	else
		classic_window_halve(w);
	must(w->cwnd == (restart ? 1 : half));
	must(w->ssthresh == half && !w->cwnd_cnt);
}

static void check_for_stack(u32 cwnd, struct tape *tape)
{
	struct classic_flight flight = {
		.sacked = tape_range(tape, 0, S32_MAX),
		.lost = tape_range(tape, 0, S32_MAX),
		.resent = tape_range(tape, 0, S32_MAX),
		.in_flight = tape_range(tape, 0, S32_MAX),
	};
	bool recovery = tape_u8(tape) & 1;
	u32 window = classic_window_for_stack(cwnd, &flight, recovery);

	must(window >= 1 && window <= S32_MAX);
	if (!recovery) {
		must(window <= max(cwnd, 1U));
		must(window == 1 || window + flight.sacked == cwnd);
	} else if (flight.lost > flight.resent) {
		must(window > flight.in_flight || window == S32_MAX);
	}
}

static void check_timer(struct tape *tape)
{
	u32 srtt = tape_number(tape), mdev = tape_number(tape);
	u32 backoff = tape_range(tape, 0, U32_MAX - 1);
	s64 age = (s64)tape_number(tape) >> 1;
	u32 rto = classic_rto_us(srtt, mdev, backoff), left;
	u128 exact = (u128)(srtt >> 3) + mdev;

	exact += exact / 4;
	if (exact < CLASSIC_RTO_MIN_US)
		exact = CLASSIC_RTO_MIN_US;
	exact <<= min(backoff, 32U);
	must(rto == (exact < CLASSIC_RTO_MAX_US ? exact : CLASSIC_RTO_MAX_US));
	must(rto >= CLASSIC_RTO_MIN_US && rto <= CLASSIC_RTO_MAX_US);
	must(classic_rto_us(srtt, mdev, backoff + 1) >= rto);

	left = classic_rto_left_us(rto, age);
	must(left >= 1 && left <= rto);
	must(age < 0 || age >= rto || left == rto - age);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };
	struct ratcp_window w = {
		.cwnd = tape_range(&tape, 1, S32_MAX),
		.ssthresh = tape_range(&tape, 1, S32_MAX),
	};
	int i;

	for (i = 0; tape.left && i < OPS_MAX; i++) {
		switch (tape_u8(&tape) % 8) {
		case 0:
			check_loss(&w, tape_u8(&tape) & 1);
			break;
		case 1:
			check_for_stack(w.cwnd, &tape);
			break;
		case 2:
			check_timer(&tape);
			break;
		case 3:
			if (w.cwnd >= w.ssthresh && w.cwnd < 1000)
				check_one_window(w);
			break;
		default:
			check_grow(&w);
		}
		must(w.cwnd >= 1 && w.cwnd <= S32_MAX);
	}
	return 0;
}
