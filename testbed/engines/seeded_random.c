// SPDX-License-Identifier: GPL-2.0
/*
 * seeded_random.c - preloaded into a User-Mode Linux kernel by engines/uml.py
 *
 * Two things that the kernel's own options do not offer:
 *
 *  - Its only source of randomness, libc's getrandom(), returns a stream that
 *    follows from WALE_SEED (decimal, 64 bits; without it: the host's own).
 *    The stream is splitmix64.  It is not meant to be secret.
 *
 *  - Nothing survives the kernel: it dies with the process that started it,
 *    and the processes of its guests, which it traces, die with it.
 *
 * cc -O2 -Wall -shared -fPIC -o seeded_random.so seeded_random.c
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* asm/ptrace-abi.h; what Linux 6.1 uses */
#define OLD_SETOPTIONS	21

static int seeded;
static uint64_t state;
static long (*libc_ptrace)(int request, ...);

__attribute__((constructor)) static void seeded_random_start(void)
{
	const char *seed = getenv("WALE_SEED");

	libc_ptrace = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
	if (seed) {
		seeded = 1;
		state = strtoull(seed, NULL, 10);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static uint64_t seeded_random_next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	unsigned char *to = buf;
	size_t left = len;

	if (!seeded)
		return syscall(SYS_getrandom, buf, len, flags);
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

/* Every traced process is to be killed if its tracer goes. */
long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t pid;
	void *addr, *data;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (request == PTRACE_SETOPTIONS || (int)request == OLD_SETOPTIONS)
		data = (void *)((unsigned long)data | PTRACE_O_EXITKILL);
	return libc_ptrace(request, pid, addr, data);
}
