// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_sessions.c - the chain of sessions, against the law as it is printed
 *
 * Any chain that linux/pkt_sched_wale.h allows: the table is the cumulative law
 * of that header to within 2^-45, a chain is refused if and only if its law adds
 * up to more than one (to within as much), and a move stays in 0 .. max, one up
 * or as many down as the table says.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <math.h>

#include "fuzz.h"
#include "wale_sessions.h"

#define TOLERANCE 0x1p-45L
#define ALL 0x1p64L

/* The law of how many of @m leave, each with probability @p. */
static void departures(long double law[], u32 m, long double p)
{
	long double ways = 1, leave = 1, stay[WALE_SESSIONS_MAX + 1] = { 1 };
	u32 d;

	for (d = 1; d <= m; d++)
		stay[d] = stay[d - 1] * (1 - p);
	for (d = 0; d <= m; d++) {
		law[d] = ways * leave * stay[m - d];
		ways = ways * (m - d) / (d + 1);
		leave *= p;
	}
}

/* Compares row @m with the law; returns what it adds up to. */
static long double check_row(const struct wale_sessions *sessions, u32 m,
			     bool compare)
{
	const struct wale_sessions_params *params = &sessions->params;
	const u64 *row = sessions->threshold + m * (params->max + 1);
	long double law[WALE_SESSIONS_MAX + 1];
	long double mean = params->mean * 0x1p-32L;
	long double sum = params->arrival * 0x1p-32L;
	u32 d;

	departures(law, m, -expm1l(-1 / (mean * (m + 1))));
	for (d = 0; d <= m; d++) {
		if (d)
			sum += law[d];
		if (!compare)
			continue;
		must(fabsl(row[d] / ALL - sum) < TOLERANCE);
		must(!d || row[d] >= row[d - 1]);
	}
	return sum;
}

/* The same move, found from the other end. */
static u32 naive_move(const struct wale_sessions *sessions, u32 m, u64 u)
{
	const u64 *row = sessions->threshold + m * (sessions->params.max + 1);
	u32 below = 0, d;

	for (d = 0; d <= m; d++)
		below += row[d] <= u;
	if (below == m + 1)
		return m;
	return below ? m - below : min(m + 1, sessions->params.max);
}

static void check_move(const struct wale_sessions *sessions, u32 m, u64 u)
{
	u32 next = wale_sessions_move(sessions, m, u);

	must(next <= sessions->params.max);
	must(next <= m + 1);
	must(next == naive_move(sessions, m, u));
}

static void check_moves(const struct wale_sessions *sessions, struct tape *tape)
{
	u32 max = sessions->params.max, m, d;

	for (m = 0; m <= max; m++) {
		const u64 *row = sessions->threshold + m * (max + 1);

		for (d = 0; d <= m; d++) {
			check_move(sessions, m, row[d]);
			check_move(sessions, m, row[d] - 1);
		}
		check_move(sessions, m, 0);
		check_move(sessions, m, U64_MAX);
		check_move(sessions, m, tape_number(tape));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape tape = { data, size };
	struct wale_sessions_params params = {
		.max = tape_range(&tape, 1, WALE_SESSIONS_MAX),
		.arrival = tape_range(&tape, 0, U32_MAX),
		.mean = tape_range(&tape, WALE_SESSIONS_MEAN_MIN,
				   WALE_SESSIONS_MEAN_MAX),
		.step_ns = WALE_SESSIONS_STEP_MIN,
	};
	struct wale_sessions *sessions = malloc(wale_sessions_size(params.max));
	long double largest = 0;
	bool refused;
	u32 m;

	must(sessions);
	refused = wale_sessions_init(sessions, &params);
	for (m = 0; m <= params.max; m++)
		largest = fmaxl(largest, check_row(sessions, m, !refused));
	must(refused ? largest > 1 - TOLERANCE : largest < 1 + TOLERANCE);
	if (!refused)
		check_moves(sessions, &tape);
	free(sessions);
	return 0;
}
