// SPDX-License-Identifier: GPL-2.0
/*
 * mistakes - makes the mistake that its parameter names, when it is loaded
 *
 * What must not happen in a kernel, once each: a guest in which it happens has
 * to fail.  Built like our modules, out of the tree, so that it also shows that
 * those are instrumented.
 */

#include <linux/delay.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/ref_tracker.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *name = "";
module_param(name, charp, 0);
MODULE_PARM_DESC(name, "the mistake to make");

static int result;	/* WRITE_ONCE(), or the mistake is optimised away */

static void read_beyond_slab(void)
{
	char *bytes = kmalloc(13, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(bytes);
	if (bytes)
		READ_ONCE(bytes[13]);
	kfree(bytes);
}

static void read_freed(void)
{
	char *bytes = kmalloc(64, GFP_KERNEL);

	kfree(bytes);
	OPTIMIZER_HIDE_VAR(bytes);
	if (bytes)
		READ_ONCE(bytes[5]);
}

static void read_beyond_vmalloc(void)
{
	char *bytes = vmalloc(100);

	OPTIMIZER_HIDE_VAR(bytes);
	if (bytes)
		READ_ONCE(bytes[100]);
	vfree(bytes);
}

static void read_beyond_global(void)
{
	static char array[10];
	char *bytes = array;

	OPTIMIZER_HIDE_VAR(bytes);
	READ_ONCE(bytes[10]);
}

static void shift_too_far(void)
{
	int bits = 32;

	OPTIMIZER_HIDE_VAR(bits);
	WRITE_ONCE(result, 1 << bits);
}

static void index_beyond_array(void)
{
	static int numbers[2][4];
	int place = 4;

	OPTIMIZER_HIDE_VAR(place);
	WRITE_ONCE(result, numbers[0][place]);
}

static void take_locks_in_both_orders(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static DEFINE_SPINLOCK(softirq_lock);

static void in_timer(struct timer_list *timer)
{
	spin_lock(&softirq_lock);
	spin_unlock(&softirq_lock);
}

/* The timer takes the lock in a softirq, which may come while we have it. */
static void leave_softirqs_on(void)
{
	static DEFINE_TIMER(timer, in_timer);

	mod_timer(&timer, jiffies);
	msleep(100);
	timer_delete_sync(&timer);
	spin_lock(&softirq_lock);
	spin_unlock(&softirq_lock);
}

static void use_lock_without_init(void)
{
	spinlock_t *lock = kzalloc(sizeof(*lock), GFP_KERNEL);

	if (!lock)
		return;
	spin_lock(lock);
	spin_unlock(lock);
	kfree(lock);
}

static void sleep_with_spinlock(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static void read_rcu_unprotected(void)
{
	static int __rcu *pointer;

	WRITE_ONCE(result, !rcu_dereference(pointer));
}

static void free_active_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, in_timer, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static void count_from_zero(void)
{
	refcount_t refs = REFCOUNT_INIT(0);

	refcount_inc(&refs);
}

static void delete_twice(void)
{
	LIST_HEAD(head);
	LIST_HEAD(entry);

	list_add(&entry, &head);
	list_del(&entry);
	list_del(&entry);
}

static void keep_reference(void)
{
	struct ref_tracker *tracker = NULL;
	struct ref_tracker_dir dir;

#ifdef WITHOUT_NAME
	ref_tracker_dir_init(&dir, 4);
#else
	ref_tracker_dir_init(&dir, 4, "mistakes");
#endif
	ref_tracker_alloc(&dir, &tracker, GFP_KERNEL);
	ref_tracker_dir_exit(&dir);
}

static noinline void forget_memory(void)
{
	int i;

	/* many: stale copies of pointers hide some, in caches of free memory */
	for (i = 0; i < 500; i++)
		WRITE_ONCE(result, !kmalloc(200, GFP_KERNEL));
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "read-beyond-slab", read_beyond_slab },
	{ "read-freed", read_freed },
	{ "read-beyond-vmalloc", read_beyond_vmalloc },
	{ "read-beyond-global", read_beyond_global },
	{ "shift-too-far", shift_too_far },
	{ "index-beyond-array", index_beyond_array },
	{ "take-locks-in-both-orders", take_locks_in_both_orders },
	{ "leave-softirqs-on", leave_softirqs_on },
	{ "use-lock-without-init", use_lock_without_init },
	{ "sleep-with-spinlock", sleep_with_spinlock },
	{ "read-rcu-unprotected", read_rcu_unprotected },
	{ "free-active-timer", free_active_timer },
	{ "count-from-zero", count_from_zero },
	{ "delete-twice", delete_twice },
	{ "keep-reference", keep_reference },
	{ "forget-memory", forget_memory },
	{ "none", NULL },
};

static int __init mistakes_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(name, mistakes[i].name))
			continue;
		if (mistakes[i].make)
			mistakes[i].make();
		return 0;
	}
	return -EINVAL;
}

static void __exit mistakes_exit(void)
{
}

module_init(mistakes_init);
module_exit(mistakes_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Mistakes, for the test of what finds them");
