// SPDX-License-Identifier: GPL-2.0
/*
 * registers.c - for test_engine.py: does a thread keep its floating point registers?
 *
 * Threads of two processes load a register with a number of their own, and look at
 * it again after a system call that lets others run, a page fault, or a signal
 * whose handler uses the register too.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS	300

static void handler(int number)
{
	uint64_t other = (uint64_t)number;

	asm volatile("movq %0, %%xmm9" : : "r"(other) : "xmm9");
}

/* What is in the register after @call, with @mine in it before. */
static uint64_t after(uint64_t mine, long call, long a, long b, long c)
{
	uint64_t found;

	asm volatile("movq %[mine], %%xmm9\n\t"
		     "syscall\n\t"
		     "movq %%xmm9, %[found]"
		     : [found] "=&r"(found), "+a"(call)
		     : [mine] "r"(mine), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory", "xmm9");
	return found;
}

/* The same with a page that is touched for the first time. */
static uint64_t after_fault(uint64_t mine, char *page)
{
	uint64_t found;

	asm volatile("movq %[mine], %%xmm9\n\t"
		     "movb $1, (%[page])\n\t"
		     "movq %%xmm9, %[found]"
		     : [found] "=&r"(found)
		     : [mine] "r"(mine), [page] "r"(page)
		     : "memory", "xmm9");
	return found;
}

static void *keep(void *arg)
{
	uint64_t mine = 0x1234567800000000 + (uintptr_t)arg;
	long pid = getpid(), tid = gettid();
	uintptr_t wrong = 0;
	char *pages = mmap(NULL, ROUNDS * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return (void *)1;
	for (int i = 0; i < ROUNDS; i++, mine += 256) {
		wrong += after(mine, SYS_sched_yield, 0, 0, 0) != mine;
		wrong += after_fault(mine, pages + i * 4096) != mine;
		wrong += after(mine, SYS_tgkill, pid, tid, SIGUSR1) != mine;
	}
	return (void *)wrong;
}

/* How many times a thread of this process found something else. */
static uintptr_t run(uintptr_t first)
{
	pthread_t threads[THREADS];
	uintptr_t wrong = 0;
	void *found;

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, keep, (void *)(first + i)))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &found);
		wrong += (uintptr_t)found;
	}
	return wrong;
}

int main(void)
{
	int status = 1;
	pid_t child;

	signal(SIGUSR1, handler);
	child = fork();
	if (!child)
		_exit(run(10) ? 1 : 0);
	if (run(20) || child < 0 || waitpid(child, &status, 0) != child || status)
		return 1;
	printf("%d threads of 2 processes\n", 2 * THREADS);
	return 0;
}
