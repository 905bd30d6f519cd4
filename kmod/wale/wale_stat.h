/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_stat.h - put statistics into a message
 */
#ifndef _WALE_STAT_H
#define _WALE_STAT_H

#include <net/netlink.h>

/**
 * struct wale_stat - a number among statistics
 * @attr: its attribute
 * @value: its value
 */
struct wale_stat {
	int attr;
	u64 value;
};

/**
 * wale_stat_put() - put some numbers
 * @msg: the message
 * @stats: the numbers
 * @n: how many there are
 * @pad: attribute for padding
 *
 * Return: 0, or -EMSGSIZE.
 */
static inline int wale_stat_put(struct sk_buff *msg,
				const struct wale_stat *stats, size_t n,
				int pad)
{
	int err = 0;

	for (; n && !err; n--, stats++)
		err = nla_put_u64_64bit(msg, stats->attr, stats->value, pad);
	return err;
}

#endif /* _WALE_STAT_H */
