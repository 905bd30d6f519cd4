/* SPDX-License-Identifier: GPL-2.0 */
/*
 * link_stats.h - the statistics of a wale qdisc
 */
#ifndef WALE_LINK_STATS_H
#define WALE_LINK_STATS_H

#include <linux/pkt_sched_wale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Indexed by TCA_WALE_STATS_*; zero where the kernel told nothing. */
struct link_stats {
	bool known[TCA_WALE_STATS_MAX + 1];
	uint64_t value[TCA_WALE_STATS_MAX + 1];
};

/* The payload of TCA_STATS_APP. */
void link_stats_decode(struct link_stats *s, const void *data, size_t length);

/* The name of a statistic, "offered_packets" and so on; NULL for none. */
const char *link_stats_name(int type);

/* Lines of text, each behind @indent, with @newline between them. */
void link_stats_print(FILE *to, const struct link_stats *s, const char *indent,
		      const char *newline);

/* Members of the object that is open. */
struct json;
void link_stats_json(struct json *j, const struct link_stats *s);

#endif /* WALE_LINK_STATS_H */
