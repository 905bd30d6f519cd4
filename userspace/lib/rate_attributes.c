// SPDX-License-Identifier: GPL-2.0
/*
 * rate_attributes.c - keys, paths and flows as netlink attributes
 */
#include <arpa/inet.h>
#include <string.h>

#include "attributes.h"
#include "rate_path.h"

static size_t address_size(int family)
{
	return family == AF_INET ? 4 : 16;
}

static int encode_flow_key(const struct rate_key *key, attribute_put_fn put,
			   void *to)
{
	uint16_t sport = htons(key->sport), dport = htons(key->dport);
	size_t size = address_size(key->family);
	int err;

	err = put(to, RATE_FEEDBACK_A_PATH_SADDR, key->saddr, size);
	if (!err)
		err = put(to, RATE_FEEDBACK_A_PATH_DADDR, key->daddr, size);
	if (!err)
		err = put(to, RATE_FEEDBACK_A_PATH_SPORT, &sport,
			  sizeof(sport));
	if (!err)
		err = put(to, RATE_FEEDBACK_A_PATH_DPORT, &dport,
			  sizeof(dport));
	return err;
}

int rate_key_encode(const struct rate_key *key, attribute_put_fn put, void *to)
{
	int err;

	switch (key->kind) {
	case RATE_KEY_DEV:
		return put(to, RATE_FEEDBACK_A_PATH_IFINDEX, &key->ifindex,
			   sizeof(key->ifindex));
	case RATE_KEY_DST:
		err = put(to, RATE_FEEDBACK_A_PATH_DADDR, key->daddr,
			  address_size(key->family));
		if (err)
			return err;
		return put(to, RATE_FEEDBACK_A_PATH_PREFIX_LEN,
			   &key->prefix_len, sizeof(key->prefix_len));
	case RATE_KEY_FLOW:
		return encode_flow_key(key, put, to);
	default:
		return 0;
	}
}

static int encode_follow(const struct rate_path *path, attribute_put_fn put,
			 void *to)
{
	char buf[32] = { 0 };
	size_t length = 0;
	int err = 0;

	if (path->follow_netns_fd >= 0)
		err = attribute_append(buf, sizeof(buf), &length,
				       RATE_FEEDBACK_A_FOLLOW_NETNS_FD,
				       &path->follow_netns_fd,
				       sizeof(path->follow_netns_fd));
	if (!err)
		err = attribute_append(buf, sizeof(buf), &length,
				       RATE_FEEDBACK_A_FOLLOW_IFINDEX,
				       &path->follow_ifindex,
				       sizeof(path->follow_ifindex));
	return err ? err
		   : put(to, RATE_FEEDBACK_A_PATH_FOLLOW | NLA_F_NESTED, buf,
			 length);
}

int rate_path_encode(const struct rate_path *path, attribute_put_fn put,
		     void *to)
{
	const struct attribute_field fields[] = {
#define FIELD(name, member)                                             \
	{ RATE_PATH_##name, RATE_FEEDBACK_A_PATH_##name, &path->member, \
	  sizeof(path->member) }
		FIELD(RATE, rate),   FIELD(MEANING, meaning),
		FIELD(TIME, time),   FIELD(AGE_LIMIT, age_limit),
		FIELD(LAG, lag),     FIELD(LAG_TIME, lag_time),
		FIELD(BETA, beta),   FIELD(RISE, rise),
		FIELD(PACE, pace),   FIELD(BASE_RTT, base_rtt),
		FIELD(LAYER, layer), FIELD(SWING, swing),
		FIELD(PHI, phi),
#undef FIELD
	};
	int err;

	err = rate_key_encode(&path->key, put, to);
	if (!err)
		err = attribute_put_fields(fields,
					   sizeof(fields) / sizeof(fields[0]),
					   path->set, put, to);
	if (!err && path->set & RATE_PATH_FOLLOW)
		err = encode_follow(path, put, to);
	return err;
}

static void decode_address(struct rate_key *key, unsigned char address[16],
			   const struct attribute *a)
{
	if (a->length != 4 && a->length != 16)
		return;
	key->family = a->length == 4 ? AF_INET : AF_INET6;
	memcpy(address, a->data, a->length);
}

static uint16_t decode_port(const struct attribute *a)
{
	uint16_t port = 0;

	if (a->length >= sizeof(port))
		memcpy(&port, a->data, sizeof(port));
	return ntohs(port);
}

static uint32_t decode_follow(const struct attribute *nest)
{
	const char *at = nest->data;
	size_t left = nest->length;
	struct attribute a;

	while (attribute_next(&at, &left, &a))
		if (a.type == RATE_FEEDBACK_A_FOLLOW_IFINDEX)
			return attribute_u32(&a);
	return 0;
}

/* False if the attribute is not of the key. */
static bool decode_key(struct rate_key *key, const struct attribute *a)
{
	switch (a->type) {
	case RATE_FEEDBACK_A_PATH_IFINDEX:
		key->ifindex = attribute_u32(a);
		return true;
	case RATE_FEEDBACK_A_PATH_SADDR:
		decode_address(key, key->saddr, a);
		return true;
	case RATE_FEEDBACK_A_PATH_DADDR:
		decode_address(key, key->daddr, a);
		return true;
	case RATE_FEEDBACK_A_PATH_PREFIX_LEN:
		key->prefix_len = attribute_u32(a);
		return true;
	case RATE_FEEDBACK_A_PATH_SPORT:
		key->sport = decode_port(a);
		return true;
	case RATE_FEEDBACK_A_PATH_DPORT:
		key->dport = decode_port(a);
		return true;
	default:
		return false;
	}
}

/* What kind of key the attributes gave. */
static enum rate_key_kind key_kind(const struct rate_key *key)
{
	if (!key->family)
		return key->ifindex ? RATE_KEY_DEV : RATE_KEY_NONE;
	return key->sport || key->dport ? RATE_KEY_FLOW : RATE_KEY_DST;
}

/* Where a number goes. */
struct field {
	size_t offset;
	size_t size; /* 0: the attribute is no number */
	unsigned int bit; /* of struct rate_path.set */
};

#define FIELD(type, member, bit)                                         \
	{                                                                \
		offsetof(type, member), sizeof(((type *)0)->member), bit \
	}

/* The bit of the field, or 0. */
static unsigned int decode_number(void *to, const struct field *fields,
				  int n_fields, const struct attribute *a)
{
	const struct field *field;

	if (a->type >= n_fields)
		return 0;
	field = &fields[a->type];
	if (!field->size || a->length < field->size)
		return 0;
	memcpy((char *)to + field->offset, a->data, field->size);
	return field->bit;
}

static void decode_path_number(struct rate_path *path,
			       const struct attribute *a)
{
	static const struct field fields[RATE_FEEDBACK_A_PATH_MAX + 1] = {
#define PATH(name, member, bit) \
	[RATE_FEEDBACK_A_PATH_##name] = FIELD(struct rate_path, member, bit)
		PATH(RATE, rate, RATE_PATH_RATE),
		PATH(MEANING, meaning, RATE_PATH_MEANING),
		PATH(TIME, time, RATE_PATH_TIME),
		PATH(AGE_LIMIT, age_limit, RATE_PATH_AGE_LIMIT),
		PATH(LAG, lag, RATE_PATH_LAG),
		PATH(LAG_TIME, lag_time, RATE_PATH_LAG_TIME),
		PATH(BETA, beta, RATE_PATH_BETA),
		PATH(RISE, rise, RATE_PATH_RISE),
		PATH(PACE, pace, RATE_PATH_PACE),
		PATH(BASE_RTT, base_rtt, RATE_PATH_BASE_RTT),
		PATH(LAYER, layer, RATE_PATH_LAYER),
		PATH(ID, id, 0),
		PATH(FLOWS, flows, 0),
		PATH(LISTENERS, listeners, 0),
		PATH(PUBLISHER, publisher, 0),
		PATH(AGE, age, 0),
		PATH(UPDATES, updates, 0),
		PATH(SWING, swing, RATE_PATH_SWING),
		PATH(PHI, phi, RATE_PATH_PHI),
#undef PATH
	};

	path->set |=
		decode_number(path, fields, RATE_FEEDBACK_A_PATH_MAX + 1, a);
}

void rate_path_decode(struct rate_path *path, const void *data, size_t length)
{
	const char *at = data;
	struct attribute a;

	memset(path, 0, sizeof(*path));
	path->follow_netns_fd = -1;
	while (attribute_next(&at, &length, &a)) {
		if (a.type == RATE_FEEDBACK_A_PATH_FOLLOW) {
			path->follow_ifindex = decode_follow(&a);
			path->set |= RATE_PATH_FOLLOW;
		} else if (!decode_key(&path->key, &a)) {
			decode_path_number(path, &a);
		}
	}
	path->key.kind = key_kind(&path->key);
}

static void decode_flow_text(struct rate_flow *flow, const struct attribute *a)
{
	size_t length = a->length;

	if (length >= sizeof(flow->congestion))
		length = sizeof(flow->congestion) - 1;
	memcpy(flow->congestion, a->data, length);
	flow->congestion[length] = '\0';
}

static void decode_flow_number(struct rate_flow *flow,
			       const struct attribute *a)
{
	static const struct field fields[RATE_FEEDBACK_A_FLOW_MAX + 1] = {
#define FLOW(name, member) \
	[RATE_FEEDBACK_A_FLOW_##name] = FIELD(struct rate_flow, member, 0)
		FLOW(ID, id),
		FLOW(IFINDEX, ifindex),
		FLOW(UID, uid),
		FLOW(PATH, path),
		FLOW(PHASE, phase),
		FLOW(RATE, rate),
		FLOW(BASE_RTT, base_rtt),
		FLOW(RATE_WINDOW, rate_window),
		FLOW(CWND, cwnd),
		FLOW(IN_FLIGHT, in_flight),
		FLOW(PACKET_SIZE, packet_size),
		FLOW(MSS, mss),
		FLOW(BYTES_ACKED, bytes_acked),
		FLOW(LOST_ADVICE, lost_advice),
		FLOW(FOUND_ADVICE, found_advice),
		FLOW(PRICE, price),
#undef FLOW
	};

	flow->has_path |= a->type == RATE_FEEDBACK_A_FLOW_PATH;
	decode_number(flow, fields, RATE_FEEDBACK_A_FLOW_MAX + 1, a);
}

void rate_flow_decode(struct rate_flow *flow, const void *data, size_t length)
{
	struct rate_key *key = &flow->key;
	const char *at = data;
	struct attribute a;

	memset(flow, 0, sizeof(*flow));
	key->kind = RATE_KEY_FLOW;
	while (attribute_next(&at, &length, &a)) {
		switch (a.type) {
		case RATE_FEEDBACK_A_FLOW_SADDR:
			decode_address(key, key->saddr, &a);
			break;
		case RATE_FEEDBACK_A_FLOW_DADDR:
			decode_address(key, key->daddr, &a);
			break;
		case RATE_FEEDBACK_A_FLOW_SPORT:
			key->sport = decode_port(&a);
			break;
		case RATE_FEEDBACK_A_FLOW_DPORT:
			key->dport = decode_port(&a);
			break;
		case RATE_FEEDBACK_A_FLOW_CONGESTION:
			decode_flow_text(flow, &a);
			break;
		default:
			decode_flow_number(flow, &a);
		}
	}
}
