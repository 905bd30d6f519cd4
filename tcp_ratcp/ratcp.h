/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ratcp.h - what the files of tcp_ratcp share
 */
#ifndef _RATCP_H
#define _RATCP_H

#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/string.h>
#include <linux/types.h>
#include <net/rate_feedback.h>
#include <net/tcp.h>

#include "ratcp_window.h"

/**
 * struct ratcp_advisor - what a sender knows about the rate of its path
 * @flow: this socket in the channel; NULL if there was no memory
 * @rate: R, the advice in use, bytes/s
 * @peak_rate: the highest R of the last minute, bytes/s
 * @rate_window: W_rate, packets; 0: no advice
 * @base_rtt_us: base RTT, the smallest one measured; U32_MAX: none yet
 * @used_rtt_us: the base RTT that @rate_window was computed from
 * @packet_size: bytes of a full packet, as @rate counts them
 * @peak_seen: when R was last equal to @peak_rate, jiffies
 * @beta: target backlog, packets
 * @route: the route of the socket, see struct rate_advice
 * @fresh_seq: data beyond this was sent since @route last changed
 * @una: what had been acknowledged at the last ACK
 * @phase: enum rate_feedback_phase
 * @rise: enum rate_feedback_rise
 * @swing: percent of the gap to the peak that is added to @beta
 * @pace: pace packets at @rate
 * @provisional: @base_rtt_us is from the SYN or from another route: the next sample
 *	of data beyond @fresh_seq replaces it
 * @marked: see struct ratcp_window
 * @probed: this ACK ends a tail loss probe that was a retransmission
 * @ece: this ACK echoes a congestion mark
 * @in_band: R is read from the marks, which ask for no other answer
 * @cut: @rate_window is less than @rate would give: no socket can have more
 *
 * This is the first member of the private state of a congestion control that listens;
 * written under the socket's lock.
 */
struct ratcp_advisor {
	struct rate_flow *flow;
	u64 rate;
	u64 peak_rate;
	u32 rate_window;
	u32 base_rtt_us;
	u32 used_rtt_us;
	u32 packet_size;
	u32 peak_seen;
	u32 beta;
	u32 route;
	u32 fresh_seq;
	u32 una;
	u8 phase;
	u8 rise;
	u8 swing;
	u8 pace : 1,
	   provisional : 1,
	   marked : 1,
	   probed : 1,
	   ece : 1,
	   in_band : 1,
	   cut : 1;
};

#define RATCP_ADVISOR_SIZE	64
static_assert(sizeof(struct ratcp_advisor) <= RATCP_ADVISOR_SIZE);

static inline struct ratcp_advisor *ratcp_advisor(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/*
 * Private state should begin with .init.  But the stack skips .init and .release if a
 * congestion control is chosen after connect() and before the SYN is sent (a deferred
 * connect() of TCP Fast Open and BPF programs allow that) and the route then asks for
 * another one (tcp_ca_dst_init() in net/ipv4/tcp_output.c): the second finds the bytes
 * of the first in its private state.  So no state begins in SYN_SENT, and each carries
 * a seal, which the bytes of another congestion control do not have.
 */
extern u32 ratcp_seal_key;

/**
 * ratcp_seal() - compute the seal of a socket's private state
 * @sk: the socket
 *
 * Return: the seal of this socket with this congestion control and flow; not 0.
 */
static inline u32 ratcp_seal(const struct sock *sk)
{
	unsigned long ops = (unsigned long)inet_csk(sk)->icsk_ca_ops;
	unsigned long flow = (unsigned long)ratcp_advisor(sk)->flow;

	return (hash_long((unsigned long)sk ^ ops ^ flow, 32) ^
		ratcp_seal_key) | 1;
}

/**
 * ratcp_begin_late() - begin a state for which .init was not called
 * @sk: the socket, whose state has no seal
 *
 * For .pkts_acked.  When the SYN is acknowledged the stack calls .init if that has not
 * been done; but not if the congestion control is chosen between this and the
 * establishment of the connection.
 */
static inline void ratcp_begin_late(struct sock *sk)
{
	memset(inet_csk_ca(sk), 0, ICSK_CA_PRIV_SIZE);
	if (BIT(sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV))
		inet_csk(sk)->icsk_ca_initialized = 0;
	else
		inet_csk(sk)->icsk_ca_ops->init(sk);
}

/* ratcp_advice.c: from the channel to W_rate; all under the socket's lock */
void ratcp_advice_listen(struct sock *sk); /* .init */
void ratcp_advice_unlisten(struct sock *sk); /* .release */
void ratcp_advice_sample_rtt(struct sock *sk,
			     s32 rtt_us); /* .pkts_acked, first */
u32 ratcp_advice_update_at(struct sock *sk, u64 now); /* read; W_rate, or 0 */
void ratcp_advice_report(struct sock *sk, u32 cwnd); /* each ACK */

/* each ACK and timeout, where the stack's clock is fresh */
static inline u32 ratcp_update(struct sock *sk)
{
	return ratcp_advice_update_at(sk, tcp_sk(sk)->tcp_clock_cache);
}

/*
 * The stack also enters the state Loss for other reasons, such as a smaller path MTU.
 * At a timeout, the handler of the timer has cleared its event already; and only
 * timeouts follow one another.
 */
static inline bool ratcp_is_timeout(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	return !icsk->icsk_pending || icsk->icsk_ca_state == TCP_CA_Loss;
}

/* ratcp_echo.c: the receiver's part of ECN, echoing each mark */
void ratcp_echo(struct sock *sk, enum tcp_ca_event event, u32 *prior_rcv_nxt,
		bool *was_marked);

/* Convert the socket's window for the pure rules, and back. */
void ratcp_advice_window_load(const struct sock *sk, struct ratcp_window *w);
void ratcp_advice_window_store(struct sock *sk, const struct ratcp_window *w);

/* tcp_classic.c */
int tcp_classic_register(void);
void tcp_classic_unregister(void);

#endif /* _RATCP_H */
