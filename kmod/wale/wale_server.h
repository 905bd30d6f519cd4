/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_server.h - when does the service of a packet end?                  (pure)
 *
 * Nothing is ever rounded but the instants at which a service ends, which are
 * rounded up to a ns, and that rounding is not carried over to the next packet.
 * What each packet needs is here, to be compiled into the loop that needs it.
 */
#ifndef _WALE_SERVER_H
#define _WALE_SERVER_H

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/types.h>

#include "wale_schedule.h"

/**
 * struct wale_server - one packet in service at a time, first come first served
 * @event_ns: when the service ends or the rate changes; U64_MAX: never
 * @time_ns: work is accounted for up to this instant
 * @start_ns: when the last service began
 * @need: work left at @time_ns of the packet in service
 * @credit: work that the link could do between the exact end of the previous
 *	service and @time_ns; it belongs to a packet that was waiting by then
 * @took_ns: what was last divided for; whatever it is, no result depends on it
 * @busy: a packet is in service
 */
struct wale_server {
	u64 event_ns;
	u64 time_ns;
	u64 start_ns;
	u64 need;
	u64 credit;
	u64 took_ns;
	bool busy;
};

void wale_server_init(struct wale_server *server);
void wale_server_start(struct wale_server *server,
		       struct wale_schedule *schedule, u64 now, u32 len);
void wale_server_change(struct wale_server *server,
			struct wale_schedule *schedule, u64 now);
void wale_server_settle(struct wale_server *server,
			const struct wale_schedule *schedule, u64 now);
u64 wale_server_earliest_end(const struct wale_server *server,
			     const struct wale_schedule *schedule, u64 more);

/*
 * How long is a need served, rounded up?  Mostly as long as the one before it: to see
 * whether it is takes a multiplication, which is cheaper than to divide.
 */
static inline u64 wale_server_takes(struct wale_server *server, u64 rate)
{
	u64 work = server->need + rate - 1, done;

	if (check_mul_overflow(server->took_ns, rate, &done) ||
	    work - done >= rate)
		server->took_ns = div64_u64(work, rate);
	return server->took_ns;
}

/**
 * wale_server_plan() - when is there something to do next?
 * @server: the server, busy
 * @schedule: the rate at the server's time
 *
 * Sets the instant at which the packet in service ends, rounded up, or that
 * at which the rate changes, whichever is first.
 */
static inline void wale_server_plan(struct wale_server *server,
				    const struct wale_schedule *schedule)
{
	u64 end;

	if (!server->need || schedule->rate == WALE_RATE_UNLIMITED)
		end = server->time_ns;
	else if (schedule->rate)
		end = server->time_ns +
		      wale_server_takes(server, schedule->rate);
	else
		end = U64_MAX;
	server->event_ns = min(end, schedule->until_ns);
}

/**
 * wale_server_next() - the packet that was waiting when the last service ended
 * @server: the server, at the end of a service
 * @schedule: the rate
 * @len: bytes on the wire
 *
 * With as much credit as the packet has work, its service ended within the same
 * ns as the one before.
 */
static inline void wale_server_next(struct wale_server *server,
				    struct wale_schedule *schedule, u32 len)
{
	u64 work = len * WALE_WORK_PER_BYTE;
	u64 received = min(work, server->credit);

	wale_schedule_run(schedule, server->time_ns);
	server->busy = true;
	server->start_ns = server->time_ns;
	server->need = work - received;
	server->credit -= received;
	wale_server_plan(server, schedule);
}

/**
 * wale_server_run() - let time pass until a service ends
 * @server: the server
 * @schedule: the rate
 * @now: ns
 *
 * Return: true if the service ended, at @server->time_ns <= @now; the server is
 * then idle, and wale_server_next() gives it the packet that waits.
 */
static inline bool wale_server_run(struct wale_server *server,
				   struct wale_schedule *schedule, u64 now)
{
	u64 done;

	while (server->event_ns <= now) {
		if (schedule->rate == WALE_RATE_UNLIMITED)
			done = server->need;
		else
			done = (server->event_ns - server->time_ns) *
			       schedule->rate;
		server->time_ns = server->event_ns;
		if (done >= server->need) {
			/* a need of zero keeps the credit it left over */
			server->credit += done - server->need;
			server->need = 0;
			server->busy = false;
			server->event_ns = U64_MAX;
			return true;
		}
		server->need -= done;
		wale_server_change(server, schedule, now);
	}
	return false;
}

#endif /* _WALE_SERVER_H */
