/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_demand.h - does a flow use its share, or has its application less to say
 *
 * A flow is limited by its application when it stays below its share and does
 * not fill its window.  One that stays below its share with a full window is
 * limited by the network, and may not be robbed for it.
 *
 * That is judged in periods of two base round-trip times at least, because the
 * window follows a new share after one, and of some packets:
 *
 *	greedy --- RATE_DEMAND_BELOW such periods, one after the other ---> limited
 *
 * Every other period multiplies the demand of a limited flow by four, so that
 * it is soon above any share.
 */
#ifndef WALE_RATE_DEMAND_H
#define WALE_RATE_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

/* A period has room for so many packets, if it need not be a second for that. */
#define RATE_DEMAND_FEW 8
/* So many periods are below the share before a flow counts as limited. */
#define RATE_DEMAND_BELOW 3
/* The demand is the greatest use in so many periods. */
#define RATE_DEMAND_PERIODS 8
/* So many periods it does not fall after a window was too small. */
#define RATE_DEMAND_HOLD 64

/* What is known of a flow at one time, of struct rate_flow. */
struct rate_demand_sample {
	uint64_t now_ns;
	uint64_t bytes_acked;
	uint64_t base_rtt_ns;
	uint64_t share; /* that it has had since the sample before */
	bool limited; /* and that was all that it wanted */
	uint32_t window; /* what it may have in flight, packets */
	uint32_t in_flight;
	uint32_t packet_size;
	uint32_t mss;
};

/* Zero is a flow of which nothing is known: it is greedy. */
struct rate_demand {
	uint64_t start_ns; /* of this period; 0: there was no sample */
	uint64_t start_acked;
	uint64_t share; /* the least in this period */
	bool full; /* the window was, in this period */
	unsigned int below; /* periods below the share, in a row */
	unsigned int hold; /* periods, until the demand may fall */
	unsigned int period; /* of used[], the next */
	uint64_t used[RATE_DEMAND_PERIODS]; /* bytes/s, in the share's layer */
	bool limited;
	uint64_t use; /* what the demand of a limited flow follows from */
};

/* Takes a sample; periods are not shorter than @period_ns. */
void rate_demand_update(struct rate_demand *d,
			const struct rate_demand_sample *sample,
			uint64_t period_ns);

/*
 * What the flow would use: RATE_GREEDY, or, for a limited one, what it used and
 * a quarter, and a sixteenth of @equal, an equal part of the link, so that it
 * can show when it wants more.
 */
uint64_t rate_demand(const struct rate_demand *d, uint64_t equal);

#endif /* WALE_RATE_DEMAND_H */
