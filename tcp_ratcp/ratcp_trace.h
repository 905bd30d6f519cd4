/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ratcp_trace.h - tracepoint of tcp_ratcp: the window at an acknowledgment
 *
 * It fires for each ACK of a socket that listens, after the window is limited and
 * before it grows, and once when the socket begins to listen.  IPv4 addresses are
 * mapped into IPv6.  rate is in bytes/s (0 without advice), price is that of the path
 * in 10^-9 (0 unless the rate is read from marks), base_rtt_ns is the base RTT in use;
 * the windows and in_flight are packets of packet_size bytes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ratcp

#if !defined(_RATCP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RATCP_TRACE_H

#include <linux/tracepoint.h>
#include <net/ipv6.h>

#include "ratcp.h"

#ifndef _RATCP_TRACE_ADDRS
#define _RATCP_TRACE_ADDRS
static inline void ratcp_trace_addrs(const struct sock *sk,
				     struct in6_addr *saddr,
				     struct in6_addr *daddr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*saddr = sk->sk_v6_rcv_saddr;
		*daddr = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, saddr);
	ipv6_addr_set_v4mapped(sk->sk_daddr, daddr);
}
#endif

TRACE_DEFINE_ENUM(RATE_FEEDBACK_PHASE_RENO);
TRACE_DEFINE_ENUM(RATE_FEEDBACK_PHASE_SLOW_START);
TRACE_DEFINE_ENUM(RATE_FEEDBACK_PHASE_AVOIDANCE);
TRACE_DEFINE_ENUM(RATE_FEEDBACK_PHASE_INACTIVE);
TRACE_DEFINE_ENUM(RATE_FEEDBACK_PHASE_RECOVERY);

TRACE_EVENT(ratcp_window,
	TP_PROTO(const struct sock *sk, const struct rate_flow_state *state),
	TP_ARGS(sk, state),
	TP_STRUCT__entry(
		__field(u64, now_ns)
		__field(u64, netns_cookie)
		__field(u16, sport)
		__field(u16, dport)
		__array(u8, saddr, sizeof(struct in6_addr))
		__array(u8, daddr, sizeof(struct in6_addr))
		__field(u8, phase)
		__field(u64, rate)
		__field(u64, price)
		__field(u64, base_rtt_ns)
		__field(u32, rate_window)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u32, in_flight)
		__field(u32, packet_size)
	),
	TP_fast_assign(
		__entry->now_ns = tcp_sk(sk)->tcp_clock_cache;
		__entry->netns_cookie = sock_net(sk)->net_cookie;
		__entry->sport = ntohs(inet_sk(sk)->inet_sport);
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		ratcp_trace_addrs(sk, (struct in6_addr *)__entry->saddr,
				  (struct in6_addr *)__entry->daddr);
		__entry->phase = state->phase;
		__entry->rate = state->rate;
		__entry->price = state->price;
		__entry->base_rtt_ns = state->base_rtt_ns;
		__entry->rate_window = state->rate_window;
		__entry->cwnd = state->cwnd;
		__entry->ssthresh = tcp_sk(sk)->snd_ssthresh;
		__entry->in_flight = state->in_flight;
		__entry->packet_size = state->packet_size;
	),
	TP_printk("now_ns=%llu netns_cookie=%llu saddr=%pI6c sport=%u daddr=%pI6c dport=%u phase=%s rate=%llu price=%llu base_rtt_ns=%llu rate_window=%u cwnd=%u ssthresh=%u in_flight=%u packet_size=%u",
		  __entry->now_ns, __entry->netns_cookie, __entry->saddr,
		  __entry->sport, __entry->daddr, __entry->dport,
		  __print_symbolic(__entry->phase,
				   { RATE_FEEDBACK_PHASE_RENO, "reno" },
				   { RATE_FEEDBACK_PHASE_SLOW_START,
				     "slow-start" },
				   { RATE_FEEDBACK_PHASE_AVOIDANCE,
				     "avoidance" },
				   { RATE_FEEDBACK_PHASE_INACTIVE,
				     "inactive" },
				   { RATE_FEEDBACK_PHASE_RECOVERY,
				     "recovery" }),
		  __entry->rate, __entry->price, __entry->base_rtt_ns,
		  __entry->rate_window, __entry->cwnd, __entry->ssthresh, __entry->in_flight,
		  __entry->packet_size)
);

#endif /* _RATCP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE ratcp_trace
#include <trace/define_trace.h>
