/* SPDX-License-Identifier: GPL-2.0 */
/*
 * jiffies.h - ticks per second
 */
#ifndef FUZZ_LINUX_JIFFIES_H
#define FUZZ_LINUX_JIFFIES_H

#define HZ 1000

#endif /* FUZZ_LINUX_JIFFIES_H */
