// SPDX-License-Identifier: GPL-2.0
/*
 * wale_element.c - a link that tells QUIC endpoints a rate, by SCONE
 *
 *	wale_schedule, wale_flows --> wale_mean --> signal --+
 *	                                                     +--> lower? --> packet
 *	arrival -> wale_tuple --> wale_scone --> wale_quota -+
 *
 * A packet is looked at when it arrives, and changed before it enters the buffer.  Most
 * have no SCONE packet: of those that are UDP, the first bytes are read, of others less.
 * A plain link, whose rate stays the same, remains plain.
 */

#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/checksum.h>

#include "../compat.h"
#include "wale.h"
#include "wale_element.h"
#include "wale_mean.h"
#include "wale_quota.h"
#include "wale_scone.h"
#include "wale_tuple.h"

/**
 * struct wale_element - what a link with SCONE has
 * @params: which rate is told
 * @known: the rate that @mean has, or WALE_RATE_UNLIMITED
 * @mean: of the rate
 * @seen: SCONE packets that are whole
 * @lowered: whose signal was lowered
 * @limited: that were left alone, against the quota or without memory
 * @malformed: that are not whole
 * @key: secret of the keys of flows
 * @quota: of flows
 *
 * Protected by the root lock.
 */
struct wale_element {
	struct wale_element_params params;
	u64 known;
	struct wale_mean mean;
	u64 seen;
	u64 lowered;
	u64 limited;
	u64 malformed;
	siphash_key_t key;
	struct wale_quota quota;
};

/**
 * wale_element_new() - get ready to tell a rate
 *
 * Context: RTNL is held.
 * Return: what wale_element_start() takes; or NULL without memory.
 */
struct wale_element *wale_element_new(void)
{
	struct wale_element *element;

	element = kvzalloc_obj(*element, GFP_KERNEL_ACCOUNT);
	if (element)
		get_random_bytes(&element->key, sizeof(element->key));
	return element;
}

/**
 * wale_element_free() - tell no rate any more
 * @element: of a link that does not use it, or no longer; or NULL
 */
void wale_element_free(struct wale_element *element)
{
	kvfree(element);
}

/* The rate that is told of now, without a mean; WALE_RATE_UNLIMITED: none. */
static u64 wale_element_rate(const struct wale_sched_data *q)
{
	const struct wale_element_params *params = &q->element->params;
	u64 rate;

	if (params->rate)
		return params->rate;
	rate = wale_schedule_bytes_per_s(&q->schedule);
	if (rate == WALE_RATE_UNLIMITED || !params->share)
		return rate;
	return div_u64(rate, wale_feedback_active(q->feedback) ?: 1);
}

/**
 * wale_element_update() - note the rate, if it is another than before
 * @q: the link, which has an element and was run up to @now
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_element_update(struct wale_sched_data *q, u64 now)
{
	u64 rate = wale_element_rate(q);

	if (rate == q->element->known)
		return;
	q->element->known = rate;
	wale_mean_set(&q->element->mean, rate, now);
}

/**
 * wale_element_start() - tell a rate from now on, or another
 * @q: the link, which has an element and was run up to @now
 * @params: which rate
 * @now: ns
 *
 * Context: RTNL and the root lock are held.
 */
void wale_element_start(struct wale_sched_data *q,
			const struct wale_element_params *params, u64 now)
{
	struct wale_element *element = q->element;

	element->params = *params;
	element->known = wale_element_rate(q);
	wale_mean_init(&element->mean, params->rate ? 0 : params->average_ns,
		       element->known, now);
	wale_quota_set_period(&element->quota, params->period_ns);
}

/**
 * wale_element_params() - which rate does a link tell?
 * @element: of a link
 *
 * Context: RTNL is held.
 * Return: that.
 */
const struct wale_element_params *
wale_element_params(const struct wale_element *element)
{
	return &element->params;
}

/* What is written now; SCONE_UNKNOWN: nothing. */
static u8 wale_element_signal(struct wale_element *element, u64 now)
{
	if (element->known == WALE_RATE_UNLIMITED)
		return SCONE_UNKNOWN;
	return wale_scone_encode(wale_mean_get(&element->mean, now));
}

/* A UDP datagram in a packet. */
struct wale_datagram {
	const struct wale_tuple *tuple;
	int payload;	/* where it begins */
	u32 len;	/* of the payload */
};

static noinline_for_stack bool
wale_element_is_whole(const struct sk_buff *skb,
		      const struct wale_datagram *datagram)
{
	u8 buf[WALE_SCONE_LOOK];
	const u8 *data;

	data = skb_header_pointer(skb, datagram->payload,
				  min_t(u32, datagram->len, sizeof(buf)), buf);
	return data && wale_scone_is_whole(data, datagram->len);
}

/*
 * The checksum of UDP when two bytes of its payload change.  There is none to change if
 * it is 0, or if it is computed when the packet is sent.
 */
static void wale_element_fix_checksum(struct sk_buff *skb,
				      const struct wale_datagram *datagram,
				      __be16 before, __be16 after)
{
	struct udphdr *udp = (struct udphdr *)(skb->data +
					       datagram->tuple->offset);

	if (skb->ip_summed == CHECKSUM_PARTIAL &&
	    skb_checksum_start_offset(skb) == datagram->tuple->offset)
		return;
	if (skb->ip_summed == CHECKSUM_COMPLETE)
		skb->ip_summed = CHECKSUM_NONE;
	if (!udp->check)
		return;
	csum_replace2(&udp->check, before, after);
	if (!udp->check)
		udp->check = CSUM_MANGLED_0;
}

static bool wale_element_write(struct sk_buff *skb,
			       const struct wale_datagram *datagram, u8 signal)
{
	__be16 before, after;
	u8 *head;

	if (skb_shared(skb) ||
	    skb_ensure_writable(skb, datagram->payload + sizeof(before)))
		return false;
	head = skb->data + datagram->payload;
	memcpy(&before, head, sizeof(before));
	wale_scone_set(head, signal);
	memcpy(&after, head, sizeof(after));
	wale_element_fix_checksum(skb, datagram, before, after);
	return true;
}

/* A datagram that begins with a SCONE packet. */
static noinline void wale_element_advise(struct wale_sched_data *q,
					 struct sk_buff *skb,
					 const struct wale_datagram *datagram,
					 u8 signal, u64 now)
{
	struct wale_element *element = q->element;
	u8 advice;

	if (!wale_element_is_whole(skb, datagram)) {
		element->malformed++;
		return;
	}
	element->seen++;
	advice = wale_element_signal(element, now);
	if (advice >= signal)
		return;
	if (wale_quota_take(&element->quota,
			    wale_tuple_key(skb, datagram->tuple, &element->key),
			    advice, now) &&
	    wale_element_write(skb, datagram, advice))
		element->lowered++;
	else
		element->limited++;
}

static void wale_element_look(struct wale_sched_data *q, struct sk_buff *skb,
			      const struct wale_datagram *datagram, u64 now)
{
	u8 buf[SCONE_HEAD];
	const u8 *head;

	if (datagram->len < SCONE_HEAD)
		return;
	head = skb_header_pointer(skb, datagram->payload, sizeof(buf), buf);
	if (head && wale_scone_begins(head))
		wale_element_advise(q, skb, datagram, wale_scone_get(head),
				    now);
}

/*
 * Of a GSO packet that is kept, each segment is a datagram.  One that is a list of
 * packets has a checksum for each, and only the first of them is found here.
 */
static void wale_element_look_at_all(struct wale_sched_data *q,
				     struct sk_buff *skb,
				     const struct wale_tuple *tuple, u64 now)
{
	struct wale_datagram datagram = {
		.tuple = tuple,
		.payload = tuple->offset + sizeof(struct udphdr),
	};
	u32 left = tuple->len - sizeof(struct udphdr), size = left;
	unsigned int type = skb_shinfo(skb)->gso_type;

	if (skb_is_gso(skb) && (type & SKB_GSO_UDP_L4) && !skb->encapsulation) {
		size = skb_shinfo(skb)->gso_size;
		if (type & SKB_GSO_FRAGLIST)
			left = min(left, size);
	}
	for (; left; left -= datagram.len) {
		datagram.len = min(left, size);
		wale_element_look(q, skb, &datagram, now);
		datagram.payload += datagram.len;
	}
}

/* The datagram is as long as UDP says, and no longer than IP says. */
static bool wale_element_find(const struct sk_buff *skb,
			      struct wale_tuple *tuple)
{
	const struct udphdr *udp;
	struct udphdr buf;
	u32 len;

	if (!wale_tuple_find(skb, tuple) || tuple->protocol != IPPROTO_UDP ||
	    tuple->fragment)
		return false;
	udp = skb_header_pointer(skb, tuple->offset, sizeof(buf), &buf);
	if (!udp || tuple->len > (int)skb->len - tuple->offset)
		return false;
	len = ntohs(udp->len) ?: tuple->len;
	if (len < sizeof(*udp) || len > tuple->len)
		return false;
	tuple->len = len;
	return true;
}

/**
 * wale_element_see() - a packet arrives at a link that tells a rate
 * @sch: the link, run up to @now
 * @skb: one packet of the wire, or a GSO packet that is kept; its signal may change
 * @now: ns
 *
 * Context: the root lock is held.
 */
void wale_element_see(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct wale_sched_data *q = qdisc_priv(sch);
	struct wale_tuple tuple;

	if (!q->plain)
		wale_element_update(q, now);
	if (wale_element_find(skb, &tuple))
		wale_element_look_at_all(q, skb, &tuple, now);
}

/**
 * wale_element_put_stats() - put the statistics
 * @msg: the message
 * @q: the link, which has an element and was run up to @now
 * @now: ns
 *
 * Context: the root lock is held.
 * Return: 0, or -EMSGSIZE.
 */
int wale_element_put_stats(struct sk_buff *msg, struct wale_sched_data *q,
			   u64 now)
{
	struct wale_element *element = q->element;
	const struct {
		int attr;
		u64 value;
	} stats[] = {
		{ TCA_WALE_STATS_SCONE_SEEN, element->seen },
		{ TCA_WALE_STATS_SCONE_LOWERED, element->lowered },
		{ TCA_WALE_STATS_SCONE_LIMITED, element->limited },
		{ TCA_WALE_STATS_SCONE_MALFORMED, element->malformed },
		{ TCA_WALE_STATS_SCONE_SIGNAL,
		  wale_element_signal(element, now) },
	};
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		err = nla_put_u64_64bit(msg, stats[i].attr, stats[i].value,
					TCA_WALE_STATS_PAD);
		if (err)
			return err;
	}
	return 0;
}
