/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cache.h - what begins with a line of the cache
 */
#ifndef FUZZ_LINUX_CACHE_H
#define FUZZ_LINUX_CACHE_H

#define ____cacheline_aligned __attribute__((aligned(64)))

#endif /* FUZZ_LINUX_CACHE_H */
