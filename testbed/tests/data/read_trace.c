// SPDX-License-Identifier: GPL-2.0
/*
 * read_trace.c - the steps of a trace file as tc reads them, in ns and bit/s
 */
#include "lib/link_config.h"

int main(int argc, char **argv)
{
	struct link_trace trace = { 0 };
	struct link_error error;
	unsigned int i;

	if (link_trace_read(&trace, argv[1], &error))
		return 1;
	for (i = 0; i < trace.n_steps; i++)
		printf("%llu %llu\n", (unsigned long long)trace.steps[i].duration_ns,
		       (unsigned long long)trace.steps[i].rate * 8);
	return 0;
}
