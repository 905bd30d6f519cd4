/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate_path.h - paths of the rate feedback channel, and the flows that listen
 * to them: as words, as netlink attributes, as text and as JSON
 *
 * The meaning of every value is that of linux/rate_feedback.h.  None of this
 * needs a netlink library.
 */
#ifndef WALE_RATE_PATH_H
#define WALE_RATE_PATH_H

#include <linux/rate_feedback.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "attributes.h"

#define RATE_UNLIMITED (~UINT64_C(0))

/* Why words, or a file, were refused. */
struct rate_error {
	char text[224];
};

/* Returns -1. */
int rate_error_set(struct rate_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* rate_key.c: what a path is the path of. */

enum rate_key_kind {
	RATE_KEY_NONE, /* the attributes named none */
	RATE_KEY_DEV,
	RATE_KEY_DST,
	RATE_KEY_FLOW,
};

/* What the kind does not need is zero, so that keys can be compared whole. */
struct rate_key {
	enum rate_key_kind kind;
	int family; /* AF_INET or AF_INET6, of the addresses */
	uint32_t ifindex;
	uint32_t prefix_len;
	unsigned char saddr[16]; /* network order; IPv4 in the first 4 */
	unsigned char daddr[16];
	uint16_t sport; /* host order */
	uint16_t dport;
};

/* Room for a key as text. */
#define RATE_KEY_MAX 128

/*
 * Takes "dev DEV", "dst PREFIX" or "flow LOCAL:PORT PEER:PORT" from the front
 * of the words.  Returns how many words it took, 0 if none of these is there,
 * -1 if there is something wrong with it.
 */
int rate_key_parse(struct rate_key *key, int argc, char **argv,
		   struct rate_error *error);

/* DEV is a name, or "if7" for a device that has none (any more).  0: none. */
uint32_t rate_device_index(const char *name);
const char *rate_device_name(char buf[16], uint32_t ifindex);

/* As rate_key_parse() reads it. */
const char *rate_key_format(char buf[RATE_KEY_MAX], const struct rate_key *key);
/* "address:port", "[address]:port" of either end of a flow. */
const char *rate_key_local(char buf[RATE_KEY_MAX], const struct rate_key *key);
const char *rate_key_peer(char buf[RATE_KEY_MAX], const struct rate_key *key);

/* Paths. */

/* What is known of a path; bits of struct rate_path.set. */
enum rate_path_bit {
	RATE_PATH_RATE = 1 << 0,
	RATE_PATH_MEANING = 1 << 1,
	RATE_PATH_TIME = 1 << 2,
	RATE_PATH_AGE_LIMIT = 1 << 3,
	RATE_PATH_LAG = 1 << 4,
	RATE_PATH_LAG_TIME = 1 << 5,
	RATE_PATH_BETA = 1 << 6,
	RATE_PATH_RISE = 1 << 7,
	RATE_PATH_PACE = 1 << 8,
	RATE_PATH_BASE_RTT = 1 << 9,
	RATE_PATH_LAYER = 1 << 10,
	RATE_PATH_FOLLOW = 1 << 11,
	RATE_PATH_SWING = 1 << 12,
	RATE_PATH_PHI = 1 << 13,
	RATE_PATH_VALUE = RATE_PATH_RATE | RATE_PATH_MEANING | RATE_PATH_TIME |
			  RATE_PATH_LAYER,
};

struct rate_path {
	unsigned int set;
	struct rate_key key;
	uint64_t rate;
	uint64_t time;
	uint64_t age_limit;
	uint64_t lag_time;
	uint64_t base_rtt;
	uint32_t meaning;
	uint32_t lag;
	uint32_t beta;
	uint32_t swing; /* percent */
	uint32_t phi; /* millionths */
	uint32_t rise;
	uint32_t pace;
	uint32_t layer;
	uint32_t follow_ifindex;
	int follow_netns_fd; /* -1: this namespace; the caller closes it */
	/* Only the kernel tells these. */
	uint32_t id;
	uint32_t flows;
	uint32_t listeners;
	uint32_t publisher;
	uint64_t age;
	uint64_t updates;
};

/*
 * Takes one option, and what belongs to it, from the front of the words; a
 * rate is an option too.  Returns how many words it took, 0 if there is no such
 * option, -1 if something is wrong with it.
 */
int rate_path_parse(struct rate_path *path, int argc, char **argv,
		    struct rate_error *error);

/* Does nothing if the path does not follow one of another namespace. */
void rate_path_close(struct rate_path *path);

/* rate_attributes.c; put() gets each one, and returns 0 or an error. */
int rate_key_encode(const struct rate_key *key, attribute_put_fn put, void *to);
int rate_path_encode(const struct rate_path *path, attribute_put_fn put,
		     void *to);

/* What the attributes do not tell is zero. */
void rate_path_decode(struct rate_path *path, const void *data, size_t length);

/* Of sockets that listen. */

struct rate_flow {
	struct rate_key key; /* of kind RATE_KEY_FLOW */
	uint32_t id;
	uint32_t ifindex; /* 0: it has no route now */
	uint32_t uid;
	bool has_path; /* otherwise it has no advice */
	uint32_t path;
	uint32_t phase;
	uint32_t rate_window;
	uint32_t cwnd;
	uint32_t in_flight;
	uint32_t packet_size;
	uint32_t mss;
	uint64_t rate;
	uint64_t base_rtt;
	uint64_t bytes_acked;
	uint64_t lost_advice;
	uint64_t found_advice;
	uint64_t price; /* 10^-9; 0: the rate does not come in band */
	char congestion[16];
};

void rate_flow_decode(struct rate_flow *flow, const void *data, size_t length);

/* rate_text.c: names of values; "?" for one that is unknown here. */
const char *rate_meaning_name(uint32_t meaning);
const char *rate_lag_name(uint32_t lag);
const char *rate_rise_name(uint32_t rise);
const char *rate_layer_name(uint32_t layer);
const char *rate_phase_name(uint32_t phase);

/* -1 if there is no value of this name. */
int rate_meaning_value(const char *name);
int rate_rise_value(const char *name);
int rate_layer_value(const char *name);

/* "now", "rtt", or the time of RATE_FEEDBACK_LAG_FIXED. */
const char *rate_lag_format(char buf[48], const struct rate_path *path);

/* What can be set, as words that rate_path_parse() reads. */
void rate_path_print(FILE *to, const struct rate_path *path);

/* All, as members of the object that is open. */
struct json;
void rate_key_json(struct json *j, const struct rate_key *key);
void rate_path_json(struct json *j, const struct rate_path *path);
void rate_flow_json(struct json *j, const struct rate_flow *flow);

#endif /* WALE_RATE_PATH_H */
