/* SPDX-License-Identifier: GPL-2.0 */
/*
 * limits.h - ends of the kernel's integer types
 */
#ifndef FUZZ_LINUX_LIMITS_H
#define FUZZ_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX (~0U)
#define U64_MAX (~0ULL)
#define S64_MAX ((long long)(U64_MAX >> 1))
#define S32_MAX ((int)(U32_MAX >> 1))

#endif /* FUZZ_LINUX_LIMITS_H */
