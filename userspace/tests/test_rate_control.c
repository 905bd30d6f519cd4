// SPDX-License-Identifier: GPL-2.0
/*
 * test_rate_control.c - who wants how much, and who is there
 */
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/tap.h"
#include "wale/rate_control.h"

#define MS UINT64_C(1000000)
#define PERIOD (100 * MS)
#define RTT (50 * MS)
#define MSS 1460
#define PACKET 1500

/* A flow that is sampled every 100 ms. */
struct flow {
	struct rate_demand demand;
	struct rate_demand_sample sample;
};

static void begin(struct flow *f)
{
	memset(f, 0, sizeof(*f));
	f->sample = (struct rate_demand_sample){ .now_ns = 5 * RATE_SECOND,
						 .base_rtt_ns = RTT,
						 .packet_size = PACKET,
						 .mss = MSS };
	rate_demand_update(&f->demand, &f->sample, PERIOD);
}

/* So many periods with so many packets acknowledged in each. */
static void go_on(struct flow *f, int periods, uint64_t share, int packets,
		  uint32_t window, uint32_t in_flight)
{
	while (periods--) {
		f->sample.now_ns += PERIOD;
		f->sample.bytes_acked += packets * MSS;
		f->sample.share = share;
		f->sample.window = window;
		f->sample.in_flight = in_flight;
		rate_demand_update(&f->demand, &f->sample, PERIOD);
	}
}

static void is_greedy(const struct flow *f, uint64_t share, const char *what)
{
	uint64_t demand = rate_demand(&f->demand, 100000);

	ok(demand > share, "%s: wants %" PRIu64, what, demand);
}

static void is_limited(const struct flow *f, uint64_t use, const char *what)
{
	uint64_t demand = rate_demand(&f->demand, 1600);

	ok(demand == use * 5 / 4 + 100, "%s: wants %" PRIu64, what, demand);
}

static void test_demand(void)
{
	const uint64_t share = 1000000; /* 66 packets a period, 33 an RTT */
	struct flow f;

	begin(&f);
	is_greedy(&f, share, "new");
	go_on(&f, 20, share, 66, 34, 33);
	is_greedy(&f, share, "uses all");

	begin(&f);
	go_on(&f, 20, share, 66, 34, 0);
	is_greedy(&f, share, "uses all, and was seen in between");

	begin(&f);
	go_on(&f, 20, share, 20, 34, 33);
	is_greedy(&f, share, "uses less, with its window full");

	begin(&f);
	go_on(&f, 20, share, 20, 10, 8);
	is_greedy(&f, share, "slow start: a small window, and full");

	begin(&f);
	go_on(&f, 3, share, 10, 34, 5);
	is_greedy(&f, share, "idle for less than it takes");
	go_on(&f, 1, share, 10, 34, 5);
	is_limited(&f, 150000, "limited by its application");
	go_on(&f, 20, share, 11, 34, 5);
	is_limited(&f, 150000, "a little more changes nothing");
	go_on(&f, 1, share, 20, 34, 9);
	is_limited(&f, 300000, "more is believed at once");
	go_on(&f, 7, share, 5, 34, 5);
	is_limited(&f, 300000, "less not before it lasted");
	go_on(&f, 1, share, 5, 34, 5);
	is_limited(&f, 75000, "less");
	go_on(&f, 1, 200000, 13, 8, 1);
	ok(rate_demand(&f.demand, 0) == 1000000, "four times what it had");
	go_on(&f, 2, share, 66, 34, 33);
	is_greedy(&f, share, "awake");

	begin(&f);
	go_on(&f, 8, share, 10, 34, 5);
	is_limited(&f, 150000, "small packets");
	f.sample.limited = true;
	go_on(&f, 1, 190000, 10, 6, 5);
	is_limited(&f, 300000, "which fill the window");
	go_on(&f, RATE_DEMAND_HOLD - 1, 380000, 10, 12, 5);
	is_limited(&f, 300000, "and keep it");
	go_on(&f, 1, 380000, 10, 12, 5);
	is_limited(&f, 150000, "for a while");

	begin(&f);
	go_on(&f, 12, share, 0, 34, 0);
	is_limited(&f, 0, "idle");

	begin(&f);
	f.sample.base_rtt_ns = RATE_SECOND;
	go_on(&f, 60, share, 10, 667, 100);
	is_greedy(&f, share, "a long round trip: three periods take 6 s");
	go_on(&f, 20, share, 10, 667, 100);
	is_limited(&f, 150000, "then it counts");
}

/* Flows of device 3 (of 4, if the id is odd), with these ids. */
static void dump(struct rate_flows *flows, const char *ids)
{
	static struct rate_flow room[32];

	flows->flow = room;
	for (flows->n = 0; *ids; ids++) {
		struct rate_flow *f = &room[flows->n++];

		memset(f, 0, sizeof(*f));
		f->id = *ids;
		f->ifindex = *ids % 2 ? 4 : 3;
		f->key.kind = RATE_KEY_FLOW;
		f->key.family = AF_INET;
		f->key.sport = *ids;
		f->mss = MSS;
		f->packet_size = PACKET;
		f->cwnd = 10;
		f->in_flight = 10;
	}
}

/* The ids, with a dash behind those that are gone. */
static const char *table(const struct control *c)
{
	static char buf[64];
	size_t i, n = 0;

	for (i = 0; i < c->n_flows; i++) {
		buf[n++] = c->flows[i].id;
		if (c->flows[i].gone)
			buf[n++] = '-';
	}
	buf[n] = '\0';
	return buf;
}

static void test_control(void)
{
	struct control c = { .ifindex = 3, .capacity = 1000, .period_ns = 1 };
	struct rate_flows flows;
	uint64_t now = 1;

	dump(&flows, "fabdce");
	control_update(&c, &flows, true, now++);
	ok(!strcmp(table(&c), "bdf"), "of this device: %s", table(&c));
	control_divide(&c);
	ok(c.flows[0].next == 333 && c.flows[2].next == 334 &&
		   !c.flows[0].limited,
	   "they share");

	dump(&flows, "bfh");
	control_update(&c, &flows, false, now++);
	ok(!strcmp(table(&c), "bdfh"), "a dump cut short: %s", table(&c));
	dump(&flows, "hfj");
	control_update(&c, &flows, true, now++);
	ok(!strcmp(table(&c), "b-d-fhj"), "a whole one: %s", table(&c));
	control_divide(&c);
	ok(c.flows[2].next == 333 && c.flows[4].next == 334,
	   "who is gone takes no part");
	control_forget(&c);
	ok(!strcmp(table(&c), "fhj"), "forgotten: %s", table(&c));

	c.flows[1].foreign = true;
	control_divide(&c);
	ok(c.flows[0].next == 500 && c.flows[2].next == 500,
	   "nor does who is not ours");

	dump(&flows, "fh");
	flows.flow[0].key.sport = 4711;
	flows.flow[1].ifindex = 0;
	control_update(&c, &flows, true, now++);
	ok(!strcmp(table(&c), "f-fhj-"), "a number used again: %s", table(&c));
	control_forget(&c);
	flows.flow[0].ifindex = 3;
	flows.flow[1].ifindex = 4;
	control_update(&c, &flows, true, now++);
	ok(!strcmp(table(&c), "fh-"), "another device: %s", table(&c));
	control_forget(&c);
	flows.n = 0;
	control_update(&c, &flows, true, now++);
	control_forget(&c);
	control_divide(&c);
	ok(!c.n_flows, "nobody");
	control_free(&c);
}

int main(void)
{
	test_demand();
	test_control();
	return tap_done();
}
