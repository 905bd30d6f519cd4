/* SPDX-License-Identifier: GPL-2.0 */
/* What guest_preload.c and guest_copy.c need of each other. */
#ifndef GUEST_COPY_H
#define GUEST_COPY_H

#include <sys/types.h>
#include <sys/user.h>

/* As many as the floating point registers of a process may take. */
#define FP_BYTES	16384

/* guest_preload.c */
extern long (*libc_ptrace)(int request, ...);
void forget_fp(void);

/* guest_copy.c */
void guest_copy_start(void);
pid_t copied_pid(pid_t pid);
void copy_point(pid_t pid, struct user_regs_struct *regs);

#endif
