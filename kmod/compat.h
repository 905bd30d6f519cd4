/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - what differs between the kernels that these modules build for
 *
 * Linux 6.1 and later.  This is the only file that knows about differences:
 * everything else is written for the newest kernel.  compat.mk looks into the
 * kernel's headers and defines the WALE_HAVE_* macros.
 */
#ifndef _WALE_COMPAT_H
#define _WALE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <net/sch_generic.h>

/* memory for one object of this type; newer kernels have these */
#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp) kzalloc(sizeof(obj), gfp)
#define kvzalloc_obj(obj, gfp) kvzalloc(sizeof(obj), gfp)
#endif

/* charge a slab object now; older kernels can only do so when they allocate it */
#ifdef WALE_HAVE_KMEM_CACHE_CHARGE
#define wale_compat_charge(object, gfp) kmem_cache_charge(object, gfp)
#else
#define wale_compat_charge(object, gfp) do { } while (0)
#endif

/* skb_gso_segment() */
#ifdef WALE_HAVE_NET_GSO_H
#include <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

/**
 * wale_compat_set_pkt_len() - a new skb made by segmentation: set its length
 * @skb: one wire packet, about to be queued
 * @len: its length, as qdiscs count it
 *
 * Newer kernels also keep the number of segments in the control block.
 */
static inline void wale_compat_set_pkt_len(struct sk_buff *skb, u32 len)
{
	qdisc_skb_cb(skb)->pkt_len = len;
#ifdef WALE_HAVE_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = 1;
#endif
}

/* In newer kernels, __assign_str() takes its source from __string(). */
#ifdef WALE_HAVE_ASSIGN_STR_1
#define wale_compat_assign_str(dst, from) __assign_str(dst)
#else
#define wale_compat_assign_str(dst, from) __assign_str(dst, from)
#endif

/* the device of a route; RCU read side */
#ifdef WALE_HAVE_DST_DEV_RCU
#define wale_compat_dst_dev(dst) dst_dev_rcu(dst)
#else
#define wale_compat_dst_dev(dst) ((dst)->dev)
#endif

/* the system workqueue for work that any CPU may do */
#ifdef WALE_HAVE_SYSTEM_DFL_WQ
#define wale_compat_dfl_wq system_dfl_wq
#else
#define wale_compat_dfl_wq system_unbound_wq
#endif

/* the attributes of the request that a generic netlink dump answers */
#ifdef WALE_HAVE_GENL_INFO_DUMP
#define wale_compat_dump_attrs(cb) (genl_info_dump(cb)->attrs)
#else
#define wale_compat_dump_attrs(cb) (genl_dumpit_info(cb)->attrs)
#endif

/* Defines tcp_congestion_ops.cong_control, which may use only sk and rs. */
#ifdef WALE_HAVE_CONG_CONTROL_ACK
#define wale_compat_cong_control(name) \
	name(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
#else
#define wale_compat_cong_control(name) \
	name(struct sock *sk, const struct rate_sample *rs)
#endif

/* In older kernels a zeroed entry ends a table. */
#ifndef WALE_HAVE_SYSCTL_SZ
#define register_net_sysctl_sz(net, path, table, size) \
	register_net_sysctl(net, path, table)
#endif

/* the table that a sysctl handler gets */
#ifdef WALE_HAVE_CONST_CTL_TABLE
#define wale_compat_ctl_table const struct ctl_table
#else
#define wale_compat_ctl_table struct ctl_table
#endif

/* was ECN negotiated, in any form? */
#ifdef WALE_HAVE_ECN_MODE
#define wale_compat_has_ecn(tp) tcp_ecn_mode_any(tp)
#else
#define wale_compat_has_ecn(tp) ((tp)->ecn_flags & TCP_ECN_OK)
#endif

/* send an ACK for what was received before @rcv_nxt */
#ifdef WALE_HAVE_SEND_ACK_FLAGS
#define wale_compat_send_ack(sk, rcv_nxt) __tcp_send_ack(sk, rcv_nxt, 0)
#else
#define wale_compat_send_ack(sk, rcv_nxt) __tcp_send_ack(sk, rcv_nxt)
#endif

/* In older kernels the function of a timer is assigned by hand. */
#ifdef WALE_HAVE_HRTIMER_SETUP
#define wale_compat_hrtimer_setup hrtimer_setup
#else
#define wale_compat_hrtimer_setup(timer, handler, clock, mode) do {	\
	struct hrtimer *_timer = (timer);				\
									\
	hrtimer_init(_timer, clock, mode);				\
	_timer->function = (handler);					\
} while (0)
#endif

#endif /* _WALE_COMPAT_H */
