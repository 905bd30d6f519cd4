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
 * The phase is a variable of its own: a window that W_rate pushes below the
 * threshold does not start slowly again.
 *
 * Beyond the paper: in congestion avoidance a window below W_rate goes there at
 * once (rise fast), and the caller paces packets at R meanwhile, so that no queue
 * forms.  The network said what it can carry; one packet per round trip would
 * take minutes to fill a long fat pipe.  The paper's rule is rise additive.
 *
 * Beyond the paper, too, a backlog that follows the variation of the rate:
 *
 *	beta + swing * (peak - floor(R * base RTT / packet))
 *
 * in place of beta, where peak is the same floor() for the highest R of the last
 * minute.  When the rate rises, the sender hears of it a round trip late, and for
 * so long the link would run dry; packets that wait at the bottleneck keep it
 * busy.  They are of use only while the rate is below what it may soon be again.
 * At the peak there are none, so that a fall pushes no more out of the buffer than
 * it does with beta alone.  The paper's rule is swing 0.
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
 * ratcp_peak_update() - the highest rate of the last minute
 * @peak: it, bytes/s
 * @seen: when it was seen last, jiffies
 * @rate: R, bytes/s
 * @now: jiffies; they may wrap
 *
 * To be called with R again and again, though it be the same.  A peak that was not
 * seen for a minute is forgotten, and R takes its place: what was seen between is
 * not remembered.  (The kernel's win_minmax remembers two more, in more room than
 * the state of a socket has left.)  It is a rate, not a window, and so is right
 * with another base RTT or packet size, too.
 *
 * Return: true if the peak is another than before.
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
 * ratcp_backlog() - what is to wait at the bottleneck
 * @beta: target backlog, packets
 * @swing: percent of what @packets is below @peak
 * @packets: ratcp_rate_packets() of the rate of now
 * @peak: the same of the peak
 *
 * Return: packets, @beta at least.
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

/* What is below the threshold from now on was idle (ratcp_cong_avoid()). */
static void ratcp_window_end_slow_start(struct ratcp_window *w)
{
	w->ssthresh = min(w->ssthresh, w->cwnd);
	w->phase = RATE_FEEDBACK_PHASE_AVOIDANCE;
}

/**
 * ratcp_window_limit() - the first part of an acknowledgment: obey W_rate
 * @w: the window
 * @rate_window: W_rate, packets
 * @in_flight: packets in flight after this acknowledgment
 *
 * Equation (2): cwnd = min(cwnd, W_rate).  A window that is reduced in slow
 * start is in congestion avoidance.
 */
void ratcp_window_limit(struct ratcp_window *w, u32 rate_window, u32 in_flight)
{
	if (w->cwnd > rate_window) {
		w->cwnd = rate_window;
		w->cwnd_cnt = 0;
		/* as if the threshold had been set to it */
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
 * A window is at least one packet.  One of none can be what a clamp of 0 has left, with
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
 * ratcp_window_grow() - the second part of an acknowledgment: grow
 * @w: the window, limited
 * @rate_window: W_rate, packets
 * @acked: packets acknowledged
 *
 * To be called if the window is what limits the sender, and nothing is being
 * recovered.  The window does not grow above W_rate.
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
