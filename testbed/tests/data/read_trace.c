// SPDX-License-Identifier: GPL-2.0
/*
 * read_trace.c - the steps of a trace file as tc reads them: the duration in ns, the rate in
 * bit/s, the delay in ns, the loss in 2^-32, the limit and its unit; - is not given
 */
#include "lib/link_config.h"
#include "lib/trace_step.h"

static void print(uint64_t value, uint64_t scale)
{
	if (value == WALE_TRACE_SAME)
		printf(" -");
	else
		printf(" %llu", (unsigned long long)(value * scale));
}

int main(int argc, char **argv)
{
	struct link_trace trace = { 0 };
	struct link_error error;
	struct trace_step step;
	unsigned int i;

	if (argc < 2 || link_trace_read(&trace, argv[1], &error))
		return 1;
	for (i = 0; i < trace.n_steps; i++) {
		link_trace_step(&trace, i, &step);
		printf("%llu", (unsigned long long)step.duration_ns);
		if (step.value[TRACE_COLUMN_RATE] == WALE_TRACE_DOWN)
			printf(" down");
		else
			print(step.value[TRACE_COLUMN_RATE], 8);
		print(step.value[TRACE_COLUMN_DELAY], 1);
		print(step.value[TRACE_COLUMN_LOSS], 1);
		print(step.value[TRACE_COLUMN_LIMIT], 1);
		printf(" %c\n", step.in_bytes ? 'b' : 'p');
	}
	return 0;
}
