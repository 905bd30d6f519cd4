// SPDX-License-Identifier: GPL-2.0
/*
 * ratcp_echo.c - the receiver's part of ECN, echoing each mark
 *
 * A receiver of RFC 3168 echoes a mark in all acknowledgments until the sender has
 * answered, so the sender learns that there was a mark, but not how many.  A sender
 * that reads the share of marked packets needs the rule of RFC 8257, section 3.2: an
 * acknowledgment echoes the mark of the segments that it acknowledges, and when the
 * mark of an arriving segment differs from that of the one before, a delayed ACK is
 * sent first.
 *
 * Where AccECN was negotiated the stack counts the marks, and this changes nothing.
 */

#include <net/tcp.h>

#include "../kmod/compat.h"
#include "ratcp.h"

static void ratcp_set_echo(struct sock *sk, bool marked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/**
 * ratcp_echo() - a segment with data arrived
 * @sk: the socket
 * @event: CA_EVENT_ECN_IS_CE: it has a mark; CA_EVENT_ECN_NO_CE: it has none
 * @prior_rcv_nxt: what was received before it; updated
 * @was_marked: the mark of the segment before; set to this one's
 */
void ratcp_echo(struct sock *sk, enum tcp_ca_event event, u32 *prior_rcv_nxt,
		bool *was_marked)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	bool marked = event == CA_EVENT_ECN_IS_CE;

	if (marked != *was_marked) {
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			ratcp_set_echo(sk, *was_marked);
			wale_compat_send_ack(sk, *prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	*prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
	*was_marked = marked;
	ratcp_set_echo(sk, marked);
}
