/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bitops.h - the first bit that is set
 */
#ifndef FUZZ_LINUX_BITOPS_H
#define FUZZ_LINUX_BITOPS_H

#define __ffs64(word) __builtin_ctzll(word)

#endif /* FUZZ_LINUX_BITOPS_H */
