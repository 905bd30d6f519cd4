/* SPDX-License-Identifier: GPL-2.0 */
/*
 * payload.h - the attributes of a message, one behind the other
 */
#ifndef WALE_PAYLOAD_H
#define WALE_PAYLOAD_H

#include "lib/attributes.h"

struct payload {
	char data[70000];
	size_t length;
};

/* An attribute_put_fn; -1 for one that is too long for its header. */
static inline int payload_put(void *to, int type, const void *data,
			      size_t length)
{
	struct payload *p = to;
	struct nlattr header = { .nla_len = NLA_HDRLEN + length,
				 .nla_type = type };
	size_t step = NLA_ALIGN(NLA_HDRLEN + length);

	if (header.nla_len != NLA_HDRLEN + length ||
	    step > sizeof(p->data) - p->length)
		return -1;
	memset(p->data + p->length, 0, step);
	memcpy(p->data + p->length, &header, sizeof(header));
	if (length)
		memcpy(p->data + p->length + NLA_HDRLEN, data, length);
	p->length += step;
	return 0;
}

#endif /* WALE_PAYLOAD_H */
