// SPDX-License-Identifier: GPL-2.0
/*
 * watch_flows.c - samples every TCP socket that carries or ends a transfer
 */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <netlink/attr.h>
#include <string.h>

#include "flow_info.h"
#include "watch.h"

/* As in include/net/tcp_states.h and include/net/tcp.h. */
enum {
	STATE_ESTABLISHED = 1,
	STATE_FIN_WAIT1 = 4,
	STATE_FIN_WAIT2 = 5,
	STATE_CLOSE_WAIT = 8,
	STATE_LAST_ACK = 9,
	STATE_CLOSING = 11,
};

static const char *const state_names[] = {
	[STATE_ESTABLISHED] = "ESTABLISHED", [STATE_FIN_WAIT1] = "FIN_WAIT1",
	[STATE_FIN_WAIT2] = "FIN_WAIT2",     [STATE_CLOSE_WAIT] = "CLOSE_WAIT",
	[STATE_LAST_ACK] = "LAST_ACK",	     [STATE_CLOSING] = "CLOSING",
};

const char *const watch_flow_columns[WATCH_FLOW_COLUMNS] = {
	"t_ns",
	"local",
	"local_port",
	"remote",
	"remote_port",
	"cc",
	"state",
	"cwnd_packets",
	"ssthresh_packets",
	"srtt_us",
	"min_rtt_us",
	"rto_us",
	"unacked_packets",
	"lost_packets",
	"retransmits_total",
	"bytes_sent",
	"bytes_acked",
	"bytes_received",
	"pacing_rate_Bps",
	"delivery_rate_Bps",
};

static struct watch_value number(uint64_t n)
{
	return (struct watch_value){ WATCH_NUMBER, n, NULL };
}

static struct watch_value number_below(uint64_t n, uint64_t infinite)
{
	return (struct watch_value){ n < infinite ? WATCH_NUMBER
						  : WATCH_INFINITE,
				     n, NULL };
}

static struct watch_value text(const char *t)
{
	return (struct watch_value){ t ? WATCH_TEXT : WATCH_NONE, 0, t };
}

/* An IPv4 address looks the same in an IPv6 socket. */
static const char *address(char buf[INET6_ADDRSTRLEN], int family,
			   const __be32 words[4])
{
	struct in6_addr v6;

	if (family == AF_INET)
		return inet_ntop(AF_INET, words, buf, INET6_ADDRSTRLEN);
	memcpy(&v6, words, sizeof(v6));
	if (IN6_IS_ADDR_V4MAPPED(&v6))
		return inet_ntop(AF_INET, words + 3, buf, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, &v6, buf, INET6_ADDRSTRLEN);
}

static void write_flow(const struct watch_flows *w,
		       const struct inet_diag_msg *d,
		       const struct flow_info *info, const char *cc)
{
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];
	const struct watch_value row[WATCH_FLOW_COLUMNS] = {
		number(w->t_ns),
		text(address(local, d->idiag_family, d->id.idiag_src)),
		number(ntohs(d->id.idiag_sport)),
		text(address(remote, d->idiag_family, d->id.idiag_dst)),
		number(ntohs(d->id.idiag_dport)),
		text(cc),
		text(state_names[d->idiag_state]),
		number(info->cwnd_packets),
		number_below(info->ssthresh_packets, FLOW_SSTHRESH_INFINITE),
		number(info->srtt_us),
		info->min_rtt_us == FLOW_RTT_UNKNOWN ? text(NULL)
						     : number(info->min_rtt_us),
		number(info->rto_us),
		number(info->unacked_packets),
		number(info->lost_packets),
		number(info->retransmits),
		number(info->bytes_sent),
		number(info->bytes_acked),
		number(info->bytes_received),
		number_below(info->pacing_rate, FLOW_RATE_INFINITE),
		number(info->delivery_rate),
	};

	watch_row(&w->out, row);
}

static void sample_one(const struct nlmsghdr *message, void *arg)
{
	const struct inet_diag_msg *d = nlmsg_data(message);
	struct nlmsghdr *header = (struct nlmsghdr *)message;
	const struct nlattr *info_attr, *cc_attr;
	const struct watch_flows *w = arg;
	struct flow_info info;

	if (nlmsg_datalen(message) < (int)sizeof(*d) ||
	    d->idiag_state >= sizeof(state_names) / sizeof(state_names[0]) ||
	    !state_names[d->idiag_state])
		return;
	/* A socket that only waits for its end has none. */
	info_attr = nlmsg_find_attr(header, sizeof(*d), INET_DIAG_INFO);
	if (!info_attr)
		return;
	flow_info_decode(&info, nla_data(info_attr), nla_len(info_attr));
	cc_attr = nlmsg_find_attr(header, sizeof(*d), INET_DIAG_CONG);
	write_flow(w, d, &info, cc_attr ? nla_get_string(cc_attr) : NULL);
}

/* The older form of the request: it lists IPv4 and IPv6 in one dump. */
static struct nl_msg *request(void)
{
	struct inet_diag_req req = {
		.idiag_family = AF_INET,
		.idiag_ext =
			1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1),
		.idiag_states = 1 << STATE_ESTABLISHED | 1 << STATE_FIN_WAIT1 |
				1 << STATE_FIN_WAIT2 | 1 << STATE_CLOSE_WAIT |
				1 << STATE_LAST_ACK | 1 << STATE_CLOSING,
	};
	struct nl_msg *message;

	message = nlmsg_alloc_simple(TCPDIAG_GETSOCK, NLM_F_REQUEST);
	if (message && nlmsg_append(message, &req, sizeof(req), 0)) {
		nlmsg_free(message);
		message = NULL;
	}
	return message;
}

int watch_flows_sample(struct watch_flows *w, uint64_t t_ns)
{
	w->t_ns = t_ns;
	return rtnl_dump(&w->rtnl, request(), sample_one, w);
}
