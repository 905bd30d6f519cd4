// SPDX-License-Identifier: GPL-2.0
/*
 * sch_wale - one direction of a wide-area link: Qdisc_ops; links are set up and freed
 *
 * After WALE, the wide-area link emulator of A. Karnik and A. Kumar,
 * "Performance of TCP Congestion Control With Explicit Rate Feedback",
 * IEEE/ACM Transactions on Networking 13(1), 2005, section IV.
 *
 *                       +-------------------- sch_wale -------------------+
 *	        GSO        |   buffer          server          line          |
 *	skb --> split --> enters? -> |||||| --> ( R(t) ) --> lost? -- delay --> skb
 *	                   | no                               | yes          |
 *	                   v                                  v              |
 *	                   +-------------------------------------------------+
 *
 * - Rate, limit, loss and counters are of wire packets, with the overhead of
 *   the link layer; the limit bounds the buffer alone, not the line.
 * - R(t) is constant, or follows a trace, or is C / (M + 1) with a chain M of
 *   sessions that come and go (wale_sessions.c).
 * - A packet departs when the arithmetic says (wale_server.c), not when a
 *   timer fired; lateness does not accumulate.
 * - Every random draw comes from the seed (wale_random.h).
 * - Senders that listen can be told the rate (wale_feedback.c), and so can endpoints of
 *   QUIC (wale_element.c).
 * - The buffer can be that of an ATM switch, counted in cells (wale_atm.c), and
 *   shared by flows in several ways (wale_policy.c).
 * - Another qdisc can be the buffer, as a child (wale_child.c).
 * - The link can lose packets in bursts (wale_loss.c), vary the delay
 *   (wale_jitter.c), reorder, duplicate and damage them (wale_impair.c).
 *
 * Not modelled: medium access; more than one class of service.
 *
 * Place it where the link is: on the egress of a router, or on the sender's own
 * (packets are orphaned, as they would be once they have left the host).
 */

#include <linux/build_bug.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/pkt_cls.h>

#include "../compat.h"
#include "wale.h"
#include "wale_action.h"
#include "wale_trace_file.h"
#include "wale_trace_store.h"

/* Without limits and without packets. */
static void wale_init_link(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_memory_init(&q->memory, dev_net(qdisc_dev(sch)));
	wale_alarm_init(&q->alarm, sch);
	wale_timer_init(q);
	__skb_queue_head_init(&q->waiting);
	wale_cells_init(&q->cells);
	wale_server_init(&q->server);
	q->run.arrive = wale_arrival_accept_late;
	q->schedule.until_ns = U64_MAX;
	wale_schedule_set_constant(&q->schedule, WALE_RATE_UNLIMITED,
				   ktime_get_ns());
}

/* What an empty link has.  RTNL is held, the root lock is not. */
static void wale_destroy_link(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	wale_alarm_cancel(&q->alarm);
	/* its handler uses what is freed next; nobody can set it any more */
	timer_shutdown_sync(&q->run_timer);
	wale_feedback_free(q->feedback);	/* its work may run the link */
	wale_element_free(q->element);
	qdisc_put(q->child.qdisc);
	wale_memory_exit(&q->memory);
	wale_trace_free(q->schedule.trace);
	kvfree(q->schedule.sessions);
	kvfree(q->cells.ends);
	kvfree(q->classes);
	kvfree(q->breaker);
	wale_impair_free(q->impair);
}

static int wale_init(struct Qdisc *sch, struct nlattr *opt,
		     struct netlink_ext_ack *extack)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	int err;

	wale_init_link(sch);
	q->follow.limit_packets = 1000;
	q->follow.limit_bytes = U64_MAX;
	q->buffer.limit_cells = U32_MAX;
	q->policy.share = WALE_POLICY_SHARE_DEFAULT;
	q->policy.z = WALE_POLICY_UNIT / 10 * 8;
	q->policy.last = 1;
	q->line_bound = (struct wale_line_bound){ U64_MAX, U32_MAX };
	wale_rem_set(&q->rem, &wale_rem_defaults, 0);
	q->input_rate = WALE_RATE_UNLIMITED;
	q->framing.layer = WALE_OVERHEAD_RAW;
	q->drops = WALE_DROPS_REMOTE;
	q->gso = WALE_GSO_SPLIT;
	wale_link_seed(q, get_random_u64() >> (64 - WALE_SEED_DRAWN_BITS));
	wale_follow_restart(q);
	wale_link_set_plain(q);
	wale_link_set_line_limit(q);

	err = tcf_block_get(&q->block, &q->filter_list, sch, extack);
	if (err)
		return err;

	return opt ? wale_netlink_configure(sch, opt, extack) : 0;
}

static void wale_destroy(struct Qdisc *sch)
{
	struct wale_sched_data *q = qdisc_priv(sch);

	tcf_block_put(q->block);
	wale_destroy_link(sch);
}

static struct Qdisc_ops wale_qdisc_ops __read_mostly = {
	.id = "wale",
	.cl_ops = &wale_class_ops,
	.priv_size = sizeof(struct wale_sched_data),
	.enqueue = wale_arrival_accept,
	.dequeue = wale_link_release,
	.peek = qdisc_peek_dequeued,
	.init = wale_init,
	.reset = wale_purge,
	.destroy = wale_destroy,
	.change = wale_netlink_configure,
	.dump = wale_netlink_dump,
	.dump_stats = wale_dump_stats,
	.owner = THIS_MODULE,
};

static int __init wale_module_init(void)
{
	const struct wale_skb_cb most = { .wire_len = WALE_WIRE_LEN_MAX };
	int err;

	BUILD_BUG_ON(most.wire_len != WALE_WIRE_LEN_MAX);
	err = wale_trace_store_init();
	if (err)
		return err;
	err = wale_trace_file_init();
	if (err)
		goto out_store;
	err = wale_action_register();
	if (err)
		goto out_file;
	err = register_qdisc(&wale_qdisc_ops);
	if (err)
		goto out_action;
	return 0;

out_action:
	wale_action_unregister();
out_file:
	wale_trace_file_exit();
out_store:
	wale_trace_store_exit();
	return err;
}

static void __exit wale_module_exit(void)
{
	unregister_qdisc(&wale_qdisc_ops);
	wale_action_unregister();
	wale_purge_wait();
	wale_trace_file_exit();
	wale_trace_store_exit();
	wale_feedback_exit();
}

module_init(wale_module_init);
module_exit(wale_module_exit);
MODULE_ALIAS("sch_wale");
MODULE_ALIAS("net-sch-wale");
MODULE_ALIAS("act_scone");
MODULE_ALIAS("net-act-scone");
MODULE_SOFTDEP("pre: rate_feedback");	/* where there is one */
MODULE_LICENSE("GPL");
MODULE_VERSION(WALE_VERSION);
MODULE_DESCRIPTION("Emulator of a wide-area link: rate, delay, buffer, loss");
