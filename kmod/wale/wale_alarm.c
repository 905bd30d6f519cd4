// SPDX-License-Identifier: GPL-2.0
/*
 * wale_alarm.c - runs a qdisc when its next packet departs; see wale_alarm.h
 */

#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <net/pkt_sched.h>

#include "../compat.h"
#include "wale_alarm.h"

/*
 * A clock may show no time between two multiples of its resolution.  An alarm
 * in between would ring while the clock still shows a time before it, and the
 * timer would be started again.
 */
static u64 wale_alarm_step_mask(void)
{
	u64 step_ns = ktime_get_resolution_ns();

	return is_power_of_2(step_ns) ? step_ns - 1 : 0;
}

/* The end of time does not become a time that is over, whatever is added to it. */
static ktime_t wale_alarm_step(const struct wale_alarm *alarm, u64 at_ns)
{
	at_ns = min_t(u64, at_ns, KTIME_MAX - alarm->step_mask);
	return ns_to_ktime((at_ns + alarm->step_mask) & ~alarm->step_mask);
}

/*
 * The CPU whose interrupt rings a timer that is started here; -1: no interrupt rings
 * it, or only that of a tick.
 */
static int wale_alarm_cpu(void)
{
	return hrtimer_resolution < LOW_RES_NSEC &&
	       !IS_ENABLED(CONFIG_PREEMPT_RT) ? smp_processor_id() : -1;
}

/* Start the timer, whose handler may be running on another CPU and then keeps it there. */
static void wale_alarm_start(struct wale_alarm *alarm, ktime_t rings)
{
	u32 early_ns = alarm->slack_ns / 2;	/* for the sake of other timers */
	struct hrtimer *timer = &alarm->timer;
	bool elsewhere;

	/* a handler that has released the lock may end before the second look */
	elsewhere = hrtimer_callback_running(timer);
	hrtimer_start_range_ns(timer, rings - early_ns, early_ns,
			       HRTIMER_MODE_ABS_PINNED);
	elsewhere |= hrtimer_callback_running(timer);
	WRITE_ONCE(alarm->cpu, elsewhere ? -1 : wale_alarm_cpu());
}

/*
 * The clock need not be asked whether the next time is over, too: if it is, the timer
 * rings again, at once or at the next tick, and the qdisc is to be run anyway.
 *
 * Who saw @at_ns before it is replaced here may have left it at that: the qdisc runs
 * after it.
 */
static enum hrtimer_restart wale_alarm_ring(struct hrtimer *timer)
{
	struct wale_alarm *alarm = container_of(timer, struct wale_alarm,
						timer);
	u64 then_ns = 0;

	raw_spin_lock(&alarm->lock);	/* by others with interrupts off */
	if (!hrtimer_is_queued(timer)) {	/* nor set meanwhile */
		then_ns = READ_ONCE(alarm->then_ns);
		if (then_ns)
			hrtimer_set_expires(timer,
					    wale_alarm_step(alarm, then_ns));
		WRITE_ONCE(alarm->at_ns, then_ns);
		WRITE_ONCE(alarm->then_ns, 0);
		WRITE_ONCE(alarm->cpu, wale_alarm_cpu());
	}
	raw_spin_unlock(&alarm->lock);

	/*
	 * Before it is looked whether another CPU is about to run the qdisc: some
	 * kernels leave it to that one.  It takes its packets with a barrier, too.
	 */
	smp_mb();
	rcu_read_lock();
	__netif_schedule(qdisc_root(alarm->sch));
	rcu_read_unlock();
	return then_ns ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/**
 * wale_alarm_init() - no alarm is set
 * @alarm: the alarm
 * @sch: the qdisc that it is to run
 */
void wale_alarm_init(struct wale_alarm *alarm, struct Qdisc *sch)
{
	raw_spin_lock_init(&alarm->lock);
	alarm->at_ns = 0;
	alarm->then_ns = 0;
	alarm->slack_ns = 0;
	alarm->cpu = -1;
	alarm->step_mask = wale_alarm_step_mask();
	alarm->sch = sch;
	wale_compat_hrtimer_setup(&alarm->timer, wale_alarm_ring,
				  CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
}

/* The device goes down. */
static bool wale_alarm_is_off(const struct wale_alarm *alarm)
{
	bool off;

	rcu_read_lock();
	off = test_bit(__QDISC_STATE_DEACTIVATED,
		       &qdisc_root_sleeping(alarm->sch)->state);
	rcu_read_unlock();
	return off;
}

/**
 * wale_alarm_program() - have the qdisc run at another time than is set
 * @alarm: the alarm
 * @at_ns: when, CLOCK_MONOTONIC, or up to the slack later
 * @then_ns: and when again; 0: not
 *
 * Context: the root lock of the qdisc is held.
 */
void wale_alarm_program(struct wale_alarm *alarm, u64 at_ns, u64 then_ns)
{
	struct hrtimer *timer = &alarm->timer;
	unsigned long flags;
	ktime_t rings;

	if (wale_alarm_is_off(alarm))
		return;
	at_ns += alarm->slack_ns;
	rings = wale_alarm_step(alarm, at_ns);

	raw_spin_lock_irqsave(&alarm->lock, flags);
	WRITE_ONCE(alarm->at_ns, at_ns);
	WRITE_ONCE(alarm->then_ns, then_ns);
	if (!hrtimer_is_queued(timer) || hrtimer_get_expires(timer) != rings)
		wale_alarm_start(alarm, rings);
	raw_spin_unlock_irqrestore(&alarm->lock, flags);
}

/**
 * wale_alarm_ring_now() - run the qdisc as soon as others had their turn
 * @alarm: the alarm; what is set stays
 */
void wale_alarm_ring_now(const struct wale_alarm *alarm)
{
	rcu_read_lock();
	__netif_schedule(qdisc_root(alarm->sch));
	rcu_read_unlock();
}

/**
 * wale_alarm_cancel() - no alarm
 * @alarm: the alarm; nobody may set it meanwhile
 *
 * Waits for the handler, if it runs.
 */
void wale_alarm_cancel(struct wale_alarm *alarm)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&alarm->lock, flags);
	WRITE_ONCE(alarm->then_ns, 0);
	raw_spin_unlock_irqrestore(&alarm->lock, flags);
	hrtimer_cancel(&alarm->timer);
	WRITE_ONCE(alarm->at_ns, 0);
}
