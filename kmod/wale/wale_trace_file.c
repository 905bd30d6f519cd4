// SPDX-License-Identifier: GPL-2.0
/*
 * wale_trace_file.c - files to which long traces are written, before a link gets them
 *
 * The family "wale" of generic netlink opens them.  What is written to one is checked
 * and kept, without any lock that others wait for, and charged to who writes.  A link
 * then takes all of it at once.
 */

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/genetlink.h>

#include "../compat.h"
#include "wale_step.h"
#include "wale_trace_file.h"
#include "wale_trace_store.h"

/**
 * struct wale_trace_file - an open file
 * @mutex: protects the rest
 * @columns: WALE_TRACE_RATE and others: what each step has
 * @trace: what was written; NULL: nothing
 * @taken: a request has it, which may fail: nothing can be written meanwhile
 */
struct wale_trace_file {
	struct mutex mutex;	/* of the rest */
	u32 columns;
	struct wale_trace *trace;
	bool taken;
};

/* So many numbers, or somewhat fewer, are copied from the writer at a time. */
#define WALE_TRACE_FILE_VALUES	64

/* Return: how many of the steps are in the file now; or why not one is. */
static int wale_trace_file_add(struct wale_trace_file *trace_file,
			       const u64 *values, u32 count)
{
	u32 size = wale_trace_step_size(trace_file->columns) / sizeof(u64);
	const char *refusal;
	int err = 0;
	u32 i = 0;

	mutex_lock(&trace_file->mutex);
	if (trace_file->taken)
		err = -EBUSY;
	else if (!trace_file->trace)
		trace_file->trace = wale_trace_new(trace_file->columns);
	if (!err && !trace_file->trace)
		err = -ENOMEM;
	for (; !err && i < count; i += !err)
		err = wale_trace_store(trace_file->trace, values + i * size,
				       U32_MAX, &refusal);
	mutex_unlock(&trace_file->mutex);
	return i ? i : err;
}

static ssize_t wale_trace_file_write(struct file *file, const char __user *data,
				     size_t size, loff_t *at)
{
	struct wale_trace_file *trace_file = file->private_data;
	u32 step = wale_trace_step_size(trace_file->columns);
	u64 values[WALE_TRACE_FILE_VALUES];
	size_t done = 0, part;
	int added;

	if (size % step)
		return -EINVAL;
	while (done < size) {
		part = min(size - done, sizeof(values) / step * step);
		/* it may wait for a page of the writer's: not with the mutex */
		if (copy_from_user(values, data + done, part))
			return done ? done : -EFAULT;
		added = wale_trace_file_add(trace_file, values, part / step);
		if (added < 0)
			return done ? done : added;
		done += added * step;
		if (added * step < part || signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

static int wale_trace_file_release(struct inode *inode, struct file *file)
{
	struct wale_trace_file *trace_file = file->private_data;

	wale_trace_free(trace_file->trace);
	mutex_destroy(&trace_file->mutex);
	kfree(trace_file);
	return 0;
}

static const struct file_operations wale_trace_fops = {
	.owner		= THIS_MODULE,
	.write		= wale_trace_file_write,
	.release	= wale_trace_file_release,
};

/**
 * wale_is_trace_file() - is it such a file?
 * @file: any
 *
 * Return: true if it is.
 */
bool wale_is_trace_file(const struct file *file)
{
	return file->f_op == &wale_trace_fops;
}

/**
 * wale_trace_file_take() - have what was written
 * @file: such a file
 * @trace: set to it; it is to be returned, or not, by wale_trace_file_return()
 *
 * It does not wait: a writer may be short of memory for long.
 *
 * Return: 0; -EBUSY while it is written, or another request has it; -ENODATA if
 * nothing was written.
 */
int wale_trace_file_take(struct file *file, struct wale_trace **trace)
{
	struct wale_trace_file *trace_file = file->private_data;
	int err = 0;

	if (!mutex_trylock(&trace_file->mutex))
		return -EBUSY;
	if (trace_file->taken)
		err = -EBUSY;
	else if (!trace_file->trace || !trace_file->trace->count)
		err = -ENODATA;
	if (!err) {
		*trace = trace_file->trace;
		trace_file->trace = NULL;
		trace_file->taken = true;
	}
	mutex_unlock(&trace_file->mutex);
	return err;
}

/**
 * wale_trace_file_return() - the request is done
 * @file: the file
 * @trace: what was taken, if the request failed; NULL: a link has it
 */
void wale_trace_file_return(struct file *file, struct wale_trace *trace)
{
	struct wale_trace_file *trace_file = file->private_data;

	mutex_lock(&trace_file->mutex);
	trace_file->trace = trace;
	trace_file->taken = false;
	mutex_unlock(&trace_file->mutex);
}

static struct file *wale_trace_file_open(u32 columns)
{
	struct wale_trace_file *trace_file;
	struct file *file;

	trace_file = kzalloc_obj(*trace_file, GFP_KERNEL_ACCOUNT);
	if (!trace_file)
		return ERR_PTR(-ENOMEM);
	mutex_init(&trace_file->mutex);
	trace_file->columns = columns;
	file = anon_inode_getfile("[wale-trace]", &wale_trace_fops, trace_file,
				  O_WRONLY);
	if (IS_ERR(file))
		kfree(trace_file);
	return file;
}

static struct genl_family wale_family;

static int wale_trace_file_answer(struct genl_info *info, int fd)
{
	struct sk_buff *answer = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *head;

	if (!answer)
		return -ENOMEM;
	head = genlmsg_put_reply(answer, info, &wale_family, 0,
				 WALE_CMD_TRACE_NEW);
	if (!head || nla_put_u32(answer, WALE_A_FD, fd)) {
		nlmsg_free(answer);
		return -EMSGSIZE;
	}
	genlmsg_end(answer, head);
	return genlmsg_reply(answer, info);
}

/* The request is dealt with by the task that sent it, which gets the descriptor. */
static int wale_trace_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[WALE_A_COLUMNS];
	u32 columns = attr ? nla_get_u32(attr) : WALE_TRACE_RATE;
	struct file *file;
	int fd, err;

	if (!wale_trace_may_have(columns)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, WALE_WRONG_COLUMNS);
		return -EINVAL;
	}
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = wale_trace_file_open(columns);
	err = PTR_ERR_OR_ZERO(file);
	if (err)
		goto out_fd;
	err = wale_trace_file_answer(info, fd);
	if (err)
		goto out_file;
	fd_install(fd, file);
	return 0;

out_file:
	fput(file);
out_fd:
	put_unused_fd(fd);
	return err;
}

static const struct nla_policy wale_trace_policy[__WALE_A_MAX] = {
	[WALE_A_COLUMNS] = { .type = NLA_U32 },
};

static const struct genl_small_ops wale_ops[] = {
	{
		.cmd = WALE_CMD_TRACE_NEW,
		.doit = wale_trace_new_doit,
		.flags = GENL_UNS_ADMIN_PERM,
	},
};

static struct genl_family wale_family __ro_after_init = {
	.name = WALE_GENL_NAME,
	.version = WALE_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.maxattr = __WALE_A_MAX - 1,
	.policy = wale_trace_policy,
	.module = THIS_MODULE,
	.small_ops = wale_ops,
	.n_small_ops = ARRAY_SIZE(wale_ops),
};

/**
 * wale_trace_file_init() - register the family
 *
 * Return: 0 or an error.
 */
int __init wale_trace_file_init(void)
{
	return genl_register_family(&wale_family);
}

/**
 * wale_trace_file_exit() - unregister it
 */
void wale_trace_file_exit(void)
{
	genl_unregister_family(&wale_family);
}

MODULE_ALIAS_GENL_FAMILY(WALE_GENL_NAME);
