/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_buffer.h - does a packet fit into the buffer?   (pure)
 */
#ifndef _WALE_BUFFER_H
#define _WALE_BUFFER_H

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct wale_buffer - the packets that wait for service or are in it
 * @packets: number of them
 * @bytes: their bytes on the wire
 * @cells: cells that were admitted, with a limit in cells
 * @peak_packets: largest @packets so far
 * @peak_bytes: largest @bytes so far
 * @peak_cells: largest @cells so far
 * @limit_packets: bound of @packets, or U32_MAX
 * @limit_bytes: bound of @bytes, or U64_MAX
 * @limit_cells: bound of @cells, or U32_MAX
 *
 * One of the limits is set.  With one in cells, a packet counts from its arrival
 * to the service of its last cell, and each cell for as long as it is there.
 */
struct wale_buffer {
	u64 bytes;
	u64 peak_bytes;
	u64 limit_bytes;
	u32 packets;
	u32 peak_packets;
	u32 limit_packets;
	u32 cells;
	u32 peak_cells;
	u32 limit_cells;
};

void wale_buffer_set(struct wale_buffer *buffer, u32 packets, u64 bytes);
void wale_buffer_enter_cell(struct wale_buffer *buffer);

static inline bool wale_buffer_counts_cells(const struct wale_buffer *buffer)
{
	return buffer->limit_cells != U32_MAX;
}

/* What is there, in the unit of the limit. */
static inline u64 wale_buffer_occupancy(const struct wale_buffer *limits,
					const struct wale_buffer *buffer)
{
	if (wale_buffer_counts_cells(limits))
		return buffer->cells;
	return limits->limit_bytes != U64_MAX ? buffer->bytes : buffer->packets;
}

static inline u64 wale_buffer_limit(const struct wale_buffer *limits)
{
	if (wale_buffer_counts_cells(limits))
		return limits->limit_cells;
	return limits->limit_bytes != U64_MAX ? limits->limit_bytes :
						limits->limit_packets;
}

/**
 * wale_buffer_fits() - would a packet of @len bytes on the wire be admitted?
 * @buffer: the buffer as the packet finds it
 * @len: bytes on the wire
 *
 * Return: true if neither limit is exceeded with the packet in.
 */
static inline bool wale_buffer_fits(const struct wale_buffer *buffer, u32 len)
{
	return buffer->packets < buffer->limit_packets &&
	       len <= buffer->limit_bytes &&
	       buffer->bytes <= buffer->limit_bytes - len;
}

/**
 * wale_buffer_enter() - a packet was admitted
 * @buffer: the buffer
 * @len: bytes on the wire
 */
static inline void wale_buffer_enter(struct wale_buffer *buffer, u32 len)
{
	buffer->packets++;
	buffer->bytes += len;
	buffer->peak_packets = max(buffer->peak_packets, buffer->packets);
	buffer->peak_bytes = max(buffer->peak_bytes, buffer->bytes);
}

/**
 * wale_buffer_leave() - the service of a packet has ended
 * @buffer: the buffer
 * @len: bytes on the wire
 */
static inline void wale_buffer_leave(struct wale_buffer *buffer, u32 len)
{
	buffer->packets--;
	buffer->bytes -= len;
}

#endif /* _WALE_BUFFER_H */
