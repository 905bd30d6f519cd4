// SPDX-License-Identifier: GPL-2.0
/*
 * guest_preload.c - preloaded into a User-Mode Linux kernel by engines/uml.py
 *
 * Eight things that the kernel's own options do not offer:
 *
 *  - Its only source of randomness, libc's getrandom(), returns a stream that
 *    follows from WALE_SEED (decimal, 64 bits; without it: the host's own).
 *    The stream is splitmix64.  It is not meant to be secret.
 *
 *  - When a guest looks for the file ".reseed" of WALE_SOURCES, the stream begins
 *    anew, and from then on the kernel's random numbers follow from it alone.
 *    Otherwise its pool of entropy counts, too: when interrupts came since the boot,
 *    and so which programs ran, and how often they read the clock.
 *
 *  - Nothing survives the kernel: it dies with the process that started it,
 *    and the processes of its guests, which it traces, die with it.
 *
 *  - The floating point registers of a guest's process are read and written only
 *    where that changes something.  The kernel does both at each of the
 *    process's system calls, and it is what costs most of them: some kilobytes,
 *    for which the host allocates memory.  And a processor may have more of them
 *    than Linux before 6.14 knows (AMX), which then fails to write them at all.
 *
 *  - A process that waits by reading the clock in a loop sleeps now and then,
 *    in virtual time.  There, a reading takes 256 ns, and so such a loop would
 *    take the host minutes for a second.  See spin_request(); WALE_SPINS asks for it.
 *
 *  - Python's bytecode beside the sources of the testbed (the folder WALE_SOURCES) is
 *    not there for the guest.  Python reads the clock more often when it compiles a
 *    module than when it finds bytecode, and reading the clock moves virtual time.
 *
 *  - Memory that guests share (kmod/wire) is at a fixed address: the file "wire" of the
 *    guest's folder.  WALE_WIRE is the guest's number.  Linux 7.2 has no iomem= any more.
 *
 *  - A guest can be copied while it runs; see guest_copy.c.
 *
 * cc -O2 -Wall -shared -fPIC -I kmod/wire -o guest_preload.so guest_preload.c guest_copy.c
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "guest_copy.h"
#include "wire_ring.h"

/* asm/ptrace-abi.h; what Linux 6.1 uses */
#define OLD_SETOPTIONS	21

static int seeded, serves_spins;
static uint64_t seed, state;
static unsigned char *pool;	/* NULL: it counts */
static const char *sources;
long (*libc_ptrace)(int request, ...);
static int (*libc_lstat64)(const char *path, struct stat64 *st);

/* Map a file, or none, at an address at which nothing else is. */
static void map_at(unsigned long address, size_t size, int flags, int fd)
{
	void *at = (void *)address;

	if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE | flags, fd, 0) == at)
		return;
	perror("the memory that guests share");
	_exit(1);
}

static void map_wire(unsigned int number)
{
	int fd = open("wire", O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		perror("wire");
		_exit(1);
	}
	map_at(WIRE_ADDRESS - WIRE_PAGE, WIRE_PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	*(uint32_t *)(WIRE_ADDRESS - WIRE_PAGE) = number;
	map_at(WIRE_ADDRESS, st.st_size, MAP_SHARED, fd);
	close(fd);
}

__attribute__((constructor)) static void guest_preload_start(void)
{
	const char *wire = getenv("WALE_WIRE");
	const char *text = getenv("WALE_SEED");

	libc_ptrace = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
	libc_lstat64 = (int (*)(const char *, struct stat64 *))dlsym(RTLD_NEXT, "lstat64");
	sources = getenv("WALE_SOURCES");
	serves_spins = getenv("WALE_SPINS") != NULL;
	if (text) {
		seeded = 1;
		seed = state = strtoull(text, NULL, 10);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (wire)
		map_wire(strtoul(wire, NULL, 10));
	guest_copy_start();
}

static uint64_t seeded_random_next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Where the kernel has a symbol, by the table of its program; NULL: there is none. */
static void *symbol_find(const char *image, const char *name)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);

	for (int n = 0; n < header->e_shnum; n++) {
		const Elf64_Sym *symbol = (const void *)(image + sections[n].sh_offset);
		const char *names = image + sections[sections[n].sh_link].sh_offset;

		if (sections[n].sh_type != SHT_SYMTAB)
			continue;
		for (size_t left = sections[n].sh_size / sizeof(*symbol); left; left--, symbol++)
			if (!strcmp(names + symbol->st_name, name))
				return (void *)symbol->st_value;
	}
	return NULL;
}

/* drivers/char/random.c: it begins with a BLAKE2s state, of which the last word is a length. */
#define POOL_BYTES	116

static unsigned char *pool_find(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *image = MAP_FAILED;
	void *found = NULL;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image != MAP_FAILED) {
		found = symbol_find(image, "input_pool");
		munmap(image, st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* Another stream than from the boot on. */
static void random_begin_anew(void)
{
	state = ~seed;
	pool = pool_find();
	if (pool)
		return;
	fprintf(stderr, "reseed: the kernel has no input_pool\n");
	_exit(1);
}

/* The kernel asks when it seeds its generator, from this and its pool. */
ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *to = buf;
	size_t left = len;

	if (!seeded)
		return syscall(SYS_getrandom, buf, len, flags);
	if (pool)
		memset(pool, 0, POOL_BYTES);
	while (left) {
		uint64_t word = seeded_random_next();
		size_t n = left < sizeof(word) ? left : sizeof(word);

		memcpy(to, &word, n);
		to += n;
		left -= n;
	}
	return (ssize_t)len;
}

int getentropy(void *buf, size_t len)
{
	return getrandom(buf, len, 0) == (ssize_t)len ? 0 : -1;
}

/* Is a file bytecode of the testbed, or the folder of some; or the sign to begin anew? */
static int is_hidden(const char *path)
{
	const char *found = sources ? strstr(path, sources) : NULL;
	const char *below = found ? found + strlen(sources) : "";

	if (!strcmp(below, "/.reseed"))
		random_begin_anew();
	else if (!strstr(below, "/__pycache__"))
		return 0;
	errno = ENOENT;
	return 1;
}

/* With these the kernel looks up a file of the host: lstat64() in Linux 6.1. */
int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *st)
{
	return is_hidden(path) ? -1 : (int)syscall(SYS_statx, dir, path, flags, mask, st);
}

int lstat64(const char *path, struct stat64 *st)
{
	return is_hidden(path) ? -1 : libc_lstat64(path, st);
}

/*
 * The floating point registers of traced processes, as they are while a process
 * is stopped: from when they are read or written until it runs on.
 */
static struct fp_regs {
	pid_t pid;	/* 0: not known */
	size_t len;
	unsigned char regs[FP_BYTES];
} known[64];

/* In a copy, what is known is of the original's processes. */
void forget_fp(void)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		known[i].pid = 0;
}

/* May the process have run, or become another one, by this request? */
static int may_change(int request)
{
	switch (request) {
	case PTRACE_GETREGS:
	case PTRACE_SETREGS:
	case PTRACE_GETSIGINFO:
	case PTRACE_PEEKTEXT:
	case PTRACE_PEEKDATA:
	case PTRACE_PEEKUSER:
		return 0;
	default:
		return 1;
	}
}

/* All of them, however few the kernel asks for. */
static long fp_read(struct fp_regs *fp, pid_t pid, void *type)
{
	struct iovec all = { fp->regs, sizeof(fp->regs) };
	long ret = libc_ptrace(PTRACE_GETREGSET, pid, type, &all);

	fp->pid = ret ? 0 : pid;
	fp->len = all.iov_len;
	return ret;
}

/*
 * The host takes all of them or none.  Those that the kernel does not know are zero:
 * no guest can use them.
 */
static long fp_write(struct fp_regs *fp, void *type, const struct iovec *known_part)
{
	struct iovec all = { fp->regs, fp->len };
	size_t len = known_part->iov_len;
	long ret;

	memcpy(fp->regs, known_part->iov_base, len);
	memset(fp->regs + len, 0, fp->len - len);
	ret = libc_ptrace(PTRACE_SETREGSET, fp->pid, type, &all);
	if (ret)
		fp->pid = 0;
	return ret;
}

static long fp_request(int request, pid_t pid, void *type, struct iovec *iov)
{
	struct fp_regs *fp = &known[(unsigned int)pid % 64];

	if (fp->pid != pid && fp_read(fp, pid, type))
		return -1;
	if (iov->iov_len > fp->len)
		iov->iov_len = fp->len;
	if (request == PTRACE_GETREGSET)
		memcpy(iov->iov_base, fp->regs, iov->iov_len);
	else if (memcmp(iov->iov_base, fp->regs, iov->iov_len))
		return fp_write(fp, type, iov);
	return 0;
}

#ifdef __x86_64__
/* What a reading of the clock takes in virtual time (TIMER_MULTIPLIER in arch/um). */
#define READING_NS	256
/* So many readings, and nothing else, are a loop: 256 us. */
#define READINGS	1000
/* A sleep is that part of the time waited so far, so a wait is that much too long at most. */
#define SHARE		16
#define SLEEP_MAX_NS	10000000
/* Below the stack pointer of a process, behind its red zone. */
#define BELOW_STACK	512

/* Processes that do nothing but read the clock, or look whether there is something to do. */
static struct spin {
	pid_t pid;
	unsigned int readings;
	unsigned long long waited_ns;
	int slept;	/* and now reads the clock */
} spins[256];

/*
 * System calls that became sleeps, and are made when those end.  A register that each
 * system call overwrites, r11, says which: it outlives a signal, and a switch of threads.
 */
#define SLEEPS	4096
#define MAGIC	0x57414c4500000000ULL
static struct user_regs_struct sleeps[SLEEPS];
static unsigned int n_sleeps;

/* Is this the entry of a system call by which a process waits without sleeping? */
static int is_idle_call(const struct user_regs_struct *regs)
{
	switch ((long)regs->orig_rax) {
	case SYS_clock_gettime:
	case SYS_gettimeofday:
	case SYS_time:
	case SYS_sched_yield:
		return 1;
	case SYS_poll:
		return (int)regs->rdx == 0;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)regs->r10 == 0;
	default:
		return 0;
	}
}

/* Have the kernel see a nanosleep() instead of the call; where that cannot be, the call. */
static void sleep_instead(struct spin *spin, pid_t pid,
			  struct user_regs_struct *regs)
{
	unsigned long long at = (regs->rsp - BELOW_STACK) & ~15ULL;
	unsigned long long ns = spin->waited_ns / SHARE;

	if (ns > SLEEP_MAX_NS)
		ns = SLEEP_MAX_NS;
	if (libc_ptrace(PTRACE_POKEDATA, pid, at, 0UL) ||
	    libc_ptrace(PTRACE_POKEDATA, pid, at + 8, ns))
		return;
	sleeps[n_sleeps % SLEEPS] = *regs;
	regs->orig_rax = SYS_nanosleep;
	regs->rdi = at;
	regs->rsi = 0;
	regs->r11 = MAGIC | n_sleeps++ % SLEEPS;
	spin->waited_ns += ns;
	spin->slept = 1;
}

/*
 * The kernel has just been told where a process stopped.  One that made many calls which
 * only look at the clock sleeps before the next of them.  All follows from its calls, so a
 * run stays repeatable; and any program is served, whatever its libc.
 */
static void spin_request(pid_t pid, struct user_regs_struct *regs)
{
	struct spin *spin = &spins[(unsigned int)pid % 256];

	if ((long)regs->orig_rax < 0 || (long)regs->rax != -ENOSYS)
		return;	/* not a system call */
	if (spin->pid != pid || !is_idle_call(regs)) {
		*spin = (struct spin){ .pid = pid };
		return;
	}
	spin->waited_ns += READING_NS;
	if (spin->slept)
		spin->slept = 0;
	else if (++spin->readings > READINGS)
		sleep_instead(spin, pid, regs);
}

/* A process goes on: after a sleep, with the call that it had made. */
static const void *after_sleep(const void *data, struct user_regs_struct *own)
{
	const struct user_regs_struct *regs = data, *was;

	if ((regs->r11 & 0xffffffff00000000ULL) != MAGIC)
		return data;
	was = &sleeps[regs->r11 % SLEEPS];
	if (regs->rip != was->rip || regs->rsp != was->rsp)
		return data;	/* a signal came: its handler runs first */
	*own = *was;
	own->rax = was->orig_rax;
	own->rip = was->rip - 2;	/* the instruction again */
	own->orig_rax = -1;
	return own;
}
#endif

/* Every traced process is to be killed if its tracer goes. */
long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t original, pid;
	void *addr, *data;

	va_start(args, request);
	original = va_arg(args, pid_t);
	pid = copied_pid(original);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if ((request == PTRACE_GETREGSET || request == PTRACE_SETREGSET) &&
	    (long)addr == NT_X86_XSTATE)
		return fp_request(request, pid, addr, data);
#ifdef __x86_64__
	if (serves_spins && request == PTRACE_SETREGS) {
		struct user_regs_struct own;

		return libc_ptrace(request, pid, addr, after_sleep(data, &own));
	}
	if (serves_spins && request == PTRACE_GETREGS) {
		long ret = libc_ptrace(request, pid, addr, data);

		if (!ret) {
			spin_request(original, data);
			copy_point(original, data);
		}
		return ret;
	}
#endif
	if (may_change(request))
		known[(unsigned int)pid % 64].pid = 0;
	if (request == PTRACE_SETOPTIONS || (int)request == OLD_SETOPTIONS)
		data = (void *)((unsigned long)data | PTRACE_O_EXITKILL);
	return libc_ptrace(request, pid, addr, data);
}
