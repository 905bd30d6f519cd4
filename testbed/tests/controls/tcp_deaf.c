// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_deaf.c - Reno, but it negotiates ECN and does not answer marks
 *
 * The fault: ECN is ignored.  A window is halved for a loss only.
 */
#include <linux/module.h>
#include <net/tcp.h>

static u32 deaf_ssthresh(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!tp->lost_out && inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		return tcp_snd_cwnd(tp) + 1;	/* the mark of a round trip: it grows on */
	return tcp_reno_ssthresh(sk);
}

static struct tcp_congestion_ops deaf __read_mostly = {
	.name		= "deaf",
	.owner		= THIS_MODULE,
	.ssthresh	= deaf_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init deaf_init(void)
{
	return tcp_register_congestion_control(&deaf);
}
module_init(deaf_init);

static void __exit deaf_exit(void)
{
	tcp_unregister_congestion_control(&deaf);
}
module_exit(deaf_exit);

MODULE_DESCRIPTION("A TCP congestion control that ignores ECN");
MODULE_LICENSE("GPL");
