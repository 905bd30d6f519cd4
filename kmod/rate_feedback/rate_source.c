// SPDX-License-Identifier: GPL-2.0
/*
 * rate_source.c - sources of values: writing and reading a rate as a function of time
 *
 * There is one writer at a time, under the source's lock.  Readers, one for each ACK
 * of each socket, never wait for it: they read again if it wrote meanwhile.
 */

#include <linux/slab.h>

#include "../compat.h"
#include "rate.h"

/**
 * rate_source_new() - make a source without a value
 * @gfp: how to allocate
 * @tell: work function that continues sending events about its paths
 *
 * Return: the source, with one reference; or NULL.
 */
struct rate_source *rate_source_new(gfp_t gfp, work_func_t tell)
{
	struct rate_source *source = kzalloc_obj(*source, gfp);

	if (!source)
		return NULL;
	spin_lock_init(&source->lock);
	seqcount_spinlock_init(&source->seq, &source->lock);
	refcount_set(&source->refs, 1);
	atomic_set(&source->active, 0);
	INIT_LIST_HEAD(&source->paths);
	INIT_LIST_HEAD(&source->told);
	INIT_WORK(&source->tell, tell);
	return source;
}

static void rate_source_free(struct rcu_head *rcu)
{
	struct rate_source *source = container_of(rcu, struct rate_source, rcu);

	kfree(source->value.history.ring);
	kfree(source);
}

/**
 * rate_source_put() - drop a reference
 * @source: the source
 */
void rate_source_put(struct rate_source *source)
{
	if (!refcount_dec_and_test(&source->refs))
		return;
	if (source->rn)
		rate_net_put(source->rn);
	call_rcu(&source->rcu, rate_source_free);
}

/**
 * rate_source_keep() - note how far back a reader looks
 * @source: the source
 * @keep_ns: how far
 *
 * Context: rate_mutex is held, or the source is new.
 */
void rate_source_keep(struct rate_source *source, u64 keep_ns)
{
	if (keep_ns > source->keep_ns)
		WRITE_ONCE(source->keep_ns, keep_ns);
}

/**
 * rate_source_wants() - must the step that is overwritten next be kept?
 * @source: the source
 * @keep_ns: how far back another reader will look
 *
 * Return: the size of the larger ring that is needed; 0: this one will do, or nobody
 * may ask for that step any more.
 */
u32 rate_source_wants(struct rate_source *source, u64 keep_ns)
{
	u32 size;

	keep_ns = max(keep_ns, READ_ONCE(source->keep_ns));
	if (!keep_ns)
		return 0;
	spin_lock_bh(&source->lock);
	size = rate_history_wants(&source->value.history, keep_ns);
	spin_unlock_bh(&source->lock);
	return size;
}

/**
 * rate_ring_new() - allocate room for steps
 * @size: how many
 * @gfp: how to allocate
 *
 * Return: the ring; NULL if there is no memory.  Steps are then forgotten, and a reader
 * who asks for one gets the oldest that is left.
 */
struct rate_ring *rate_ring_new(u32 size, gfp_t gfp)
{
	struct rate_ring *ring;

	ring = kmalloc(struct_size(ring, steps, size), gfp | __GFP_NOWARN);
	if (ring)
		ring->size = size;
	return ring;
}

/**
 * rate_source_set() - set or renew the rate
 * @source: the source
 * @step: the rate, since when it holds, and the number of flows
 * @ring: for the history, if it is larger than the present one; NULL: none
 *
 * Return: true if the value has changed.
 */
bool rate_source_set(struct rate_source *source, const struct rate_step *step,
		     struct rate_ring *ring)
{
	struct rate_history *history = &source->value.history;
	u64 now = ktime_get_ns();
	bool changed;

	spin_lock_bh(&source->lock);
	write_seqcount_begin(&source->seq);
	/* another writer may have brought a ring, too */
	if (ring && (!history->ring || history->ring->size < ring->size))
		ring = rate_history_resize(history, ring);
	changed = rate_history_push(history, step);
	source->value.renewed = max(step->since, now);
	source->value.updates++;
	write_seqcount_end(&source->seq);
	spin_unlock_bh(&source->lock);
	if (ring)
		kfree_rcu(ring, rcu);
	return changed;
}

/**
 * rate_source_exchange() - exchange the value
 * @source: the source
 * @value: the new value; set to the old one
 */
void rate_source_exchange(struct rate_source *source, struct rate_value *value)
{
	spin_lock_bh(&source->lock);
	write_seqcount_begin(&source->seq);
	swap(source->value, *value);
	write_seqcount_end(&source->seq);
	spin_unlock_bh(&source->lock);
}

/**
 * rate_value_free() - free the memory of a value
 * @value: the value, which is no longer in any source
 */
void rate_value_free(const struct rate_value *value)
{
	if (value->history.ring)
		kfree_rcu(value->history.ring, rcu);
}

/**
 * rate_source_read() - the rate as it was
 * @source: the source
 * @when: ns
 * @step: set to the step that held then
 * @renewed: set to when the rate was last set
 *
 * Context: RCU read side.
 * Return: false if there was no rate then.
 */
bool rate_source_read(const struct rate_source *source, u64 when,
		      struct rate_step *step, u64 *renewed)
{
	unsigned int seq;
	bool there;

	do {
		seq = read_seqcount_begin(&source->seq);
		there = rate_history_at(&source->value.history, when, step);
		*renewed = source->value.renewed;
	} while (read_seqcount_retry(&source->seq, seq));
	return there;
}

/**
 * rate_source_snapshot() - the value as it is now
 * @source: the source
 * @step: set to the step that holds now
 * @renewed: set to when the rate was last set
 * @updates: set to how often it was set
 *
 * Context: RCU read side.
 */
void rate_source_snapshot(const struct rate_source *source,
			  struct rate_step *step, u64 *renewed, u64 *updates)
{
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&source->seq);
		*step = source->value.history.last;
		*renewed = source->value.renewed;
		*updates = source->value.updates;
	} while (read_seqcount_retry(&source->seq, seq));
}

/**
 * rate_source_flows() - the number of flows that a rate of a link is divided by
 * @source: the source
 * @step: a step of it
 *
 * Return: the flows that the link counted; or else those that listen and have been
 * active lately.  At least 1.
 */
u32 rate_source_flows(const struct rate_source *source,
		      const struct rate_step *step)
{
	u32 flows = READ_ONCE(source->value.published) ?
		    step->flows : (u32)atomic_read(&source->active);

	return max(flows, 1U);
}

/**
 * rate_source_is_own() - is the source of a path its own?
 * @source: the source of the path
 * @path: the path
 *
 * Return: true if it is, and not that of a device which the path follows.
 */
bool rate_source_is_own(const struct rate_source *source,
			const struct rate_path *path)
{
	return !source->rn ||
	       (source->rn == path->rn && path->key.kind == RATE_KEY_DEV &&
		path->key.ifindex == source->ifindex);
}

/**
 * rate_source_followed() - the device that a path follows
 * @path: the path
 * @source: the source of the path; NULL is allowed
 *
 * Context: RCU read side or rate_mutex.
 * Return: its ifindex; 0: the path follows none, or the device is gone.
 */
u32 rate_source_followed(const struct rate_path *path,
			 const struct rate_source *source)
{
	if (!source || READ_ONCE(source->gone) ||
	    rate_source_is_own(source, path))
		return 0;
	return source->ifindex;
}
