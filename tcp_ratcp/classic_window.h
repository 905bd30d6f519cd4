/* SPDX-License-Identifier: GPL-2.0 */
/*
 * classic_window.h - the window and the timer of TCP before SACK   (pure)
 *
 * Windows are in packets.  An acknowledgment of new data counts as one packet,
 * however many it covers: one that fills a hole covers packets that left the
 * network long before.
 */
#ifndef _CLASSIC_WINDOW_H
#define _CLASSIC_WINDOW_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "ratcp_window.h"

/* Least and largest retransmission timeout of Linux 2.2 */
#define CLASSIC_RTO_MIN_US	(200 * USEC_PER_MSEC)
#define CLASSIC_RTO_MAX_US	(120 * USEC_PER_SEC)
/* 200 ms doubled this often is more than 120 s. */
#define CLASSIC_BACKOFF_MAX	10

/**
 * struct classic_flight - what the stack believes about the packets it has sent
 * @sacked: without SACK, duplicate ACKs: each stands for a packet that arrived
 * @lost: marked as lost; not in flight until sent again
 * @resent: sent again, and not acknowledged
 * @in_flight: in flight, as the stack counts: outstanding - sacked - lost + resent
 */
struct classic_flight {
	u32 sacked;
	u32 lost;
	u32 resent;
	u32 in_flight;
};

/**
 * classic_window_half() - slow start threshold after a loss
 * @cwnd: the window
 *
 * Return: half of it, at least 2 packets.
 */
static inline u32 classic_window_half(u32 cwnd)
{
	return max(cwnd / 2, 2U);
}

/**
 * classic_window_grow() - new data were acknowledged
 * @w: the window; its phase is not used
 *
 * Slow start adds a packet for each acknowledgment, congestion avoidance one for
 * each window of acknowledgments.
 */
static inline void classic_window_grow(struct ratcp_window *w)
{
	if (w->cwnd >= w->ssthresh && ++w->cwnd_cnt < w->cwnd)
		return;
	if (w->cwnd < S32_MAX)
		w->cwnd++;
	w->cwnd_cnt = 0;
}

/**
 * classic_window_restart() - slow start from one packet, after a timeout or, in
 * some TCPs, after any loss
 * @w: the window
 */
static inline void classic_window_restart(struct ratcp_window *w)
{
	w->ssthresh = classic_window_half(w->cwnd);
	w->cwnd = 1;
	w->cwnd_cnt = 0;
}

/**
 * classic_window_halve() - continue with half the window, after a fast retransmit
 * of Reno or a router's mark
 * @w: the window
 */
static inline void classic_window_halve(struct ratcp_window *w)
{
	w->ssthresh = classic_window_half(w->cwnd);
	w->cwnd = w->ssthresh;
	w->cwnd_cnt = 0;
}

/**
 * classic_window_for_stack() - the window that makes the stack do what is intended
 * @cwnd: the intended window
 * @flight: what has been sent
 * @recovery: in the fast recovery of Reno
 *
 * The stack sends while in_flight < its window, and takes a packet out of
 * in_flight for each duplicate ACK.  These TCPs do not: a packet is in flight
 * until an acknowledgment covers it, so that duplicate ACKs send nothing; but
 * after a loss without fast recovery everything is lost, and does not count until
 * it is sent again.
 *
 * In fast recovery each duplicate ACK makes room for a packet, including those that
 * began the recovery: they are the 3 of "half the window plus 3".  Lost packets count
 * until they are acknowledged, and are sent again at once, one packet for each
 * acknowledgment.
 *
 * Return: packets, at least 1.
 */
static inline u32 classic_window_for_stack(u32 cwnd,
					   const struct classic_flight *flight,
					   bool recovery)
{
	s64 window = (s64)cwnd - flight->sacked;

	if (recovery) {
		window = (s64)cwnd + flight->resent - flight->lost;
		if (flight->lost > flight->resent)
			window = max(window, (s64)flight->in_flight + 1);
	}
	return clamp_t(s64, window, 1, S32_MAX);
}

/**
 * classic_rto_us() - the retransmission timeout of Linux 2.2
 * @srtt_us: smoothed round-trip time, in units of 1/8 us
 * @mdev_us: its mean deviation, in units of 1/4 us
 * @backoff: how often it was doubled
 *
 * 5/4 of the round-trip time plus four deviations.
 *
 * Return: us.
 */
static inline u32 classic_rto_us(u32 srtt_us, u32 mdev_us, u32 backoff)
{
	u64 rto = (u64)(srtt_us >> 3) + mdev_us;

	rto = max_t(u64, rto + (rto >> 2), CLASSIC_RTO_MIN_US);
	rto <<= min(backoff, CLASSIC_BACKOFF_MAX);
	return min_t(u64, rto, CLASSIC_RTO_MAX_US);
}

/**
 * classic_rto_left_us() - the rest of the retransmission timeout
 * @rto_us: the timeout
 * @age_us: since the oldest packet in flight was sent; may be negative
 *
 * Return: us, at least 1.
 */
static inline u32 classic_rto_left_us(u32 rto_us, s64 age_us)
{
	return clamp_t(s64, rto_us - age_us, 1, rto_us);
}

#endif /* _CLASSIC_WINDOW_H */
