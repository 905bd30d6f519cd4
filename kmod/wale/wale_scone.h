/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_scone.h - the signal of a SCONE packet   (pure)
 */
#ifndef _WALE_SCONE_H
#define _WALE_SCONE_H

#include <linux/types.h>
#include <net/scone.h>

/* So much of a datagram says whether its SCONE packet is whole. */
#define WALE_SCONE_LOOK		(SCONE_HEAD + 2 * (1 + SCONE_CID_MAX) + 1)

u8 wale_scone_encode(u64 rate);
u64 wale_scone_decode(u8 signal);
bool wale_scone_is_whole(const u8 *datagram, u32 len);

/**
 * wale_scone_begins() - does a datagram begin with a SCONE packet?
 * @head: its first SCONE_HEAD bytes
 *
 * Return: true if it has the long header and the version of one.
 */
static inline bool wale_scone_begins(const u8 *head)
{
	u32 version = (u32)head[1] << 24 | head[2] << 16 | head[3] << 8 |
		      head[4];

	return (head[0] & SCONE_LONG_HEADER) &&
	       (version & SCONE_VERSION_MASK) == SCONE_VERSION;
}

/**
 * wale_scone_get() - the signal of a SCONE packet
 * @head: its first two bytes
 *
 * Return: 0 .. SCONE_UNKNOWN.
 */
static inline u8 wale_scone_get(const u8 *head)
{
	return (head[0] & 0x3f) << 1 | head[1] >> 7;
}

/**
 * wale_scone_set() - set the signal of a SCONE packet
 * @head: its first two bytes; no other bits of them change
 * @signal: 0 .. SCONE_UNKNOWN
 */
static inline void wale_scone_set(u8 *head, u8 signal)
{
	head[0] = (head[0] & 0xc0) | signal >> 1;
	head[1] = (head[1] & 0x7f) | (signal & 1) << 7;
}

#endif /* _WALE_SCONE_H */
