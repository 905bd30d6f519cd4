/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_loss.h - which packets are lost: bursts of losses   (pure)
 */
#ifndef _WALE_LOSS_H
#define _WALE_LOSS_H

#include <linux/bits.h>
#include <linux/pkt_sched_wale.h>
#include <linux/types.h>

#define WALE_CHANCE_ALL		BIT_ULL(32)
#define WALE_LOSS_STATES	4
#define WALE_LOSS_NUMBERS	5

/* How the losses of packets depend on those before them. */
enum wale_loss_kind {
	WALE_LOSS_INDEPENDENT,	/* not: TCA_WALE_LOSS */
	WALE_LOSS_GEMODEL,	/* TCA_WALE_LOSS_GEMODEL */
	WALE_LOSS_STATE,	/* TCA_WALE_LOSS_STATE */
};

/**
 * struct wale_loss_params - a model of losses, as configured
 * @kind: enum wale_loss_kind
 * @number: its probabilities, fractions of 2^32, in the order of the attributes
 */
struct wale_loss_params {
	u32 kind;
	u32 number[WALE_LOSS_NUMBERS];
};

/**
 * struct wale_loss_state - a state of the chain
 * @first: of 2^32 draws, so many lead to @to_first,
 * @second: and so many to it or to @to_second; with the others it stays
 * @lost: of 2^32 packets, so many are lost in this state
 * @to_first: a state
 * @to_second: a state
 */
struct wale_loss_state {
	u64 first;
	u64 second;
	u64 lost;
	u8 to_first;
	u8 to_second;
};

/**
 * struct wale_loss - the chain, which moves with each packet
 * @now: its state
 * @state: all of them
 */
struct wale_loss {
	u8 now;
	struct wale_loss_state state[WALE_LOSS_STATES];
};

/**
 * struct wale_drop_list - packets that are lost, by their numbers
 * @count: of @range
 * @range: of packets
 */
struct wale_drop_list {
	u32 count;
	struct wale_drop_range range[WALE_DROP_RANGES_MAX];
};

/**
 * wale_chance() - of 2^32 draws, how many are below a probability?
 * @probability: fraction of 2^32; WALE_LOSS_ALWAYS: all
 *
 * Return: 0 .. 2^32.
 */
static inline u64 wale_chance(u32 probability)
{
	return probability == WALE_LOSS_ALWAYS ? WALE_CHANCE_ALL : probability;
}

bool wale_loss_is_valid(const struct wale_loss_params *params);
void wale_loss_start(struct wale_loss *loss,
		     const struct wale_loss_params *params);
bool wale_drop_list_has(const struct wale_drop_list *list, u32 flow, u64 n);
bool wale_loss_next(struct wale_loss *loss, u64 draw);

#endif /* _WALE_LOSS_H */
