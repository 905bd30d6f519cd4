// SPDX-License-Identifier: GPL-2.0
/*
 * wale_serve.c - services end, and begin with what waits
 */

#include <linux/skbuff.h>

#include "../compat.h"
#include "wale.h"
#include "wale_packet.h"

/*
 * The service of what was served has ended.
 *
 * @plain here and below: is it known that the link is plain?
 */
static __always_inline void wale_serve_end(struct Qdisc *sch, bool plain)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (!plain) {
		q->station->served(sch);
		return;
	}
	wale_packet_follow(q, q->server.time_ns);
	wale_packet_complete_plain(sch, __skb_dequeue(&q->waiting),
				   q->server.time_ns);
}

/* Is there something to be served next?  Then its length: a packet may have 0 bytes. */
static __always_inline bool wale_serve_next(struct Qdisc *sch, bool plain,
					    u32 *len)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	if (!plain)
		return q->station->next(sch, len);
	if (skb_queue_empty(&q->waiting))
		return false;
	*len = wale_skb_cb(q->waiting.next)->wire_len;
	return true;
}

static __always_inline bool __wale_serve(struct Qdisc *sch, bool plain,
					 u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	u32 len;

	while (wale_server_run(&q->server, &q->schedule, now)) {
		wale_serve_end(sch, plain);
		if (wale_serve_next(sch, plain, &len))
			wale_server_next(&q->server, &q->schedule, len);
		if (unlikely(!wale_run_goes_on(&q->run, q->server.time_ns)))
			return false;
	}
	if (!q->server.busy)
		wale_schedule_run(&q->schedule, now);
	return true;
}

/**
 * wale_serve() - replay ends of service and changes of the rate
 * @sch: the qdisc
 * @now: ns; up to this instant
 *
 * Return: false if there are more of them than a run may replay.
 */
bool wale_serve(struct Qdisc *sch, u64 now)
{
	const struct wale_sched_data *q = qdisc_priv(sch);

	return q->plain ? __wale_serve(sch, true, now) :
			  __wale_serve(sch, false, now);
}
