/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_memory.h - memory that the packets on links take
 */
#ifndef _WALE_MEMORY_H
#define _WALE_MEMORY_H

#include <linux/compiler.h>
#include <linux/types.h>

struct net;
struct wale_pool;

/* More than this, a link does not keep in reserve. */
#define WALE_MEMORY_SPARE	(128 << 10)

/**
 * struct wale_memory - what the packets that a link holds take
 * @held: bytes of memory, the sum of their skb->truesize
 * @reserved: bytes that were taken from @pool, in which @held fits but for copies
 * @pool: which this link shares with others
 */
struct wale_memory {
	u64 held;
	u64 reserved;
	struct wale_pool *pool;
};

void wale_memory_init(struct wale_memory *memory, const struct net *net);
void wale_memory_exit(struct wale_memory *memory);
u64 wale_memory_share(const struct wale_memory *memory);
bool wale_memory_reserve(struct wale_memory *memory, u32 size);
void wale_memory_return(struct wale_memory *memory);

/**
 * wale_memory_take() - a packet comes to the link
 * @memory: that of the link
 * @size: skb->truesize
 *
 * Return: true if there is memory for it.
 */
static inline bool wale_memory_take(struct wale_memory *memory, u32 size)
{
	if (unlikely(memory->held + size > memory->reserved) &&
	    !wale_memory_reserve(memory, size))
		return false;
	memory->held += size;
	return true;
}

/**
 * wale_memory_give() - a packet has left the link
 * @memory: that of the link
 * @size: what was taken for it
 */
static inline void wale_memory_give(struct wale_memory *memory, u64 size)
{
	memory->held -= size;
	if (unlikely(memory->reserved > memory->held + WALE_MEMORY_SPARE))
		wale_memory_return(memory);
}

/**
 * wale_memory_change() - a packet that the link holds takes more or less than before
 * @memory: that of the link
 * @before: what was taken for it
 * @now: skb->truesize
 *
 * It is there, so that it counts even if there is no memory left for it.
 */
static inline void wale_memory_change(struct wale_memory *memory, u64 before,
				      u64 now)
{
	memory->held += now - before;
}

#endif /* _WALE_MEMORY_H */
