// SPDX-License-Identifier: GPL-2.0
/*
 * flow_info.c - what is recorded of the kernel's struct tcp_info
 */
#include <linux/tcp.h>
#include <string.h>

#include "flow_info.h"

void flow_info_decode(struct flow_info *flow, const void *data, size_t length)
{
	struct tcp_info info = { 0 };

	memcpy(&info, data, length < sizeof(info) ? length : sizeof(info));
	*flow = (struct flow_info){
		.cwnd_packets = info.tcpi_snd_cwnd,
		.ssthresh_packets = info.tcpi_snd_ssthresh,
		.srtt_us = info.tcpi_rtt,
		.min_rtt_us = info.tcpi_min_rtt,
		.rto_us = info.tcpi_rto,
		.unacked_packets = info.tcpi_unacked,
		.lost_packets = info.tcpi_lost,
		.retransmits = info.tcpi_total_retrans,
		.bytes_sent = info.tcpi_bytes_sent,
		.bytes_acked = info.tcpi_bytes_acked,
		.bytes_received = info.tcpi_bytes_received,
		.pacing_rate = info.tcpi_pacing_rate,
		.delivery_rate = info.tcpi_delivery_rate,
	};
}
