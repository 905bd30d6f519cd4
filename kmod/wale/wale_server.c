// SPDX-License-Identifier: GPL-2.0
/*
 * wale_server.c - when does the service of a packet end?                  (pure)
 *
 * The server of Fig. 1 of Karnik and Kumar (2005): a queue with a server of
 * time-varying rate R(t).  A packet that is in service when the rate changes
 * finishes at the new rate: its service ends when the integral of R over its
 * service reaches its length.
 *
 *	busy period   |--- packet 1 ---|--- packet 2 ---|-- ...
 *	exact ends                     T1               T2
 *	time_ns                        ceil(T1)         ceil(T2)
 *	credit                         R * (ceil(T1) - T1)
 *
 * Packet 2, if it was waiting at T1, starts at T1 and not at ceil(T1): the
 * credit is work that it already received.  Ends of packets in a busy period
 * hence do not drift, whatever the rate.  Since arrivals and changes of the
 * rate are at whole ns, a packet is waiting at T1 if and only if it arrived
 * before ceil(T1).
 */

#include <linux/build_bug.h>

#include "wale_gso.h"
#include "wale_server.h"

/* The work of two packets, and what a link can do in a ns. */
static_assert(WALE_WIRE_LEN_MAX <=
	      (U64_MAX - WALE_RATE_MAX * WALE_RATE_UNIT) /
		      WALE_WORK_PER_BYTE / 2);

/**
 * wale_server_init() - an idle server
 * @server: the server
 */
void wale_server_init(struct wale_server *server)
{
	server->event_ns = U64_MAX;
	server->time_ns = 0;
	server->need = 0;
	server->credit = 0;
	server->took_ns = 0;
	server->busy = false;
}

/**
 * wale_server_earliest_end() - before when can the service not end?
 * @server: the server, busy, run up to now
 * @schedule: the rate
 * @more: work of what is served next and whose service must end, too
 *
 * Who waits for the end of a service need not wake up at each change of the
 * rate on the way.
 *
 * Return: ns; U64_MAX if it does not end unless the schedule is changed.
 */
u64 wale_server_earliest_end(const struct wale_server *server,
			     const struct wale_schedule *schedule, u64 more)
{
	u64 work = server->need + more - min(more, server->credit), done;

	if (schedule->until_ns == U64_MAX) {	/* no change of the rate ahead */
		if (!more || !schedule->rate ||
		    schedule->rate == WALE_RATE_UNLIMITED)
			return server->event_ns;
		return server->time_ns +
		       div64_u64(work + schedule->rate - 1, schedule->rate);
	}
	/* the service ends before the next one */
	if (!more && server->event_ns < schedule->until_ns)
		return server->event_ns;
	if (!work)
		return server->event_ns;
	if (check_mul_overflow(schedule->until_ns - server->time_ns,
			       schedule->rate, &done) || done >= work)
		return server->time_ns +
		       div64_u64(work + schedule->rate - 1, schedule->rate);
	return wale_schedule_reach_ns(schedule, work - done);
}

/**
 * wale_server_start() - a packet arrives at the idle server
 * @server: the server, idle
 * @schedule: the rate
 * @now: ns; not before the end of the last service
 * @len: bytes on the wire
 */
void wale_server_start(struct wale_server *server,
		       struct wale_schedule *schedule, u64 now, u32 len)
{
	server->time_ns = now;
	server->credit = 0;
	wale_server_next(server, schedule, len);
}

/**
 * wale_server_change() - the rate changes while a packet is in service
 * @server: the server, at the instant of the change
 * @schedule: the rate
 * @now: ns; further steps of a trace pass that are over by then, while the service
 *	goes on
 */
void wale_server_change(struct wale_server *server,
			struct wale_schedule *schedule, u64 now)
{
	wale_schedule_run(schedule, server->time_ns);
	if (schedule->trace) {
		wale_schedule_serve(schedule, &server->need, now);
		server->time_ns = schedule->since_ns;
	}
	wale_server_plan(server, schedule);
}

/**
 * wale_server_settle() - account for the work done so far at the rate so far
 * @server: the server, run up to @now
 * @schedule: the rate so far
 * @now: ns; the rate is about to change
 *
 * The caller changes the rate and then calls wale_server_plan().
 */
void wale_server_settle(struct wale_server *server,
			const struct wale_schedule *schedule, u64 now)
{
	if (!server->busy)
		return;
	server->need -= (now - server->time_ns) * schedule->rate;
	server->time_ns = now;
}
