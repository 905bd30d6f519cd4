// SPDX-License-Identifier: GPL-2.0
/*
 * rate_wait.c - until something happens: a time, a signal, an event
 *
 * The timer is one of absolute times, so that lateness does not add up, and
 * unlike a sleeping process it has no slack.  Signals are read, so that none
 * can fall between a look at a flag and the wait.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/command.h"
#include "rate.h"

uint64_t rate_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * RATE_SECOND + now.tv_nsec;
}

int rate_wait_open(struct rate_wait *wait, int events)
{
	sigset_t set;
	int err;

	end_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);

	wait->events = events;
	wait->signals = signalfd(-1, &set, SFD_CLOEXEC);
	wait->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (wait->signals >= 0 && wait->timer >= 0)
		return 0;
	err = -errno;
	rate_wait_close(wait);
	return err;
}

void rate_wait_close(struct rate_wait *wait)
{
	if (wait->signals >= 0)
		close(wait->signals);
	if (wait->timer >= 0)
		close(wait->timer);
	wait->signals = -1;
	wait->timer = -1;
}

static int set_timer(int timer, uint64_t when_ns)
{
	struct itimerspec when = { .it_value = {
					   .tv_sec = when_ns / RATE_SECOND,
					   .tv_nsec = when_ns % RATE_SECOND,
				   } };

	/* Zero would stop it. */
	if (!when_ns)
		when.it_value.tv_nsec = 1;
	if (when_ns == RATE_FOREVER)
		when = (struct itimerspec){ 0 };
	return timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

enum rate_wake rate_wait(struct rate_wait *wait, uint64_t when_ns)
{
	struct pollfd fds[] = { { .fd = wait->signals, .events = POLLIN },
				{ .fd = wait->timer, .events = POLLIN },
				{ .fd = wait->events, .events = POLLIN } };

	if (set_timer(wait->timer, when_ns))
		return RATE_WAKE_FAILED;
	while (poll(fds, 3, -1) < 0)
		if (errno != EINTR)
			return RATE_WAKE_FAILED;
	if (fds[0].revents)
		return RATE_WAKE_SIGNAL;
	/* What is due comes before events, which could go on for ever. */
	return fds[1].revents ? RATE_WAKE_TIME : RATE_WAKE_EVENTS;
}
