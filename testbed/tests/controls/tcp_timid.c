// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_timid.c - Reno, but the window shrinks in each round trip in which the delay is high
 *
 * The fault: it starves when the delay rises, whoever makes it rise.
 */
#include <linux/module.h>
#include <net/tcp.h>

struct timid {
	u32 round_end;		/* a round trip is over when this is acknowledged */
};

/* Has the delay risen by an eighth, and by more than a millisecond? */
static bool timid_is_late(const struct tcp_sock *tp)
{
	u32 base_us = tcp_min_rtt(tp);
	u32 now_us = tp->srtt_us >> 3;

	return now_us > base_us + max_t(u32, base_us / 8, USEC_PER_MSEC);
}

static void timid_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct timid *timid = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!timid_is_late(tp)) {
		tcp_reno_cong_avoid(sk, ack, acked);
		return;
	}
	if (before(ack, timid->round_end))
		return;
	timid->round_end = tp->snd_nxt;
	tcp_snd_cwnd_set(tp, max(tcp_snd_cwnd(tp) * 3 / 4, 2U));
	tp->snd_ssthresh = min(tp->snd_ssthresh, tcp_snd_cwnd(tp));
}

static void timid_init_sock(struct sock *sk)
{
	struct timid *timid = inet_csk_ca(sk);

	timid->round_end = tcp_sk(sk)->snd_nxt;
}

static struct tcp_congestion_ops timid __read_mostly = {
	.name		= "timid",
	.owner		= THIS_MODULE,
	.init		= timid_init_sock,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= timid_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init timid_init(void)
{
	BUILD_BUG_ON(sizeof(struct timid) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&timid);
}
module_init(timid_init);

static void __exit timid_exit(void)
{
	tcp_unregister_congestion_control(&timid);
}
module_exit(timid_exit);

MODULE_DESCRIPTION("A TCP congestion control that gives way to any delay");
MODULE_LICENSE("GPL");
