// SPDX-License-Identifier: GPL-2.0
/*
 * rate_tell.c - events about all paths of a source that has changed
 *
 * Events about the first few paths are sent at once, those about the others by a worker,
 * as many at a time; each shows the path as it is at that moment.
 */

#include <linux/list.h>

#include "rate.h"

/*
 * Number of events sent at a time, since rate_mutex is held meanwhile; where nobody
 * listens, this many times as many paths are skipped.
 */
#define RATE_TELL_MAX	64
#define RATE_TELL_COST	16

/**
 * rate_tell_withdrawn() - send events: there is no value any more
 * @source: the source
 *
 * Context: rate_mutex is held.
 */
void rate_tell_withdrawn(struct rate_source *source)
{
	struct rate_value value = {};

	rate_source_exchange(source, &value);
	rate_value_free(&value);
	rate_tell(source);
}

/*
 * Send events about some paths behind @told, and move it on.
 *
 * Return: true if there are more; else @told is in no list any more.
 */
static bool rate_tell_some(struct rate_source *source)
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

/* Leave the rest to the worker. */
static void rate_tell_on(struct rate_source *source)
{
	refcount_inc(&source->refs);
	if (!queue_work(rate_workqueue, &source->tell))
		rate_source_put(source);	/* it is pending, and has its own reference */
}

/**
 * rate_tell_later() - the same as rate_tell(), but by the worker alone
 * @source: the source, which changed
 *
 * Context: any but hard interrupts.
 */
void rate_tell_later(struct rate_source *source)
{
	set_bit(0, &source->changed);
	rate_tell_on(source);
}

/**
 * rate_tell() - send events about all paths of a source
 * @source: the source, which changed
 *
 * Context: rate_mutex is held.
 */
void rate_tell(struct rate_source *source)
{
	if (!list_empty(&source->told)) {	/* then send all of them once more */
		rate_tell_later(source);
		return;
	}
	list_add(&source->told, &source->paths);
	if (rate_tell_some(source))
		rate_tell_on(source);
}

/**
 * rate_tell_work() - continue sending events about the paths of a source
 * @work: in struct rate_source
 *
 * Each walk goes to the end of the list, so that a source which changes all the time
 * does not keep the last paths waiting.
 */
void rate_tell_work(struct work_struct *work)
{
	struct rate_source *source = container_of(work, struct rate_source,
						  tell);
	bool more = false;

	mutex_lock(&rate_mutex);
	if (list_empty(&source->told) && test_and_clear_bit(0, &source->changed))
		list_add(&source->told, &source->paths);
	if (!list_empty(&source->told))
		more = rate_tell_some(source);
	mutex_unlock(&rate_mutex);
	if (more || test_bit(0, &source->changed))
		rate_tell_on(source);
	rate_source_put(source);
}
