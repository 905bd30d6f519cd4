/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scone_filter.h - wale scone dev: the filter at egress that has the action "scone"
 */
#ifndef WALE_SCONE_FILTER_H
#define WALE_SCONE_FILTER_H

#include <linux/tc_act/tc_scone.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/rtnl.h"

struct scone_filter {
	int ifindex;
	uint64_t rate; /* bytes/s; 0: that of a path */
	uint64_t period_ns;
	uint32_t device; /* whose path it is; 0: that of @ifindex */
	bool share;
	/* What is there. */
	bool found;
	bool qdisc; /* the clsact qdisc came with it */
	uint32_t index; /* of the action */
	uint32_t prio;
	uint32_t others; /* the first priority of filters of others; 0: none */
	uint8_t signal;
	uint64_t seen;
	uint64_t lowered;
	uint64_t limited;
	uint64_t malformed;
};

/* All return 0 or -errno, with the reason in r->error. */
int scone_filter_look(struct rtnl *r, int ifindex, struct scone_filter *f);
/* A new one, or other parameters of the one that is there. */
int scone_filter_set(struct rtnl *r, const char *iface,
		     const struct scone_filter *wanted);
/* One that was looked at; nothing of others goes with it. */
int scone_filter_del(struct rtnl *r, const char *iface,
		     const struct scone_filter *f);

#endif /* WALE_SCONE_FILTER_H */
