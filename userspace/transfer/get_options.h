/* SPDX-License-Identifier: GPL-2.0 */
/*
 * get_options.h - the command line of "wale get"
 */
#ifndef WALE_GET_OPTIONS_H
#define WALE_GET_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "get_arrivals.h"
#include "transfer_proto.h"

/**
 * struct get_options - the command line
 * @port: of the server
 * @family: AF_UNSPEC, AF_INET or AF_INET6
 * @request: everything of the request but the name, and the size of sessions
 * @arrivals: sessions that arrive at random, if its interval is not 0
 * @has_seed: a seed for them was given
 * @out: file or folder to write to, "-" for standard output, or NULL
 * @out_is_folder: each transfer has a file in it
 * @duration_ns: stop after this much time of data, 0 for never
 * @timeout_ns: give up after this much time without progress
 * @parallel: transfers at once
 * @local_port: of the first transfer, 0 for any
 * @rcvbuf: for SO_RCVBUF, 0 for the system's
 * @batch: how much data must be there to be taken, 0 for a part of the receive buffer
 * @digest: compute the SHA-256 of what comes
 * @expected: digest that it must have, "" for any
 * @json: results as JSON objects
 * @progress: a line with a bar on standard error
 */
struct get_options {
	uint16_t port;
	int family;
	struct wale_request request;
	struct get_arrivals arrivals;
	bool has_seed;
	const char *out;
	bool out_is_folder;
	uint64_t duration_ns;
	uint64_t timeout_ns;
	unsigned int parallel;
	uint16_t local_port;
	unsigned int rcvbuf;
	unsigned int batch;
	bool digest;
	char expected[WALE_SHA256_HEX];
	bool json;
	bool progress;
};

/*
 * Parse and check them; what to get is at argv[optind].  Returns 0, an exit
 * status, or -1 after --help.
 */
int get_options_parse(int argc, char **argv, struct get_options *opt);

/* How many transfers @n_names mean: one for each, or the sessions. */
unsigned int get_options_transfers(const struct get_options *opt, int n_names);

#endif
