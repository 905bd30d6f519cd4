/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ratcp_window.h - the window rule of RATCP   (pure)
 */
#ifndef _RATCP_WINDOW_H
#define _RATCP_WINDOW_H

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/rate_feedback.h>
#include <linux/types.h>

/*
 * From this rate on (2^50 bytes/s, 9 Pbit/s) there is no limit, so that what is
 * computed from a rate and an RTT stays within 64 bits.
 */
#define RATCP_RATE_HUGE		BIT_ULL(50)

/* How long a peak of the rate is remembered. */
#define RATCP_PEAK_JIFFIES	(60 * HZ)

/**
 * struct ratcp_window - a congestion window that obeys a rate window
 * @cwnd: W^cong, packets
 * @cwnd_cnt: packets acknowledged since @cwnd grew, in congestion avoidance
 * @ssthresh: slow start ends here, packets
 * @phase: enum rate_feedback_phase; not RENO or RECOVERY
 * @rise: enum rate_feedback_rise
 * @marked: a router signalled congestion: grow additively until the window is at
 *	the rate window again
 */
struct ratcp_window {
	u32 cwnd;
	u32 cwnd_cnt;
	u32 ssthresh;
	u8 phase;
	u8 rise;
	bool marked;
};

bool ratcp_peak_update(u64 *peak, u32 *seen, u64 rate, u32 now);
u32 ratcp_rate_packets(u64 rate, u32 rtt_us, u32 packet_size);
u32 ratcp_backlog(u32 beta, u8 swing, u32 packets, u32 peak);
u32 ratcp_rate_window(u32 packets, u32 backlog);
void ratcp_window_limit(struct ratcp_window *w, u32 rate_window, u32 in_flight);
void ratcp_window_grow(struct ratcp_window *w, u32 rate_window, u32 acked);
void ratcp_window_timeout(struct ratcp_window *w, u32 rate_window);

#endif /* _RATCP_WINDOW_H */
