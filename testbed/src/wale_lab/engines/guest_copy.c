// SPDX-License-Identifier: GPL-2.0
/*
 * guest_copy.c - copies of a running User-Mode Linux kernel, part of guest_preload.so
 *
 * A guest that is to be copied (WALE_COPIES is the descriptor of a socket) stops when one
 * of its processes makes the system call COPY_POINT.  For each line "CPU FOLDER" that then
 * comes in, a copy goes on from there, to the bit as the guest itself would have: in a
 * session of its own, with FOLDER as its working directory.  The answer is its PID; or it is
 * -1 and the guest ends, if no copy can be made.  The next copy is made when the last one has
 * ended.  In a copy the system call is getpid(); elsewhere it does not exist.
 *
 * A guest is the process of its kernel, and one more for each address space, which the
 * kernel traces.  All of them share a file, the guest's memory.
 *
 *  - The kernel's process is copied by fork().  Its stack is part of the guest's memory,
 *    which the original must not change, so this is done on a stack of its own.
 *  - The memory is copied to another file, which takes the place of the first.
 *  - A traced process is made anew as the kernel made it, and maps what it had mapped.
 *    Its registers are the kernel's concern, which sets them whenever the process goes on.
 *    The kernel goes on using the old PIDs, which are translated here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "guest_copy.h"

#define COPY_POINT	0x57414c45
#define STACK_BYTES	(256 << 10)
#define TRACED_MAX	512

struct mapping {
	unsigned long start, end;
	off_t offset;
	int prot, flags;
};

/* The mappings of the guest's memory by one process. */
struct mappings {
	struct mapping *list;
	int count, room;
};

/* A process that the kernel traces. */
struct traced {
	pid_t pid;			/* as the kernel knows it; 0: unused */
	pid_t now;			/* in a copy */
	int (*begin)(void *arg);	/* with this the kernel made it */
	void *arg;
	int flags;
	struct mappings mappings;
};

static int control = -1;
static struct traced traced[TRACED_MAX];
static int n_copied;		/* in a copy: the first so many are those of the original */
static int n_traced;		/* when the original stands still */
static int cannot;		/* there is something that cannot be copied */

static int (*libc_clone)(int (*fn)(void *), void *stack, int flags, void *arg, ...);
static pid_t (*libc_waitpid)(pid_t pid, int *status, int options);
static int (*libc_kill)(pid_t pid, int sig);

/* The guest's memory: of the original, and of the copy. */
static int memory_fd = -1, copy_fd = -1;
static struct stat memory;
static char *memory_at, *copy_at;
static struct mappings kernel_mappings;
static struct mapping *extents;		/* of the file: what is not a hole */
static int n_extents;

static ucontext_t at_point, serving;
static pid_t caller;
static unsigned char fp_regs[FP_BYTES];
static size_t fp_len;

void guest_copy_start(void)
{
	const char *fd = getenv("WALE_COPIES");

	libc_clone = (typeof(libc_clone))dlsym(RTLD_NEXT, "clone");
	libc_waitpid = (typeof(libc_waitpid))dlsym(RTLD_NEXT, "waitpid");
	libc_kill = (typeof(libc_kill))dlsym(RTLD_NEXT, "kill");
	if (fd)
		control = atoi(fd);
}

static struct traced *find_traced(pid_t pid)
{
	for (int i = 0; i < TRACED_MAX; i++)
		if (traced[i].pid == pid)
			return &traced[i];
	return NULL;
}

/* No new process has one of the old PIDs: those of the original keep them. */
pid_t copied_pid(pid_t pid)
{
	for (int i = 0; i < n_copied; i++)
		if (traced[i].pid == pid)
			return traced[i].now;
	return pid;
}

int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	int pid = libc_clone(fn, stack, flags, arg);
	struct traced *entry;

	if (control < 0 || pid <= 0)
		return pid;
	entry = find_traced(0);
	if (entry)
		*entry = (struct traced){ .pid = pid, .begin = fn, .arg = arg, .flags = flags };
	else
		cannot = 1;
	return pid;
}

int kill(pid_t pid, int sig)
{
	return libc_kill(copied_pid(pid), sig);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	pid_t got;
	int own;

	if (!status)
		status = &own;
	got = libc_waitpid(copied_pid(pid), status, options);
	if (got <= 0 || pid <= 0)
		return got;
	if (control >= 0 && (WIFEXITED(*status) || WIFSIGNALED(*status))) {
		struct traced *entry = find_traced(pid);

		if (entry)
			entry->pid = 0;
	}
	return pid;
}

static void *high_memory(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* In memory of its own: the heap lies where a traced process has its mappings. */
static int add_mapping(struct mappings *to, const struct mapping *one)
{
	if (to->count == to->room) {
		int room = to->room ? 4 * to->room : 1024;
		struct mapping *list = high_memory(room * sizeof(*list));

		if (!list)
			return -1;
		if (to->count)
			memcpy(list, to->list, to->count * sizeof(*list));
		to->list = list;
		to->room = room;
	}
	to->list[to->count++] = *one;
	return 0;
}

/* Read which parts of the guest's memory a process has mapped. */
static int read_mappings(const char *path, struct mappings *to)
{
	FILE *file = fopen(path, "r");
	unsigned long long inode;
	unsigned int major, minor;
	char line[512], prot[5];
	struct mapping one;
	int ret = 0;

	if (!file)
		return -1;
	while (!ret && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %llu", &one.start, &one.end, prot,
			   &one.offset, &major, &minor, &inode) != 7)
			continue;
		if (inode != memory.st_ino || makedev(major, minor) != memory.st_dev)
			continue;
		one.prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
			   (prot[2] == 'x' ? PROT_EXEC : 0);
		one.flags = prot[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
		ret = add_mapping(to, &one);
	}
	fclose(file);
	return ret;
}

static int map_all(const struct mappings *from, int fd)
{
	for (int i = 0; i < from->count; i++) {
		const struct mapping *one = &from->list[i];

		if (mmap((void *)one->start, one->end - one->start, one->prot,
			 one->flags | MAP_FIXED, fd, one->offset) == MAP_FAILED)
			return -1;
	}
	return 0;
}

/* The guest's memory is the largest file that is open and has no name. */
static int find_memory(void)
{
	for (int fd = 0; fd < 64; fd++) {
		struct stat st;

		if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_nlink &&
		    st.st_size > memory.st_size) {
			memory = st;
			memory_fd = fd;
		}
	}
	return memory_fd < 0 ? -1 : 0;
}

static int find_extents(void)
{
	struct mappings found = { 0 };
	off_t at = 0, end;

	while ((at = lseek(memory_fd, at, SEEK_DATA)) >= 0) {
		struct mapping one = { .offset = at };

		end = lseek(memory_fd, at, SEEK_HOLE);
		if (end < 0)
			return -1;
		one.end = end - at;
		if (add_mapping(&found, &one))
			return -1;
		at = end;
	}
	extents = found.list;
	n_extents = found.count;
	return 0;
}

/* Where a traced process has the kernel's code to make system calls: it stays. */
static const struct mapping *stub_of(const struct mappings *of)
{
	for (int i = 0; i < of->count; i++)
		if (of->list[i].flags == MAP_PRIVATE)
			return &of->list[i];
	return NULL;
}

/* Find out all that is to be copied. */
static int take_stock(void)
{
	struct iovec regs = { fp_regs, sizeof(fp_regs) };
	char path[64];

	if (cannot || find_memory() || read_mappings("/proc/self/maps", &kernel_mappings))
		return -1;
	for (int i = 0; i < TRACED_MAX; i++)
		if (traced[i].pid)
			traced[n_traced++] = traced[i];
	for (int i = 0; i < n_traced; i++) {
		struct traced *entry = &traced[i];

		snprintf(path, sizeof(path), "/proc/%d/maps", entry->pid);
		if ((entry->flags & CLONE_VM) || read_mappings(path, &entry->mappings) ||
		    !stub_of(&entry->mappings))
			return -1;
	}
	if (libc_ptrace(PTRACE_GETREGSET, caller, (void *)NT_X86_XSTATE, &regs))
		return -1;
	fp_len = regs.iov_len;
	copy_fd = memfd_create("guest", MFD_CLOEXEC);
	if (copy_fd < 0 || ftruncate(copy_fd, memory.st_size) || find_extents())
		return -1;
	memory_at = mmap(NULL, memory.st_size, PROT_READ, MAP_SHARED, memory_fd, 0);
	copy_at = mmap(NULL, memory.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, copy_fd, 0);
	return memory_at == MAP_FAILED || copy_at == MAP_FAILED ? -1 : 0;
}

/* Give the copy the memory of the original, whatever an earlier copy has made of it. */
static int copy_memory(void)
{
	off_t done = 0;

	for (int i = 0; i <= n_extents; i++) {
		off_t at = i < n_extents ? extents[i].offset : memory.st_size;

		if (at > done && fallocate(copy_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					   done, at - done))
			return -1;
		if (i == n_extents)
			break;
		memcpy(copy_at + at, memory_at + at, extents[i].end);
		done = at + extents[i].end;
	}
	return 0;
}

/* A traced process: begin as the kernel has it begin, then map what the first one had. */
static int begin_traced(void *arg)
{
	const struct traced *entry = arg;
	const struct mappings *all = &entry->mappings;
	struct mappings own = { .list = all->list };

	entry->begin(entry->arg);	/* stops at its end */
	/* The rest is above the stub, and so are the stub's data. */
	while (own.count < all->count && all->list[own.count].flags == MAP_SHARED)
		own.count++;
	if (munmap(NULL, all->list[own.count].start) || map_all(&own, memory_fd))
		_exit(1);
	__asm__ volatile("int3");
	_exit(1);
}

static int stopped_by(pid_t pid, int sig)
{
	int status;

	if (libc_waitpid(pid, &status, WUNTRACED | __WALL) < 0)
		return 0;
	return WIFSTOPPED(status) && WSTOPSIG(status) == sig;
}

static int copy_traced(struct traced *entry)
{
	char *stack = high_memory(STACK_BYTES);

	if (!stack)
		return -1;
	entry->now = libc_clone(begin_traced, stack + STACK_BYTES, CLONE_FILES | SIGCHLD, entry);
	if (entry->now < 0 || !stopped_by(entry->now, SIGSTOP) ||
	    libc_ptrace(PTRACE_SETOPTIONS, entry->now, NULL,
			PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) ||
	    libc_ptrace(PTRACE_CONT, entry->now, NULL, NULL))
		return -1;
	return stopped_by(entry->now, SIGTRAP) ? 0 : -1;
}

static int redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || dup2(fd, to) < 0)
		return -1;
	return close(fd);
}

/* End what there is of a copy: its traced processes and this one. */
static void give_up(void)
{
	for (int i = 0; i < n_traced; i++)
		if (traced[i].now > 0)
			libc_kill(traced[i].now, SIGKILL);
	_exit(1);
}

/* Become a copy of the guest, in a process that is one of its kernel; write to done then. */
static void become_copy(int cpu, const char *folder, int done)
{
	struct iovec regs = { fp_regs, fp_len };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	close(control);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || chdir(folder) ||
	    redirect("kernel-log", 2) || redirect("console", 1))
		give_up();
	if (dup2(copy_fd, memory_fd) < 0 || map_all(&kernel_mappings, memory_fd))
		give_up();
	for (int i = 0; i < n_traced; i++)
		if (copy_traced(&traced[i]))
			give_up();
	n_copied = n_traced;
	control = -1;
	if (libc_ptrace(PTRACE_SETREGSET, copied_pid(caller), (void *)NT_X86_XSTATE, &regs))
		give_up();
	forget_fp();
	if (write(done, "", 1) != 1)
		give_up();
	close(done);
	setcontext(&at_point);
	give_up();
}

/* Make a copy; return its PID, or -1. */
static pid_t copy_guest(int cpu, const char *folder)
{
	int done[2];
	char byte;
	pid_t pid;

	if (pipe2(done, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		close(done[0]);
		become_copy(cpu, folder, done[1]);
	}
	close(done[1]);
	if (pid > 0 && TEMP_FAILURE_RETRY(read(done[0], &byte, 1)) != 1)
		pid = -1;
	close(done[0]);
	return pid;
}

static void serve(void)
{
	char line[4200], *folder;
	FILE *orders = fdopen(control, "r");
	pid_t pid = 0;

	if (!orders || take_stock())
		_exit(1);
	dprintf(control, "ready\n");
	while (fgets(line, sizeof(line), orders)) {
		int cpu = strtol(line, &folder, 10);

		line[strcspn(line, "\n")] = '\0';
		/* Its PID may be used again only now: the launcher ends the session of that number. */
		if (pid && libc_waitpid(pid, NULL, 0) < 0)
			_exit(1);
		if (copy_memory())
			_exit(1);
		pid = copy_guest(cpu, folder + 1);
		dprintf(control, "%d\n", pid);
		if (pid < 0)
			_exit(1);
	}
	_exit(0);
}

/* A process of the guest stopped: for a copy, or one more, if it asks for that. */
void copy_point(pid_t pid, struct user_regs_struct *regs)
{
	char *stack;

	if (control < 0 || regs->orig_rax != COPY_POINT)
		return;
	stack = high_memory(STACK_BYTES);
	if (!stack)
		_exit(1);
	caller = pid;
	getcontext(&serving);
	serving.uc_stack.ss_sp = stack;
	serving.uc_stack.ss_size = STACK_BYTES;
	makecontext(&serving, serve, 0);
	swapcontext(&at_point, &serving);
	regs->orig_rax = SYS_getpid;
}
