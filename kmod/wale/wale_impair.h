/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_impair.h - what a link does to packets beside delaying and losing them
 * independently
 *
 * Links without any of this have no struct wale_impair, and pay for it with a
 * look at a pointer.
 */
#ifndef _WALE_IMPAIR_H
#define _WALE_IMPAIR_H

#include <linux/types.h>

#include "wale_loss.h"

/**
 * struct wale_impair_params - as configured
 * @loss: the model of bursts
 * @ecn: 1: mark what can be marked in the place of losing it
 */
struct wale_impair_params {
	struct wale_loss_params loss;
	u32 ecn;
};

/**
 * struct wale_impair - the impairments of a link
 * @params: as configured
 * @loss: the chain of @params.loss
 */
struct wale_impair {
	struct wale_impair_params params;
	struct wale_loss loss;
};

#endif /* _WALE_IMPAIR_H */
