/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.h - what compilers are told (there is one thread), bits, lesser and greater
 */
#ifndef FUZZ_LINUX_KERNEL_H
#define FUZZ_LINUX_KERNEL_H

#include <linux/bits.h>
#include_next <linux/kernel.h>
#include <linux/math.h>
#include <linux/minmax.h>

#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))

#endif /* FUZZ_LINUX_KERNEL_H */
