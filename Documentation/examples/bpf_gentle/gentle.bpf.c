// SPDX-License-Identifier: GPL-2.0
/*
 * gentle.bpf.c - an example of a congestion control of one's own, in BPF
 *
 * Reno, but a loss takes an eighth of the window instead of half: to begin
 * from, not to use.  Documentation/howto/congestion-control.rst runs it.
 *
 * It declares the few fields that it reads; libbpf finds where they are in the
 * kernel that it is loaded into.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define GENTLE_DECREASE	8	/* a loss takes 1/8 of the window */

struct sock {
} __attribute__((preserve_access_index));

struct tcp_sock {
	__u32 snd_cwnd;
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
	char name[16];
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
};

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

char _license[] SEC("license") = "GPL";

SEC("struct_ops/gentle_ssthresh")
__u32 BPF_PROG(gentle_ssthresh, struct sock *sk)
{
	__u32 cwnd = ((struct tcp_sock *)sk)->snd_cwnd;
	__u32 less = cwnd - cwnd / GENTLE_DECREASE;

	return less > 2 ? less : 2;
}

SEC("struct_ops/gentle_cong_avoid")
void BPF_PROG(gentle_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/gentle_undo_cwnd")
__u32 BPF_PROG(gentle_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops bpf_gentle = {
	.name = "bpf_gentle",
	.ssthresh = (void *)gentle_ssthresh,
	.cong_avoid = (void *)gentle_cong_avoid,
	.undo_cwnd = (void *)gentle_undo_cwnd,
};
