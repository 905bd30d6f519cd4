// SPDX-License-Identifier: GPL-2.0
/*
 * transfer_proto.c - parse and write the lines of transfer_proto.h
 *
 * Nothing here touches a socket or a file: the functions work on lines, so
 * that a test or a fuzzer can call them directly.
 */
#include "transfer_proto.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/command.h"
#include "lib/utf8.h"

/* Characters that are not seen and change the order or the lines of others. */
static bool is_deceptive(const unsigned char *s, size_t n)
{
	static const char *const deceptive[] = {
		"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
		"\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
		"\u2066", "\u2067", "\u2068", "\u2069",
	};

	for (size_t i = 0; i < sizeof(deceptive) / sizeof(deceptive[0]); i++)
		if (strlen(deceptive[i]) == n && !memcmp(s, deceptive[i], n))
			return true;
	return false;
}

/* What a line can carry. */
static bool is_text(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = strlen(text);

	for (size_t n; len; s += n, len -= n) {
		n = utf8_length(s, len);
		if (!n || utf8_is_control(s))
			return false;
	}
	return true;
}

void wale_make_printable(char *text)
{
	unsigned char *s = (unsigned char *)text;
	size_t len = strlen(text);

	while (len) {
		size_t n = utf8_length(s, len);

		if (!n) {
			*s = '?';
			n = 1;
		} else if (utf8_is_control(s) || is_deceptive(s, n)) {
			memset(s, '?', n);
		}
		s += n;
		len -= n;
	}
}

bool wale_refuse(struct wale_refusal *why, const char *code, const char *fmt,
		 ...)
{
	va_list ap;

	why->code = code;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	wale_make_printable(why->text);
	return false;
}

static bool parse_bit(const char *text, bool *value)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return false;
	*value = *text == '1';
	return true;
}

void wale_hex(const uint8_t digest[WALE_SHA256_SIZE],
	      char text[WALE_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < WALE_SHA256_SIZE; i++) {
		text[2 * i] = digits[digest[i] >> 4];
		text[2 * i + 1] = digits[digest[i] & 15];
	}
	text[WALE_SHA256_HEX - 1] = '\0';
}

bool wale_hex_valid(const char *text, char lower[WALE_SHA256_HEX])
{
	size_t i;

	for (i = 0; i < WALE_SHA256_HEX - 1; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
		lower[i] = (char)tolower((unsigned char)text[i]);
	}
	lower[i] = '\0';
	return !text[i];
}

/* No empty, "." or ".." component; this refuses absolute paths too. */
static bool components_valid(const char *name, struct wale_refusal *why)
{
	while (true) {
		size_t n = strcspn(name, "/");

		if (!n)
			return wale_refuse(
				why, WALE_E_NAME,
				"the name must be a path relative to the served folder, without a leading, double or trailing '/'");
		if (!strncmp(name, "..", n) && n <= 2)
			return wale_refuse(
				why, WALE_E_NAME,
				"the name must not have '.' or '..' as a component");
		if (!name[n])
			return true;
		name += n + 1;
	}
}

bool wale_name_valid(const char *name, size_t len, struct wale_refusal *why)
{
	const unsigned char *s = (const unsigned char *)name;

	if (!len)
		return wale_refuse(
			why, WALE_E_NAME,
			"the name is empty: expected the path of a file");
	if (len > WALE_NAME_MAX)
		return wale_refuse(
			why, WALE_E_NAME,
			"the name has %zu bytes: expected at most %d", len,
			WALE_NAME_MAX);
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length(s + i, len - i);
		if (!n)
			return wale_refuse(
				why, WALE_E_NAME,
				"the name is not text at byte %zu: expected UTF-8",
				i);
		if (utf8_is_control(s + i))
			return wale_refuse(
				why, WALE_E_NAME,
				"the name has a control character (0x%02x) at byte %zu: expected a line of text",
				s[i + n - 1], i);
	}
	return components_valid(name, why);
}

/* One "key=value" of a request; the name is not among them. */
static bool request_field(struct wale_request *req, const char *key,
			  const char *value, struct wale_refusal *why)
{
	if (!strcmp(key, "cc")) {
		if (!*value || strlen(value) > WALE_CC_MAX || !is_text(value))
			return wale_refuse(
				why, WALE_E_REQUEST,
				"cc=%.32s: expected a name of 1 to %d bytes of text",
				value, WALE_CC_MAX);
		memcpy(req->cc, value, strlen(value) + 1);
		return true;
	}
	if (!strcmp(key, "offset") || !strcmp(key, "bytes")) {
		uint64_t number;

		if (!parse_u64(value, &number) || number > WALE_BYTES_ENDLESS)
			return wale_refuse(
				why, WALE_E_REQUEST,
				"%s=%.32s: expected a number from 0 to 2^62",
				key, value);
		if (*key == 'o') {
			req->offset = number;
		} else {
			req->bytes = number;
			req->has_bytes = true;
		}
		return true;
	}
	if (!strcmp(key, "repeat") || !strcmp(key, "sha256")) {
		bool *bit = *key == 'r' ? &req->repeat : &req->sha256;

		if (!parse_bit(value, bit))
			return wale_refuse(why, WALE_E_REQUEST,
					   "%s=%.32s: expected 0 or 1", key,
					   value);
		return true;
	}
	return wale_refuse(
		why, WALE_E_REQUEST,
		"unknown field '%.32s': expected cc, offset, bytes, repeat, sha256 or name",
		key);
}

/* Which bit of the set of fields seen a key is; 0 for an unknown one. */
static unsigned int field_bit(const char *key)
{
	static const char *const keys[] = { "cc", "offset", "bytes", "repeat",
					    "sha256" };

	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return 1u << i;
	return 0;
}

bool wale_request_parse(char *line, size_t len, struct wale_request *req,
			struct wale_refusal *why)
{
	static const char start[] = WALE_PROTO " GET ";
	unsigned int seen = 0;
	char *p;

	*req = (struct wale_request){ .sha256 = true };
	line[len] = '\0';
	if (len < sizeof(start) - 1 || memcmp(line, start, sizeof(start) - 1))
		return wale_refuse(why, WALE_E_REQUEST,
				   "not a request: expected '" WALE_PROTO
				   " GET [FIELD=VALUE]... name=NAME'");
	for (p = line + sizeof(start) - 1;;) {
		char *space, *equals;

		if (!strncmp(p, "name=", 5)) {
			req->name = p + 5;
			return wale_name_valid(
				p + 5, (size_t)(line + len - p - 5), why);
		}
		space = strchr(p, ' ');
		if (space)
			*space = '\0';
		equals = strchr(p, '=');
		if (!equals)
			return wale_refuse(
				why, WALE_E_REQUEST,
				"'%.32s' is not a field: expected FIELD=VALUE",
				p);
		*equals = '\0';
		if (seen & field_bit(p))
			return wale_refuse(why, WALE_E_REQUEST,
					   "field '%.32s' was given twice", p);
		seen |= field_bit(p);
		if (!request_field(req, p, equals + 1, why))
			return false;
		if (!space)
			return wale_refuse(
				why, WALE_E_REQUEST,
				"the request has no name: expected name=NAME at its end");
		p = space + 1;
	}
}

size_t wale_request_format(char *buf, size_t size,
			   const struct wale_request *req)
{
	char bytes[32] = "", offset[32] = "";
	int n;

	if (req->has_bytes)
		snprintf(bytes, sizeof(bytes), " bytes=%llu",
			 (unsigned long long)req->bytes);
	if (req->offset)
		snprintf(offset, sizeof(offset), " offset=%llu",
			 (unsigned long long)req->offset);
	n = snprintf(buf, size, "%s GET%s%s%s%s%s%s name=%s\n", WALE_PROTO,
		     *req->cc ? " cc=" : "", req->cc, offset, bytes,
		     req->repeat ? " repeat=1" : "",
		     req->sha256 ? "" : " sha256=0", req->name);
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static bool reply_field(struct wale_reply *reply, const char *key,
			const char *value)
{
	if (!strcmp(key, "bytes")) {
		reply->has_bytes = true;
		return parse_u64(value, &reply->bytes);
	}
	if (!strcmp(key, "size"))
		return parse_u64(value, &reply->size);
	if (!strcmp(key, "retransmits"))
		return parse_u64(value, &reply->retransmits);
	if (!strcmp(key, "min_rtt_us"))
		return parse_u64(value, &reply->min_rtt_us);
	if (!strcmp(key, "rtt_us"))
		return parse_u64(value, &reply->rtt_us);
	if (!strcmp(key, "cc")) {
		if (strlen(value) > WALE_CC_MAX)
			return false;
		memcpy(reply->cc, value, strlen(value) + 1);
		return true;
	}
	if (!strcmp(key, "sha256")) {
		if (reply->kind == WALE_REPLY_OK)
			return parse_bit(value, &reply->sha256);
		reply->has_digest = strcmp(value, "-") != 0;
		return !reply->has_digest ||
		       wale_hex_valid(value, reply->digest);
	}
	return true; /* of a later server */
}

void wale_reply_parse(char *line, struct wale_reply *reply)
{
	static const struct {
		const char *word;
		enum wale_reply_kind kind;
	} kinds[] = {
		{ "OK", WALE_REPLY_OK },     { "ERROR", WALE_REPLY_ERROR },
		{ "END", WALE_REPLY_END },   { "ABORT", WALE_REPLY_ABORT },
		{ "DONE", WALE_REPLY_DONE },
	};
	char *save = NULL, *word;

	*reply = (struct wale_reply){ .text = "" };
	wale_make_printable(line);
	word = strtok_r(line, " ", &save);
	if (!word || strcmp(word, WALE_PROTO))
		return;
	word = strtok_r(NULL, " ", &save);
	for (size_t i = 0; word && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(word, kinds[i].word))
			reply->kind = kinds[i].kind;

	if (reply->kind == WALE_REPLY_ERROR ||
	    reply->kind == WALE_REPLY_ABORT) {
		strtok_r(NULL, " ", &save); /* CODE */
		reply->text = save ? save : "";
		return;
	}
	while (reply->kind && (word = strtok_r(NULL, " ", &save))) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		if (!reply_field(reply, word, equals + 1))
			reply->kind = WALE_REPLY_BAD;
	}
	if (reply->kind == WALE_REPLY_OK && !reply->has_bytes)
		reply->kind = WALE_REPLY_BAD;
}
