// SPDX-License-Identifier: GPL-2.0
/*
 * wire_guest.c - a guest among others that have one virtual time
 *
 * Their time goes on in windows, within which no packet can cross from one to another (see
 * guest_windows.c of the testbed).  When a window begins and there is something in the rings
 * for this guest, it is told by a byte on a socket: that becomes an interrupt at the window's
 * beginning, which takes in what has come, and a timer releases each packet when it arrives.
 * Packets that arrive at one time are released in the order of their links.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/wait.h>

#include <irq_kern.h>
#include <os.h>
#include <shared/timetravel.h>

#include "../compat.h"
#include "wire.h"

/* The socket, in the folder in which the guest's kernel was started. */
#define WIRE_SOCKET	"wake"

static struct wire_memory *const memory = (struct wire_memory *)WIRE_ADDRESS;
static const u32 *const guest_number = (u32 *)(WIRE_ADDRESS - WIRE_PAGE);

/**
 * struct wire_guest - this guest
 * @release: fires when the next packet arrives
 * @taking_in: runs when a window begins in which something may arrive
 * @staged: who waits until all guests are as far as this one
 * @ports: the network devices
 * @count: how many there are
 * @fd: of the socket
 * @irq: the interrupt that it becomes
 * @offset_ns: from ktime_get() to the time of all
 * @introduced: that is known
 */
static struct wire_guest {
	struct hrtimer release;
	struct tasklet_struct taking_in;
	wait_queue_head_t staged;
	struct wire_port *ports[WIRE_RINGS_MAX / 2];
	u32 count;
	int fd;
	int irq;
	s64 offset_ns;
	bool introduced;
} guest;

/**
 * wire_guest_memory() - the memory that all guests share
 *
 * Return: it.
 */
const struct wire_memory *wire_guest_memory(void)
{
	return memory;
}

/**
 * wire_guest_time() - from this guest's clock to the time of all
 * @ktime_ns: ktime_get_ns(), or what it was or will be
 * @ns: the time of all
 *
 * Return: true if that is known yet.
 */
bool wire_guest_time(u64 ktime_ns, u64 *ns)
{
	*ns = ktime_ns + guest.offset_ns;
	return guest.introduced;
}

/**
 * wire_guest_clock() - from the time of all to this guest's clock
 * @ns: the time of all, once that is known
 *
 * Return: what ktime_get_ns() is then.
 */
u64 wire_guest_clock(u64 ns)
{
	return ns - guest.offset_ns;
}

/**
 * wire_guest_port() - the devices of this guest, one by one
 * @n: from 0 on
 *
 * Return: the device; NULL: there are no more.
 */
struct wire_port *wire_guest_port(u32 n)
{
	return n < guest.count ? guest.ports[n] : NULL;
}

/* Of the packets on their way, that which arrives first. */
static struct wire_port *wire_guest_first(u64 *arrival_ns)
{
	struct wire_port *first = NULL;

	for (u32 n = 0; n < guest.count; n++) {
		struct wire_port *port = guest.ports[n];

		if (port->is_coming && (!first || port->next.arrival_ns < *arrival_ns)) {
			first = port;
			*arrival_ns = port->next.arrival_ns;
		}
	}
	return first;
}

/* Release what has arrived by now.  Return: true if more is on its way, and when. */
static bool wire_guest_release_due(u64 *arrival_ns)
{
	u64 now = ktime_get_ns() + guest.offset_ns;
	struct wire_port *port;

	while ((port = wire_guest_first(arrival_ns)) && *arrival_ns <= now)
		wire_device_release(port);
	return port;
}

static enum hrtimer_restart wire_guest_release(struct hrtimer *timer)
{
	u64 arrival_ns;

	if (!wire_guest_release_due(&arrival_ns))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(wire_guest_clock(arrival_ns)));
	return HRTIMER_RESTART;
}

/* A window has begun.  Tasklets and timers like ours both run in softirq, one by one. */
static void wire_guest_take_in(struct tasklet_struct *unused)
{
	u64 arrival_ns;

	for (u32 n = 0; n < guest.count; n++)
		wire_device_look(guest.ports[n]);
	if (wire_guest_release_due(&arrival_ns))
		hrtimer_start(&guest.release, ns_to_ktime(wire_guest_clock(arrival_ns)),
			      HRTIMER_MODE_ABS_SOFT);
}

static irqreturn_t wire_guest_interrupt(int irq, void *dev_id)
{
	if (!guest.introduced) {
		guest.offset_ns = (s64)memory->now_ns - (s64)ktime_get_ns();
		pr_info("wire: guest %u, %lld ns from its clock to that of all\n",
			*guest_number, guest.offset_ns);
		guest.introduced = true;
	}
	tasklet_schedule(&guest.taking_in);
	wake_up_all(&guest.staged);
	return IRQ_HANDLED;
}

/* All guests stand still.  The answer says that the event is there. */
static void wire_guest_woken(int irq, int fd, void *dev_id, struct time_travel_event *event)
{
	u8 byte;

	if (os_read_file(fd, &byte, sizeof(byte)) != sizeof(byte))
		return;
	time_travel_add_irq_event(event);
	if (os_write_file(fd, &byte, sizeof(byte)) != sizeof(byte))
		panic("wire: the link to the other guests is broken");
}

static void __init wire_guest_end(struct wire_end *end, u32 ring)
{
	const struct wire_ring_entry *entry = &memory->entry[ring];

	end->entry = entry;
	end->ring = (void *)memory + entry->offset;
	end->data = (void *)end->ring + WIRE_PAGE;
	end->sequence = 0;
	end->last_ns = 0;
}

/* The device of a link, if one of its ends is here. */
static int __init wire_guest_add_link(u32 link)
{
	const struct wire_ring_entry *entry = &memory->entry[2 * link];
	bool first = entry->from == *guest_number;
	struct wire_end tx, rx;
	struct net_device *dev;

	if (!first && entry->to != *guest_number)
		return 0;
	wire_guest_end(&tx, 2 * link + !first);
	wire_guest_end(&rx, 2 * link + first);
	dev = wire_device_create(link, &tx, &rx);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	guest.ports[guest.count++] = netdev_priv(dev);
	return 0;
}

static void wire_guest_remove_links(void)
{
	while (guest.count) {
		struct wire_port *port = guest.ports[--guest.count];
		struct net_device *dev = port->dev;

		unregister_netdev(dev);
		free_netdev(dev);
	}
}

static int __init wire_guest_connect(void)
{
	int irq;

	guest.fd = os_connect_socket(WIRE_SOCKET);
	if (guest.fd < 0)
		return guest.fd;
	irq = um_request_irq_tt(UM_IRQ_ALLOC, guest.fd, IRQ_READ, wire_guest_interrupt, 0,
				"wire", &guest, wire_guest_woken);
	if (irq < 0) {
		os_close_file(guest.fd);
		return irq;
	}
	guest.irq = irq;
	return 0;
}

/* Not __exit: also what was done so far, if the rest cannot be. */
static void wire_guest_exit(void)
{
	um_free_irq(guest.irq, &guest);
	os_close_file(guest.fd);
	tasklet_kill(&guest.taking_in);
	hrtimer_cancel(&guest.release);
	wire_rate_exit();
	wire_guest_remove_links();
}

static int __init wire_guest_init(void)
{
	int err = 0;

	if (time_travel_mode != TT_MODE_EXTERNAL)
		return -ENODEV;
	init_waitqueue_head(&guest.staged);
	tasklet_setup(&guest.taking_in, wire_guest_take_in);
	wale_compat_hrtimer_setup(&guest.release, wire_guest_release, CLOCK_MONOTONIC,
				  HRTIMER_MODE_ABS_SOFT);
	err = wire_guest_connect();
	if (err)
		return err;
	/* who has that socket has the memory, too */
	if (memory->magic != WIRE_MAGIC || memory->version != WIRE_VERSION)
		err = -EPROTO;
	for (u32 link = 0; !err && link < memory->rings / 2; link++)
		err = wire_guest_add_link(link);
	if (err)
		wire_guest_exit();
	return err;
}

module_init(wire_guest_init);
module_exit(wire_guest_exit);

static u32 wire_stage_here(void)
{
	return READ_ONCE(memory->stage[*guest_number]);
}

/* How far the experiment is in this guest. */
static int wire_stage_set(const char *text, const struct kernel_param *param)
{
	u32 stage;
	int err = kstrtou32(text, 0, &stage);

	if (err)
		return err;
	if (stage < wire_stage_here())
		return -EINVAL;
	WRITE_ONCE(memory->stage[*guest_number], stage);
	return 0;
}

/*
 * Wait for what the beginning of a window changes.  Whoever reads or writes a parameter of a module
 * has its lock, which others need meanwhile.
 */
#define wire_guest_wait(condition)						\
({										\
	int __err;								\
										\
	kernel_param_unlock(THIS_MODULE);					\
	__err = wait_event_interruptible(guest.staged, condition);		\
	kernel_param_lock(THIS_MODULE);						\
	__err;									\
})

/* It is read when a window begins in which every guest is as far as this one. */
static int wire_stage_get(char *buffer, const struct kernel_param *param)
{
	int err = wire_guest_wait(READ_ONCE(memory->stage_seen) >= wire_stage_here());

	return err ?: sysfs_emit(buffer, "%u\n", READ_ONCE(memory->stage_seen));
}

static const struct kernel_param_ops wire_stage_ops = {
	.set = wire_stage_set,
	.get = wire_stage_get,
};

module_param_cb(stage, &wire_stage_ops, NULL, 0600);
MODULE_PARM_DESC(stage, "written: how far this guest is; a read waits until all are as far");

/* The experiment is to end in all guests. */
static int wire_over_set(const char *text, const struct kernel_param *param)
{
	bool over;
	int err = kstrtobool(text, &over);

	if (err)
		return err;
	if (!over)
		return -EINVAL;
	WRITE_ONCE(memory->over, 1);
	return 0;
}

/* It is read when a window begins before which a guest wanted that. */
static int wire_over_get(char *buffer, const struct kernel_param *param)
{
	int err = wire_guest_wait(READ_ONCE(memory->over_seen));

	return err ?: sysfs_emit(buffer, "%u\n", READ_ONCE(memory->over_seen));
}

static const struct kernel_param_ops wire_over_ops = {
	.set = wire_over_set,
	.get = wire_over_get,
};

module_param_cb(over, &wire_over_ops, NULL, 0600);
MODULE_PARM_DESC(over, "written 1: all guests are to end; a read waits until one says so");
MODULE_DESCRIPTION("Links between User-Mode Linux guests of one virtual time");
MODULE_LICENSE("GPL");
