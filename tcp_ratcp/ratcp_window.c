// SPDX-License-Identifier: GPL-2.0
/*
 * ratcp_window.c - the window rule of RATCP   (pure)
 *
 * A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit
 * Rate Feedback", IEEE/ACM Transactions on Networking 13(1), 2005, section II.
 *
 *	W_rate = floor(R * base RTT / packet) + beta
 *
 *	             timeout: cwnd = 1, ssthresh = W_rate
 *	   start --> SLOW START <-------------------------------+
 *	                 | cwnd = min(ssthresh, W_rate)         |
 *	                 v                                      |
 *	             AVOIDANCE ---------------------------------+
 *	                 | W_rate < cwnd:     ^ in flight < cwnd
 *	                 v cwnd = W_rate      |
 *	             INACTIVE (no growth) ----+
 *
 * The phase is a separate variable: a window that W_rate pushes below the threshold
 * does not go back to slow start.
 *
 * Beyond the paper: in congestion avoidance a window below W_rate rises to it at once
 * (rise fast), and the caller paces packets at R meanwhile, so that no queue forms.
 * The network has said what it can carry, and one packet per round trip would take
 * minutes to fill a long fat pipe.  The paper's rule is rise additive.
 *
 * Also beyond the paper: a backlog that follows the variation of the rate,
 *
 *	beta + swing * (peak - floor(R * base RTT / packet)),
 *
 * instead of beta, where peak is the same floor() for the highest R of the last
 * minute.  When the rate rises, the sender learns of it a round trip late, and
 * meanwhile the link would run dry; packets waiting at the bottleneck keep it busy.
 * They help only while the rate is below what it may soon be again.  At the peak there
 * are none, so that a fall of the rate pushes no more out of the buffer than it does
 * with beta alone.  The paper's rule is swing 0.
 */

#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "ratcp_window.h"

/* The largest window; TCP's own sums of packets stay within 32 bits. */
#define RATCP_WINDOW_MAX	BIT(30)

/**
 * ratcp_peak_update() - update the highest rate of the last minute
 * @peak: the peak, bytes/s
 * @seen: when it was last seen, jiffies
 * @rate: R, bytes/s
 * @now: jiffies; they may wrap
 *
 * To be called regularly, even if R is unchanged.  A peak that has not been seen for
 * a minute is forgotten and replaced by R: rates seen in between are not remembered.
 * (The kernel's win_minmax remembers two more, which takes more room than is left in
 * the state of a socket.)  It is a rate and not a window, so it stays right with
 * another base RTT or packet size.
 *
 * Return: true if the peak has changed.
 */
bool ratcp_peak_update(u64 *peak, u32 *seen, u64 rate, u32 now)
{
	u64 before = *peak;

	if (rate < before && now - *seen <= RATCP_PEAK_JIFFIES)
		return false;
	*peak = rate;
	*seen = now;
	return rate != before;
}

/**
 * ratcp_rate_packets() - floor(R * base RTT / packet): what fills the path
 * @rate: R, bytes/s
 * @rtt_us: base round-trip time, us
 * @packet_size: bytes of a full packet, as @rate counts them; not 0
 *
 * Return: packets, 0 .. 2^30.
 */
u32 ratcp_rate_packets(u64 rate, u32 rtt_us, u32 packet_size)
{
	u64 packets;

	if (rate >= RATCP_RATE_HUGE)
		return RATCP_WINDOW_MAX;
	/* rounding down twice is rounding down once */
	packets = div_u64(mul_u64_u32_div(rate, rtt_us, USEC_PER_SEC),
			  packet_size);
	return min_t(u64, packets, RATCP_WINDOW_MAX);
}

/**
 * ratcp_backlog() - the backlog to aim at in the bottleneck
 * @beta: target backlog, packets
 * @swing: percent of the gap between @packets and @peak
 * @packets: ratcp_rate_packets() of the present rate
 * @peak: the same for the peak rate
 *
 * Return: packets, at least @beta.
 */
u32 ratcp_backlog(u32 beta, u8 swing, u32 packets, u32 peak)
{
	u32 gap = peak - min(packets, peak);

	return beta + div_u64((u64)gap * swing, 100);
}

/**
 * ratcp_rate_window() - W_rate
 * @packets: ratcp_rate_packets()
 * @backlog: ratcp_backlog()
 *
 * Return: packets, 1 .. 2^30.
 */
u32 ratcp_rate_window(u32 packets, u32 backlog)
{
	return clamp_t(u64, (u64)packets + backlog, 1, RATCP_WINDOW_MAX);
}

/* From now on, a window below the threshold was idle (ratcp_cong_avoid()). */
static void ratcp_window_end_slow_start(struct ratcp_window *w)
{
	w->ssthresh = min(w->ssthresh, w->cwnd);
	w->phase = RATE_FEEDBACK_PHASE_AVOIDANCE;
}

/**
 * ratcp_window_limit() - first step of an acknowledgment: obey W_rate
 * @w: the window
 * @rate_window: W_rate, packets
 * @in_flight: packets in flight after this acknowledgment
 *
 * Equation (2): cwnd = min(cwnd, W_rate).  If this reduces the window in slow start,
 * congestion avoidance begins.
 */
void ratcp_window_limit(struct ratcp_window *w, u32 rate_window, u32 in_flight)
{
	if (w->cwnd > rate_window) {
		w->cwnd = rate_window;
		w->cwnd_cnt = 0;
		/* as if the threshold had been there */
		ratcp_window_end_slow_start(w);
		if (in_flight > w->cwnd)
			w->phase = RATE_FEEDBACK_PHASE_INACTIVE;
	} else if (w->phase == RATE_FEEDBACK_PHASE_INACTIVE &&
		   in_flight < w->cwnd) {
		w->phase = RATE_FEEDBACK_PHASE_AVOIDANCE;
	}
	if (w->cwnd == rate_window)
		w->marked = false;
	if (w->phase == RATE_FEEDBACK_PHASE_SLOW_START &&
	    w->cwnd >= min(w->ssthresh, rate_window))
		ratcp_window_end_slow_start(w);
}

/*
 * A window is at least one packet.  A window of 0 can be left by a clamp of 0, with
 * which some kernels lock the window of a route.
 */
static void ratcp_window_add(struct ratcp_window *w, u32 acked)
{
	w->cwnd = max(w->cwnd, 1U);
	w->cwnd_cnt += acked;
	if (w->cwnd_cnt >= w->cwnd) {
		u32 windows = w->cwnd_cnt / w->cwnd;

		w->cwnd_cnt -= windows * w->cwnd;
		w->cwnd += windows;
	}
}

/**
 * ratcp_window_grow() - second step of an acknowledgment: grow
 * @w: the window, limited already
 * @rate_window: W_rate, packets
 * @acked: packets acknowledged
 *
 * To be called if the window limits the sender and no recovery is going on.  The
 * window does not grow above W_rate.
 */
void ratcp_window_grow(struct ratcp_window *w, u32 rate_window, u32 acked)
{
	if (w->phase == RATE_FEEDBACK_PHASE_INACTIVE)
		return;
	if (w->phase == RATE_FEEDBACK_PHASE_SLOW_START) {
		u32 top = min(w->ssthresh, rate_window);
		u32 slow = min(acked, top - min(top, w->cwnd));

		w->cwnd += slow;
		acked -= slow;
		if (w->cwnd >= top)
			ratcp_window_end_slow_start(w);
	}
	if (!acked || w->cwnd >= rate_window)
		return;
	if (w->rise == RATE_FEEDBACK_RISE_FAST && !w->marked) {
		w->cwnd = rate_window;
		w->cwnd_cnt = 0;
	} else {
		ratcp_window_add(w, acked);
		w->cwnd = min(w->cwnd, rate_window);
	}
}

/**
 * ratcp_window_timeout() - the retransmission timer fired
 * @w: the window
 * @rate_window: W_rate at the timeout, packets
 */
void ratcp_window_timeout(struct ratcp_window *w, u32 rate_window)
{
	w->cwnd = 1;
	w->cwnd_cnt = 0;
	w->ssthresh = rate_window;
	w->marked = false;
	w->phase = RATE_FEEDBACK_PHASE_SLOW_START;
}
