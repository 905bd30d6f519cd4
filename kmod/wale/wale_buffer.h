/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_buffer.h - does a packet fit into the buffer?   (pure)
 */
#ifndef _WALE_BUFFER_H
#define _WALE_BUFFER_H

#include <linux/types.h>

/**
 * struct wale_buffer - the packets that wait for service or are in it
 * @packets: number of them
 * @bytes: their bytes on the wire
 * @peak_packets: largest @packets so far
 * @peak_bytes: largest @bytes so far
 * @limit_packets: bound of @packets, or U32_MAX
 * @limit_bytes: bound of @bytes, or U64_MAX
 */
struct wale_buffer {
	u64 bytes;
	u64 limit_bytes;
	u32 packets;
	u32 limit_packets;
	u32 peak_packets;
	u64 peak_bytes;
};

bool wale_buffer_fits(const struct wale_buffer *buffer, u32 len);
void wale_buffer_enter(struct wale_buffer *buffer, u32 len);
void wale_buffer_leave(struct wale_buffer *buffer, u32 len);

#endif /* _WALE_BUFFER_H */
