/* SPDX-License-Identifier: GPL-2.0 */
/*
 * prefetch.h - have memory in the cache
 */
#ifndef FUZZ_LINUX_PREFETCH_H
#define FUZZ_LINUX_PREFETCH_H

#define prefetchw(address) __builtin_prefetch(address, 1)

#endif /* FUZZ_LINUX_PREFETCH_H */
