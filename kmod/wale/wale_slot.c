// SPDX-License-Identifier: GPL-2.0
/*
 * wale_slot.c - departures that are held to slots   (pure)
 *
 * As on a medium that is shared by turns: what is to leave waits for the next slot,
 * and leaves there with all that has come meanwhile, as far as it has room.  A slot
 * is min .. max after the one before, or after the departure of the first packet
 * that waits for it.
 */

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "wale_slot.h"

/**
 * wale_slot_takes() - can a packet leave in the last slot?
 * @slot: the slot
 * @params: of the slots
 * @departure_ns: when it would leave without
 * @len: bytes on the wire
 *
 * An empty slot has room for any packet.
 *
 * Return: true if it can.
 */
bool wale_slot_takes(const struct wale_slot *slot,
		     const struct wale_slot_params *params, u64 departure_ns,
		     u32 len)
{
	if (departure_ns > slot->at_ns)
		return false;
	if (params->packets && slot->packets >= params->packets)
		return false;
	return !params->bytes || !slot->packets ||
	       slot->bytes + len <= params->bytes;
}

/**
 * wale_slot_open() - the next slot
 * @slot: the last one; then the next
 * @params: of the slots
 * @departure_ns: when the first of its packets would leave without
 * @draw: uniform bits; the upper half is used
 */
void wale_slot_open(struct wale_slot *slot,
		    const struct wale_slot_params *params, u64 departure_ns,
		    u64 draw)
{
	u64 span_ns = params->max_ns - params->min_ns + 1;

	slot->at_ns = max(slot->at_ns, departure_ns) + params->min_ns +
		      mul_u64_u32_shr(span_ns, draw >> 32, 32);
	/* the end of time: later than that there is no slot */
	slot->at_ns = min_t(u64, slot->at_ns, S64_MAX);
	slot->packets = 0;
	slot->bytes = 0;
}

/**
 * wale_slot_enter() - a packet leaves in the last slot
 * @slot: the slot
 * @len: bytes on the wire
 *
 * Return: when it is, ns.
 */
u64 wale_slot_enter(struct wale_slot *slot, u32 len)
{
	slot->packets++;
	slot->bytes += len;
	return slot->at_ns;
}
