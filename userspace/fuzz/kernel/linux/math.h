/* SPDX-License-Identifier: GPL-2.0 */
/*
 * math.h - quotients that are rounded up, and multiples up and down
 */
#ifndef FUZZ_LINUX_MATH_H
#define FUZZ_LINUX_MATH_H

#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define DIV_ROUND_UP_ULL(n, d) DIV_ROUND_UP((unsigned long long)(n), d)
#define round_up(n, multiple) (DIV_ROUND_UP(n, multiple) * (multiple))
#define round_down(n, multiple) ((n) / (multiple) * (multiple))

#endif /* FUZZ_LINUX_MATH_H */
