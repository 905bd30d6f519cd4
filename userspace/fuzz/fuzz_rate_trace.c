// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_rate_trace.c - traces of advice, as "wale rate play" reads them
 *
 * Steps come one after the other and not after the end; written with their
 * times, they are read again as the same.
 */
#include "fuzz.h"
#include "lib/rate_trace.h"
#include "lib/units.h"

static int read_text(struct rate_trace *trace, const void *text, size_t size,
		     struct rate_error *error)
{
	FILE *file = fmemopen((void *)text, size, "r");
	int err;

	must(file);
	err = rate_trace_read_file(trace, file, "trace", error);
	fclose(file);
	return err;
}

static void check_again(const struct rate_trace *trace)
{
	char time[UNITS_MAX], rate[UNITS_MAX], *text = NULL;
	struct rate_trace again;
	struct rate_error error;
	size_t length, i;
	FILE *file = open_memstream(&text, &length);

	must(file);
	for (i = 0; i < trace->n_steps; i++)
		fprintf(file, "at %s %s\n",
			units_format_time(time, trace->steps[i].offset_ns),
			units_format_rate(rate, trace->steps[i].rate));
	fprintf(file, "at %s end\n", units_format_time(time, trace->end_ns));
	fclose(file);
	must(!read_text(&again, text, length, &error));
	must(again.n_steps == trace->n_steps && again.end_ns == trace->end_ns);
	must(!memcmp(again.steps, trace->steps,
		     trace->n_steps * sizeof(*trace->steps)));
	rate_trace_free(&again);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rate_error error = { "" };
	struct rate_trace trace;
	size_t i;

	if (!size)
		return 0; /* fmemopen() does not do it */
	if (read_text(&trace, data, size, &error)) {
		must(*error.text);
	} else {
		must(trace.n_steps);
		for (i = 1; i < trace.n_steps; i++)
			must(trace.steps[i].offset_ns >
			     trace.steps[i - 1].offset_ns);
		must(trace.end_ns >= trace.steps[trace.n_steps - 1].offset_ns);
		must(trace.end_ns <= UINT64_MAX / 2);
		check_again(&trace);
	}
	rate_trace_free(&trace);
	return 0;
}
