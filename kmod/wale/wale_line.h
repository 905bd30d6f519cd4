/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_line.h - how much fits on the propagation line?   (pure)
 */
#ifndef _WALE_LINE_H
#define _WALE_LINE_H

#include <linux/types.h>

u64 wale_line_limit(u64 rate, u64 reach_ns, u64 present, u64 most);

#endif /* _WALE_LINE_H */
