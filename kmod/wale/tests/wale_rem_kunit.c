// SPDX-License-Identifier: GPL-2.0
/*
 * wale_rem_kunit.c - the price of random exponential marking, against exact values
 */

#include <kunit/test.h>
#include <linux/module.h>

#include "../wale_rem.c"

#define ONE	REM_PRICE_ONE
#define MS	1000000ULL

/* gamma 0.01 per kB, alpha 0.1, b* = 20 kB, every 10 ms */
static const struct wale_rem_params wale_rem_test_params = {
	.interval_ns = 10 * MS, .target = 20000,
	.gamma = 10000, .alpha = 100000, .phi = 1100000,
};

static struct wale_rem wale_rem_test_new(u32 phi)
{
	struct wale_rem_params params = wale_rem_test_params;
	struct wale_rem rem = {};

	params.phi = phi;
	wale_rem_set(&rem, &params, 0);
	wale_rem_start(&rem, 0, 0);
	return rem;
}

/* floor(2^32 (1 - phi^-p)) */
static const struct wale_rem_case {
	const char *name;
	u64 price;
	u32 phi, probability;
} wale_rem_cases[] = {
	{ "no price", 0ULL, 1100000, 0U },
	{ "1, phi 2: a half", 1000000000ULL, 2000000, 2147483648U },
	{ "1, phi 1.1", 1000000000ULL, 1100000, 390451572U },
	{ "10, phi 1.1", 10000000000ULL, 1100000, 2639071476U },
	{ "a millionth, phi 1.1", 1000ULL, 1100000, 409U },
	{ "1, phi 1.001", 1000000000ULL, 1001000, 4290676U },
	{ "1000, phi 1.001", 1000000000000ULL, 1001000, 2714147441U },
	{ "1, phi 1000", 1000000000ULL, 1000000000, 4290672328U },
	{ "3, phi 1000", 3000000000ULL, 1000000000, 4294967291U },
};

static void wale_rem_desc(const struct wale_rem_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(wale_rem, wale_rem_cases, wale_rem_desc);

/* The logarithms are right to 2^-23: with phi 1.001 that is 1 in 10^4 of the price. */
static void wale_rem_probability_test(struct kunit *test)
{
	const struct wale_rem_case *c = test->param_value;
	struct wale_rem rem = wale_rem_test_new(c->phi);
	u32 tolerance = c->probability / 10000 + 400;

	wale_rem_set_price(&rem, c->price);
	KUNIT_EXPECT_LE(test, rem.probability,
			min_t(u64, (u64)c->probability + tolerance, U32_MAX));
	KUNIT_EXPECT_GE(test, (u64)rem.probability + tolerance,
			c->probability);
}

/* It never falls when the price rises, up to all packets but one in 2^32. */
static void wale_rem_monotonic_test(struct kunit *test)
{
	struct wale_rem rem = wale_rem_test_new(1100000);
	u64 price, most = wale_rem_price_max(&rem);
	u32 last = 0;

	for (price = 0; price < most; price += div_u64(most, 5000)) {
		wale_rem_set_price(&rem, price);
		KUNIT_EXPECT_GE(test, rem.probability, last);
		last = rem.probability;
	}
	wale_rem_set_price(&rem, most);
	KUNIT_EXPECT_EQ(test, rem.probability, U32_MAX);
}

/* gamma (alpha (b - b*) + x - c), by hand; c = 12500 bytes */
static const struct wale_rem_step_case {
	const char *name;
	u64 backlog, arrived, rate, before, after;
} wale_rem_step_cases[] = {
	{ "nothing to change", 20000, 12500, 1250000, ONE, ONE },
	{ "a kB too much waits", 21000, 12500, 1250000, ONE, ONE + ONE / 1000 },
	{ "a kB too little", 19000, 12500, 1250000, ONE, ONE - ONE / 1000 },
	{ "a kB too much came", 20000, 13500, 1250000, ONE, ONE + ONE / 100 },
	{ "a byte", 20000, 12501, 1250000, 0, 10000 },
	{ "one above the target", 20001, 12500, 1250000, 0, 1000 },
	{ "a tenth of a byte/s less", 20000, 12500, 1249999, 0, 100 },
	{ "never below zero", 0, 0, 1250000, ONE / 100, 0 },
	{ "outage", 20000, 0, 0, ONE, ONE },
	{ "no limit of the rate", 20000, 12500, WALE_RATE_UNLIMITED, ONE, 0 },
	{ "largest of all", U64_MAX, U64_MAX, 0, 0, U64_MAX },
	{ "largest rate", 0, 0, WALE_RATE_MAX, 100 * ONE, 0 },
};

static void wale_rem_step_desc(const struct wale_rem_step_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(wale_rem_step, wale_rem_step_cases, wale_rem_step_desc);

static void wale_rem_step_test(struct kunit *test)
{
	const struct wale_rem_step_case *c = test->param_value;
	struct wale_rem rem = wale_rem_test_new(1100000);

	wale_rem_set_price(&rem, c->before);
	wale_rem_update(&rem, c->backlog, c->arrived, c->rate, 1);
	KUNIT_EXPECT_EQ(test, rem.price, min(c->after,
					     wale_rem_price_max(&rem)));
	KUNIT_EXPECT_EQ(test, rem.next_ns, 20 * MS);
	KUNIT_EXPECT_EQ(test, rem.offered, c->arrived);
}

/* Many updates at once are as many one by one, at both limits, too. */
static void wale_rem_many_steps_test(struct kunit *test)
{
	u64 backlog, steps;

	for (backlog = 0; backlog <= 40000; backlog += 997) {
		for (steps = 1; steps < 3000; steps = 3 * steps + 1) {
			struct wale_rem one = wale_rem_test_new(2000000), many;
			u64 i;

			wale_rem_set_price(&one, 5 * ONE);
			many = one;
			for (i = 0; i < steps; i++)
				wale_rem_update(&one, backlog, 0, 0, 1);
			wale_rem_update(&many, backlog, 0, 0, steps);
			KUNIT_EXPECT_EQ(test, one.price, many.price);
			KUNIT_EXPECT_EQ(test, one.next_ns, many.next_ns);
			KUNIT_EXPECT_EQ(test, one.probability,
					many.probability);
		}
	}
}

static void wale_rem_steps_test(struct kunit *test)
{
	struct wale_rem rem = wale_rem_test_new(1100000);
	const u64 never = U64_MAX;

	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, never, 10 * MS), 1);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, never, 20 * MS - 1), 1);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, never, 20 * MS), 2);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, never, 1000 * MS), 100);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, 50 * MS, 1000 * MS), 4);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, 50 * MS + 1, 1000 * MS),
			5);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 0, 10 * MS, 1000 * MS), 1);
	KUNIT_EXPECT_EQ(test, wale_rem_steps(&rem, 7, never, 1000 * MS), 1);
}

/* At rest, each update is as if there was none, at any rate and while the buffer empties. */
static void wale_rem_rests_test(struct kunit *test)
{
	static const u64 rates[] = {
		0, 1, 1250000, WALE_RATE_MAX, WALE_RATE_UNLIMITED,
	};
	struct wale_rem one = wale_rem_test_new(1100000), all;
	u64 target = one.params.target, backlog = target, offered = 7;
	unsigned int i, n = 1000;

	wale_rem_update(&one, 0, offered, WALE_RATE_MAX, 1);
	KUNIT_EXPECT_TRUE(test, wale_rem_rests(&one, target));
	KUNIT_EXPECT_FALSE(test, wale_rem_rests(&one, target + 1));
	all = one;
	for (i = 0; i < n; i++) {
		wale_rem_update(&one, backlog, offered,
				rates[i % ARRAY_SIZE(rates)], 1);
		backlog -= min(backlog, i * 7);
	}
	wale_rem_update(&all, target, offered, rates[1],
			wale_rem_steps(&all, offered, U64_MAX,
				       all.next_ns +
				       (n - 1) * all.params.interval_ns));
	KUNIT_EXPECT_EQ(test, memcmp(&one, &all, sizeof(one)), 0);
	wale_rem_set_price(&one, 1);
	KUNIT_EXPECT_FALSE(test, wale_rem_rests(&one, 0));
}

/* The extremes of the parameters: the price stays within its limits. */
static void wale_rem_extremes_test(struct kunit *test)
{
	const struct wale_rem_params extremes[] = {
		{ WALE_REM_INTERVAL_MAX, WALE_REM_TARGET_MAX,
		  WALE_REM_GAMMA_MAX, WALE_POLICY_UNIT, WALE_REM_PHI_MAX },
		{ WALE_REM_INTERVAL_MIN, 0, WALE_REM_GAMMA_MAX,
		  WALE_POLICY_UNIT, WALE_REM_PHI_MIN },
		{ WALE_REM_INTERVAL_MAX, WALE_REM_TARGET_MAX, 1, 0,
		  WALE_REM_PHI_MIN },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(extremes); i++) {
		struct wale_rem rem = {};
		u64 most;

		wale_rem_set(&rem, &extremes[i], 0);
		wale_rem_start(&rem, 0, 0);
		most = wale_rem_price_max(&rem);
		wale_rem_update(&rem, U64_MAX, U64_MAX, 0, 1);
		KUNIT_EXPECT_LE(test, rem.price, most);
		wale_rem_update(&rem, U64_MAX, U64_MAX, 0, BIT_ULL(40));
		KUNIT_EXPECT_LE(test, rem.price, most);
		wale_rem_update(&rem, 0, U64_MAX, WALE_RATE_MAX, BIT_ULL(40));
		KUNIT_EXPECT_EQ(test, rem.price, 0);
		KUNIT_EXPECT_EQ(test, rem.probability, 0);
	}
}

/* Another phi: the price stays, as far as it can; the phase stays, too. */
static void wale_rem_set_test(struct kunit *test)
{
	struct wale_rem rem = wale_rem_test_new(1100000);
	struct wale_rem_params params = wale_rem_test_params;

	wale_rem_set_price(&rem, 100 * ONE);
	params.phi = 2000000;
	wale_rem_set(&rem, &params, 3 * MS);
	KUNIT_EXPECT_EQ(test, rem.price, 32 * ONE);
	KUNIT_EXPECT_EQ(test, rem.next_ns, 10 * MS);
	params.interval_ns = 4 * MS;
	wale_rem_set(&rem, &params, 5 * MS);
	KUNIT_EXPECT_EQ(test, rem.next_ns, 9 * MS);
}

static struct kunit_case wale_rem_kunit_cases[] = {
	KUNIT_CASE_PARAM(wale_rem_probability_test, wale_rem_gen_params),
	KUNIT_CASE(wale_rem_monotonic_test),
	KUNIT_CASE_PARAM(wale_rem_step_test, wale_rem_step_gen_params),
	KUNIT_CASE(wale_rem_many_steps_test),
	KUNIT_CASE(wale_rem_steps_test),
	KUNIT_CASE(wale_rem_rests_test),
	KUNIT_CASE(wale_rem_extremes_test),
	KUNIT_CASE(wale_rem_set_test),
	{}
};

static struct kunit_suite wale_rem_suite = {
	.name = "wale_rem",
	.test_cases = wale_rem_kunit_cases,
};

kunit_test_suite(wale_rem_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit tests of the price of a wale link");
