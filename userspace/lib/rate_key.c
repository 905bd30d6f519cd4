// SPDX-License-Identifier: GPL-2.0
/*
 * rate_key.c - what a path is the path of: a device, a prefix or a flow
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>

#include "rate_path.h"
#include "units.h"

int rate_error_set(struct rate_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -1;
}

uint32_t rate_device_index(const char *name)
{
	uint32_t ifindex = if_nametoindex(name);
	uint64_t number;

	if (ifindex || strncmp(name, "if", 2) ||
	    units_parse_count(name + 2, INT32_MAX, &number))
		return ifindex;
	return number;
}

const char *rate_device_name(char buf[16], uint32_t ifindex)
{
	if (!if_indextoname(ifindex, buf))
		snprintf(buf, 16, "if%u", ifindex);
	return buf;
}

static int parse_device(struct rate_key *key, const char *name,
			struct rate_error *error)
{
	key->kind = RATE_KEY_DEV;
	key->ifindex = rate_device_index(name);
	if (!key->ifindex)
		return rate_error_set(error, "there is no device \"%.40s\"",
				      name);
	return 2;
}

static size_t address_size(int family)
{
	return family == AF_INET ? 4 : 16;
}

/* An address, and which family it is of; 0 if it is none. */
static int parse_address(const char *text, unsigned char address[16])
{
	if (inet_pton(AF_INET, text, address) == 1)
		return AF_INET;
	if (inet_pton(AF_INET6, text, address) == 1)
		return AF_INET6;
	return 0;
}

/* True if nothing is set behind the first @length bits. */
static bool prefix_is_clean(const unsigned char *address, size_t size,
			    uint32_t length)
{
	size_t i = length / 8;

	if (length % 8 && address[i++] & (0xff >> length % 8))
		return false;
	for (; i < size; i++)
		if (address[i])
			return false;
	return true;
}

static int parse_prefix(struct rate_key *key, const char *text,
			struct rate_error *error)
{
	char address[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "/");
	uint64_t prefix_len;

	key->kind = RATE_KEY_DST;
	if (length >= sizeof(address))
		goto wrong;
	memcpy(address, text, length);
	address[length] = '\0';
	key->family = parse_address(address, key->daddr);
	if (!key->family)
		goto wrong;

	prefix_len = 8 * address_size(key->family);
	if (text[length] &&
	    units_parse_count(text + length + 1, prefix_len, &prefix_len))
		goto wrong;
	key->prefix_len = prefix_len;
	if (!prefix_is_clean(key->daddr, address_size(key->family),
			     key->prefix_len))
		return rate_error_set(error,
				      "%.60s has bits behind its first %u; "
				      "expected a prefix such as 10.0.2.0/24",
				      text, key->prefix_len);
	return 2;
wrong:
	return rate_error_set(error,
			      "\"%.60s\" is not a prefix; expected one such as "
			      "10.0.2.0/24 or 2001:db8::/32",
			      text);
}

/* ADDRESS:PORT or [ADDRESS]:PORT; the family, or 0 if it is neither. */
static int parse_end(const char *text, unsigned char address[16],
		     uint16_t *port)
{
	bool brackets = *text == '[';
	const char *colon = strrchr(text, ':');
	char copy[INET6_ADDRSTRLEN];
	uint64_t number;
	size_t length;
	int family;

	if (!colon || units_parse_count(colon + 1, UINT16_MAX, &number) ||
	    !number)
		return 0;
	length = colon - text;
	if (brackets) {
		if (length < 2 || text[length - 1] != ']')
			return 0;
		text++;
		length -= 2;
	}
	if (length >= sizeof(copy))
		return 0;
	memcpy(copy, text, length);
	copy[length] = '\0';
	family = parse_address(copy, address);
	if (family != (brackets ? AF_INET6 : AF_INET))
		return 0;
	*port = number;
	return family;
}

static int parse_flow(struct rate_key *key, const char *local, const char *peer,
		      struct rate_error *error)
{
	static const char *const expected =
		"expected one such as 10.0.1.2:7770 or [2001:db8::1]:7770";
	int family;

	key->kind = RATE_KEY_FLOW;
	key->family = parse_end(local, key->saddr, &key->sport);
	if (!key->family)
		return rate_error_set(error,
				      "\"%.60s\" is no end of a flow; %s",
				      local, expected);
	family = parse_end(peer, key->daddr, &key->dport);
	if (!family)
		return rate_error_set(error,
				      "\"%.60s\" is no end of a flow; %s", peer,
				      expected);
	if (family != key->family)
		return rate_error_set(error,
				      "%.60s and %.60s are of two families",
				      local, peer);
	return 3;
}

int rate_key_parse(struct rate_key *key, int argc, char **argv,
		   struct rate_error *error)
{
	memset(key, 0, sizeof(*key));
	if (argc < 1)
		return 0;
	if (!strcmp(*argv, "dev"))
		return argc < 2
			       ? rate_error_set(error, "dev: expected a device")
			       : parse_device(key, argv[1], error);
	if (!strcmp(*argv, "dst"))
		return argc < 2
			       ? rate_error_set(error, "dst: expected a prefix")
			       : parse_prefix(key, argv[1], error);
	if (!strcmp(*argv, "flow"))
		return argc < 3 ? rate_error_set(
					  error,
					  "flow: expected the two ends of it, "
					  "LOCAL:PORT PEER:PORT")
				: parse_flow(key, argv[1], argv[2], error);
	return 0;
}

static const char *format_end(char *buf, size_t size, int family,
			      const unsigned char *address, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];

	/* a kernel that told no address */
	if (!inet_ntop(family, address, text, sizeof(text)))
		strcpy(text, "?");
	snprintf(buf, size, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
		 port);
	return buf;
}

const char *rate_key_local(char buf[RATE_KEY_MAX], const struct rate_key *key)
{
	return format_end(buf, RATE_KEY_MAX, key->family, key->saddr,
			  key->sport);
}

const char *rate_key_peer(char buf[RATE_KEY_MAX], const struct rate_key *key)
{
	return format_end(buf, RATE_KEY_MAX, key->family, key->daddr,
			  key->dport);
}

static void format_flow(char buf[RATE_KEY_MAX], const struct rate_key *key)
{
	size_t length;

	strcpy(buf, "flow ");
	length = strlen(buf);
	format_end(buf + length, RATE_KEY_MAX - length, key->family, key->saddr,
		   key->sport);
	length = strlen(buf);
	buf[length++] = ' ';
	format_end(buf + length, RATE_KEY_MAX - length, key->family, key->daddr,
		   key->dport);
}

const char *rate_key_format(char buf[RATE_KEY_MAX], const struct rate_key *key)
{
	char text[INET6_ADDRSTRLEN];

	switch (key->kind) {
	case RATE_KEY_DEV:
		snprintf(buf, RATE_KEY_MAX, "dev %s",
			 rate_device_name(text, key->ifindex));
		break;
	case RATE_KEY_DST:
		inet_ntop(key->family, key->daddr, text, sizeof(text));
		snprintf(buf, RATE_KEY_MAX, "dst %s/%u", text, key->prefix_len);
		break;
	case RATE_KEY_FLOW:
		format_flow(buf, key);
		break;
	default:
		strcpy(buf, "none");
	}
	return buf;
}
