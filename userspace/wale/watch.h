/* SPDX-License-Identifier: GPL-2.0 */
/*
 * watch.h - what "wale watch" samples, and where it writes that
 */
#ifndef WALE_WATCH_H
#define WALE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/rtnl.h"

/* A field: a number, infinity (no limit), a text, or nothing (unknown). */
struct watch_value {
	enum { WATCH_NONE, WATCH_NUMBER, WATCH_INFINITE, WATCH_TEXT } kind;
	uint64_t number;
	const char *text;
};

/* A line of text for each record. */
struct watch_output {
	FILE *file;
	const char *const *columns;
	size_t n_columns;
	const char *kind; /* "link" or "flow"; a field if both share a file */
	bool json;
};

void watch_header(const struct watch_output *out);
void watch_row(const struct watch_output *out, const struct watch_value *row);

/* watch_links.c */
#define WATCH_LINK_COLUMNS 29
const char *const *watch_link_columns(void);

struct watch_links {
	struct rtnl rtnl;
	struct watch_output out;
	uint64_t t_ns;
	/* The devices asked for; all, if there are none. */
	int *only;
	size_t n_only;
	/* Names, as far as they were needed. */
	struct watch_device *devices;
	size_t n_devices;
};

int watch_links_sample(struct watch_links *w, uint64_t t_ns);

/* watch_flows.c */
#define WATCH_FLOW_COLUMNS 20
extern const char *const watch_flow_columns[WATCH_FLOW_COLUMNS];

struct watch_flows {
	struct rtnl rtnl;
	struct watch_output out;
	uint64_t t_ns;
};

int watch_flows_sample(struct watch_flows *w, uint64_t t_ns);

#endif /* WALE_WATCH_H */
