// SPDX-License-Identifier: GPL-2.0
/*
 * wale_buffer.c - does a packet fit into the buffer?   (pure)
 *
 * The buffer of the link holds the packets that wait and the one in service;
 * a packet on the propagation line has left it.  A packet that does not fit
 * whole is refused; with a limit in cells, each of its cells that does not fit.
 */

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "wale_buffer.h"

/**
 * wale_buffer_set() - the packets are in another place, which says how many
 * @buffer: the buffer
 * @packets: that wait or are in service
 * @bytes: theirs on the wire
 */
void wale_buffer_set(struct wale_buffer *buffer, u32 packets, u64 bytes)
{
	buffer->packets = packets;
	buffer->bytes = bytes;
	buffer->peak_packets = max(buffer->peak_packets, packets);
	buffer->peak_bytes = max(buffer->peak_bytes, bytes);
}

/**
 * wale_buffer_enter_cell() - a cell was admitted
 * @buffer: the buffer
 */
void wale_buffer_enter_cell(struct wale_buffer *buffer)
{
	buffer->cells++;
	buffer->peak_cells = max(buffer->peak_cells, buffer->cells);
}
