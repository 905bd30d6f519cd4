/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_control.h - who gets how much of a link: the controller's table of flows
 *
 * It knows no netlink and no clock.  A round of control is
 *
 *	control_update()	who is there, and what they did
 *	control_divide()	.next of each flow is its share from now on
 *
 * and the caller then makes the shares so: see struct control_flow.
 */
#ifndef WALE_RATE_CONTROL_H
#define WALE_RATE_CONTROL_H

#include "lib/rate_demand.h"
#include "lib/rate_maxmin.h"
#include "rate.h"

struct control_flow {
	uint32_t id;
	struct rate_key key;
	struct rate_demand demand;
	uint64_t next; /* its share, from now on */
	bool limited; /* that is all that it wants */
	/* Of the caller; all zero for a new flow. */
	bool gone; /* takes no part: the caller deletes its path */
	bool foreign; /* takes no part: the path is somebody else's */
	bool set; /* it has a path of ours, with ... */
	uint64_t share;
	uint64_t set_ns; /* when */
};

struct control {
	uint32_t ifindex;
	uint64_t capacity; /* bytes/s */
	uint64_t period_ns; /* flows are judged in periods of this, or longer */
	struct control_flow *flows; /* in the order of their ids */
	size_t n_flows;
	struct rate_claim *claims;
	/* Room for the next list of flows. */
	struct control_flow *spare;
	size_t room;
};

/*
 * @now_ns: when @flows were dumped; they are sorted by this.  Those that are not
 * in a @complete dump are gone, for control_forget() to take away.  0, or
 * -ENOMEM.
 */
int control_update(struct control *c, struct rate_flows *flows, bool complete,
		   uint64_t now_ns);
void control_divide(struct control *c);
void control_forget(struct control *c);
void control_free(struct control *c);

#endif /* WALE_RATE_CONTROL_H */
