// SPDX-License-Identifier: GPL-2.0
/*
 * wale_loss.c - which packets are lost: bursts of losses   (pure)
 *
 * Two chains, with the parameters that the manual of netem has for them:
 *
 *	gemodel		after E. N. Gilbert (1960) and E. O. Elliott (1963)
 *
 *		good  --p-->  bad		lost with probability 1-k in
 *		      <--r--			good, and 1-h in bad
 *
 *	state		S. Salsano and others, "Definition of a general and
 *			intuitive loss model for packet networks" (2009)
 *
 *		4 <--p14-- 1 --p13--> 3 --p32--> 2
 *		  ---1-->    <--p31--   <--p23--
 *
 *		Packets come through in 1, and in 2 amid a burst of losses; they
 *		are lost in 3, the burst, and in 4, which is a single loss.
 *
 * Before each packet the chain moves once, and the packet finds its new state.
 * Both begin where packets come through: in good, and in 1.  A packet takes one
 * draw: the upper half moves the chain, the lower half says whether it is lost.
 */

#include "wale_loss.h"

/* Indices of wale_loss_params.number[]. */
enum { GE_P, GE_R, GE_BAD, GE_GOOD };
enum { P13, P31, P32, P23, P14 };

enum { GOOD, BAD };
enum { RECEIVED, RECEIVED_IN_BURST, BURST, SINGLE };

/**
 * wale_loss_is_valid() - are the ways out of each state at most certain?
 * @params: the model
 *
 * Return: true if they are.
 */
bool wale_loss_is_valid(const struct wale_loss_params *params)
{
	const u32 *number = params->number;
	u64 from_1 = wale_chance(number[P13]) + wale_chance(number[P14]);
	u64 from_3 = wale_chance(number[P31]) + wale_chance(number[P32]);

	return params->kind != WALE_LOSS_STATE ||
	       (from_1 <= WALE_CHANCE_ALL && from_3 <= WALE_CHANCE_ALL);
}

static void wale_loss_set(struct wale_loss_state *state, u64 first, u8 to_first,
			  u64 second, u8 to_second, u64 lost)
{
	*state = (struct wale_loss_state){
		.first = first, .to_first = to_first,
		.second = first + second, .to_second = to_second,
		.lost = lost,
	};
}

/**
 * wale_loss_start() - begin a chain
 * @loss: the chain
 * @params: its probabilities, which are valid
 */
void wale_loss_start(struct wale_loss *loss,
		     const struct wale_loss_params *params)
{
	struct wale_loss_state *state = loss->state;
	u64 p[WALE_LOSS_NUMBERS];
	int i;

	for (i = 0; i < WALE_LOSS_NUMBERS; i++)
		p[i] = wale_chance(params->number[i]);
	if (params->kind == WALE_LOSS_GEMODEL) {
		loss->now = GOOD;
		wale_loss_set(&state[GOOD], p[GE_P], BAD, 0, BAD, p[GE_GOOD]);
		wale_loss_set(&state[BAD], p[GE_R], GOOD, 0, GOOD, p[GE_BAD]);
		return;
	}
	loss->now = RECEIVED;
	wale_loss_set(&state[RECEIVED], p[P14], SINGLE, p[P13], BURST, 0);
	wale_loss_set(&state[RECEIVED_IN_BURST], p[P23], BURST, 0, BURST, 0);
	wale_loss_set(&state[BURST], p[P32], RECEIVED_IN_BURST, p[P31],
		      RECEIVED, WALE_CHANCE_ALL);
	wale_loss_set(&state[SINGLE], WALE_CHANCE_ALL, RECEIVED, 0, RECEIVED,
		      WALE_CHANCE_ALL);
}

/**
 * wale_loss_next() - is the next packet lost?
 * @loss: the chain
 * @draw: 64 uniform bits
 *
 * Return: true if it is.
 */
bool wale_loss_next(struct wale_loss *loss, u64 draw)
{
	const struct wale_loss_state *state = &loss->state[loss->now];
	u32 move = draw >> 32;

	if (move < state->first)
		loss->now = state->to_first;
	else if (move < state->second)
		loss->now = state->to_second;
	return (u32)draw < loss->state[loss->now].lost;
}

/**
 * wale_drop_list_has() - is a packet lost by its number?
 * @list: the list
 * @flow: whose packets are numbered; 0: the link's
 * @n: its number
 *
 * Return: true if it is.
 */
bool wale_drop_list_has(const struct wale_drop_list *list, u32 flow, u64 n)
{
	u32 i;

	for (i = 0; i < list->count; i++)
		if (list->range[i].flow == flow && n >= list->range[i].first &&
		    n <= list->range[i].last)
			return true;
	return false;
}
