/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_schedule.h - the part of a request that is about the rate
 *
 * wale_netlink.c takes it through the same steps as the rest.
 */
#ifndef _WALE_NETLINK_SCHEDULE_H
#define _WALE_NETLINK_SCHEDULE_H

#include <linux/types.h>

struct file;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct wale_sched_data;
struct wale_schedule;
struct wale_sessions;
struct wale_trace;

/**
 * struct wale_schedule_request - what a request makes of the rate
 * @applied: the link is as asked for
 * @columns_given: the columns of the trace came with it
 * @columns: those, or what a trace has without
 * @trace_off: the trace ends
 * @trace: a new one, or once applied the one that was replaced, or NULL
 * @trace_file: where the new one was taken from, or NULL
 * @sessions: new ones, or those that were replaced, or NULL; if given: none
 */
struct wale_schedule_request {
	bool applied;
	bool columns_given;
	u32 columns;
	bool trace_off;
	struct wale_trace *trace;
	struct file *trace_file;
	struct wale_sessions *sessions;
};

int wale_netlink_schedule_parse(struct wale_schedule_request *request,
				struct nlattr **tb,
				struct netlink_ext_ack *extack);
int wale_netlink_schedule_check(const struct wale_sched_data *q,
				const struct wale_schedule_request *request,
				struct nlattr **tb,
				struct netlink_ext_ack *extack);
const struct wale_trace *
wale_netlink_schedule_request_trace(const struct wale_sched_data *q,
				    const struct wale_schedule_request *request,
				    struct nlattr **tb);
void wale_netlink_schedule_apply(struct wale_sched_data *q,
				 struct wale_schedule_request *request,
				 struct nlattr **tb, u64 now);
void wale_netlink_schedule_request_free(struct wale_schedule_request *request);
int wale_netlink_dump_schedule(const struct wale_schedule *schedule,
			       struct sk_buff *skb);

#endif /* _WALE_NETLINK_SCHEDULE_H */
