/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_feedback.h - a link that tells senders its rate
 *
 * What the comments call the root lock is that of the qdisc tree, see wale.h.
 */
#ifndef _WALE_FEEDBACK_H
#define _WALE_FEEDBACK_H

#include <linux/types.h>

struct Qdisc;
struct netlink_ext_ack;
struct sk_buff;
struct wale_feedback;
struct wale_sched_data;
struct wale_tuple;

struct wale_feedback *
wale_feedback_new(struct Qdisc *sch, u64 idle_ns,
		  bool (*run)(struct Qdisc *sch, u64 now),
		  struct netlink_ext_ack *extack);
void wale_feedback_free(struct wale_feedback *feedback);
void wale_feedback_exit(void);
void wale_feedback_start(struct Qdisc *sch, struct wale_feedback *feedback,
			 u64 now);
u64 wale_feedback_idle(const struct wale_feedback *feedback);
u32 wale_feedback_active(const struct wale_feedback *feedback);
void wale_feedback_set_idle(struct wale_feedback *feedback, u64 idle_ns,
			    u64 now);
u64 wale_feedback_next(const struct wale_sched_data *q);
void wale_feedback_update(struct wale_sched_data *q, u64 now);
bool wale_feedback_see(struct Qdisc *sch, const struct sk_buff *skb,
		       const struct wale_tuple *tuple, u64 now);
int wale_feedback_put_stats(struct sk_buff *msg,
			    const struct wale_feedback *feedback);

#endif /* _WALE_FEEDBACK_H */
