// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_gentle.c - an example of a congestion control of one's own
 *
 * Reno, but a loss takes an eighth of the window instead of half: to begin
 * from, not to use.  Documentation/howto/congestion-control.rst runs it.
 */
#include <linux/module.h>
#include <net/tcp.h>

#define GENTLE_DECREASE	8	/* a loss takes 1/8 of the window */

static u32 gentle_ssthresh(struct sock *sk)
{
	u32 cwnd = tcp_snd_cwnd(tcp_sk(sk));

	return max(cwnd - cwnd / GENTLE_DECREASE, 2U);
}

static void gentle_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static struct tcp_congestion_ops gentle __read_mostly = {
	.name		= "gentle",
	.owner		= THIS_MODULE,
	.ssthresh	= gentle_ssthresh,
	.cong_avoid	= gentle_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init gentle_init(void)
{
	return tcp_register_congestion_control(&gentle);
}
module_init(gentle_init);

static void __exit gentle_exit(void)
{
	tcp_unregister_congestion_control(&gentle);
}
module_exit(gentle_exit);

MODULE_DESCRIPTION("An example of a TCP congestion control");
MODULE_LICENSE("GPL");
