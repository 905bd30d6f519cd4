/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_slot.h - departures that are held to slots   (pure)
 */
#ifndef _WALE_SLOT_H
#define _WALE_SLOT_H

#include <linux/types.h>

/**
 * struct wale_slot_params - as configured
 * @min_ns: between two slots, at least
 * @max_ns: at most; 0: there are no slots
 * @packets: that leave in one; 0: any number
 * @bytes: of the wire, that leave in one; 0: any number
 */
struct wale_slot_params {
	u64 min_ns;
	u64 max_ns;
	u32 packets;
	u32 bytes;
};

/**
 * struct wale_slot - the last slot so far
 * @at_ns: when it is
 * @packets: that leave in it
 * @bytes: of them
 */
struct wale_slot {
	u64 at_ns;
	u32 packets;
	u64 bytes;
};

bool wale_slot_takes(const struct wale_slot *slot,
		     const struct wale_slot_params *params, u64 departure_ns,
		     u32 len);
void wale_slot_open(struct wale_slot *slot,
		    const struct wale_slot_params *params, u64 departure_ns,
		    u64 draw);
u64 wale_slot_enter(struct wale_slot *slot, u32 len);

#endif /* _WALE_SLOT_H */
