/* SPDX-License-Identifier: GPL-2.0 */
/*
 * build_bug.h - static_assert(), with or without a message
 */
#ifndef FUZZ_LINUX_BUILD_BUG_H
#define FUZZ_LINUX_BUILD_BUG_H

#define static_assert(condition, ...) _Static_assert(condition, #condition)

#endif /* FUZZ_LINUX_BUILD_BUG_H */
