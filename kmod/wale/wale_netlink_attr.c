// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_attr.c - read, check and put attributes by the tables of wale_options.c
 */

#include "wale_netlink_attr.h"

/**
 * wale_netlink_attr_refuse() - say what is wrong with an attribute
 * @extack: where
 * @attr: the attribute
 * @sentence: what is wrong; it stays where it is
 * @err: what to return
 *
 * Return: @err.
 */
int wale_netlink_attr_refuse(struct netlink_ext_ack *extack,
			     const struct nlattr *attr, const char *sentence,
			     int err)
{
	if (extack)
		extack->_msg = sentence;
	NL_SET_BAD_ATTR(extack, attr);
	return err;
}

static int wale_netlink_attr_check_ranges(struct nlattr **tb,
					  const struct wale_nest *nest,
					  struct netlink_ext_ack *extack)
{
	const struct wale_range *range = nest->ranges;
	u64 value;
	u16 i;

	for (i = 0; i < nest->n_ranges; i++, range++) {
		if (!tb[range->attr])
			continue;
		value = wale_attr_get(tb[range->attr], 0);
		if (value >= range->min && value <= range->max)
			continue;
		if (!range->also || value != range->also)
			return wale_netlink_attr_refuse(extack, tb[range->attr],
							range->refusal,
							-ERANGE);
	}
	return 0;
}

/**
 * wale_netlink_attr_parse() - the attributes of a nest, each by itself
 * @tb: set; room for all types
 * @nest: what may be in it
 * @attr: the nest
 * @extack: what was expected
 *
 * Strict, but for the NLA_F_NESTED flag, which tc does not set.
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_netlink_attr_parse(struct nlattr **tb, const struct wale_nest *nest,
			    const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	unsigned long needed = nest->needed;
	unsigned int i;
	int err;

	err = __nla_parse(tb, nest->max, nla_data(attr), nla_len(attr),
			  nest->policy,
			  NL_VALIDATE_STRICT & ~NL_VALIDATE_NESTED, extack);
	if (err)
		return err;
	for_each_set_bit(i, &needed, nest->max + 1)
		if (!tb[i])
			return wale_netlink_attr_refuse(extack, attr,
							nest->needs, -EINVAL);
	return wale_netlink_attr_check_ranges(tb, nest, extack);
}

/**
 * wale_netlink_attr_put() - put a number, in the width of its attribute
 * @skb: the message
 * @nest: the set of the attribute; a set with numbers of 64 bits pads by type 1
 * @attr: its type
 * @value: the number
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_attr_put(struct sk_buff *skb, const struct wale_nest *nest,
			  int attr, u64 value)
{
	if (nest->policy[attr].type == NLA_U64)
		return nla_put_u64_64bit(skb, attr, value, TCA_WALE_PAD);
	return nla_put_u32(skb, attr, value);
}
