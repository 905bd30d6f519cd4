/* SPDX-License-Identifier: GPL-2.0 */
/*
 * time64.h - units of time
 */
#ifndef FUZZ_LINUX_TIME64_H
#define FUZZ_LINUX_TIME64_H

#define USEC_PER_MSEC 1000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_USEC 1000L

#endif /* FUZZ_LINUX_TIME64_H */
