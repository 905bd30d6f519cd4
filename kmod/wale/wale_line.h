/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_line.h - how much fits on the propagation line?   (pure)
 */
#ifndef _WALE_LINE_H
#define _WALE_LINE_H

#include <linux/types.h>

#include "wale_counts.h"

/**
 * struct wale_line_bound - the most that may be on the line
 * @bytes: of the wire; U64_MAX: any number
 * @packets: U32_MAX: any number
 */
struct wale_line_bound {
	u64 bytes;
	u32 packets;
};

bool wale_line_takes(const struct wale_line_bound *bound,
		     const struct wale_counter *present, u32 copies, u32 len);
u64 wale_line_limit(u64 rate, u64 reach_ns, u64 present, u64 most);

#endif /* _WALE_LINE_H */
