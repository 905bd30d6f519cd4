/* SPDX-License-Identifier: GPL-2.0 */
/*
 * serve_options.h - the command line of "wale serve"
 */
#ifndef WALE_SERVE_OPTIONS_H
#define WALE_SERVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SERVE_LISTENERS_MAX 32

/**
 * struct serve_options - the command line
 * @folder: to serve
 * @listen: addresses to listen on
 * @n_listen: how many; 0 for all
 * @port: to listen on
 * @max_transfers: at once
 * @max_per_address: of these, from one address; 0 for no limit
 * @user: NAME[:GROUP] to run as, or NULL
 * @idle_timeout_ns: for a request to come, and without progress
 * @batch: for SO_SNDBUF, 0 for the system's
 * @once: end after so many transfers; 0 for never
 * @json: print JSON
 * @quiet: print errors only
 */
struct serve_options {
	const char *folder;
	const char *listen[SERVE_LISTENERS_MAX];
	unsigned int n_listen;
	uint16_t port;
	unsigned int max_transfers;
	unsigned int max_per_address;
	const char *user;
	uint64_t idle_timeout_ns;
	unsigned int batch;
	unsigned int once;
	bool json;
	bool quiet;
};

/* 0, an exit code, or -1 after --help. */
int serve_options_parse(int argc, char **argv, struct serve_options *opt);

#endif
