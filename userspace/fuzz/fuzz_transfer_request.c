// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_transfer_request.c - the request that "wale serve" reads
 *
 * Any line: what is accepted is what transfer_proto.h allows, and written again
 * it is the same request; what is refused is refused with a line that can be sent.
 */
#include "fuzz.h"
#include "lib/utf8.h"
#include "transfer/transfer_proto.h"

static void check_text(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	while (length) {
		size_t n = utf8_length(s, length);

		must(n && !utf8_is_control(s));
		s += n;
		length -= n;
	}
}

/* A path below the served folder, as it is written. */
static void check_name(const char *name)
{
	char *copy = strdup(name), *rest = copy, *component;

	must(copy);
	must(strlen(name) <= WALE_NAME_MAX);
	check_text(name, strlen(name));
	while ((component = strsep(&rest, "/")))
		must(*component && strcmp(component, ".") &&
		     strcmp(component, ".."));
	free(copy);
}

static void check_again(const struct wale_request *req)
{
	struct wale_request again;
	struct wale_refusal why;
	char line[WALE_REQUEST_MAX + 1];
	size_t length = wale_request_format(line, sizeof(line), req);

	must(length && line[length - 1] == '\n');
	must(wale_request_parse(line, length - 1, &again, &why));
	must(!strcmp(req->cc, again.cc) && !strcmp(req->name, again.name));
	must(req->offset == again.offset && req->bytes == again.bytes);
	must(req->has_bytes == again.has_bytes);
	must(req->repeat == again.repeat && req->sha256 == again.sha256);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wale_refusal why = { .code = NULL };
	struct wale_request req;
	char *line;

	if (size >= WALE_REQUEST_MAX || memchr(data, '\n', size))
		return 0; /* serve_conn.c takes the line out of the stream */
	line = input_text(data, size);
	if (wale_request_parse(line, size, &req, &why)) {
		check_name(req.name);
		check_text(req.cc, strlen(req.cc));
		must(strlen(req.cc) <= WALE_CC_MAX);
		must(req.offset <= WALE_BYTES_ENDLESS);
		must(req.bytes <= WALE_BYTES_ENDLESS);
		check_again(&req);
	} else {
		must(why.code && *why.text);
		check_text(why.text, strlen(why.text));
	}
	free(line);
	return 0;
}
