// SPDX-License-Identifier: GPL-2.0
/*
 * wale_netlink_schedule.c - configuration of the rate as a function of time:
 * constant, a trace, or sessions; and when a trace or sessions begin
 */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/netlink.h>

#include "wale.h"
#include "wale_netlink_attr.h"
#include "wale_netlink_schedule.h"
#include "wale_trace_file.h"
#include "wale_trace_store.h"

/* @more: how many steps are to come, with these. */
static int wale_netlink_parse_steps(struct wale_trace *trace, const void *steps,
				    u32 count, u32 more,
				    const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	u32 size = wale_trace_step_size(trace->columns), i;
	u64 step[WALE_TRACE_VALUES];
	const char *refusal;
	int err = 0;

	for (i = 0; !err && i < count; i++) {
		/* in @attr they are not aligned */
		memcpy(step, steps + i * size, size);
		err = wale_trace_store(trace, step, more - i, &refusal);
	}
	if (err == -ERANGE || err == -EFBIG)
		return wale_netlink_attr_refuse(extack, attr, refusal, -ERANGE);
	return err;
}

static int wale_netlink_parse_trace(struct wale_schedule_request *request,
				    const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	u32 size = wale_trace_step_size(request->columns);
	u32 count = nla_len(attr) / size;

	if (!nla_len(attr)) {
		request->trace_off = true;
		return 0;
	}
	if (!count || count > WALE_TRACE_STEPS_MAX || nla_len(attr) % size) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: trace must be 1 to 4000 steps of 8 bytes for the duration and 8 for each column: without trace_columns, of 16 bytes, a duration in ns and a rate in bytes/s");
		return -EINVAL;
	}
	request->trace = wale_trace_new(request->columns);
	if (!request->trace)
		return -ENOMEM;
	return wale_netlink_parse_steps(request->trace, nla_data(attr), count,
					count, attr, extack);
}

/*
 * With RTNL held, nobody but the kernel may decide how long a read takes: no file
 * of FUSE, of a network or of a device.
 *
 * Return: how many steps are in the file, or -EINVAL.
 */
static int wale_netlink_count_steps(const struct file *file, u32 step_size,
				    const struct nlattr *attr,
				    struct netlink_ext_ack *extack)
{
	const struct inode *inode = file_inode(file);
	u64 size = i_size_read(inode), count;
	u32 rest;

	if (!S_ISREG(inode->i_mode) || inode->i_sb->s_magic != TMPFS_MAGIC ||
	    !(file->f_mode & FMODE_READ)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: the file of a trace must be one in memory (memfd_create, or of tmpfs), open for reading, or of the family wale");
		return -EINVAL;
	}
	count = div_u64_rem(size, step_size, &rest);
	if (!count || rest || count > WALE_TRACE_FILE_STEPS_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: the file of a trace must have 1 to 65536 steps of 8 bytes for the duration and 8 for each column: without trace_columns, of 16 bytes; more of them must be written to a file of the family wale");
		return -EINVAL;
	}
	return count;
}

/* So many numbers, or somewhat fewer, are read at a time. */
#define WALE_TRACE_READ_VALUES	64

static int wale_netlink_read_steps(struct wale_trace *trace, struct file *file,
				   u32 count, const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	u32 size = wale_trace_step_size(trace->columns);
	u64 values[WALE_TRACE_READ_VALUES];
	u32 left = count, n;
	loff_t at = 0;
	ssize_t read;
	int err = 0;

	for (; !err && left; left -= n) {
		n = min_t(u32, left, sizeof(values) / size);
		read = kernel_read(file, values, n * size, &at);
		if (read < 0)
			return read;
		if (read != n * size) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "wale: the file of the trace became shorter while it was read");
			return -EINVAL;
		}
		err = wale_netlink_parse_steps(trace, values, n, left, attr,
					       extack);
	}
	return err;
}

/* A file in memory. */
static int wale_netlink_read_trace(struct wale_schedule_request *request,
				   struct file *file, const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	u32 size = wale_trace_step_size(request->columns);
	int count = wale_netlink_count_steps(file, size, attr, extack);

	if (count < 0)
		return count;
	request->trace = wale_trace_new(request->columns);
	if (!request->trace)
		return -ENOMEM;
	return wale_netlink_read_steps(request->trace, file, count, attr,
				       extack);
}

/* A file of the family wale: the request has it from now on. */
static int wale_netlink_take_trace(struct wale_schedule_request *request,
				   struct file *file, const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	int err = wale_trace_file_take(file, &request->trace);

	if (err == -EBUSY)
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: the file of the trace is being written");
	if (err == -ENODATA)
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: the file of the trace must have 1 to 16777216 steps, and those in it must not have been given to a link before");
	if (err)
		return err == -ENODATA ? -EINVAL : err;
	request->trace_file = get_file(file);
	if (!request->columns_given ||
	    request->columns == request->trace->columns)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "wale: trace_columns must be those that the file of the trace was opened with");
	return -EINVAL;
}

/* The request is dealt with by the task that sent it, whose descriptor it is. */
static int wale_netlink_open_trace(struct wale_schedule_request *request,
				   const struct nlattr *attr,
				   struct netlink_ext_ack *extack)
{
	struct file *file = fget(nla_get_u32(attr));
	int err;

	if (!file) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: the file of a trace must be a file descriptor of the sender");
		return -EBADF;
	}
	if (wale_is_trace_file(file))
		err = wale_netlink_take_trace(request, file, attr, extack);
	else
		err = wale_netlink_read_trace(request, file, attr, extack);
	fput(file);
	return err;
}

static int wale_netlink_parse_sessions(struct wale_schedule_request *request,
				       const struct nlattr *attr,
				       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_WALE_SESSIONS_MAX + 1];
	struct wale_sessions_params params;
	struct wale_sessions *sessions;
	int err;

	if (!nla_len(attr))
		return 0;
	err = wale_netlink_attr_parse(tb, &wale_sessions_nest, attr, extack);
	if (err)
		return err;
	params.arrival = nla_get_u32(tb[TCA_WALE_SESSIONS_ARRIVAL]);
	params.mean = nla_get_u64(tb[TCA_WALE_SESSIONS_MEAN]);
	params.max = nla_get_u32(tb[TCA_WALE_SESSIONS_LIMIT]);
	params.step_ns = nla_get_u64(tb[TCA_WALE_SESSIONS_STEP]);

	sessions = kvzalloc(wale_sessions_size(params.max), GFP_KERNEL_ACCOUNT);
	if (!sessions)
		return -ENOMEM;
	request->sessions = sessions;
	err = wale_sessions_init(sessions, &params);
	if (err)
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_SESSIONS_ARRIVAL],
				    "wale: arrival of sessions is too large: in a step, the probabilities of an arrival and of departures from any number of sessions must not exceed 1 together");
	return err;
}

static int wale_netlink_parse_columns(struct wale_schedule_request *request,
				      struct nlattr **tb,
				      struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = tb[TCA_WALE_TRACE_COLUMNS];

	request->columns_given = attr;
	request->columns = wale_attr_get(attr, WALE_TRACE_RATE);
	if (!wale_trace_may_have(request->columns)) {
		NL_SET_ERR_MSG_ATTR(extack, attr, WALE_WRONG_COLUMNS);
		return -EINVAL;
	}
	if (attr && !tb[TCA_WALE_TRACE] && !tb[TCA_WALE_TRACE_FD]) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: trace_columns say what the steps of a trace have: they must come with the trace");
		return -EINVAL;
	}
	return 0;
}

static int
wale_netlink_parse_either_trace(struct wale_schedule_request *request,
				struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = tb[TCA_WALE_TRACE] ?: tb[TCA_WALE_TRACE_FD];
	int err;

	err = wale_netlink_parse_columns(request, tb, extack);
	if (err || !attr)
		return err;
	if (tb[TCA_WALE_TRACE] && tb[TCA_WALE_TRACE_FD]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_TRACE_FD],
				    "wale: a trace comes in the request or in a file, not both");
		return -EINVAL;
	}
	err = tb[TCA_WALE_TRACE] ?
		      wale_netlink_parse_trace(request, attr, extack) :
		      wale_netlink_open_trace(request, attr, extack);
	if (err || request->trace_off)
		return err;
	request->trace->end = wale_attr_get(tb[TCA_WALE_TRACE_END],
					    WALE_TRACE_LOOP);
	if (!request->trace->peak_rate && !wale_trace_is_open(request->trace)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "wale: trace must have a step with a rate above 0, or that leaves it to the option, or nothing would ever be sent");
		return -ERANGE;
	}
	return 0;
}

/**
 * wale_netlink_schedule_parse() - what a request says of the rate, each attribute by itself
 * @request: zeroed; what came
 * @tb: the attributes
 * @extack: what was expected
 *
 * Return: 0, -EINVAL, -ERANGE or -ENOMEM; of the file of a trace, -EBADF or what
 * reading it says.
 */
int wale_netlink_schedule_parse(struct wale_schedule_request *request,
				struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	int err;

	/* the clock is read only if need be: that takes time, in virtual time too */
	if (tb[TCA_WALE_START] &&
	    nla_get_u64(tb[TCA_WALE_START]) >
	    ktime_get_real_ns() + WALE_START_AHEAD_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_START],
				    "wale: start must be at most 366 days from now");
		return -ERANGE;
	}
	err = wale_netlink_parse_either_trace(request, tb, extack);
	if (!err && tb[TCA_WALE_SESSIONS])
		err = wale_netlink_parse_sessions(request,
						  tb[TCA_WALE_SESSIONS],
						  extack);
	return err;
}

/*
 * ns from the start to @now, an instant of CLOCK_MONOTONIC.  The two clocks are
 * compared by the difference that the kernel keeps, not by reading both: links
 * with the same start are in step to the ns, unless the time of day was set in
 * between.
 */
static s64 wale_netlink_start_elapsed(u64 start_ns, u64 now)
{
	return ktime_to_ns(ktime_mono_to_any(now, TK_OFFS_REAL)) - start_ns;
}

/**
 * wale_netlink_schedule_request_trace() - the trace that a link will follow
 * @q: the link
 * @request: what came
 * @tb: the attributes
 *
 * A rate ends the trace that sets the rate in each step, and is that of other steps.
 *
 * Return: the trace, or NULL.
 */
const struct wale_trace *
wale_netlink_schedule_request_trace(const struct wale_sched_data *q,
				    const struct wale_schedule_request *request,
				    struct nlattr **tb)
{
	const struct wale_trace *trace = q->schedule.trace;

	if (request->trace)
		return request->trace;
	if (!trace || request->trace_off || request->sessions)
		return NULL;
	return tb[TCA_WALE_RATE64] && !wale_trace_is_open(trace) ? NULL : trace;
}

/* Sessions share a finite constant rate. */
static int
wale_netlink_check_sharing(const struct wale_sched_data *q,
			   const struct wale_schedule_request *request,
			   struct nlattr **tb, struct netlink_ext_ack *extack)
{
	bool has_rate = q->schedule.capacity != WALE_RATE_UNLIMITED &&
			!q->schedule.trace;
	bool has_sessions = q->schedule.sessions;

	if (request->trace)
		return 0;	/* ends the sessions */
	if (tb[TCA_WALE_RATE64])
		has_rate = nla_get_u64(tb[TCA_WALE_RATE64]) !=
			   WALE_RATE_UNLIMITED;
	if (tb[TCA_WALE_SESSIONS])
		has_sessions = request->sessions;
	if (!has_sessions || has_rate)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack,
			    tb[TCA_WALE_SESSIONS] ?: tb[TCA_WALE_RATE64],
			    "wale: sessions share a rate: it must be given, 1 to 10^15 bytes/s");
	return -EINVAL;
}

/* A start is that of something, and not of a chain of too many moves. */
static int wale_netlink_check_start(const struct wale_sched_data *q,
				    const struct wale_schedule_request *request,
				    struct nlattr **tb,
				    struct netlink_ext_ack *extack)
{
	const struct wale_sessions *sessions = q->schedule.sessions;
	bool trace = wale_netlink_schedule_request_trace(q, request, tb);
	s64 elapsed_ns;

	if (!tb[TCA_WALE_START])
		return 0;
	if (tb[TCA_WALE_SESSIONS])
		sessions = request->sessions;
	else if (trace)
		sessions = NULL;
	if (!trace && !sessions) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_START],
				    "wale: start is that of a trace or of sessions: there must be one");
		return -EINVAL;
	}
	elapsed_ns = wale_netlink_start_elapsed(nla_get_u64(tb[TCA_WALE_START]),
						ktime_get_ns());
	if (sessions && elapsed_ns > 0 &&
	    div64_u64(elapsed_ns, sessions->params.step_ns) >
	    WALE_START_MOVES_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_START],
				    "wale: start of sessions must not be longer ago than 100000 of their steps");
		return -ERANGE;
	}
	return 0;
}

/**
 * wale_netlink_schedule_check() - the attributes together, and with what the link is
 * @q: the link
 * @request: what came
 * @tb: the attributes
 * @extack: what was expected
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int wale_netlink_schedule_check(const struct wale_sched_data *q,
				const struct wale_schedule_request *request,
				struct nlattr **tb,
				struct netlink_ext_ack *extack)
{
	bool sets_rate = request->trace && !wale_trace_is_open(request->trace);

	if (request->trace && ((tb[TCA_WALE_RATE64] && sets_rate) ||
			       tb[TCA_WALE_SESSIONS])) {
		NL_SET_ERR_MSG_ATTR(extack,
				    tb[TCA_WALE_TRACE] ?: tb[TCA_WALE_TRACE_FD],
				    "wale: trace sets the rate: it must come without rate and sessions");
		return -EINVAL;
	}
	if (tb[TCA_WALE_TRACE_END] && !request->trace) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_WALE_TRACE_END],
				    "wale: loop, hold and stop say how a trace ends: they must come with the trace");
		return -EINVAL;
	}
	return wale_netlink_check_sharing(q, request, tb, extack) ?:
		       wale_netlink_check_start(q, request, tb, extack);
}

/**
 * wale_netlink_schedule_apply() - replace the rate as a function of time
 * @q: the link, run up to @now
 * @request: checked; what is replaced goes into it
 * @tb: the attributes
 * @now: ns of CLOCK_MONOTONIC
 *
 * Context: RTNL and the root lock are held.
 */
void wale_netlink_schedule_apply(struct wale_sched_data *q,
				 struct wale_schedule_request *request,
				 struct nlattr **tb, u64 now)
{
	struct wale_schedule *schedule = &q->schedule;
	struct wale_trace *trace = schedule->trace;
	struct wale_sessions *sessions = schedule->sessions;
	u64 start_ns = wale_attr_get(tb[TCA_WALE_START], 0);
	u64 capacity = wale_attr_get(tb[TCA_WALE_RATE64], schedule->capacity);
	s64 elapsed_ns = 0;

	if (start_ns)
		elapsed_ns = wale_netlink_start_elapsed(start_ns, now);
	wale_server_settle(&q->server, schedule, now);
	if (!wale_netlink_schedule_request_trace(q, request, tb) &&
	    (schedule->trace || tb[TCA_WALE_RATE64]))
		wale_schedule_set_constant(schedule, capacity, now);
	else if (tb[TCA_WALE_RATE64])
		wale_schedule_set_capacity(schedule, capacity);
	if (request->trace || (start_ns && schedule->trace)) {
		wale_schedule_set_trace(schedule, request->trace ?: trace, now,
					elapsed_ns);
		schedule->start_ns = start_ns;
	}
	if (tb[TCA_WALE_SESSIONS] ?
	    request->sessions || sessions :
	    (start_ns || tb[TCA_WALE_SEED]) && schedule->sessions) {
		wale_schedule_set_sessions(schedule,
					   tb[TCA_WALE_SESSIONS] ?
					   request->sessions : sessions,
					   q->seed, now, elapsed_ns);
		schedule->start_ns = start_ns;
	}
	if (q->server.busy)
		wale_server_plan(&q->server, schedule);

	request->applied = true;
	request->trace = trace == schedule->trace ? NULL : trace;
	request->sessions = sessions == schedule->sessions ? NULL : sessions;
}

/**
 * wale_netlink_schedule_request_free() - free what was not used
 * @request: the request
 */
void wale_netlink_schedule_request_free(struct wale_schedule_request *request)
{
	struct wale_trace *trace = request->trace;

	if (request->trace_file) {
		wale_trace_file_return(request->trace_file,
				       request->applied ? NULL : trace);
		fput(request->trace_file);
		if (!request->applied)
			trace = NULL;
	}
	wale_trace_free(trace);
	kvfree(request->sessions);
}

static int wale_netlink_dump_steps(const struct wale_trace *trace,
				   struct sk_buff *skb)
{
	u32 size = wale_trace_step_size(trace->columns), i;
	u64 step[WALE_TRACE_VALUES];
	struct nlattr *attr;

	attr = nla_reserve(skb, TCA_WALE_TRACE, trace->count * size);
	if (!attr)
		return -EMSGSIZE;
	for (i = 0; i < trace->count; i++) {
		wale_trace_write(trace, i, step);
		memcpy(nla_data(attr) + i * size, step, size);
	}
	return 0;
}

static int wale_netlink_dump_trace(const struct wale_schedule *schedule,
				   struct sk_buff *skb)
{
	const struct wale_trace *trace = schedule->trace;

	if ((wale_trace_is_open(trace) &&
	     wale_option_put(skb, TCA_WALE_RATE64, schedule->capacity)) ||
	    wale_option_put(skb, TCA_WALE_TRACE_STEPS, trace->count) ||
	    wale_option_put(skb, TCA_WALE_TRACE_END, trace->end) ||
	    wale_option_put_unless(skb, TCA_WALE_TRACE_COLUMNS, trace->columns,
				   WALE_TRACE_RATE))
		return -EMSGSIZE;
	if (trace->count > WALE_TRACE_DUMP_MAX)
		return 0;
	return wale_netlink_dump_steps(trace, skb);
}

static int wale_netlink_dump_sessions(const struct wale_sessions *sessions,
				      struct sk_buff *skb)
{
	const struct wale_sessions_params *params = &sessions->params;
	const struct wale_nest *set = &wale_sessions_nest;
	struct nlattr *nest;

	nest = nla_nest_start_noflag(skb, TCA_WALE_SESSIONS);
	if (!nest ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SESSIONS_ARRIVAL,
				  params->arrival) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SESSIONS_MEAN,
				  params->mean) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SESSIONS_LIMIT,
				  params->max) ||
	    wale_netlink_attr_put(skb, set, TCA_WALE_SESSIONS_STEP,
				  params->step_ns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int wale_netlink_dump_start(const struct wale_schedule *schedule,
				   struct sk_buff *skb)
{
	if (!schedule->start_ns || (!schedule->trace && !schedule->sessions))
		return 0;
	return wale_option_put(skb, TCA_WALE_START, schedule->start_ns);
}

/**
 * wale_netlink_dump_schedule() - put what the rate is as a function of time
 * @schedule: the schedule
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int wale_netlink_dump_schedule(const struct wale_schedule *schedule,
			       struct sk_buff *skb)
{
	int err;

	if (schedule->trace)
		return wale_netlink_dump_trace(schedule, skb) ?:
			       wale_netlink_dump_start(schedule, skb);
	err = wale_option_put(skb, TCA_WALE_RATE64, schedule->capacity);
	if (!err && schedule->sessions)
		err = wale_netlink_dump_sessions(schedule->sessions, skb) ?:
			      wale_netlink_dump_start(schedule, skb);
	return err;
}
