/* SPDX-License-Identifier: GPL-2.0 */
/*
 * attributes.h - reading and writing netlink attributes, without a library
 */
#ifndef WALE_ATTRIBUTES_H
#define WALE_ATTRIBUTES_H

#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One attribute, found by attribute_next(). */
struct attribute {
	int type;
	const void *data;
	size_t length;
};

/*
 * Takes the attribute at *at, which has *left bytes, and moves on; false
 * where there is no whole one.
 */
static inline int attribute_next(const char **at, size_t *left,
				 struct attribute *a)
{
	struct nlattr header;
	size_t step;

	if (*left < sizeof(header))
		return 0;
	memcpy(&header, *at, sizeof(header));
	if (header.nla_len < NLA_HDRLEN || header.nla_len > *left)
		return 0;
	a->type = header.nla_type & NLA_TYPE_MASK;
	a->data = *at + NLA_HDRLEN;
	a->length = header.nla_len - NLA_HDRLEN;

	step = NLA_ALIGN(header.nla_len);
	if (step > *left)
		step = *left;
	*at += step;
	*left -= step;
	return 1;
}

/* Where attributes go: a message of some library.  0, or an error. */
typedef int (*attribute_put_fn)(void *to, int type, const void *data,
				size_t length);

/* An attribute that is put if its bit is set. */
struct attribute_field {
	uint64_t bit;
	int type;
	const void *data;
	size_t length;
};

static inline int attribute_put_fields(const struct attribute_field *fields,
				       size_t n_fields, uint64_t set,
				       attribute_put_fn put, void *to)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < n_fields; i++)
		if (set & fields[i].bit)
			err = put(to, fields[i].type, fields[i].data,
				  fields[i].length);
	return err;
}

/*
 * Appends an attribute to those in a buffer of zeros, which has so much room and is
 * used up to *length.  0, or -EMSGSIZE if it does not fit.
 */
static inline int attribute_append(char *buf, size_t room, size_t *length,
				   int type, const void *data, size_t size)
{
	struct nlattr header = { .nla_type = type };

	if (size > UINT16_MAX - NLA_HDRLEN || *length > room ||
	    NLA_ALIGN(NLA_HDRLEN + size) > room - *length)
		return -EMSGSIZE;
	header.nla_len = NLA_HDRLEN + size;
	memcpy(buf + *length, &header, sizeof(header));
	if (size)
		memcpy(buf + *length + NLA_HDRLEN, data, size);
	*length += NLA_ALIGN(header.nla_len);
	return 0;
}

/* 0 if the attribute is shorter than the number. */
static inline uint32_t attribute_u32(const struct attribute *a)
{
	uint32_t value = 0;

	if (a->length >= sizeof(value))
		memcpy(&value, a->data, sizeof(value));
	return value;
}

static inline uint64_t attribute_u64(const struct attribute *a)
{
	uint64_t value = 0;

	if (a->length >= sizeof(value))
		memcpy(&value, a->data, sizeof(value));
	return value;
}

#endif /* WALE_ATTRIBUTES_H */
