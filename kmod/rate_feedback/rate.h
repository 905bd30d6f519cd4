/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate.h - what the files of rate_feedback share
 *
 *	struct rate_net		a network namespace: its paths and listeners
 *	  struct rate_path	a name and settings; while in the table, refers to
 *	    struct rate_source	the holder of a value: of one path, or of a device
 *				and all paths that follow it
 *	      struct rate_value	a rate and its history
 *	  struct rate_flow	a socket that listens; refers to a path
 *
 * Locks, outermost first:
 *	rate_mutex	creating, changing and deleting paths, everywhere;
 *			never with RTNL taken inside of it
 *	path->lock	the path's source, and the count of its active flows
 *	source->lock	the value; with source->seq
 * Readers take none of them: paths, sources, rings and flows are freed after an
 * RCU grace period.
 *
 * Deleting a device takes rate_mutex while RTNL is held.  So rate_mutex must not
 * be held for long: no list is walked to its end under it, and no memory is
 * allocated that might first have to be reclaimed.
 */
#ifndef _RATE_H
#define _RATE_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/rhashtable.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/rate_feedback.h>
#include <net/tcp.h>

#include "rate_history.h"
#include "rate_price.h"

#define RATE_LENGTHS	129	/* number of prefix lengths: 0 .. 128 bits */

enum rate_key_kind {
	RATE_KEY_DEV,
	RATE_KEY_PREFIX,
	RATE_KEY_FLOW,
};

/**
 * struct rate_key - names a path, or a socket; every byte counts
 * @kind: enum rate_key_kind
 * @family: AF_INET or AF_INET6; 0 for a device
 * @prefix_len: bits of @daddr, for a prefix
 * @ifindex: the device, for a device
 * @saddr: own address, for a flow; IPv4 in the first word
 * @daddr: address of the peer, for a flow or a prefix
 * @sport: own port, for a flow
 * @dport: port of the peer, for a flow
 */
struct rate_key {
	u16 kind;
	u8 family;
	u8 prefix_len;
	u32 ifindex;
	struct in6_addr saddr;
	struct in6_addr daddr;
	__be16 sport;
	__be16 dport;
};

/**
 * struct rate_net - a network namespace
 * @net: the namespace itself; valid until @dead
 * @refs: one held by the namespace, one by each flow and by each device's source
 * @dead: the namespace is being deleted; set before an RCU grace period
 * @table_gen: incremented when a path is created or deleted
 * @table: the paths by key
 * @paths: the paths by id
 * @next_path: where the search for the next id begins
 * @path_births: number of paths so far
 * @path_count: paths in @table
 * @follower_count: paths, in any namespace, that follow a device of this one
 * @max_paths: limit of @path_count
 * @max_followers: limit of @follower_count
 * @sysctl: the sysctls that set them
 * @flows: the sockets that listen, by id
 * @next_flow: where the search for the next id begins
 * @flow_births: number of flows so far
 * @prefixes: number of paths of each prefix length, for IPv4 and IPv6
 * @lengths: the lengths that have any
 * @devices: sources of devices that have a path or are followed, by ifindex
 * @idle: finds flows that are no longer active
 * @clear: deletes what is left when the namespace is gone
 * @rcu: for freeing it
 *
 * @path_births, both counts, @prefixes, @lengths and @devices are written under
 * rate_mutex.
 */
struct rate_net {
	struct net *net;
	refcount_t refs;
	bool dead;
	atomic_t table_gen;
	struct rhashtable table;
	struct xarray paths;
	u32 next_path;
	unsigned long path_births;
	u32 path_count;
	u32 follower_count;
	unsigned int max_paths;
	unsigned int max_followers;
	struct ctl_table_header *sysctl;
	struct xarray flows;
	u32 next_flow;
	atomic_long_t flow_births;
	u32 prefixes[2][RATE_LENGTHS];
	unsigned long lengths[2][BITS_TO_LONGS(RATE_LENGTHS)];
	struct rb_root devices;
	struct delayed_work idle;
	struct work_struct clear;
	struct rcu_head rcu;
};

/**
 * struct rate_value - a rate as a function of time
 * @history: the rate; there is none until it has begun
 * @renewed: when the rate was last set, even to the same value, ns
 * @updates: how often it was set
 * @published: it comes from a link, which also counts flows
 */
struct rate_value {
	struct rate_history history;
	u64 renewed;
	u64 updates;
	bool published;
};

/**
 * struct rate_source - the holder of the value of one or several paths
 * @seq: readers read the value again if this changed meanwhile
 * @lock: protects the value
 * @value: the value
 * @gone: its device is gone, and the value belongs to nobody
 * @active: flows active on the paths that use this source
 * @keep_ns: how far back any reader looks; 0: none does
 * @refs: one for all paths that use it, one for each publisher, one for pending @tell
 * @paths: the paths that use it, in all namespaces
 * @told: marks in that list how far events about a change got; or in no list
 * @users: number of @paths
 * @followers: number of @paths that follow its device
 * @ifindex: its device; 0: it belongs to a path that is not a device's
 * @rn: namespace of that device, with a reference; or NULL
 * @node: in @devices of @rn, until @gone
 * @changed: bit 0: the value has changed since the walk through @paths began
 * @tell: continues that walk
 * @rcu: for freeing it
 *
 * @paths, @told, both counts and @node are written under rate_mutex; @ifindex and @rn
 * never change.
 */
struct rate_source {
	seqcount_spinlock_t seq;
	spinlock_t lock;	/* see above */
	struct rate_value value;
	bool gone;
	atomic_t active;
	u64 keep_ns;
	refcount_t refs;
	struct list_head paths;
	struct list_head told;
	u32 users;
	u32 followers;
	u32 ifindex;
	struct rate_net *rn;
	struct rb_node node;
	unsigned long changed;
	struct work_struct tell;
	struct rcu_head rcu;
};

/**
 * struct rate_settings - how senders use a path
 *
 * On a 32-bit machine, a reader may see half of a 64-bit setting that is being
 * written, for one ACK.
 *
 * @lag_time: for RATE_FEEDBACK_LAG_FIXED, ns
 * @age_limit: ns; 0: none
 * @base_rtt: used instead of what senders measure, ns; 0: use what they measure
 * @beta: packets
 * @lag: enum rate_feedback_lag
 * @rise: enum rate_feedback_rise
 * @phi: base of the marking probability, millionths
 * @swing: percent
 * @pace: senders pace their packets
 */
struct rate_settings {
	u64 lag_time;
	u64 age_limit;
	u64 base_rtt;
	u32 beta;
	u32 phi;
	u8 lag;
	u8 rise;
	u8 swing;
	bool pace;
};

#define RATE_DEFAULT_PHI	1100000	/* millionths */

/* for a new path; @lag: enum rate_feedback_lag */
static inline struct rate_settings rate_default_settings(u8 lag)
{
	return (struct rate_settings) {
		.beta = 1, .phi = RATE_DEFAULT_PHI, .lag = lag
	};
}

/**
 * struct rate_path - a path
 * @node: in the table
 * @key: its name
 * @settings: written under rate_mutex, read one by one without it
 * @source: holds its value: its own source, or that of the device that it follows;
 *	NULL unless the path is in the table
 * @lock: protects @source and @active
 * @active: flows active on it
 * @listeners: flows attached to it
 * @dead: no longer in the table
 * @refs: one held by the table, one by each attached flow
 * @id: its number
 * @born: number of paths created before it
 * @source_node: in the list of paths that use the source
 * @rn: its namespace, while it is not dead
 * @rcu: for freeing it
 */
struct rate_path {
	struct rhash_head node;
	struct rate_key key;
	struct rate_settings settings;
	struct rate_source __rcu *source;
	spinlock_t lock;	/* see above */
	u32 active;
	atomic_t listeners;
	bool dead;
	refcount_t refs;
	u32 id;
	unsigned long born;
	struct list_head source_node;
	struct rate_net *rn;
	struct rcu_head rcu;
};

/**
 * struct rate_in_band - a rate read from the marks on a flow's own packets
 * @marks: what they say about the price
 * @price: the price, in units of 1 / REM_PRICE_ONE; 0: not known yet
 * @rate: what @weight gives at that price, bytes/s
 * @weight: the path's when @rate was computed
 * @phi: the path's when @price was computed
 * @route: the flow's since @marks have been counted; 0: they are not counted
 */
struct rate_in_band {
	struct rate_price marks;
	u64 price;
	u64 rate;
	u64 weight;
	u32 phi;
	u32 route;
};

/**
 * struct rate_flow - a socket that listens
 * @rn: its namespace
 * @path: what it listens to; changed under the socket's lock
 * @table_gen: the namespace's when @path was looked up
 * @ifindex: egress device when @path was looked up; 0: none
 * @route: changes with the device or the next hop
 * @in_band: its rate, while the path has a weight
 * @used: when it last read, jiffies
 * @active: it is counted on its path; under path->lock, and read by its owner
 * @charged: its memory is charged to the owner of the socket
 * @state: what it reported
 * @lost: how often its advice ended
 * @found: how often advice began
 * @key: its addresses and ports
 * @uid: its owner
 * @id: its number
 * @born: number of flows created before it
 * @congestion: name of its congestion control
 * @rcu: frees it
 */
struct rate_flow {
	struct rate_net *rn;
	struct rate_path __rcu *path;
	int table_gen;
	u32 ifindex;
	u32 route;
	struct rate_in_band in_band;
	unsigned long used;
	bool active;
	bool charged;
	struct rate_flow_state state;
	u32 lost;
	u32 found;
	struct rate_key key;
	kuid_t uid;
	u32 id;
	unsigned long born;
	char congestion[TCP_CA_NAME_MAX];
	struct rcu_head rcu;
};

/* what is kept for a network namespace */
struct rate_net_slot {
	struct rate_net *rn;
};

/* rate_net.c */
extern struct mutex rate_mutex;
extern struct workqueue_struct *rate_workqueue;
extern unsigned int rate_net_id;
struct rate_net *rate_net(const struct net *net);
struct rate_net *rate_net_get(struct rate_net *rn);
void rate_net_put(struct rate_net *rn);

/* rate_sysctl.c: limits */
int rate_sysctl_init(struct rate_net *rn);
void rate_sysctl_exit(struct rate_net *rn);

/* rate_source.c: values */
struct rate_source *rate_source_new(gfp_t gfp, work_func_t tell);
void rate_source_put(struct rate_source *source);
void rate_source_keep(struct rate_source *source, u64 keep_ns);
u32 rate_source_wants(struct rate_source *source, u64 keep_ns);
struct rate_ring *rate_ring_new(u32 size, gfp_t gfp);
bool rate_source_set(struct rate_source *source, const struct rate_step *step,
		     struct rate_ring *ring);
void rate_source_exchange(struct rate_source *source, struct rate_value *value);
void rate_source_snapshot(const struct rate_source *source,
			  struct rate_step *step, u64 *renewed, u64 *updates);
u32 rate_source_flows(const struct rate_source *source,
		      const struct rate_step *step);
bool rate_source_read(const struct rate_source *source, u64 when,
		      struct rate_step *step, u64 *renewed);
void rate_value_free(const struct rate_value *value);
bool rate_source_is_own(const struct rate_source *source,
			const struct rate_path *path);
u32 rate_source_followed(const struct rate_path *path,
			 const struct rate_source *source);

/* rate_device.c: values that paths of any namespace may follow */
struct rate_source *rate_device_find(const struct rate_net *rn, u32 ifindex);
void rate_device_add(struct rate_net *rn, u32 ifindex,
		     struct rate_source *source);
void rate_device_del(struct rate_source *source);
bool rate_device_is_there(struct net *net, u32 ifindex);

/* rate_tell.c: events about the paths of a source */
void rate_tell_withdrawn(struct rate_source *source);
void rate_tell(struct rate_source *source);
void rate_tell_later(struct rate_source *source);
void rate_tell_work(struct work_struct *work);

/* rate_path.c: the table */
int rate_table_init(struct rate_net *rn);
bool rate_table_clear(struct rate_net *rn);
void rate_table_destroy(struct rate_net *rn);
struct rate_path *rate_path_find(struct rate_net *rn,
				 const struct rate_key *key);
struct rate_path *rate_path_best(struct rate_net *rn,
				 const struct rate_key *flow, u32 ifindex);
struct rate_path *rate_path_new(struct rate_net *rn, const struct rate_key *key);
void rate_path_discard(struct rate_path *path);
int rate_path_check_room(const struct rate_net *rn,
			 struct netlink_ext_ack *extack);
int rate_path_insert(struct rate_path *path,
		     const struct rate_settings *settings);
void rate_path_remove(struct rate_path *path);
void rate_path_delete(struct rate_path *path);
void rate_path_put(struct rate_path *path);
void rate_path_attach(struct rate_path *path, struct rate_source *source);
struct rate_source *rate_path_source(const struct rate_path *path);
struct rate_source *rate_own_source(const struct rate_path *path);
bool rate_path_published(const struct rate_path *path);
u64 rate_keep_ns(const struct rate_settings *settings);
bool rate_path_read(const struct rate_path *path, u64 now, u64 base_rtt_ns,
		    struct rate_advice *advice);
u64 rate_path_rate(const struct rate_path *path, u64 now, bool share);

/* rate_flow.c: who listens */
int rate_flow_init(void);
void rate_flow_exit(void);
void rate_flow_find_idle(struct work_struct *work);
void rate_flow_count(struct rate_flow *flow, bool active);

/* rate_in_band.c: the rate read from the marks on a flow's packets */
bool rate_in_band_read(struct rate_flow *flow, const struct sock *sk,
		       u64 base_rtt_ns, struct rate_advice *advice);

/* rate_netlink.c: the family */
int rate_netlink_init(void);
void rate_netlink_exit(void);

/* rate_message.c: events */
bool rate_notify_path(const struct rate_path *path, u8 cmd);
void rate_notify_flow(const struct rate_flow *flow, u8 cmd);

#endif /* _RATE_H */
