// SPDX-License-Identifier: GPL-2.0
/*
 * rate_in_band.c - the rate read from the marks on a flow's own packets
 *
 * On a path whose value is a weight, the links signal their price by marking packets
 * (rate_price.c).  The stack counts what was acknowledged and how much of that was
 * marked: with AccECN, from the receiver's own counters; without, from the ECE flag of
 * acknowledgments, which is right if the receiver echoes each mark once (RFC 8257,
 * section 3.2).
 */

#include <net/tcp.h>
#include <net/rem.h>

#include "../compat.h"
#include "rate.h"

static void rate_in_band_begin(struct rate_flow *flow,
			       const struct tcp_sock *tp)
{
	flow->in_band = (struct rate_in_band) {
		.marks = {
			.delivered = tp->delivered,
			.delivered_ce = tp->delivered_ce,
			.round_seq = tp->snd_nxt,
		},
		.route = flow->route ?: 1,
	};
}

/*
 * A round trip ends with the first acknowledgment of data sent after it began.  If
 * it ended one acknowledgment earlier, the packets that this one covers would be
 * missing, which for a small window are most of them.
 *
 * Return: true if a round trip is over, and more is known about the price.
 */
static bool rate_in_band_count(struct rate_in_band *in_band,
			       const struct tcp_sock *tp)
{
	struct rate_price *marks = &in_band->marks;

	if (!after(tp->snd_una, marks->round_seq))
		return false;
	marks->round_seq = tp->snd_nxt;
	return rate_price_round(marks, tp->delivered, tp->delivered_ce);
}

/* Bytes of a full packet, as the sender reported; until then, its payload. */
static u32 rate_in_band_packet_size(const struct rate_flow *flow,
				    const struct tcp_sock *tp)
{
	return flow->state.packet_size ?: tp->mss_cache;
}

/**
 * rate_in_band_read() - what do the marks advise?
 * @flow: the flow
 * @sk: its socket, locked by the caller
 * @base_rtt_ns: base RTT as the socket measured it; 0: not known
 * @advice: from the path; its rate, which is the weight, is replaced
 *
 * Return: false if there is no advice: no round trip has been acknowledged yet,
 * or the connection has no ECN.
 */
bool rate_in_band_read(struct rate_flow *flow, const struct sock *sk,
		       u64 base_rtt_ns, struct rate_advice *advice)
{
	struct rate_in_band *in_band = &flow->in_band;
	const struct tcp_sock *tp = tcp_sk(sk);
	bool moved;

	if (in_band->route != (flow->route ?: 1))
		rate_in_band_begin(flow, tp);
	if (!wale_compat_has_ecn(tp))
		return false;
	moved = rate_in_band_count(in_band, tp);
	if (!in_band->marks.packets)
		return false;
	if (moved || in_band->phi != advice->phi) {
		in_band->phi = advice->phi;
		in_band->price = rate_price_read(&in_band->marks, advice->phi);
		moved = true;
	}
	if (moved || in_band->weight != advice->rate) {
		u32 size = rate_in_band_packet_size(flow, tp);

		in_band->weight = advice->rate;
		in_band->rate = min(rate_price_rate(advice->rate, in_band->price),
				    rate_price_limit(&in_band->marks, size,
						     advice->base_rtt_ns ?:
						     base_rtt_ns));
	}
	advice->rate = in_band->rate;
	return true;
}
