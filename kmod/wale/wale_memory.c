// SPDX-License-Identifier: GPL-2.0
/*
 * wale_memory.c - memory that the packets on links take
 *
 * A packet on a link has left its sender, and is not charged to its socket any more:
 * it would be nobody's.  So the links count what their packets take, and all of them
 * together take no more than a share of the machine's memory.  There are two pools:
 * one for the links of namespaces that only root of the machine can configure, and a
 * smaller one for all others, which anybody can make who may have a user namespace.
 *
 * Links take from a pool in pieces, and keep some in reserve, so that few packets touch
 * what links share.
 */

#include <linux/atomic.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>

#include "wale_memory.h"

#define WALE_MEMORY_PIECE	(64 << 10)

/**
 * struct wale_pool - what the links of some namespaces may take together
 * @taken: bytes
 * @shift: the pool is the memory of the machine divided by 2^@shift
 */
struct wale_pool {
	atomic64_t taken;
	unsigned int shift;
};

static struct wale_pool wale_pool_root = { .shift = 1 };
static struct wale_pool wale_pool_user = { .shift = 2 };

/**
 * wale_memory_init() - a link without packets
 * @memory: that of the link
 * @net: the namespace of its device
 */
void wale_memory_init(struct wale_memory *memory, const struct net *net)
{
	*memory = (struct wale_memory){
		.pool = net->user_ns == &init_user_ns ? &wale_pool_root :
							&wale_pool_user,
	};
}

/**
 * wale_memory_exit() - give back what a link has in reserve
 * @memory: that of the link, which holds no packet
 */
void wale_memory_exit(struct wale_memory *memory)
{
	atomic64_sub(memory->reserved, &memory->pool->taken);
	memory->reserved = 0;
}

/**
 * wale_memory_share() - the most that the packets of a link can take
 * @memory: that of the link
 *
 * Return: bytes; if no other link takes any of them.
 */
u64 wale_memory_share(const struct wale_memory *memory)
{
	return ((u64)totalram_pages() << PAGE_SHIFT) >> memory->pool->shift;
}

/**
 * wale_memory_reserve() - there is no room for a packet in what a link has
 * @memory: that of the link
 * @size: of the packet
 *
 * Return: true if the link has more now, so that there is room for it.
 */
bool wale_memory_reserve(struct wale_memory *memory, u32 size)
{
	u64 more = round_up(memory->held + size - memory->reserved,
			    WALE_MEMORY_PIECE);

	if (atomic64_add_return(more, &memory->pool->taken) >
	    wale_memory_share(memory)) {
		atomic64_sub(more, &memory->pool->taken);
		return false;
	}
	memory->reserved += more;
	return true;
}

/**
 * wale_memory_return() - a link has more in reserve than it needs
 * @memory: that of the link
 */
void wale_memory_return(struct wale_memory *memory)
{
	u64 keep = round_up(memory->held, WALE_MEMORY_PIECE);

	atomic64_sub(memory->reserved - keep, &memory->pool->taken);
	memory->reserved = keep;
}
