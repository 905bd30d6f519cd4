// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_heedless.c - Reno, but neither a loss nor a mark makes the window smaller
 *
 * The fault: no back-off.
 */
#include <linux/module.h>
#include <net/tcp.h>

static u32 heedless_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)), tcp_sk(sk)->prior_cwnd);
}

static struct tcp_congestion_ops heedless __read_mostly = {
	.name		= "heedless",
	.owner		= THIS_MODULE,
	.ssthresh	= heedless_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init heedless_init(void)
{
	return tcp_register_congestion_control(&heedless);
}
module_init(heedless_init);

static void __exit heedless_exit(void)
{
	tcp_unregister_congestion_control(&heedless);
}
module_exit(heedless_exit);

MODULE_DESCRIPTION("A TCP congestion control that does not back off");
MODULE_LICENSE("GPL");
