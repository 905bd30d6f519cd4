/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_element.h - a link that tells QUIC endpoints a rate, by SCONE
 *
 * What the comments call the root lock is that of the qdisc tree, see wale.h.
 */
#ifndef _WALE_ELEMENT_H
#define _WALE_ELEMENT_H

#include <linux/types.h>

struct Qdisc;
struct sk_buff;
struct wale_element;
struct wale_sched_data;
struct wale_tuple;

/**
 * struct wale_element_params - which rate is told, and how often
 * @rate: as the request gives it, bytes/s; 0: that of the link
 * @share: not that of the link, but that divided by the number of active flows
 * @period_ns: the monitoring period
 * @average_ns: the mean over so long is told; 0: the rate at the instant
 */
struct wale_element_params {
	u64 rate;
	bool share;
	u64 period_ns;
	u64 average_ns;
};

struct wale_element *wale_element_new(void);
void wale_element_free(struct wale_element *element);
void wale_element_start(struct wale_sched_data *q,
			const struct wale_element_params *params, u64 now);
const struct wale_element_params *
wale_element_params(const struct wale_element *element);
void wale_element_update(struct wale_sched_data *q, u64 now);
void wale_element_see(struct Qdisc *sch, struct sk_buff *skb,
		      const struct wale_tuple *tuple, u64 now);
int wale_element_put_stats(struct sk_buff *msg, struct wale_sched_data *q,
			   u64 now);

#endif /* _WALE_ELEMENT_H */
