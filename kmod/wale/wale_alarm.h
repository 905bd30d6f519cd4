/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_alarm.h - runs a qdisc when its next packet departs
 *
 * What struct qdisc_watchdog does, and one thing more: with each alarm, the one
 * after it can be set.  When the first rings, the second is on already as the
 * timer's handler returns, and the clock is programmed once for each packet, not
 * twice: at the end of the interrupt for whatever timer is next, and again when
 * the qdisc has run.
 *
 * Where packets may leave late, an alarm rings once for all packets that are due by
 * then: in the second half of the slack, together with another timer if there is one.
 */
#ifndef _WALE_ALARM_H
#define _WALE_ALARM_H

#include <linux/hrtimer.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct Qdisc;

/**
 * struct wale_alarm - when a qdisc is to run
 * @timer: its expiry is written with @lock held, by its handler while it is not
 *	queued, by others through hrtimer_start()
 * @lock: of @at_ns and what is decided from @timer
 * @at_ns: when the alarm rings at the latest that is to ring next; 0: none, or it
 *	rang
 * @then_ns: the one after it; 0: none; also written without @lock, where @at_ns was
 *	seen to be set: should it ring just then, the qdisc runs afterwards
 * @step_mask: the timer expires at multiples of this plus one, ns
 * @cpu: whose interrupt rings it just in time; -1: none's does
 * @slack_ns: how late an alarm may ring; set with the root lock of the qdisc held
 * @sch: the qdisc
 */
struct wale_alarm {
	struct hrtimer timer;
	raw_spinlock_t lock;	/* see @lock above; innermost but for timers' */
	u64 at_ns;
	u64 then_ns;
	u64 step_mask;
	int cpu;
	u32 slack_ns;
	struct Qdisc *sch;
};

void wale_alarm_init(struct wale_alarm *alarm, struct Qdisc *sch);
void wale_alarm_program(struct wale_alarm *alarm, u64 at_ns, u64 then_ns);
void wale_alarm_ring_now(const struct wale_alarm *alarm);
void wale_alarm_cancel(struct wale_alarm *alarm);

/* Does it ring at that time, or late, but not too late? */
static inline bool wale_alarm_is_near(const struct wale_alarm *alarm, u64 at_ns)
{
	/* too early is far above any slack, and so is none */
	return READ_ONCE(alarm->at_ns) - at_ns <= alarm->slack_ns;
}

/**
 * wale_alarm_is_ahead() - is there no need to look at the clock?
 * @alarm: the alarm
 * @at_ns: when the qdisc is to run
 *
 * An interrupt of this CPU would have rung it by now, were it time.  One of another
 * CPU, which may be a virtual one that does not run, is not relied upon.
 *
 * Context: the root lock of the qdisc is held.
 * Return: true if the alarm is set to that very time, or within the slack behind it,
 * and did not ring yet.
 */
static inline bool wale_alarm_is_ahead(const struct wale_alarm *alarm,
				       u64 at_ns)
{
	return wale_alarm_is_near(alarm, at_ns) &&
	       READ_ONCE(alarm->cpu) == raw_smp_processor_id();
}

/* Is it known what comes after the alarm that is set?  With slack, it need not be. */
static inline bool wale_alarm_is_complete(const struct wale_alarm *alarm)
{
	return READ_ONCE(alarm->then_ns) || alarm->slack_ns;
}

/**
 * wale_alarm_set_then() - run the qdisc again, after the alarm that is set
 * @alarm: the alarm, set
 * @then_ns: when, unless another alarm is set until then; 0: not
 *
 * Context: the root lock of the qdisc is held.
 */
static inline void wale_alarm_set_then(struct wale_alarm *alarm, u64 then_ns)
{
	if (READ_ONCE(alarm->then_ns) != then_ns)
		WRITE_ONCE(alarm->then_ns, then_ns);
}

/**
 * wale_alarm_set() - run the qdisc, and run it again
 * @alarm: the alarm
 * @at_ns: when, CLOCK_MONOTONIC, or up to the slack later; instead of what was
 *	set before
 * @then_ns: and when again: see wale_alarm_set_then()
 *
 * With slack, it does not run again: by then, what is next may have left, too.
 *
 * Context: the root lock of the qdisc is held.
 */
static inline void wale_alarm_set(struct wale_alarm *alarm, u64 at_ns,
				  u64 then_ns)
{
	if (alarm->slack_ns)
		then_ns = 0;
	/* should it ring just now, the qdisc runs again anyway, and sets another */
	if (wale_alarm_is_near(alarm, at_ns))
		wale_alarm_set_then(alarm, then_ns);
	else
		wale_alarm_program(alarm, at_ns, then_ns);
}

#endif /* _WALE_ALARM_H */
