// SPDX-License-Identifier: GPL-2.0
/*
 * ratcp - Rate Adaptive TCP: the window follows the rate that the network advises
 *
 * A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit
 * Rate Feedback", IEEE/ACM Transactions on Networking 13(1), 2005, section II.
 *
 *	W_rate = floor(R * base RTT / packet) + beta
 *
 * R is this flow's rate on its path, from the channel (rate_feedback); beta is the
 * backlog that the flow aims at in the bottleneck's buffer.  ratcp_window.c has what
 * an acknowledgment does to the window; this file has the hooks.
 *
 * - Slow start, at the start and after a timeout, begins with one packet and ends
 *   at W_rate.
 * - In congestion avoidance the window is at most W_rate; when W_rate falls,
 *   nothing is sent until what is in flight fits.
 * - A loss does not reduce the window, as far as W_rate allows: where the network
 *   says what it can carry, a loss means that a packet was corrupted.  Recovery is
 *   the stack's: NewReno, or SACK and RACK, with PRR; unless the path says
 *   "rise additive", lost packets are replaced at once.
 * - Without advice, or when it is too old, this is Reno: the stack's own code.
 *
 * Differences from the paper:
 * - The size of a packet is what the rate counts (by default the IP packet with its
 *   headers), not its payload; otherwise the window would be too large by the share
 *   of the headers.
 * - In congestion avoidance a window below W_rate rises to it at once; in slow start,
 *   and for a round trip after such a rise, packets are paced at R.  A path with
 *   "rise additive" has neither (see ratcp_window.c).
 * - While R is below its peak of the last minute, the backlog may be larger than
 *   beta, if the path says so with "swing" (see ratcp_window.c).
 * - The timer's exponential backoff ends when new data is acknowledged.  The stack
 *   waits for an RTT sample, and with heavy loss, a full window and neither SACK
 *   nor timestamps there is none: everything that is acknowledged was sent twice.
 * - Without SACK, an acknowledgment that fills a hole also covers what arrived before
 *   it.  It counts as one packet; otherwise that many packets would leave at once.
 * - An ECN mark, or a drop in this host's own queue, is not corruption: the window is
 *   halved, as in Reno, and grows additively back to W_rate.  Marks that R is read
 *   from (on a path with a weight) mean nothing else: the stack goes into CWR, and the
 *   window obeys W_rate there as elsewhere (RFC 8311).
 * - After an idle time, for which the stack reduces the window
 *   (net.ipv4.tcp_slow_start_after_idle), slow start begins again.
 *
 * `ss -ti` shows rate and base RTT as bw and mrtt of BBR, the only such numbers that
 * it prints for a congestion control that it does not know.  The complete state is in
 * the channel's flow dump and in the tracepoint ratcp:ratcp_window.
 */

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/random.h>

#include "../kmod/compat.h"
#include "ratcp.h"

/**
 * struct ratcp - private state of a socket
 * @advisor: what it knows about its path
 * @user_pacing: SO_MAX_PACING_RATE, while @set_pacing replaces it
 * @set_pacing: what this module set instead; 0: nothing
 * @filled_seq: data beyond this was sent after the window had risen at once, or
 *	after a recovery
 * @answered_seq: data beyond this was sent after a mark had halved the window, or
 *	since it last grew from there
 * @seal: see ratcp_seal()
 * @first_cwnd: the stack's initial window, which 1 replaces; 0: not replaced
 * @filling: no data beyond @filled_seq has been acknowledged yet
 * @answered: no data beyond @answered_seq has been: the marks that are echoed belong
 *	to the window before; or it has grown in this round trip already
 * @paces: this module made the stack pace
 * @delivered: packets that had arrived at the last ACK, as the stack counts them
 * @prior_rcv_nxt: ratcp_ecn only: what was received before the last segment
 * @was_marked: ratcp_ecn only: that segment had a mark
 */
struct ratcp {
	struct ratcp_advisor advisor;
	unsigned long user_pacing;
	unsigned long set_pacing;
	u32 seal;
	u32 filled_seq;
	u32 answered_seq;
	u32 delivered;
	u32 prior_rcv_nxt;
	u32 first_cwnd : 28,
	    filling : 1,
	    answered : 1,
	    paces : 1,
	    was_marked : 1;
};

#define RATCP_FIRST_CWND_MAX	(BIT(28) - 1)

/* Has .init run for this socket? */
static bool ratcp_has_begun(const struct sock *sk)
{
	const struct ratcp *ca = inet_csk_ca(sk);

	return likely(ca->seal == ratcp_seal(sk));
}

/* Is there advice? */
static bool ratcp_is_advised(const struct sock *sk)
{
	return ratcp_has_begun(sk) && ratcp_advisor(sk)->rate_window;
}

/* Pace at R where the path says so, or while the pipe is being filled. */
static bool ratcp_wants_pacing(const struct sock *sk)
{
	const struct ratcp *ca = inet_csk_ca(sk);
	const struct ratcp_advisor *a = &ca->advisor;

	if (!a->rate_window || a->rate >= RATCP_RATE_HUGE)
		return false;
	if (a->pace)
		return true;
	return a->rise == RATE_FEEDBACK_RISE_FAST &&
	       (ca->filling || a->phase == RATE_FEEDBACK_PHASE_SLOW_START ||
		inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR);
}

/* For a round trip, more will be sent than is acknowledged. */
static void ratcp_fill(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);

	ca->filling = true;
	ca->filled_seq = tcp_sk(sk)->snd_nxt;
}

static void ratcp_unpace(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);

	if (!ca->set_pacing)
		return;
	/* it may have been set again meanwhile, without the socket's lock */
	cmpxchg(&sk->sk_max_pacing_rate, ca->set_pacing, ca->user_pacing);
	ca->set_pacing = 0;
}

/*
 * Stop the stack's pacing, if this module started it.  Only when nothing is held
 * back: otherwise what is sent now would carry the time at which it should have been
 * sent, and its round-trip time would be too short.
 */
static void ratcp_end_pacing(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ratcp *ca = inet_csk_ca(sk);

	ratcp_unpace(sk);
	if (ca->paces && tp->tcp_wstamp_ns <= tp->tcp_clock_cache) {
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NEEDED,
			SK_PACING_NONE);
		ca->paces = false;
	}
	/* a program asks for pacing first and sets its limit later */
	if (unlikely(READ_ONCE(sk->sk_max_pacing_rate) != ~0UL))
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
			SK_PACING_NEEDED);
}

/* Replace the program's limit, which it may set without the socket's lock. */
static void ratcp_limit_pacing(struct sock *sk, u64 limit)
{
	unsigned long found = READ_ONCE(sk->sk_max_pacing_rate), rate;
	struct ratcp *ca = inet_csk_ca(sk);

	do {
		if (!ca->set_pacing || ca->set_pacing != found)
			ca->user_pacing = found;
		rate = min_t(u64, limit, ca->user_pacing);
	} while (rate != found &&
		 !try_cmpxchg(&sk->sk_max_pacing_rate, &found, rate));
	ca->set_pacing = rate;
}

/*
 * The stack sets the pacing rate at each ACK, above what the window needs, and
 * limits it to this.  It paces payload, while R counts packets.  With a rate near
 * zero this is one packet in a round trip, or in a second: better advice is only
 * read when an ACK comes.
 */
static void ratcp_pace(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);
	const struct ratcp_advisor *a = &ca->advisor;
	u32 rtt_us = clamp_t(u32, tcp_sk(sk)->srtt_us >> 3, 1, USEC_PER_SEC);
	u32 mss = tcp_sk(sk)->mss_cache;
	u64 limit;

	if (!ratcp_wants_pacing(sk)) {
		ratcp_end_pacing(sk);
		return;
	}
	limit = mul_u64_u32_div(a->rate, mss, a->packet_size);
	limit = max(limit, div_u64((u64)mss * USEC_PER_SEC, rtt_us));
	ratcp_limit_pacing(sk, limit);
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NONE &&
	    cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE,
		    SK_PACING_NEEDED) == SK_PACING_NONE)
		ca->paces = true;
}

/*
 * PRR sends one packet for each that arrived, so that each lost one costs a place
 * in the window until the recovery ends, which it never does with a loss or more in
 * every round trip.  A loss that does not mean congestion should cost nothing: lost
 * packets are replaced at once, at the pace of R.
 */
static void ratcp_refill(struct sock *sk)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 in_flight = tcp_packets_in_flight(tp);

	if (a->marked || a->rise != RATE_FEEDBACK_RISE_FAST ||
	    in_flight >= tp->snd_ssthresh)
		return;
	tp->prr_delivered = max(tp->prr_delivered,
				tp->prr_out + tp->snd_ssthresh - in_flight);
}

/*
 * The window is reduced, and grows back, once for all marks of one window (RFC 3168).
 */
static void ratcp_answer(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);

	ca->answered = true;
	ca->answered_seq = tcp_sk(sk)->snd_nxt;
	ca->advisor.marked = true;
}

/*
 * Marks that signal the price keep the stack in CWR most of the time, so the window
 * must rise here instead of in congestion avoidance: at once; but after a drop in this
 * host's own queue by one packet in a round trip.
 */
static void ratcp_follow_price(struct sock *sk, u32 rate_window)
{
	const struct ratcp *ca = inet_csk_ca(sk);
	struct ratcp_advisor *a = ratcp_advisor(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!a->in_band || a->rise != RATE_FEEDBACK_RISE_FAST ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_CWR)
		return;
	if (a->marked && tp->snd_ssthresh < rate_window) {
		if (!ca->answered) {
			tp->snd_ssthresh++;
			ratcp_answer(sk);
		}
		return;
	}
	a->marked = false;
	tp->snd_ssthresh = rate_window;
}

/*
 * Without SACK, the acknowledgment that fills a hole also covers what arrived long
 * before.  Each such packet has released another one with its duplicate ACK; but the
 * stack forgets that when a recovery ends, and in the next one takes all of them for
 * new: PRR would send that many at once, more than W_rate and the buffer allow.  Only
 * one has arrived; and the count may include the duplicate ACK before this one.
 */
static void ratcp_discount_old(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 delivered = tp->delivered - ca->delivered;

	ca->delivered = tp->delivered;
	if (!ca->advisor.rate_window || !tcp_is_reno(tp) || delivered <= 2 ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery)
		return;
	/* modulo 2^32: the stack is about to add what was delivered */
	tp->prr_delivered -= delivered - 2;
}

/* The window obeys W_rate, whatever the stack is doing. */
static void ratcp_obey(struct sock *sk, u32 rate_window)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ratcp_window w;

	if (!rate_window)
		return;
	if (BIT(inet_csk(sk)->icsk_ca_state) &
	    (TCPF_CA_Recovery | TCPF_CA_CWR)) {
		/* PRR brings the window there */
		tp->snd_ssthresh = min(tp->snd_ssthresh, rate_window);
		ratcp_follow_price(sk, rate_window);
		if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery ||
		    ratcp_advisor(sk)->in_band)
			ratcp_refill(sk);
		return;
	}
	ratcp_advice_window_load(sk, &w);
	ratcp_window_limit(&w, rate_window, tcp_packets_in_flight(tp));
	ratcp_advice_window_store(sk, &w);
}

static void ratcp_init(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);
	u32 rate_window;

	if (sk->sk_state == TCP_SYN_SENT)
		return;		/* see ratcp_seal_key */
	*ca = (struct ratcp){
		.delivered = tcp_sk(sk)->delivered,
		.prior_rcv_nxt = tcp_sk(sk)->rcv_nxt,
	};
	ratcp_advice_listen(sk);
	ca->seal = ratcp_seal(sk);
	/* the stack's clock may be stale if the socket was idle */
	rate_window = ratcp_advice_update_at(sk, ktime_get_ns());
	/* nothing was sent yet, and there is advice: start with one packet */
	if (rate_window && !tcp_sk(sk)->data_segs_out) {
		ca->first_cwnd = min_t(u32, tcp_snd_cwnd(tcp_sk(sk)),
				       RATCP_FIRST_CWND_MAX);
		tcp_snd_cwnd_set(tcp_sk(sk), 1);
	}
	ratcp_obey(sk, rate_window);
	ratcp_advice_report(sk, tcp_snd_cwnd(tcp_sk(sk)));
}

static void ratcp_release(struct sock *sk)
{
	struct ratcp *ca = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ratcp_has_begun(sk))
		return;
	ca->seal = 0;
	/* what is held back is sent now, with the present time */
	if (ca->paces)
		tp->tcp_wstamp_ns = min(tp->tcp_wstamp_ns, tp->tcp_clock_cache);
	ratcp_end_pacing(sk);
	ratcp_advice_unlisten(sk);
	/* another congestion control takes over before anything is sent */
	if (ca->first_cwnd && !tp->data_segs_out)
		tcp_snd_cwnd_set(tp, ca->first_cwnd);
}

/*
 * Called for each ACK before the stack processes it.  In a recovery the stack believes
 * that it has reduced the window already and has told the receiver so, and ignores
 * marks, except one on the ACK that ends the recovery.
 */
static void ratcp_in_ack_event(struct sock *sk, u32 flags)
{
	const struct ratcp *ca = inet_csk_ca(sk);
	struct ratcp_advisor *a = ratcp_advisor(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!ratcp_has_begun(sk))
		return;
	a->ece = !!(flags & CA_ACK_ECE);
	if (!a->ece || !a->rate_window || a->in_band || ca->answered ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery ||
	    !before(tp->snd_una, tp->high_seq))
		return;
	tp->snd_ssthresh = max(tp->snd_ssthresh >> 1U, 2U);
	tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
	ratcp_answer(sk);
}

/*
 * The network says what it can carry: once packets are seen to arrive, waiting longer
 * and longer would help nobody.
 */
static void ratcp_end_backoff(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!icsk->icsk_backoff || !tp->srtt_us ||
	    !ratcp_advisor(sk)->rate_window)
		return;
	icsk->icsk_backoff = 0;
	icsk->icsk_rto = __tcp_set_rto(tp);
	tcp_bound_rto(sk);
}

/* Called for each ACK after its RTT is known, before the window changes. */
static void ratcp_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ratcp *ca = inet_csk_ca(sk);

	if (!ratcp_has_begun(sk)) {
		ratcp_begin_late(sk);
		return;
	}
	if (tp->snd_una != ca->advisor.una)
		ratcp_end_backoff(sk);
	if (ca->filling && after(tp->snd_una, ca->filled_seq))
		ca->filling = false;
	if (ca->answered && after(tp->snd_una, ca->answered_seq))
		ca->answered = false;
	ca->advisor.probed = tp->tlp_high_seq && tp->tlp_retrans &&
			     !before(tp->snd_una, tp->tlp_high_seq);
	ratcp_advice_sample_rtt(sk, sample->rtt_us);
	ratcp_obey(sk, ratcp_update(sk));
	ratcp_discount_old(sk);
	ratcp_pace(sk);
	ratcp_advice_report(sk, tcp_snd_cwnd(tcp_sk(sk)));
}

/*
 * The same holds after a timeout (RFC 3465, section 2.3): the first ACK may cover a
 * whole window that arrived before, and only pacing would keep what it releases out of
 * the buffer.
 */
static bool ratcp_covers_old(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state == TCP_CA_Loss &&
	       tcp_is_reno(tcp_sk(sk)) && !ratcp_wants_pacing(sk);
}

static void ratcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct ratcp *ca = inet_csk_ca(sk);
	u32 rate_window = ca->advisor.rate_window;
	struct tcp_sock *tp = tcp_sk(sk);
	struct ratcp_window w;
	bool slow_start;

	if (!ratcp_is_advised(sk)) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (!tcp_is_cwnd_limited(sk))
		return;
	ratcp_advice_window_load(sk, &w);
	/* below the threshold, but not because of us: it was idle */
	if (w.phase == RATE_FEEDBACK_PHASE_AVOIDANCE && w.cwnd < w.ssthresh)
		w.phase = RATE_FEEDBACK_PHASE_SLOW_START;
	slow_start = w.phase == RATE_FEEDBACK_PHASE_SLOW_START;
	if (ratcp_covers_old(sk))
		acked = min(acked, 1U);
	ratcp_window_grow(&w, rate_window, acked);
	/* send what pacing held back in slow start, and more, at once */
	if ((slow_start && w.phase != RATE_FEEDBACK_PHASE_SLOW_START) ||
	    w.cwnd > tcp_snd_cwnd(tp) + acked)
		ratcp_fill(sk);
	ratcp_advice_window_store(sk, &w);
	ratcp_pace(sk);
}

static u32 ratcp_ssthresh(struct sock *sk)
{
	const struct ratcp *ca = inet_csk_ca(sk);
	u32 rate_window = ratcp_has_begun(sk) ? ratcp_update(sk) : 0;

	if (!rate_window)
		return tcp_reno_ssthresh(sk);
	if (!ca->advisor.ece || ca->advisor.in_band || ca->answered)
		return min(tcp_snd_cwnd(tcp_sk(sk)), rate_window);
	ratcp_answer(sk);
	return min(tcp_reno_ssthresh(sk), rate_window);
}

/*
 * The stack enters CWR for a mark, for a drop in this host's own queue, and for an
 * instant when a tail loss probe has repaired a loss.
 */
static void ratcp_enter_cwr(struct sock *sk)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	a->phase = RATE_FEEDBACK_PHASE_AVOIDANCE;
	if (a->probed || a->ece)
		return;		/* .ssthresh has done it already */
	tp->snd_ssthresh = min(tcp_reno_ssthresh(sk), a->rate_window);
	a->marked = true;
}

static void ratcp_enter_loss(struct sock *sk)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);
	struct ratcp_window w;

	/* .ssthresh is not called for the second timeout in a row */
	if (!ratcp_is_timeout(sk) || !ratcp_update(sk))
		return;
	ratcp_advice_window_load(sk, &w);
	ratcp_window_timeout(&w, a->rate_window);
	/* the stack allows one packet more than is in flight */
	w.cwnd = tcp_snd_cwnd(tcp_sk(sk));
	ratcp_advice_window_store(sk, &w);
}

/* Called before the state changes. */
static void ratcp_set_state(struct sock *sk, u8 state)
{
	struct ratcp_advisor *a = ratcp_advisor(sk);

	if (!ratcp_is_advised(sk))
		return;
	/* the acknowledgment that ends a recovery may cover a whole window */
	if (state < TCP_CA_CWR && inet_csk(sk)->icsk_ca_state >= TCP_CA_CWR)
		ratcp_fill(sk);
	if (state == TCP_CA_CWR)
		ratcp_enter_cwr(sk);
	else if (state == TCP_CA_Recovery)
		a->phase = RATE_FEEDBACK_PHASE_AVOIDANCE;
	else if (state == TCP_CA_Loss)
		ratcp_enter_loss(sk);
	a->probed = false;
}

static u32 ratcp_undo_cwnd(struct sock *sk)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);
	u32 cwnd = tcp_reno_undo_cwnd(sk);

	return ratcp_is_advised(sk) ? min(cwnd, a->rate_window) : cwnd;
}

static size_t ratcp_get_info(struct sock *sk, u32 ext, int *attr,
			     union tcp_cc_info *info)
{
	const struct ratcp_advisor *a = ratcp_advisor(sk);

	if (!(ext & (1 << (INET_DIAG_BBRINFO - 1))) &&
	    !(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	memset(&info->bbr, 0, sizeof(info->bbr));
	*attr = INET_DIAG_BBRINFO;
	if (!ratcp_has_begun(sk))
		return sizeof(info->bbr);
	info->bbr.bbr_bw_lo = (u32)a->rate;
	info->bbr.bbr_bw_hi = (u32)(a->rate >> 32);
	if (a->rate_window)
		info->bbr.bbr_min_rtt = a->used_rtt_us;
	return sizeof(info->bbr);
}

static struct tcp_congestion_ops ratcp_ops __read_mostly = {
	.init		= ratcp_init,
	.release	= ratcp_release,
	.ssthresh	= ratcp_ssthresh,
	.cong_avoid	= ratcp_cong_avoid,
	.in_ack_event	= ratcp_in_ack_event,
	.pkts_acked	= ratcp_pkts_acked,
	.set_state	= ratcp_set_state,
	.undo_cwnd	= ratcp_undo_cwnd,
	.get_info	= ratcp_get_info,
	.name		= "ratcp",
	.owner		= THIS_MODULE,
};

/*
 * ratcp_ecn is ratcp that asks for ECN by itself and, as a receiver, echoes each mark
 * once.  On a connection without ECN it becomes plain ratcp: otherwise the stack would
 * send packets that claim to be ECN-capable.  It also does so if it is chosen while the
 * SYN is on its way, because nothing will tell it what the peer answers about ECN.
 */

static void ratcp_ecn_init(struct sock *sk)
{
	if (sk->sk_state == TCP_SYN_SENT || !wale_compat_has_ecn(tcp_sk(sk)))
		WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &ratcp_ops);
	ratcp_init(sk);
}

static void ratcp_ecn_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	struct ratcp *ca = inet_csk_ca(sk);
	bool was_marked = ca->was_marked;

	if (!ratcp_has_begun(sk) ||
	    (event != CA_EVENT_ECN_IS_CE && event != CA_EVENT_ECN_NO_CE))
		return;
	ratcp_echo(sk, event, &ca->prior_rcv_nxt, &was_marked);
	ca->was_marked = was_marked;
}

static struct tcp_congestion_ops ratcp_ecn_ops __read_mostly = {
	.flags		= TCP_CONG_NEEDS_ECN,
	.init		= ratcp_ecn_init,
	.release	= ratcp_release,
	.ssthresh	= ratcp_ssthresh,
	.cong_avoid	= ratcp_cong_avoid,
	.in_ack_event	= ratcp_in_ack_event,
	.pkts_acked	= ratcp_pkts_acked,
	.set_state	= ratcp_set_state,
	.cwnd_event	= ratcp_ecn_cwnd_event,
	.undo_cwnd	= ratcp_undo_cwnd,
	.get_info	= ratcp_get_info,
	.name		= "ratcp_ecn",
	.owner		= THIS_MODULE,
};

static int __init ratcp_module_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct ratcp) > ICSK_CA_PRIV_SIZE);

	ratcp_seal_key = get_random_u32();
	err = tcp_register_congestion_control(&ratcp_ops);
	if (err)
		return err;
	err = tcp_register_congestion_control(&ratcp_ecn_ops);
	if (err)
		goto unregister_ratcp;
	err = tcp_classic_register();
	if (err)
		goto unregister_ratcp_ecn;
	return 0;

unregister_ratcp_ecn:
	tcp_unregister_congestion_control(&ratcp_ecn_ops);
unregister_ratcp:
	tcp_unregister_congestion_control(&ratcp_ops);
	return err;
}

static void __exit ratcp_module_exit(void)
{
	tcp_classic_unregister();
	tcp_unregister_congestion_control(&ratcp_ecn_ops);
	tcp_unregister_congestion_control(&ratcp_ops);
}

module_init(ratcp_module_init);
module_exit(ratcp_module_exit);
MODULE_ALIAS("tcp_ratcp_ecn");
MODULE_ALIAS("tcp_ratcp_oldtahoe");
MODULE_ALIAS("tcp_oldtahoe");
MODULE_ALIAS("tcp_vanilla");
MODULE_ALIAS("tcp_tahoe");
MODULE_ALIAS("tcp_reno_classic");
MODULE_ALIAS("tcp_reno_rfc2001");
MODULE_LICENSE("GPL");
MODULE_VERSION(WALE_VERSION);
MODULE_DESCRIPTION("Rate Adaptive TCP, and the TCPs that it was compared with");
