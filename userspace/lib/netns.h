/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netns.h - network namespaces of others
 */
#ifndef WALE_NETNS_H
#define WALE_NETNS_H

#include <stddef.h>

#define NETNS_WHY_MAX 160

/*
 * A namespace of ip-netns(8), or that of a process.  A descriptor; or -1, with a
 * sentence in @why.
 */
int netns_open(const char *name, char why[NETNS_WHY_MAX]);

#endif /* WALE_NETNS_H */
