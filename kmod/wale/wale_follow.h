/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_follow.h - what of a link follows the steps of a trace, beside its rate
 */
#ifndef _WALE_FOLLOW_H
#define _WALE_FOLLOW_H

#include <linux/types.h>

struct wale_sched_data;

/**
 * struct wale_follow - what follows the steps, and what the options say
 * @on: steps have more than a rate
 * @delays: steps have delays
 * @cuts: what is on the line when the link goes down is dropped
 * @loss_given: the step says the loss
 * @down: the link is down in the step
 * @step: that the link's loss and limit are of
 * @from_ns: the link's delay is that of services that end after this,
 * @until_ns: and not after this
 * @delay_ns: of the option
 * @limit_bytes: of the option, or U64_MAX
 * @limit_packets: of the option, or U32_MAX
 * @loss: of the option
 */
struct wale_follow {
	bool on;
	bool delays;
	bool cuts;
	bool loss_given;
	bool down;
	u32 step;
	u64 from_ns;
	u64 until_ns;
	u64 delay_ns;
	u64 limit_bytes;
	u32 limit_packets;
	u32 loss;
};

void wale_follow_restart(struct wale_sched_data *q);
void wale_follow_step(struct wale_sched_data *q);
void wale_follow_end(struct wale_sched_data *q, u64 now);
u64 wale_follow_least_delay(const struct wale_sched_data *q);
u64 wale_follow_peak_delay(const struct wale_sched_data *q);

#endif /* _WALE_FOLLOW_H */
