// SPDX-License-Identifier: GPL-2.0
/*
 * short_registers.c - for test_engine.py: floating point registers of a traced process
 * by a tracer that knows the first of them only, as Linux before 6.14 does on a new
 * processor
 *
 * Exit status 0: they are written, and read as they were written.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART	576	/* the FXSAVE area and the header after it */
#define XMM9	304

static int request(int what, pid_t pid, unsigned char *regs)
{
	struct iovec part = { regs, PART };

	if (ptrace(what, pid, NT_X86_XSTATE, &part)) {
		perror("ptrace");
		return -1;
	}
	return part.iov_len == PART ? 0 : -1;
}

int main(void)
{
	unsigned char regs[PART], again[PART];
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		pause();
	}
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL);
	if (request(PTRACE_GETREGSET, pid, regs))
		return 1;
	regs[XMM9] = 123;
	regs[512] |= 2;	/* these registers are in use */
	if (request(PTRACE_SETREGSET, pid, regs))
		return 2;
	ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);	/* forget what is known */
	waitpid(pid, NULL, 0);
	if (request(PTRACE_GETREGSET, pid, again))
		return 3;
	kill(pid, SIGKILL);
	return again[XMM9] == 123 ? 0 : 4;
}
