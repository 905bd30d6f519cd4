// SPDX-License-Identifier: GPL-2.0
/*
 * rate_path.c - the table of paths of a network namespace
 *
 * A socket's path is the most specific one: its own four addresses and ports,
 * then the longest prefix of its destination, then its egress device.  Each kind
 * is one lookup in one hash table; only those prefix lengths are tried that some
 * path has.
 */

#include <linux/bitmap.h>
#include <linux/jhash.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "../compat.h"
#include "rate.h"

/* A reader with lag rtt may have any RTT; this much history is guaranteed. */
#define RATE_KEEP_RTT_NS	(2 * NSEC_PER_SEC)

/* Paths of a deleted namespace that are deleted at a time. */
#define RATE_CLEAR_MAX		64

static const struct rhashtable_params rate_table_params = {
	.head_offset = offsetof(struct rate_path, node),
	.key_offset = offsetof(struct rate_path, key),
	.key_len = sizeof(struct rate_key),
	.automatic_shrinking = true,
};

/**
 * rate_table_init() - make an empty table
 * @rn: the namespace
 *
 * Return: 0 or -ENOMEM.
 */
int rate_table_init(struct rate_net *rn)
{
	/* every byte of a key is hashed and compared */
	BUILD_BUG_ON(sizeof(struct rate_key) !=
		     offsetofend(struct rate_key, dport));

	xa_init_flags(&rn->paths, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	rn->devices = RB_ROOT;
	return rhashtable_init(&rn->table, &rate_table_params);
}

/**
 * rate_table_clear() - delete some paths of a deleted namespace
 * @rn: the namespace
 *
 * Context: rate_mutex is held.
 * Return: true if there are more.
 */
bool rate_table_clear(struct rate_net *rn)
{
	int left = RATE_CLEAR_MAX;
	struct rate_path *path;
	unsigned long id;

	xa_for_each(&rn->paths, id, path) {
		if (!left--)
			return true;
		rate_path_delete(path);
	}
	return false;
}

/**
 * rate_table_destroy() - free an empty table
 * @rn: the namespace
 *
 * Context: an RCU grace period after the table was last visible.
 */
void rate_table_destroy(struct rate_net *rn)
{
	rhashtable_destroy(&rn->table);
	xa_destroy(&rn->paths);
}

static unsigned int rate_family_index(const struct rate_key *key)
{
	return key->family == AF_INET6;
}

/**
 * rate_path_find() - find the path with exactly this name
 * @rn: the namespace
 * @key: the name
 *
 * Context: RCU read side or rate_mutex.
 * Return: the path, or NULL.
 */
struct rate_path *rate_path_find(struct rate_net *rn,
				 const struct rate_key *key)
{
	return rhashtable_lookup_fast(&rn->table, key, rate_table_params);
}

static struct rate_path *rate_path_prefix(struct rate_net *rn,
					  const struct rate_key *flow)
{
	unsigned int family = rate_family_index(flow);
	const unsigned long *lengths = rn->lengths[family];
	struct rate_key key = {
		.kind = RATE_KEY_PREFIX,
		.family = flow->family,
	};
	unsigned int len, above = RATE_LENGTHS;
	struct rate_path *path;

	/* find_last_bit() of an empty map returns the size of the map */
	while ((len = find_last_bit(lengths, above)) < above) {
		key.prefix_len = len;
		ipv6_addr_prefix(&key.daddr, &flow->daddr, len);
		path = rate_path_find(rn, &key);
		if (path)
			return path;
		above = len;
	}
	return NULL;
}

/**
 * rate_path_best() - find the path that a socket listens to
 * @rn: the namespace
 * @flow: the socket
 * @ifindex: its egress device; 0: none
 *
 * Context: RCU read side.
 * Return: the path, or NULL.
 */
struct rate_path *rate_path_best(struct rate_net *rn,
				 const struct rate_key *flow, u32 ifindex)
{
	struct rate_key dev = { .kind = RATE_KEY_DEV, .ifindex = ifindex };
	struct rate_path *path;

	path = rate_path_find(rn, flow);
	if (!path)
		path = rate_path_prefix(rn, flow);
	if (!path && ifindex)
		path = rate_path_find(rn, &dev);
	return path;
}

/**
 * rate_path_new() - prepare a path for the table
 * @rn: its namespace
 * @key: its name
 *
 * It has a number already, so that nothing has to be allocated when it is inserted.
 *
 * Context: process; rate_mutex is not held.
 * Return: the path, for rate_path_insert() or rate_path_discard(); or NULL.
 */
struct rate_path *rate_path_new(struct rate_net *rn, const struct rate_key *key)
{
	struct rate_path *path = kzalloc_obj(*path, GFP_KERNEL_ACCOUNT);
	int err;

	if (!path)
		return NULL;
	err = xa_alloc_cyclic(&rn->paths, &path->id, NULL,
			      XA_LIMIT(1, INT_MAX), &rn->next_path,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0) {
		kfree(path);
		return NULL;
	}
	path->rn = rn;
	path->key = *key;
	spin_lock_init(&path->lock);
	atomic_set(&path->listeners, 0);
	refcount_set(&path->refs, 1);
	INIT_LIST_HEAD(&path->source_node);
	return path;
}

/**
 * rate_path_discard() - free a path that was not inserted
 * @path: the path; NULL is allowed
 */
void rate_path_discard(struct rate_path *path)
{
	if (!path)
		return;
	xa_erase(&path->rn->paths, path->id);
	kfree(path);
}

/* Make sockets look again: any of them may have a better path now, or none. */
static void rate_table_changed(struct rate_net *rn)
{
	smp_mb__before_atomic();	/* the table, then its number */
	atomic_inc(&rn->table_gen);
}

static void rate_prefix_count(struct rate_path *path, int change)
{
	unsigned int family = rate_family_index(&path->key);
	u32 *count = &path->rn->prefixes[family][path->key.prefix_len];

	if (path->key.kind != RATE_KEY_PREFIX)
		return;
	*count += change;
	if (*count)
		set_bit(path->key.prefix_len, path->rn->lengths[family]);
	else
		clear_bit(path->key.prefix_len, path->rn->lengths[family]);
}

/**
 * rate_path_check_room() - may there be another path?
 * @rn: the namespace
 * @extack: why not
 *
 * Context: rate_mutex is held.
 * Return: 0 or -ENOSPC.
 */
int rate_path_check_room(const struct rate_net *rn,
			 struct netlink_ext_ack *extack)
{
	if (rn->path_count < READ_ONCE(rn->max_paths))
		return 0;
	NL_SET_ERR_MSG(extack,
		       "rate_feedback: the namespace has as many paths as its net.rate_feedback.max_paths allows");
	return -ENOSPC;
}

/**
 * rate_path_insert() - insert a path into the table
 * @path: as rate_path_new() made it
 * @settings: how senders use it
 *
 * Context: rate_mutex is held.
 * Return: 0; or an error, such as -EEXIST, after which the caller discards it.
 */
int rate_path_insert(struct rate_path *path,
		     const struct rate_settings *settings)
{
	struct rate_net *rn = path->rn;
	int err;

	path->settings = *settings;
	path->born = rn->path_births;
	err = rhashtable_lookup_insert_fast(&rn->table, &path->node,
					    rate_table_params);
	if (err)
		return err;
	WRITE_ONCE(rn->path_births, path->born + 1);
	xa_store(&rn->paths, path->id, path, 0);	/* into its reserved place */
	rn->path_count++;
	rate_prefix_count(path, 1);
	rate_table_changed(rn);
	return 0;
}

/**
 * rate_path_remove() - remove a path from the table, with an event
 * @path: the path; its own value stays with the paths that follow it
 *
 * Context: rate_mutex is held.
 */
void rate_path_remove(struct rate_path *path)
{
	struct rate_net *rn = path->rn;

	rate_notify_path(path, RATE_FEEDBACK_CMD_PATH_DEL_NTF);
	WRITE_ONCE(path->dead, true);
	rhashtable_remove_fast(&rn->table, &path->node, rate_table_params);
	xa_erase(&rn->paths, path->id);
	rn->path_count--;
	rate_prefix_count(path, -1);
	rate_table_changed(rn);
	rate_path_attach(path, NULL);
	rate_path_put(path);
}

/**
 * rate_path_delete() - remove a path and its own value
 * @path: the path
 *
 * Context: rate_mutex is held.
 */
void rate_path_delete(struct rate_path *path)
{
	struct rate_source *source = rate_own_source(path);

	if (source)
		refcount_inc(&source->refs);
	rate_path_remove(path);
	if (!source)
		return;
	if (source->users && !source->gone)
		rate_tell_withdrawn(source);
	rate_source_put(source);
}

/**
 * rate_path_put() - drop a reference
 * @path: the path
 */
void rate_path_put(struct rate_path *path)
{
	if (refcount_dec_and_test(&path->refs))
		kfree_rcu(path, rcu);
}

/* One path less uses the source; without any, nobody does. */
static void rate_source_leave(struct rate_source *source,
			      struct rate_path *path)
{
	list_del_init(&path->source_node);
	if (!rate_source_is_own(source, path)) {
		source->followers--;
		if (!source->gone)
			source->rn->follower_count--;
	}
	if (--source->users)
		return;
	if (source->rn && !source->gone)
		rate_device_del(source);
	rate_source_put(source);
}

static void rate_source_join(struct rate_source *source, struct rate_path *path)
{
	/* it has an event of its own */
	list_add_tail(&path->source_node,
		      list_empty(&source->told) ? &source->paths :
						  &source->told);
	if (!rate_source_is_own(source, path)) {
		source->followers++;
		source->rn->follower_count++;
	}
	if (!source->users++)
		refcount_inc(&source->refs);
	rate_source_keep(source, rate_keep_ns(&path->settings));
}

/**
 * rate_path_attach() - give a path another source
 * @path: the path
 * @source: the source; NULL: none.  All its paths together hold one reference.
 *
 * Context: rate_mutex is held.
 */
void rate_path_attach(struct rate_path *path, struct rate_source *source)
{
	struct rate_source *old = rate_path_source(path);

	if (old == source)
		return;
	spin_lock_bh(&path->lock);
	rcu_assign_pointer(path->source, source);
	if (old)
		atomic_sub(path->active, &old->active);
	if (source)
		atomic_add(path->active, &source->active);
	spin_unlock_bh(&path->lock);
	if (old)
		rate_source_leave(old, path);
	if (source)
		rate_source_join(source, path);
}

/**
 * rate_path_source() - the source that a path uses
 * @path: the path; NULL is allowed
 *
 * Context: rate_mutex is held.
 * Return: the source; or NULL.
 */
struct rate_source *rate_path_source(const struct rate_path *path)
{
	return path ? rcu_dereference_protected(path->source,
						lockdep_is_held(&rate_mutex)) :
		      NULL;
}

/**
 * rate_own_source() - the source that belongs to a path itself
 * @path: the path; NULL is allowed
 *
 * Context: rate_mutex is held.
 * Return: the source; NULL if the path follows a device, or did.
 */
struct rate_source *rate_own_source(const struct rate_path *path)
{
	struct rate_source *source = rate_path_source(path);

	return source && rate_source_is_own(source, path) ? source : NULL;
}

/**
 * rate_path_published() - does a link publish the rate, so that only it may set it?
 * @path: the path; NULL is allowed
 *
 * Context: rate_mutex is held.
 * Return: true if so; false for a path that follows a published one.
 */
bool rate_path_published(const struct rate_path *path)
{
	const struct rate_source *source = rate_own_source(path);

	return source && source->value.published;
}

/**
 * rate_keep_ns() - how far back do the readers of a path look?
 * @settings: the settings of the path
 *
 * Return: ns.
 */
u64 rate_keep_ns(const struct rate_settings *settings)
{
	switch (settings->lag) {
	case RATE_FEEDBACK_LAG_FIXED:
		return max_t(u64, settings->lag_time, RATE_KEEP_RTT_NS);
	case RATE_FEEDBACK_LAG_RTT:
		return RATE_KEEP_RTT_NS;
	default:
		return 0;
	}
}

static u64 rate_path_lag(const struct rate_path *path, u64 base_rtt_ns)
{
	switch (READ_ONCE(path->settings.lag)) {
	case RATE_FEEDBACK_LAG_FIXED:
		return READ_ONCE(path->settings.lag_time);
	case RATE_FEEDBACK_LAG_RTT:
		return base_rtt_ns;
	default:
		return 0;
	}
}

/* The rate of a path at @then, unless there is none, or it was not renewed for too long. */
static const struct rate_source *rate_path_step(const struct rate_path *path,
						u64 then, u64 now,
						struct rate_step *step)
{
	const struct rate_source *source = rcu_dereference(path->source);
	u64 age_limit = READ_ONCE(path->settings.age_limit);
	u64 renewed;

	if (!source || READ_ONCE(source->gone) ||
	    !rate_source_read(source, then, step, &renewed))
		return NULL;
	/* that one link has no limit says nothing about the others on the path */
	if (step->rate == RATE_FEEDBACK_UNLIMITED)
		return NULL;
	if (age_limit && !READ_ONCE(source->value.published) && now > renewed &&
	    now - renewed > age_limit)
		return NULL;
	return source;
}

/**
 * rate_path_read() - the advice of a path
 * @path: the path
 * @now: ns
 * @base_rtt_ns: as measured by the reader; 0: not known
 * @advice: everything but the route is set; with in_band, the rate is the weight
 *
 * Context: RCU read side.
 * Return: false if there is none.
 */
bool rate_path_read(const struct rate_path *path, u64 now, u64 base_rtt_ns,
		    struct rate_advice *advice)
{
	const struct rate_source *source;
	struct rate_step step;
	u64 lag;

	advice->base_rtt_ns = READ_ONCE(path->settings.base_rtt);
	lag = rate_path_lag(path, advice->base_rtt_ns ?: base_rtt_ns);
	if (lag > now)
		return false;
	source = rate_path_step(path, now - lag, now, &step);
	if (!source)
		return false;

	advice->rate = step.rate;
	if (step.meaning == RATE_FEEDBACK_MEANING_LINK)
		advice->rate = div_u64(step.rate,
				       rate_source_flows(source, &step));
	advice->beta = READ_ONCE(path->settings.beta);
	advice->rise = READ_ONCE(path->settings.rise);
	advice->swing = READ_ONCE(path->settings.swing);
	advice->pace = READ_ONCE(path->settings.pace);
	advice->phi = READ_ONCE(path->settings.phi);
	advice->in_band = step.meaning == RATE_FEEDBACK_MEANING_WEIGHT;
	advice->layer = step.layer;
	return true;
}

/**
 * rate_path_rate() - the rate of a path now
 * @path: the path
 * @now: ns
 * @share: of a link, the share of a flow
 *
 * Context: RCU read side.
 * Return: bytes/s; RATE_FEEDBACK_UNLIMITED: there is none.
 */
u64 rate_path_rate(const struct rate_path *path, u64 now, bool share)
{
	const struct rate_source *source;
	struct rate_step step;

	source = rate_path_step(path, now, now, &step);
	if (!source || step.meaning == RATE_FEEDBACK_MEANING_WEIGHT)
		return RATE_FEEDBACK_UNLIMITED;
	if (!share || step.meaning != RATE_FEEDBACK_MEANING_LINK)
		return step.rate;
	return div_u64(step.rate, rate_source_flows(source, &step));
}
