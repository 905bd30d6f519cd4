/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_station.h - where packets wait for service: in a queue, as cells, or with a child
 */
#ifndef _WALE_STATION_H
#define _WALE_STATION_H

#include <linux/types.h>

struct Qdisc;
struct sk_buff;
struct wale_sched_data;

/**
 * struct wale_station - what a link asks of where packets wait
 * @accept: a packet arrives that there is memory for: one of the wire, or a GSO packet
 *	that is kept
 * @next: is there something to be served next?  Then its length is set, which may be 0
 * @served: the service of that has ended
 * @earliest_end: before when is no packet complete that gets to the line, ns; U64_MAX:
 *	none is unless a packet comes or the link is changed
 * @asked_ns: when must the link run, as it asks for what is served next then, ns;
 *	U64_MAX: whenever it runs; NULL: at any time
 * @look: packets of it may have come or gone by themselves; true if a service began;
 *	NULL: they do not
 * @purge: drop what only it knows of; NULL: there is nothing
 * @restless: more than departures may have a link run that has a packet on its line
 *
 * The link is run up to the time at which these are called, or to that of the server.
 */
struct wale_station {
	void (*accept)(struct Qdisc *sch, struct sk_buff *skb, u64 now,
		       struct sk_buff **to_free);
	bool (*next)(struct Qdisc *sch, u32 *len);
	void (*served)(struct Qdisc *sch);
	u64 (*earliest_end)(const struct wale_sched_data *q);
	u64 (*asked_ns)(const struct wale_sched_data *q);
	bool (*look)(struct Qdisc *sch, u64 now);
	void (*purge)(struct Qdisc *sch, u64 now);
	bool restless;
};

extern const struct wale_station wale_queue_station;
extern const struct wale_station wale_atm_station;
extern const struct wale_station wale_child_station;

#endif /* _WALE_STATION_H */
