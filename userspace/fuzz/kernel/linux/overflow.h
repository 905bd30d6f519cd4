/* SPDX-License-Identifier: GPL-2.0 */
/*
 * overflow.h - sums and products that tell whether they fit
 */
#ifndef FUZZ_LINUX_OVERFLOW_H
#define FUZZ_LINUX_OVERFLOW_H

#define check_add_overflow(a, b, result) __builtin_add_overflow(a, b, result)
#define check_mul_overflow(a, b, result) __builtin_mul_overflow(a, b, result)

#endif /* FUZZ_LINUX_OVERFLOW_H */
