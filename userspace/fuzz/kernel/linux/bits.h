/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bits.h - single bits
 */
#ifndef FUZZ_LINUX_BITS_H
#define FUZZ_LINUX_BITS_H

#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))

#endif /* FUZZ_LINUX_BITS_H */
