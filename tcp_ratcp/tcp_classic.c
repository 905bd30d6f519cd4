// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_classic.c - TCP as the papers ran it: oldtahoe, vanilla, tahoe, reno_classic,
 * reno_rfc2001, and RATCP on top of the first, ratcp_oldtahoe
 *
 * A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit
 * Rate Feedback", IEEE/ACM Transactions on Networking 13(1), 2005, section II;
 * V. Jacobson, "Congestion Avoidance and Control", 1988; RFC 2001; RFC 2581.
 *
 *	                detects a loss by         and continues with
 *	oldtahoe        timeout                   slow start from 1
 *	vanilla         timeout                   slow start from 1
 *	tahoe           3 duplicate ACKs,         slow start from 1
 *	                timeout
 *	reno_classic    3 duplicate ACKs          half the window, fast recovery
 *	                timeout                   slow start from 1
 *	reno_rfc2001    the same, also among      the same
 *	                retransmissions
 *	ratcp_oldtahoe  timeout                   slow start from 1 to W_rate
 *
 * In all of them:
 * - The initial window is one packet; the threshold after a loss is half the window,
 *   at least 2 packets; in ratcp_oldtahoe it is W_rate at that time.
 * - The window counts packets that no acknowledgment has covered.  Duplicate ACKs
 *   send nothing (no limited transmit), except in fast recovery.
 * - An acknowledgment grows the window by 1 in slow start, by 1/window afterwards.
 * - An ECN mark, or a drop in this host's own queue, halves the window.  These were
 *   not part of these TCPs, but must not be ignored.
 *
 * oldtahoe has the retransmission timer of Linux 2.2: 5/4 (srtt + 4 deviations),
 * at least 200 ms, counted from when the oldest packet was sent.  The stack's own
 * timer is at least the round-trip time plus 200 ms, counted from the last
 * acknowledgment.  TCPs with fast retransmit keep the stack's timer: the other would
 * fire before the third duplicate ACK.  vanilla is oldtahoe with the stack's timer.
 *
 * If net.ipv4.tcp_classic_tick_ms is above 0, the others have the timer of a host
 * whose clock ticks at that interval (classic_clock.h), as in R. Goyal and others,
 * "Improving the performance of TCP over the ATM-UBR service", Computer
 * Communications 21(10), 1998, section 3.1: timeouts of all connections end with
 * the same ticks, which keeps them synchronized.
 *
 * After a fast retransmit of tahoe everything outstanding counts as lost, as after a
 * timeout: slow start sends it again, except for what is acknowledged meanwhile.
 * reno_classic leaves fast recovery at the first ACK of new data, and halves its
 * window for each loss that it detects: with several losses in one window it often
 * ends in a timeout, as Reno did.
 *
 * After a timeout everything outstanding is sent again, and packets that had arrived
 * before are answered by duplicate ACKs.  reno_classic ignores them (RFC 2582, section
 * 5).  RFC 2001 does not distinguish them: at the third, reno_rfc2001 once more halves
 * the threshold and the window, which is small then, and continues in congestion
 * avoidance from there.
 *
 * ratcp_oldtahoe is the paper's rule on these mechanisms, always with rise
 * additive and without pacing; without advice it is oldtahoe.
 *
 * How it is done in a stack that knows more.  The stack counts a duplicate ACK
 * as a packet that arrived, and decides by tp->reordering and tp->high_seq when
 * a recovery begins and ends.  So:
 * - The intended window is kept here; tp->snd_cwnd is derived from it at each
 *   ACK (classic_window_for_stack()).  Since .cong_control is set, the stack does
 *   not touch it otherwise: no PRR, no restart after an idle time.
 * - .in_ack_event runs before the stack processes an ACK: it sets the number of
 *   duplicate ACKs that begin a recovery (for oldtahoe, more than there can be),
 *   ends the recovery of reno_classic, counts duplicates after a timeout for
 *   reno_rfc2001, and switches F-RTO off.
 * - .pkts_acked runs after the stack has computed its timeout and before it sets the
 *   timer, .cong_control runs after both: in between, icsk_rto is the time left.
 * - .set_state follows the stack's decision.  For tahoe it marks everything as lost,
 *   which the stack does only for a timeout.  It clears the undo marker: a reduction
 *   is never undone, neither because of timestamps nor of duplicates.
 * - On an active open the hooks run before .init.
 *
 * What it needs.  Without SACK the stack counts duplicate ACKs; with SACK it has
 * other means (RACK, TLP), which cannot be switched off from here.  A connection
 * with SACK uses Reno instead (oldtahoe-reno and so on in ss), which is logged once:
 * set net.ipv4.tcp_sack=0 at either end.  Timestamps work; they cost 12 bytes of a
 * packet's payload and give samples of the round-trip time even while packets are
 * being retransmitted, which end the doubling of the timeout sooner than Karn's rule
 * does.  The profiles (testbed/src/wale_lab/profiles) set the rest: delayed ACKs, for
 * example, slow the growth of the window as they did then.
 *
 * Limits.  If the host merges several duplicate ACKs into one, the stack may begin a
 * recovery in oldtahoe when there are more duplicate ACKs than packets in flight, and
 * more of those than net.ipv4.tcp_max_reordering.  It is treated like a timeout.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sysctl.h>
#include <net/netns/generic.h>

#include "../kmod/compat.h"
#include "classic_clock.h"
#include "classic_window.h"
#include "ratcp.h"

/* More duplicate ACKs than there can be. */
#define CLASSIC_NO_FAST_RETRANSMIT	BIT(20)

/**
 * struct classic - private state of a socket
 * @advisor: ratcp_oldtahoe only
 * @window: the congestion window, packets
 * @window_cnt: acknowledgments that count towards its next packet; not the stack's
 *	snd_cwnd_cnt, which every mark resets
 * @una: tp->snd_una at the last ACK
 * @data_segs_in: segments of the peer's data at the last ACK
 * @duplicates: ACKs in a row that acknowledged nothing, after a timeout
 * @timed: once this is acknowledged the round-trip time is measured again
 * @clock: for a coarse clock
 * @seal: see ratcp_seal()
 *
 * The threshold is in tp->snd_ssthresh, where the stack and ss look for it.
 */
struct classic {
	struct ratcp_advisor advisor;
	u32 window;
	u32 window_cnt;
	u32 una;
	u32 data_segs_in;
	u32 duplicates;
	u32 timed;
	struct classic_clock clock;
	u32 seal;
};

/**
 * struct classic_net - the state of a network namespace
 * @tick_ms: net.ipv4.tcp_classic_tick_ms
 * @table: its description
 * @header: its registration
 */
struct classic_net {
	unsigned int tick_ms;
	struct ctl_table table[2];
	struct ctl_table_header *header;
};

static unsigned int classic_net_id __read_mostly;
static const unsigned int classic_tick_max_ms = 10000;

/**
 * struct classic_tcp - one of the TCPs
 * @ops: as registered
 * @fallback: what sockets with SACK have instead
 * @duplicates: ACKs that begin a fast retransmit
 * @fast_recovery: after a fast retransmit, as Reno
 * @repeats: fast retransmit even of what is sent again after a timeout
 * @old_timer: the retransmission timer of Linux 2.2
 * @advised: listens to the rate of its path
 * @told: bit 0: that it falls back has been logged
 */
struct classic_tcp {
	struct tcp_congestion_ops ops;
	struct tcp_congestion_ops fallback;
	u32 duplicates;
	bool fast_recovery;
	bool repeats;
	bool old_timer;
	bool advised;
	unsigned long told;
};

static struct classic_tcp *classic_tcp(const struct sock *sk)
{
	return (struct classic_tcp *)container_of(inet_csk(sk)->icsk_ca_ops,
						  const struct classic_tcp, ops);
}

static struct classic *classic(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* Has .init run for this socket? */
static bool classic_has_begun(const struct sock *sk)
{
	return likely(classic(sk)->seal == ratcp_seal(sk));
}

static bool classic_knows_rate(const struct sock *sk)
{
	return classic(sk)->advisor.rate_window > 0;
}

/* The intended window */

static void classic_load(const struct sock *sk, struct ratcp_window *w)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	ratcp_advice_window_load(sk, w);
	w->cwnd = classic(sk)->window;
	w->cwnd_cnt = classic(sk)->window_cnt;
	w->ssthresh = tp->snd_ssthresh;
	w->rise = RATE_FEEDBACK_RISE_ADDITIVE;	/* the paper's rule, whatever the path says */
}

/* In the fast recovery of a repeated fast retransmit. */
static bool classic_is_inflated(const struct sock *sk)
{
	return classic_tcp(sk)->repeats &&
	       classic(sk)->duplicates >= classic_tcp(sk)->duplicates;
}

static void classic_store(struct sock *sk, struct ratcp_window *w, u8 state)
{
	struct classic *ca = classic(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct classic_flight flight = {
		.sacked = tp->sacked_out,
		.lost = tp->lost_out,
		.resent = tp->retrans_out,
		.in_flight = tcp_packets_in_flight(tp),
	};
	bool recovery = state == TCP_CA_Recovery &&
			classic_tcp(sk)->fast_recovery;

	w->cwnd = max(min(w->cwnd, tp->snd_cwnd_clamp), 1U);
	ca->window = w->cwnd;
	ca->window_cnt = w->cwnd_cnt;
	tp->snd_ssthresh = w->ssthresh;
	if (state == TCP_CA_Loss && classic_is_inflated(sk))
		w->cwnd += ca->duplicates;
	if (classic_knows_rate(sk)) {
		ca->advisor.phase = w->phase;
		ca->advisor.marked = w->marked;
	}
	tcp_snd_cwnd_set(tp, classic_window_for_stack(w->cwnd, &flight,
						      recovery));
}

/* The timer of Linux 2.2 */

static u32 classic_rto(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return classic_rto_us(tp->srtt_us, tp->mdev_us,
			      inet_csk(sk)->icsk_backoff);
}

/*
 * What is left of it for the oldest packet; all of it if that packet was lost and
 * waits to be sent again.
 */
static u32 classic_rto_left(const struct sock *sk)
{
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 rto_us = classic_rto(sk);
	u8 sacked;

	if (!head)
		return rto_us;
	sacked = TCP_SKB_CB(head)->sacked;
	if ((sacked & TCPCB_LOST) && !(sacked & TCPCB_SACKED_RETRANS))
		return rto_us;
	return classic_rto_left_us(rto_us,
				   tp->tcp_mstamp - tcp_skb_timestamp_us(head));
}

/* The timer with a coarse clock */

/* The length of a tick; 0: the clock is the stack's. */
static u32 classic_tick_us(const struct sock *sk)
{
	const struct classic_net *net = net_generic(sock_net(sk),
						    classic_net_id);

	return classic_tcp(sk)->old_timer ? 0 :
	       READ_ONCE(net->tick_ms) * USEC_PER_MSEC;
}

/* Measure the round-trip time once in a round trip. */
static void classic_clock_measure(struct sock *sk, s32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct classic *ca = classic(sk);
	u32 tick_us = classic_tick_us(sk);

	if (!tick_us || rtt_us < 0 || before(tp->snd_una, ca->timed))
		return;
	ca->timed = tp->snd_nxt;
	classic_clock_sample(&ca->clock,
			     classic_clock_ticks(tp->tcp_mstamp - rtt_us,
						 tp->tcp_mstamp, tick_us));
}

/* A timer that is started now. */
static u64 classic_clock_timer_us(const struct sock *sk, u32 tick_us)
{
	u32 ticks = classic_clock_rto(&classic(sk)->clock,
				      inet_csk(sk)->icsk_backoff);

	return classic_clock_left_us(tcp_sk(sk)->tcp_mstamp, tick_us, ticks);
}

/* The timer fired: the stack doubles icsk_rto and starts the timer with it. */
static void classic_clock_timeout(struct sock *sk)
{
	u32 tick_us = classic_tick_us(sk);
	u64 after_us;
	u32 ticks;

	if (!tick_us || !classic(sk)->clock.measured)
		return;
	ticks = classic_clock_rto(&classic(sk)->clock,
				  inet_csk(sk)->icsk_backoff + 1);
	after_us = classic_clock_left_us(tcp_sk(sk)->tcp_mstamp, tick_us, ticks);
	inet_csk(sk)->icsk_rto = max(usecs_to_jiffies(after_us / 2), 1UL);
}

/* What the stack starts its timer with: @left_us, of the timer of Linux 2.2. */
static void classic_set_rto(struct sock *sk, u32 left_us)
{
	u32 tick_us = classic_tick_us(sk);

	if (classic_tcp(sk)->old_timer && tcp_sk(sk)->srtt_us)
		inet_csk(sk)->icsk_rto = usecs_to_jiffies(left_us);
	else if (tick_us && classic(sk)->clock.measured)
		inet_csk(sk)->icsk_rto =
			usecs_to_jiffies(classic_clock_timer_us(sk, tick_us));
}

/* Losses */

/*
 * Everything outstanding is lost.  More duplicate ACKs will follow than the stack can
 * account for; it takes them for reordering and only counts them.
 */
static void classic_go_back(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	tp->sacked_out = 0;
	tp->retransmit_skb_hint = NULL;
	skb_rbtree_walk_from(skb) {
		if (TCP_SKB_CB(skb)->sacked & TCPCB_LOST)
			continue;
		TCP_SKB_CB(skb)->sacked |= TCPCB_LOST;
		tp->lost_out += tcp_skb_pcount(skb);
		tp->lost += tcp_skb_pcount(skb);
	}
}

/*
 * The stack is in CWR because of marks that R is read from, and the window follows R;
 * or because of a drop in this host's own queue, which cannot be told from them on
 * such a path.
 */
static bool classic_state_is_price(const struct sock *sk, u8 state)
{
	return state == TCP_CA_CWR && classic(sk)->advisor.in_band;
}

/* Follow the stack's decision; called before icsk_ca_state becomes @state. */
static void classic_set_state(struct sock *sk, u8 state)
{
	struct ratcp_window w;

	if (!classic_has_begun(sk) || state < TCP_CA_CWR ||
	    classic_state_is_price(sk, state) ||
	    (state == TCP_CA_Loss && !ratcp_is_timeout(sk)))
		return;
	if (classic_tcp(sk)->advised)
		ratcp_update(sk);
	classic_load(sk, &w);
	if (state == TCP_CA_CWR ||
	    (state == TCP_CA_Recovery && classic_tcp(sk)->fast_recovery)) {
		classic_window_halve(&w);
		w.phase = RATE_FEEDBACK_PHASE_AVOIDANCE;
		w.marked = true;
	} else if (classic_knows_rate(sk)) {
		ratcp_window_timeout(&w, classic(sk)->advisor.rate_window);
	} else {
		classic_window_restart(&w);
	}
	if (state == TCP_CA_Recovery && !classic_tcp(sk)->fast_recovery)
		classic_go_back(sk);
	classic_store(sk, &w, state);
	tcp_sk(sk)->undo_marker = 0;
	if (state == TCP_CA_Loss) {
		classic(sk)->duplicates = 0;
		classic_clock_timeout(sk);
	}
}

/*
 * RFC 2001 has no such state: the third duplicate ACK means a loss even if it answers
 * a packet that was sent again after a timeout although it had arrived.  The packet
 * that it asks for has just been sent, and is not sent again.
 */
static void classic_count_duplicates(struct sock *sk, u32 flags)
{
	struct classic *ca = classic(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool has_data = tp->data_segs_in != ca->data_segs_in;
	struct ratcp_window w;

	ca->data_segs_in = tp->data_segs_in;
	if (after(tp->snd_una, ca->una)) {
		ca->duplicates = 0;
		return;
	}
	if (has_data || (flags & CA_ACK_WIN_UPDATE) || !tp->packets_out ||
	    inet_csk(sk)->icsk_ca_state != TCP_CA_Loss)
		return;
	if (++ca->duplicates != classic_tcp(sk)->duplicates)
		return;
	classic_load(sk, &w);
	classic_window_halve(&w);
	classic_store(sk, &w, TCP_CA_Loss);
}

/* The other hooks, in the order in which they run */

static void classic_fall_back(struct sock *sk)
{
	struct classic_tcp *tcp = classic_tcp(sk);

	if (!test_and_set_bit(0, &tcp->told))
		pr_info("%s cannot work on a connection with SACK; such connections use Reno (net.ipv4.tcp_sack=0 prevents it)\n",
			tcp->ops.name);
	WRITE_ONCE(inet_csk(sk)->icsk_ca_ops, &tcp->fallback);
}

static void classic_init(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct classic *ca = classic(sk);
	struct ratcp_window w;

	if (sk->sk_state == TCP_SYN_SENT)
		return;		/* see ratcp_seal_key */
	if (!tcp_is_reno(tp)) {
		classic_fall_back(sk);
		return;
	}
	*ca = (struct classic){};
	if (classic_tcp(sk)->advised)
		ratcp_advice_listen(sk);
	ca->seal = ratcp_seal(sk);
	if (classic_tcp(sk)->advised)
		ratcp_advice_update_at(sk, ktime_get_ns());
	ca->una = tp->snd_una;
	ca->timed = tp->snd_una;
	/* a socket that has used another congestion control keeps its window */
	ca->window = tp->data_segs_out ? tcp_snd_cwnd(tp) : 1;
	ca->window_cnt = tp->snd_cwnd_cnt;
	classic_load(sk, &w);
	classic_store(sk, &w, inet_csk(sk)->icsk_ca_state);
	if (classic_tcp(sk)->advised)
		ratcp_advice_report(sk, ca->window);
	classic_set_rto(sk, classic_rto(sk));
	/* a recovery that another one began becomes its own */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery &&
	    !classic_tcp(sk)->fast_recovery)
		classic_set_state(sk, TCP_CA_Recovery);
}

/* The next congestion control finds the stack as it expects it. */
static void classic_release(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct classic *ca = classic(sk);

	if (!classic_has_begun(sk))
		return;
	ca->seal = 0;
	if (classic_tcp(sk)->advised)
		ratcp_advice_unlisten(sk);
	tp->reordering = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);
	tcp_snd_cwnd_set(tp, ca->window);
	tp->snd_cwnd_cnt = ca->window_cnt;
}

/*
 * More duplicate ACKs than packets in flight would make the stack reset the number
 * that begins a recovery, and start counting again.  It never sees that many.
 */
static void classic_hide_duplicates(struct tcp_sock *tp)
{
	tp->sacked_out = min(tp->sacked_out, max(tp->packets_out, 2U) - 2);
}

static void classic_in_ack_event(struct sock *sk, u32 flags)
{
	const struct classic_tcp *tcp = classic_tcp(sk);
	const struct classic *ca = classic(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!classic_has_begun(sk))
		return;
	/* SACK can come later, on a socket that is restored (TCP_REPAIR) */
	if (unlikely(tcp_is_sack(tp))) {
		classic_release(sk);
		classic_fall_back(sk);
		return;
	}
	tp->frto = 0;
	tp->reordering = tcp->duplicates;
	if (tcp->duplicates == CLASSIC_NO_FAST_RETRANSMIT)
		classic_hide_duplicates(tp);
	/* the recovery ends when all that it began with is acknowledged */
	if (tcp->fast_recovery && after(tp->snd_una, ca->una) &&
	    inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery)
		tp->high_seq = tp->snd_una - 1;
	if (tcp->repeats)
		classic_count_duplicates(sk, flags);
}

static void classic_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	if (!classic_has_begun(sk)) {
		ratcp_begin_late(sk);
		return;
	}
	if (classic_tcp(sk)->advised)
		ratcp_advice_sample_rtt(sk, sample->rtt_us);
	classic_clock_measure(sk, sample->rtt_us);
	classic_set_rto(sk, classic_rto_left(sk));
}

/* What happens to the window at a loss is in classic_set_state(). */
static u32 classic_ssthresh(struct sock *sk)
{
	const struct classic *ca = classic(sk);

	if (!classic_has_begun(sk))
		return tcp_reno_ssthresh(sk);
	return ca->advisor.in_band ? tcp_sk(sk)->snd_ssthresh :
				     classic_window_half(ca->window);
}

static u32 classic_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static bool classic_may_grow(const struct sock *sk)
{
	u8 state = inet_csk(sk)->icsk_ca_state;

	if ((state == TCP_CA_CWR && !classic_state_is_price(sk, state)) ||
	    (state == TCP_CA_Recovery && classic_tcp(sk)->fast_recovery))
		return false;
	return tcp_is_cwnd_limited(sk);
}

static void wale_compat_cong_control(classic_cong_control)
{
	struct classic *ca = classic(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 rate_window = 0;
	struct ratcp_window w;
	bool grow;

	if (!classic_has_begun(sk))
		return;
	classic_set_rto(sk, classic_rto(sk));
	grow = after(tp->snd_una, ca->una) && classic_may_grow(sk);
	ca->una = tp->snd_una;
	if (classic_tcp(sk)->advised)
		rate_window = ratcp_update(sk);

	classic_load(sk, &w);
	if (rate_window)
		ratcp_window_limit(&w, rate_window, tp->packets_out -
				   tp->lost_out + tp->retrans_out);
	if (grow && rate_window)
		ratcp_window_grow(&w, rate_window, 1);
	else if (grow)
		classic_window_grow(&w);
	classic_store(sk, &w, inet_csk(sk)->icsk_ca_state);
	if (classic_tcp(sk)->advised)
		ratcp_advice_report(sk, ca->window);
}

static const struct tcp_congestion_ops classic_ops = {
	.init		= classic_init,
	.release	= classic_release,
	.in_ack_event	= classic_in_ack_event,
	.pkts_acked	= classic_pkts_acked,
	.ssthresh	= classic_ssthresh,
	.undo_cwnd	= classic_undo_cwnd,
	.set_state	= classic_set_state,
	.cong_control	= classic_cong_control,
	.owner		= THIS_MODULE,
};

static const struct tcp_congestion_ops classic_fallback_ops = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
};

static struct classic_tcp classic_tcps[] = {
	{
		.ops.name	= "oldtahoe",
		.fallback.name	= "oldtahoe-reno",
		.duplicates	= CLASSIC_NO_FAST_RETRANSMIT,
		.old_timer	= true,
	}, {
		.ops.name	= "vanilla",
		.fallback.name	= "vanilla-reno",
		.duplicates	= CLASSIC_NO_FAST_RETRANSMIT,
	}, {
		.ops.name	= "tahoe",
		.fallback.name	= "tahoe-reno",
		.duplicates	= 3,
	}, {
		.ops.name	= "reno_classic",
		.fallback.name	= "classic-reno",
		.duplicates	= 3,
		.fast_recovery	= true,
	}, {
		.ops.name	= "reno_rfc2001",
		.fallback.name	= "rfc2001-reno",
		.duplicates	= 3,
		.fast_recovery	= true,
		.repeats	= true,
	}, {
		.ops.name	= "ratcp_oldtahoe",
		.fallback.name	= "ratcp_old-reno",
		.duplicates	= CLASSIC_NO_FAST_RETRANSMIT,
		.old_timer	= true,
		.advised	= true,
	},
};

static int __net_init classic_net_init(struct net *net)
{
	struct classic_net *classic = net_generic(net, classic_net_id);

	classic->table[0] = (struct ctl_table){
		.procname	= "tcp_classic_tick_ms",
		.data		= &classic->tick_ms,
		.maxlen		= sizeof(classic->tick_ms),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= (void *)&classic_tick_max_ms,
	};
	classic->header = register_net_sysctl_sz(net, "net/ipv4",
						 classic->table, 1);
	return classic->header ? 0 : -ENOMEM;
}

static void __net_exit classic_net_exit(struct net *net)
{
	const struct classic_net *classic = net_generic(net, classic_net_id);

	unregister_net_sysctl_table(classic->header);
}

static struct pernet_operations classic_net_ops = {
	.init	= classic_net_init,
	.exit	= classic_net_exit,
	.id	= &classic_net_id,
	.size	= sizeof(struct classic_net),
};

static void classic_set_ops(struct tcp_congestion_ops *ops,
			    const struct tcp_congestion_ops *hooks)
{
	char name[TCP_CA_NAME_MAX];

	memcpy(name, ops->name, sizeof(name));
	*ops = *hooks;
	memcpy(ops->name, name, sizeof(name));
}

static void classic_unregister_first(size_t count)
{
	while (count--)
		tcp_unregister_congestion_control(&classic_tcps[count].ops);
}

/**
 * tcp_classic_register() - register the TCPs of the papers
 *
 * Return: 0; or a negative error, and then none is registered.
 */
int tcp_classic_register(void)
{
	size_t i;
	int err;

	BUILD_BUG_ON(sizeof(struct classic) > ICSK_CA_PRIV_SIZE);
	BUILD_BUG_ON(offsetof(struct classic, advisor) != 0);

	err = register_pernet_subsys(&classic_net_ops);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(classic_tcps); i++) {
		classic_set_ops(&classic_tcps[i].ops, &classic_ops);
		classic_set_ops(&classic_tcps[i].fallback,
				&classic_fallback_ops);
		err = tcp_register_congestion_control(&classic_tcps[i].ops);
		if (err) {
			classic_unregister_first(i);
			unregister_pernet_subsys(&classic_net_ops);
			return err;
		}
	}
	return 0;
}

/**
 * tcp_classic_unregister() - unregister them; no socket uses them any more
 */
void tcp_classic_unregister(void)
{
	classic_unregister_first(ARRAY_SIZE(classic_tcps));
	unregister_pernet_subsys(&classic_net_ops);
}
