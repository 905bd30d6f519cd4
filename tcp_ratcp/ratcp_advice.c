// SPDX-License-Identifier: GPL-2.0
/*
 * ratcp_advice.c - from the channel to W_rate
 *
 * The base RTT is the smallest round-trip time of a full packet.  The SYN and short
 * segments do not count: a full packet takes its service time in addition to the
 * delay, and a base RTT without it would make the window one packet less than
 * what fills the link, because W_rate is rounded down.  Until a full packet has been
 * acknowledged, the RTT of the SYN is better than none.
 *
 * A sample is that of the last segment acknowledged, so delayed ACKs do not lengthen
 * it.  After retransmissions it may come from timestamps, whose ticks of 1 ms can
 * shorten it, and is not used.  The kernel's own minimum covers the last five minutes
 * and rises behind a standing queue; this one covers the whole connection, and starts
 * over when the connection gets another route.
 */

#include <linux/cache.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <net/inet_connection_sock.h>
#include <net/wale_wire.h>

#include "ratcp.h"

#define CREATE_TRACE_POINTS
#include "ratcp_trace.h"

#define RATCP_NO_RTT	U32_MAX

u32 ratcp_seal_key __ro_after_init;	/* see ratcp.h */

/**
 * ratcp_advice_listen() - begin to listen
 * @sk: the socket, connected
 */
void ratcp_advice_listen(struct sock *sk)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	memset(a, 0, sizeof(*a));
	a->phase = RATE_FEEDBACK_PHASE_RENO;
	a->base_rtt_us = tcp_min_rtt(tp);	/* ~0U means unknown, here as there */
	/* from the SYN; after another congestion control, from data too */
	a->provisional = tp->bytes_acked < 2 * tp->mss_cache;
	a->una = tp->snd_una;
	a->fresh_seq = tp->snd_una;
	a->flow = rate_feedback_flow_open(sk);
}

/* Packets that arrived in a round trip, by the last measured delivery rate. */
static u64 ratcp_advice_arrived(const struct tcp_sock *tp)
{
	if (!tp->rate_interval_us)
		return U32_MAX;
	return mul_u64_u32_div(tp->rate_delivered, tp->srtt_us >> 3,
			       tp->rate_interval_us);
}

/*
 * There is no W_rate any more.  It was what the network said; what the path really
 * carries is only shown by packets that were in flight and arrived.  Reno would halve a
 * window that is too large once in each recovery, and lose the excess each time.
 */
static void ratcp_advice_leave_window(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u64 arrived = ratcp_advice_arrived(tp);
	u64 shown = max(tp->packets_out, tp->max_packets_out);

	/* a sample covers at most a round trip: twice its value is not too much */
	shown = clamp(arrived * 2, TCP_INIT_CWND, max(shown, TCP_INIT_CWND));

	tcp_snd_cwnd_set(tp, min_t(u64, tcp_snd_cwnd(tp), shown));
	/* for a recovery and after it: more than fits would never be repaired */
	shown = min(shown, max(arrived, TCP_INIT_CWND));
	if (BIT(inet_csk(sk)->icsk_ca_state) &
	    (TCPF_CA_Recovery | TCPF_CA_CWR))
		tp->snd_ssthresh = min_t(u64, tp->snd_ssthresh, shown);
}

/**
 * ratcp_advice_unlisten() - end listening
 * @sk: the socket
 */
void ratcp_advice_unlisten(struct sock *sk)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);

	if (a->rate_window)
		ratcp_advice_leave_window(sk);
	rate_feedback_flow_close(a->flow);
	a->flow = NULL;
	a->rate_window = 0;
}

/*
 * Are these full packets?  Options that not every segment carries (SACK, MPTCP) take
 * room from its payload.
 */
static bool ratcp_advice_is_full(const struct tcp_sock *tp, u32 acked)
{
	u32 segments = DIV_ROUND_UP(acked, tp->mss_cache);
	u32 missing = segments * tp->mss_cache - acked;

	return missing <= min(segments * MAX_TCP_OPTION_SPACE,
			      tp->mss_cache / 2);
}

/**
 * ratcp_advice_sample_rtt() - a segment was acknowledged
 * @sk: the socket
 * @rtt_us: us; negative or 0: not known
 */
void ratcp_advice_sample_rtt(struct sock *sk, s32 rtt_us)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 acked = tp->snd_una - a->una;

	a->una = tp->snd_una;
	if (rtt_us <= 0 || !acked || !a->flow)
		return;
	/* for most ACKs this would change nothing */
	if (!a->provisional && rtt_us >= a->base_rtt_us)
		return;
	/* the state is still the one in which the ACK arrived */
	if (inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery || a->probed)
		return;
	if (!ratcp_advice_is_full(tp, acked)) {
		/* from a short segment: better than none */
		if (a->base_rtt_us == RATCP_NO_RTT)
			a->base_rtt_us = rtt_us;
		return;
	}
	if (a->provisional) {
		if (!after(tp->snd_una, a->fresh_seq))
			return;
		a->provisional = false;
	}
	a->base_rtt_us = rtt_us;
}

static void ratcp_advice_check_route(struct sock *sk, u32 route)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);

	if (route == a->route)
		return;
	if (a->route) {
		a->peak_rate = 0;
		a->provisional = true;
		a->fresh_seq = tcp_sk(sk)->snd_nxt;
	}
	a->route = route;
}

/* Bytes of a full packet, as the rate counts them. */
static u32 ratcp_advice_packet_size(const struct sock *sk, u32 mss, u8 layer)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 headers = icsk->icsk_af_ops->net_header_len +
		      icsk->icsk_ext_hdr_len + tcp_sk(sk)->tcp_header_len;

	if (layer == RATE_FEEDBACK_LAYER_PAYLOAD)
		return max(mss, 1U);
	return wale_wire_len(layer, mss + headers);
}

/*
 * No send buffer holds more packets than this: the stack keeps its size in an int,
 * counts two for each packet of the window, and beyond this would shrink it
 * (tcp_sndbuf_expand() in net/ipv4/tcp_input.c).  The result is at least 1, since a
 * W_rate of 0 means no advice.
 */
static u32 ratcp_advice_window_max(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 mss = max_t(u32, tp->rx_opt.mss_clamp, tp->mss_cache);
	u32 each = roundup_pow_of_two(mss + MAX_TCP_HEADER +
				      SKB_DATA_ALIGN(sizeof(struct skb_shared_info))) +
		   SKB_DATA_ALIGN(sizeof(struct sk_buff));

	return clamp(tp->snd_cwnd_clamp, 1U, INT_MAX / (2 * each));
}

/* W_rate, from what the advisor knows. */
static u32 ratcp_advice_compute_window(const struct ratcp_advisor *a)
{
	u32 packets = ratcp_rate_packets(a->rate, a->used_rtt_us,
					 a->packet_size);
	u32 peak = packets;

	if (a->swing && a->peak_rate > a->rate)
		peak = ratcp_rate_packets(a->peak_rate, a->used_rtt_us,
					  a->packet_size);
	return ratcp_rate_window(packets, ratcp_backlog(a->beta, a->swing,
							packets, peak));
}

static void ratcp_advice_set_rate_window(struct sock *sk,
					 const struct rate_advice *advice,
					 u32 rtt_us)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);
	u32 size = ratcp_advice_packet_size(sk, tcp_sk(sk)->mss_cache,
					    advice->layer);
	u32 window, most;
	bool moved = ratcp_peak_update(&a->peak_rate, &a->peak_seen,
				       advice->rate, tcp_jiffies32);

	/* the marks that R is read from leave no time to grow in between */
	a->rise = advice->in_band ? RATE_FEEDBACK_RISE_FAST : advice->rise;
	a->pace = advice->pace;
	a->in_band = advice->in_band;
	if (a->rate_window && !a->cut &&
	    a->rate_window <= tcp_sk(sk)->snd_cwnd_clamp &&
	    !moved && advice->rate == a->rate &&
	    rtt_us == a->used_rtt_us && size == a->packet_size &&
	    advice->beta == a->beta && advice->swing == a->swing)
		return;		/* no division for most ACKs */
	a->rate = advice->rate;
	a->used_rtt_us = rtt_us;
	a->packet_size = size;
	a->beta = advice->beta;
	a->swing = advice->swing;
	window = ratcp_advice_compute_window(a);
	most = ratcp_advice_window_max(sk);
	a->rate_window = min(window, most);
	a->cut = window > most;
}

static void ratcp_advice_found(struct sock *sk)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);

	/* where the marks signal the price, they did so before, too */
	a->marked = inet_csk(sk)->icsk_ca_state == TCP_CA_CWR && !a->in_band;
	a->phase = tcp_in_slow_start(tcp_sk(sk)) ?
		   RATE_FEEDBACK_PHASE_SLOW_START :
		   RATE_FEEDBACK_PHASE_AVOIDANCE;
}

static void ratcp_advice_lost(struct sock *sk)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);

	ratcp_advice_leave_window(sk);
	a->rate = 0;
	a->rate_window = 0;
	a->in_band = false;
	a->phase = RATE_FEEDBACK_PHASE_RENO;
}

/**
 * ratcp_advice_update_at() - read the advice
 * @sk: the socket
 * @now: ns
 *
 * Return: W_rate, packets; or 0 without advice.
 */
u32 ratcp_advice_update_at(struct sock *sk, u64 now)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);
	struct rate_advice advice;
	u32 rtt_us;
	bool there;
	u64 known;

	if (!a->flow)
		return 0;
	known = a->base_rtt_us == RATCP_NO_RTT ? 0 :
		(u64)a->base_rtt_us * NSEC_PER_USEC;
	there = rate_feedback_flow_read(a->flow, sk, now, known, &advice);
	ratcp_advice_check_route(sk, advice.route);

	rtt_us = a->base_rtt_us;
	if (there && advice.base_rtt_ns)
		rtt_us = max_t(u64, 1, div_u64(advice.base_rtt_ns,
					       NSEC_PER_USEC));
	if (there && rtt_us != RATCP_NO_RTT) {
		ratcp_advice_set_rate_window(sk, &advice, rtt_us);
		if (a->phase == RATE_FEEDBACK_PHASE_RENO)
			ratcp_advice_found(sk);
	} else if (a->phase != RATE_FEEDBACK_PHASE_RENO) {
		ratcp_advice_lost(sk);
	}
	return a->rate_window;
}

/* Does the stack reduce the window?  It does for marks of the price, too. */
static bool ratcp_advice_is_reducing(const struct sock *sk)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);
	u8 state = inet_csk(sk)->icsk_ca_state;

	return state == TCP_CA_Recovery ||
	       (state == TCP_CA_CWR && (!a->in_band || a->marked));
}

/**
 * ratcp_advice_report() - report the state, to the flow dump and the tracepoint
 * @sk: the socket
 * @cwnd: the intended congestion window, packets
 */
void ratcp_advice_report(struct sock *sk, u32 cwnd)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rtt_us = a->rate_window ? a->used_rtt_us : a->base_rtt_us;
	struct rate_flow_state state;

	if (!a->flow)
		return;
	state = (struct rate_flow_state) {
		.rate = a->rate,
		.base_rtt_ns = rtt_us == RATCP_NO_RTT ? 0 :
			       (u64)rtt_us * NSEC_PER_USEC,
		.bytes_acked = tp->bytes_acked,
		.phase = a->phase,
		.rate_window = a->rate_window,
		.cwnd = cwnd,
		.in_flight = tcp_packets_in_flight(tp),
		.packet_size = a->packet_size,
		.mss = tp->mss_cache,
		.price = rate_feedback_flow_price(a->flow),
	};
	if (a->rate_window && ratcp_advice_is_reducing(sk))
		state.phase = RATE_FEEDBACK_PHASE_RECOVERY;
	rate_feedback_flow_report(a->flow, &state);
	trace_ratcp_window(sk, &state);
}

/**
 * ratcp_advice_window_load() - get the socket's window for the pure rules
 * @sk: the socket
 * @w: set
 */
void ratcp_advice_window_load(const struct sock *sk, struct ratcp_window *w)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	w->cwnd = tcp_snd_cwnd(tp);
	w->cwnd_cnt = tp->snd_cwnd_cnt;
	w->ssthresh = tp->snd_ssthresh;
	w->phase = a->phase;
	w->rise = a->rise;
	w->marked = a->marked;
}

/**
 * ratcp_advice_window_store() - set the window as the rules have computed it
 * @sk: the socket
 * @w: the window
 */
void ratcp_advice_window_store(struct sock *sk, const struct ratcp_window *w)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	tcp_snd_cwnd_set(tp, w->cwnd);
	tp->snd_cwnd_cnt = w->cwnd_cnt;
	tp->snd_ssthresh = w->ssthresh;
	a->phase = w->phase;
	a->marked = w->marked;
}
