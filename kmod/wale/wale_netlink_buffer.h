/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_buffer.h - the part of a request that is about the buffer
 *
 * wale_netlink.c takes it through the same steps as the rest.
 */
#ifndef _WALE_NETLINK_BUFFER_H
#define _WALE_NETLINK_BUFFER_H

#include <linux/types.h>

#include "wale_policy.h"
#include "wale_rem.h"

struct Qdisc;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct wale_classes;
struct wale_sched_data;

/**
 * struct wale_buffer_request - what a request makes of the buffer
 * @limit_packets: or U32_MAX
 * @framing: what packets will take on the wire beside
 * @limit_bytes: or U64_MAX
 * @limit_cells: or U32_MAX
 * @policy: as it will be
 * @rem: of policy rem, as they will be
 * @flows: number of places; 0: none
 * @input_rate: bytes/s
 * @classes: new places, or NULL
 * @ring: a new ring of cells, or the one that was replaced, or NULL
 * @ring_size: cells that fit into @ring
 */
struct wale_buffer_request {
	struct wale_framing framing;
	u64 limit_bytes;
	u32 limit_packets;
	u32 limit_cells;
	struct wale_policy policy;
	struct wale_rem_params rem;
	u32 flows;
	u64 input_rate;
	struct wale_classes *classes;
	u64 *ring;
	u32 ring_size;
};

int wale_netlink_buffer_check(struct Qdisc *sch,
			      struct wale_buffer_request *request,
			      struct nlattr **tb,
			      struct netlink_ext_ack *extack);
int wale_netlink_buffer_check_steps(struct Qdisc *sch,
				    const struct wale_buffer_request *request,
				    const struct wale_trace *trace,
				    struct nlattr **tb,
				    struct netlink_ext_ack *extack);
int wale_netlink_buffer_prepare(struct Qdisc *sch,
				struct wale_buffer_request *request,
				struct netlink_ext_ack *extack);
int wale_netlink_buffer_apply(struct Qdisc *sch,
			      struct wale_buffer_request *request, u64 now,
			      struct netlink_ext_ack *extack);
void wale_netlink_buffer_request_free(struct wale_buffer_request *request);
int wale_netlink_dump_buffer(const struct wale_sched_data *q,
			     struct sk_buff *skb);

/* wale_netlink_rem.c: the price of policy rem */
int wale_netlink_rem_parse(struct wale_rem_params *params,
			   const struct nlattr *attr,
			   struct netlink_ext_ack *extack);
void wale_netlink_rem_apply(struct wale_sched_data *q,
			    const struct wale_rem_params *params, bool begins,
			    u64 now);
int wale_netlink_dump_rem(const struct wale_rem_params *params,
			  struct sk_buff *skb);

#endif /* _WALE_NETLINK_BUFFER_H */
