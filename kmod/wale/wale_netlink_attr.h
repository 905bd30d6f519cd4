/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_netlink_attr.h - attributes as the specification of the qdisc has them
 *
 * wale_options.c, which is generated from it, has a struct wale_nest for each set.
 */
#ifndef _WALE_NETLINK_ATTR_H
#define _WALE_NETLINK_ATTR_H

#include <linux/pkt_sched_wale.h>
#include <net/netlink.h>

/**
 * struct wale_range - what a number may be
 * @refusal: the sentence for one that is something else
 * @min: the least
 * @max: the greatest
 * @also: a good one that is greater, or 0
 * @attr: type of the attribute
 */
struct wale_range {
	const char *refusal;
	u64 min;
	u64 max;
	u64 also;
	u16 attr;
};

/**
 * struct wale_nest - a set of attributes
 * @policy: their types
 * @ranges: of the numbers that may not be anything
 * @needs: the sentence for a nest that lacks one of @needed
 * @needed: a bit for each attribute that must come
 * @max: largest type
 * @n_ranges: how many @ranges there are
 */
struct wale_nest {
	const struct nla_policy *policy;
	const struct wale_range *ranges;
	const char *needs;
	unsigned long needed;
	u16 max;
	u16 n_ranges;
};

extern const struct wale_nest wale_options_nest;
extern const struct wale_nest wale_sessions_nest;
extern const struct wale_nest wale_feedback_nest;
extern const struct wale_nest wale_rem_nest;
extern const struct wale_nest wale_gemodel_nest;
extern const struct wale_nest wale_state_nest;
extern const struct wale_nest wale_jitter_nest;
extern const struct wale_nest wale_slot_nest;
extern const struct wale_nest wale_policer_nest;
extern const struct wale_nest wale_breaker_nest;
extern const struct wale_nest wale_scone_nest;

int wale_netlink_attr_refuse(struct netlink_ext_ack *extack,
			     const struct nlattr *attr, const char *sentence,
			     int err);
int wale_netlink_attr_parse(struct nlattr **tb, const struct wale_nest *nest,
			    const struct nlattr *attr,
			    struct netlink_ext_ack *extack);
int wale_netlink_attr_put(struct sk_buff *skb, const struct wale_nest *nest,
			  int attr, u64 value);

/**
 * wale_attr_get() - the number of an attribute
 * @attr: the attribute, or NULL
 * @otherwise: what it is without
 *
 * Return: the number.
 */
static inline u64 wale_attr_get(const struct nlattr *attr, u64 otherwise)
{
	if (!attr)
		return otherwise;
	return nla_len(attr) == sizeof(u64) ? nla_get_u64(attr) :
					      nla_get_u32(attr);
}

/**
 * wale_option_put() - put an option of the link that is a number
 * @skb: the message
 * @attr: TCA_WALE_*
 * @value: the number
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int wale_option_put(struct sk_buff *skb, int attr, u64 value)
{
	return wale_netlink_attr_put(skb, &wale_options_nest, attr, value);
}

/**
 * wale_option_put_unless() - put an option that not every link has
 * @skb: the message
 * @attr: TCA_WALE_*
 * @value: the number
 * @usual: that of a link without the option
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int wale_option_put_unless(struct sk_buff *skb, int attr,
					 u64 value, u64 usual)
{
	return value == usual ? 0 : wale_option_put(skb, attr, value);
}

#endif /* _WALE_NETLINK_ATTR_H */
