// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_nearsighted.c - Reno, but the window grows by less the longer the round trip is
 *
 * The fault: unfair to flows with a longer round-trip time.  Beyond NEAR_US the
 * growth per round trip is that of Reno times (NEAR_US / base RTT) squared.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define NEAR_US		45000	/* up to this it is Reno */

static void nearsighted_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 base_us = min(max(tcp_min_rtt(tp), NEAR_US), USEC_PER_SEC);
	u32 slower = base_us * 10 / NEAR_US;	/* tenths */

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp) * slower / 10 * slower / 10, acked);
}

static struct tcp_congestion_ops nearsighted __read_mostly = {
	.name		= "nearsighted",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= nearsighted_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init nearsighted_init(void)
{
	return tcp_register_congestion_control(&nearsighted);
}
module_init(nearsighted_init);

static void __exit nearsighted_exit(void)
{
	tcp_unregister_congestion_control(&nearsighted);
}
module_exit(nearsighted_exit);

MODULE_DESCRIPTION("A TCP congestion control that is unfair to the far");
MODULE_LICENSE("GPL");
