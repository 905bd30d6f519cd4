/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_test_framing.h - what packets take on the wire with a layer alone, for tests
 */
#ifndef _WALE_TEST_FRAMING_H
#define _WALE_TEST_FRAMING_H

#include <net/wale_wire.h>

static const struct wale_framing wale_test_framings[__WALE_OVERHEAD_MAX] = {
	[WALE_OVERHEAD_RAW] = { .layer = WALE_OVERHEAD_RAW },
	[WALE_OVERHEAD_ETHERNET] = { .layer = WALE_OVERHEAD_ETHERNET },
	[WALE_OVERHEAD_ATM] = { .layer = WALE_OVERHEAD_ATM },
};

static inline const struct wale_framing *wale_test_framing(u32 overhead)
{
	return &wale_test_framings[overhead];
}

#endif /* _WALE_TEST_FRAMING_H */
