/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_info.h - what is recorded of the kernel's struct tcp_info
 *
 * It has a file of its own because libnl includes <netinet/tcp.h>, whose
 * older struct tcp_info excludes the one of <linux/tcp.h>.
 */
#ifndef WALE_FLOW_INFO_H
#define WALE_FLOW_INFO_H

#include <stddef.h>
#include <stdint.h>

/* Not yet known; and no limit. */
#define FLOW_RTT_UNKNOWN 0xffffffffU
#define FLOW_SSTHRESH_INFINITE 0x7fffffffU
#define FLOW_RATE_INFINITE (~UINT64_C(0))

struct flow_info {
	uint32_t cwnd_packets;
	uint32_t ssthresh_packets;
	uint32_t srtt_us;
	uint32_t min_rtt_us;
	uint32_t rto_us;
	uint32_t unacked_packets;
	uint32_t lost_packets;
	uint32_t retransmits;
	uint64_t bytes_sent;
	uint64_t bytes_acked;
	uint64_t bytes_received;
	uint64_t pacing_rate;
	uint64_t delivery_rate;
};

/* A kernel that is older tells less: then the rest is zero. */
void flow_info_decode(struct flow_info *flow, const void *data, size_t length);

#endif /* WALE_FLOW_INFO_H */
