// SPDX-License-Identifier: GPL-2.0
/*
 * rate_device.c - values of devices, which the paths of any namespace may follow
 *
 * A device has one source, and all paths that follow the device have that one too.
 * So what happens to its value happens once, however many they are:
 *
 *	path "dev r0" in R ---+
 *	path "dev a0" in A ---+--> source of r0 ---> value
 *	path "10.0.0.0/8" ----+
 *
 * Only those who look have to be told of each path.  They are told of the first few
 * at once, and of the others by a worker, as many at a time; what they are told is how
 * the path is then.
 */

#include <linux/netdevice.h>
#include <linux/rbtree.h>

#include "rate.h"

/*
 * So many paths are told of at a time, as rate_mutex is held meanwhile; where nobody
 * looks, so many times as many are passed.
 */
#define RATE_TELL_MAX	64
#define RATE_TELL_COST	16

static int rate_device_compare(const void *key, const struct rb_node *node)
{
	u32 ifindex = *(const u32 *)key;
	u32 other = rb_entry(node, struct rate_source, node)->ifindex;

	return ifindex < other ? -1 : ifindex > other;
}

/**
 * rate_device_find() - the source of a device
 * @rn: its namespace
 * @ifindex: the device
 *
 * Context: rate_mutex is held.
 * Return: the source; NULL: it has no path of its own, and none follows it.
 */
struct rate_source *rate_device_find(const struct rate_net *rn, u32 ifindex)
{
	struct rb_node *node = rb_find(&ifindex, &rn->devices,
				       rate_device_compare);

	return node ? rb_entry(node, struct rate_source, node) : NULL;
}

static bool rate_device_less(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct rate_source, node)->ifindex <
	       rb_entry(other, struct rate_source, node)->ifindex;
}

/**
 * rate_device_add() - a device gets a source
 * @rn: its namespace
 * @ifindex: the device, which has none
 * @source: the source, a new one; it is to be attached to a path
 *
 * Context: rate_mutex is held.
 */
void rate_device_add(struct rate_net *rn, u32 ifindex,
		     struct rate_source *source)
{
	source->rn = rate_net_get(rn);
	source->ifindex = ifindex;
	rb_add(&source->node, &rn->devices, rate_device_less);
}

/**
 * rate_device_del() - a device no longer has this source
 * @source: the source, of a device that is not gone
 *
 * Context: rate_mutex is held.
 */
void rate_device_del(struct rate_source *source)
{
	rb_erase(&source->node, &source->rn->devices);
}

/**
 * rate_device_goes() - a device goes, and with it its path and its value
 * @rn: its namespace
 * @ifindex: the device
 *
 * A path of a link that publishes goes with the link.
 *
 * Context: rate_mutex is held.
 */
void rate_device_goes(struct rate_net *rn, u32 ifindex)
{
	const struct rate_key key = { .kind = RATE_KEY_DEV, .ifindex = ifindex };
	struct rate_path *path = rate_path_find(rn, &key);
	struct rate_source *source;

	if (path && !rate_path_published(path))
		rate_path_remove(path);
	source = rate_device_find(rn, ifindex);
	if (!source)
		return;
	rate_device_del(source);
	WRITE_ONCE(source->gone, true);
	rn->follower_count -= source->followers;
	if (source->value.published)
		rate_source_tell(source);
	else
		rate_source_withdraw(source);
}

/**
 * rate_device_is_there() - is there such a device?
 * @net: the namespace
 * @ifindex: the device
 *
 * If it goes this moment, it was found before it left the list, and the notifier
 * waits for rate_mutex to delete its path and its source.
 *
 * Context: rate_mutex is held.
 * Return: true if there is.
 */
bool rate_device_is_there(struct net *net, u32 ifindex)
{
	bool there;

	rcu_read_lock();
	there = dev_get_by_index_rcu(net, ifindex);
	rcu_read_unlock();
	return there;
}

/**
 * rate_source_withdraw() - there is no value any more
 * @source: the source
 *
 * Context: rate_mutex is held.
 */
void rate_source_withdraw(struct rate_source *source)
{
	struct rate_value value = {};

	rate_source_exchange(source, &value);
	rate_value_free(&value);
	rate_source_tell(source);
}

/*
 * Tell of some paths behind @told, and move it on.
 *
 * Return: true if there are more; else @told is in no list any more.
 */
static bool rate_source_tell_some(struct rate_source *source)
{
	int left = RATE_TELL_MAX * RATE_TELL_COST;
	struct list_head *next;

	while (left > 0) {
		next = source->told.next;
		if (next == &source->paths) {
			list_del_init(&source->told);
			return false;
		}
		left -= rate_notify_path(list_entry(next, struct rate_path,
						    source_node),
					 RATE_FEEDBACK_CMD_PATH_NTF) ?
			RATE_TELL_COST : 1;
		list_move(&source->told, next);
	}
	return true;
}

/* Have the worker tell of more. */
static void rate_source_tell_on(struct rate_source *source)
{
	refcount_inc(&source->refs);
	if (!queue_work(rate_workqueue, &source->tell))
		rate_source_put(source);	/* pending, with its own */
}

/**
 * rate_source_tell_later() - the same as rate_source_tell(), all of it by the worker
 * @source: the source, which changed
 *
 * Context: any but hard interrupts.
 */
void rate_source_tell_later(struct rate_source *source)
{
	set_bit(0, &source->changed);
	rate_source_tell_on(source);
}

/**
 * rate_source_tell() - tell those who look about all paths of a source
 * @source: the source, which changed
 *
 * Context: rate_mutex is held.
 */
void rate_source_tell(struct rate_source *source)
{
	if (!list_empty(&source->told)) {	/* all of them once more, then */
		rate_source_tell_later(source);
		return;
	}
	list_add(&source->told, &source->paths);
	if (rate_source_tell_some(source))
		rate_source_tell_on(source);
}

/**
 * rate_source_tell_work() - go on telling of the paths of a source
 * @work: of the source
 *
 * A source that changes all the time does not keep the last paths from being told of:
 * each walk goes to the end.
 */
void rate_source_tell_work(struct work_struct *work)
{
	struct rate_source *source = container_of(work, struct rate_source,
						  tell);
	bool more = false;

	mutex_lock(&rate_mutex);
	if (list_empty(&source->told) && test_and_clear_bit(0, &source->changed))
		list_add(&source->told, &source->paths);
	if (!list_empty(&source->told))
		more = rate_source_tell_some(source);
	mutex_unlock(&rate_mutex);
	if (more || test_bit(0, &source->changed))
		rate_source_tell_on(source);
	rate_source_put(source);
}
