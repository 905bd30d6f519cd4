// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_classic.c - TCP as the papers ran it: oldtahoe, vanilla, tahoe, reno_classic,
 * reno_rfc2001, and RATCP upon the first of them, ratcp_oldtahoe
 *
 * A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit
 * Rate Feedback", IEEE/ACM Transactions on Networking 13(1), 2005, section II;
 * V. Jacobson, "Congestion Avoidance and Control", 1988; RFC 2001; RFC 2581.
 *
 *	                a loss is found by        after that
 *	oldtahoe        timeout                   slow start from 1
 *	vanilla         timeout                   slow start from 1
 *	tahoe           3 duplicate ACKs,         slow start from 1
 *	                timeout
 *	reno_classic    3 duplicate ACKs          half the window, fast recovery
 *	                timeout                   slow start from 1
 *	reno_rfc2001    the same, also in what    the same
 *	                is sent again
 *	ratcp_oldtahoe  timeout                   slow start from 1 to W_rate
 *
 * In all of them:
 * - The first window is one packet, the threshold after a loss half the window,
 *   at least 2 packets; ratcp_oldtahoe: W_rate at that time.
 * - The window counts packets that no acknowledgment has covered.  Duplicate ACKs
 *   send nothing (no limited transmit), but for those of fast recovery.
 * - An acknowledgment grows the window by 1 in slow start, by 1/window after.
 * - An ECN mark, or a drop in this host's own queue, halves the window.  They
 *   were no part of these TCPs, but may not be ignored.
 *
 * oldtahoe has the retransmission timer of Linux 2.2: 5/4 (srtt + 4 deviations),
 * at least 200 ms, counted from when the oldest packet was sent.  The stack's own
 * is the round-trip time plus 200 ms at least, counted from the last
 * acknowledgment.  With fast retransmit the stack's stays: the other would fire
 * before the third duplicate ACK.  vanilla is oldtahoe with the stack's.
 *
 * With net.ipv4.tcp_classic_tick_ms above 0 the others have the timer of a host
 * whose clock ticks that seldom (classic_clock.h), as in R. Goyal and others,
 * "Improving the performance of TCP over the ATM-UBR service", Computer
 * Communications 21(10), 1998, section 3.1: timeouts of all connections end with
 * the same ticks, which keeps them together.
 *
 * With the fast retransmit of tahoe all that is outstanding is lost, as with a
 * timeout: the slow start sends it again, but for what is acknowledged meanwhile.
 * reno_classic leaves fast recovery at the first ACK of new data, and halves its
 * window for each loss that it finds: with several losses in one window it
 * often ends in a timeout, and so did Reno.
 *
 * After a timeout all that was outstanding is sent again, and duplicate ACKs answer
 * what had arrived.  reno_classic does not listen to them (RFC 2582, section 5).
 * RFC 2001 does not tell them from others: with the third, reno_rfc2001 halves its
 * threshold and the small window of that time again, and goes on in congestion
 * avoidance from there.
 *
 * ratcp_oldtahoe is the paper's rule on these mechanisms, always with rise
 * additive and without pacing; without advice it is oldtahoe.
 *
 * How it is done, in a stack that knows more.  The stack counts a duplicate ACK
 * as a packet that arrived and decides with tp->reordering and tp->high_seq when
 * a recovery begins and ends.  So:
 * - The window that is meant is here; tp->snd_cwnd is derived from it at each
 *   ACK (classic_window_for_stack()).  As .cong_control is there, the stack does
 *   not touch it otherwise: no PRR, no restart after idleness.
 * - .in_ack_event runs before the stack judges an ACK: it sets the number of
 *   duplicate ACKs that begin a recovery, for oldtahoe to more than there can be,
 *   ends the recovery of reno_classic, counts duplicates after a timeout for
 *   reno_rfc2001, and switches F-RTO off.
 * - .pkts_acked runs after the stack computed its timeout and before it sets the
 *   timer, .cong_control after both: between them icsk_rto is what is left.
 * - .set_state follows the stack's verdict.  For tahoe it marks all as lost, which
 *   the stack does for a timeout alone.  It takes the undo marker away: a
 *   reduction is never undone, neither for timestamps nor for duplicates.
 * - On an active open the hooks run before .init.
 *
 * What it needs.  Without SACK the stack counts duplicate ACKs; with SACK it has
 * other means (RACK, TLP), which cannot be switched off from here.  A connection
 * with SACK uses Reno instead (oldtahoe-reno and so on in ss), which is said once
 * in the log: set net.ipv4.tcp_sack=0 at either end.  Timestamps work, cost 12
 * bytes of a packet's payload, and give samples of the round-trip time also while
 * packets are sent again, which end the doubling of the timeout sooner than Karn's
 * rule does.  The rest is the profiles' (testbed/src/wale_lab/profiles): delayed ACKs, for
 * example, slow the growth of the window as they did then.
 *
 * Limits.  If the host joins several duplicate ACKs into one, the stack may begin
 * a recovery in oldtahoe when there are more of them than packets in flight, and
 * those are more than net.ipv4.tcp_max_reordering.  It is treated like a timeout.
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
 * @advisor: ratcp_oldtahoe alone
 * @window: the congestion window, packets
 * @window_cnt: acknowledgments that count towards its next packet; not the stack's
 *	snd_cwnd_cnt, which begins anew with every mark
 * @una: tp->snd_una at the last ACK
 * @data_segs_in: of the peer's data, at the last ACK
 * @duplicates: ACKs in a row that acknowledged nothing, after a timeout
 * @timed: once this is acknowledged the round-trip time is measured again
 * @clock: with a clock that ticks seldom
 * @seal: see ratcp_seal()
 *
 * The threshold is where the stack and ss look for it, in tp->snd_ssthresh.
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
 * struct classic_net - of a network namespace
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
 * @repeats: fast retransmit of what is being sent again after a timeout
 * @old_timer: the retransmission timer of Linux 2.2
 * @advised: listens to the rate of its path
 * @told: bit 0: that it falls back was said
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

/* Has .init begun with this socket? */
static bool classic_has_begun(const struct sock *sk)
{
	return likely(classic(sk)->seal == ratcp_seal(sk));
}

static bool classic_knows_rate(const struct sock *sk)
{
	return classic(sk)->advisor.rate_window > 0;
}

/* The window that is meant */

static void classic_load(const struct sock *sk, struct ratcp_window *w)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	ratcp_window_load(sk, w);
	w->cwnd = classic(sk)->window;
	w->cwnd_cnt = classic(sk)->window_cnt;
	w->ssthresh = tp->snd_ssthresh;
	w->rise = RATE_FEEDBACK_RISE_ADDITIVE;	/* the paper's, whatever the path's */
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
 * What is left of it for the oldest packet; all of it if that one was lost and
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

/* The timer of a clock that ticks seldom */

/* From one tick to the next; 0: the clock is the stack's. */
static u32 classic_tick_us(const struct sock *sk)
{
	const struct classic_net *net = net_generic(sock_net(sk),
						    classic_net_id);

	return classic_tcp(sk)->old_timer ? 0 :
	       READ_ONCE(net->tick_ms) * USEC_PER_MSEC;
}

/* The round-trip time is measured once in a round trip. */
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

/* The timer fired: the stack doubles what it finds, and starts it with that. */
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
 * All that is outstanding is lost.  The duplicate ACKs that follow are more than
 * the stack can account for; it takes them for reordering and only counts them.
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
 * The stack is in CWR for marks that say what R is, and the window follows R; or
 * for a drop in this host's own queue, which such a path cannot tell from them.
 */
static bool classic_state_is_price(const struct sock *sk, u8 state)
{
	return state == TCP_CA_CWR && classic(sk)->advisor.in_band;
}

/* The verdict of the stack; called before icsk_ca_state is @state. */
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
 * RFC 2001 knows no state: the third duplicate ACK is a loss also when it answers
 * what was sent again after a timeout, though it had arrived.  The packet that it
 * asks for was just sent, and is not sent once more.
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
		ratcp_listen(sk);
	ca->seal = ratcp_seal(sk);
	if (classic_tcp(sk)->advised)
		ratcp_update_at(sk, ktime_get_ns());
	ca->una = tp->snd_una;
	ca->timed = tp->snd_una;
	/* one that has sent with another congestion control keeps its window */
	ca->window = tp->data_segs_out ? tcp_snd_cwnd(tp) : 1;
	ca->window_cnt = tp->snd_cwnd_cnt;
	classic_load(sk, &w);
	classic_store(sk, &w, inet_csk(sk)->icsk_ca_state);
	if (classic_tcp(sk)->advised)
		ratcp_report(sk, ca->window);
	classic_set_rto(sk, classic_rto(sk));
	/* of the recovery that another began it makes its own */
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery &&
	    !classic_tcp(sk)->fast_recovery)
		classic_set_state(sk, TCP_CA_Recovery);
}

/* The next congestion control has a stack as it knows it. */
static void classic_release(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct classic *ca = classic(sk);

	if (!classic_has_begun(sk))
		return;
	ca->seal = 0;
	if (classic_tcp(sk)->advised)
		ratcp_unlisten(sk);
	tp->reordering = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering);
	tcp_snd_cwnd_set(tp, ca->window);
	tp->snd_cwnd_cnt = ca->window_cnt;
}

/*
 * More duplicate ACKs than packets in flight make the stack forget the number
 * that begins a recovery, and count anew.  It never sees so many.
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
	/* it can come later, on a socket that is restored (TCP_REPAIR) */
	if (unlikely(tcp_is_sack(tp))) {
		classic_release(sk);
		classic_fall_back(sk);
		return;
	}
	tp->frto = 0;
	tp->reordering = tcp->duplicates;
	if (tcp->duplicates == CLASSIC_NO_FAST_RETRANSMIT)
		classic_hide_duplicates(tp);
	/* the recovery ends where all is acknowledged that it began with */
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
		ratcp_sample_rtt(sk, sample->rtt_us);
	classic_clock_measure(sk, sample->rtt_us);
	classic_set_rto(sk, classic_rto_left(sk));
}

/* What becomes of the window at a loss is in classic_set_state(). */
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
		ratcp_report(sk, ca->window);
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
 * tcp_classic_register() - offer the TCPs of the papers
 *
 * Return: 0 or a negative error; none is offered then.
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
 * tcp_classic_unregister() - offer them no longer; no socket uses them
 */
void tcp_classic_unregister(void)
{
	classic_unregister_first(ARRAY_SIZE(classic_tcps));
	unregister_pernet_subsys(&classic_net_ops);
}
