// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_link_trace.c - traces of a link, as files of "DURATION RATE" lines
 *
 * What is read has as many steps as a request can carry, and written as text it
 * is read again as the same, as a file and inline.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "lib/link_config.h"
#include "lib/units.h"

/* The text as a file: its path. */
static const char *as_file(const void *text, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("trace", MFD_CLOEXEC);
	must(fd >= 0 && !ftruncate(fd, 0));
	must(pwrite(fd, text, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static bool same(const struct link_trace *a, const struct link_trace *b)
{
	return a->n_steps == b->n_steps &&
	       !memcmp(a->steps, b->steps, a->n_steps * sizeof(*a->steps));
}

static char *written(const struct link_trace *trace, const char *between,
		     const char *after)
{
	char duration[UNITS_MAX], rate[UNITS_MAX], *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	uint32_t i;

	must(file);
	for (i = 0; i < trace->n_steps; i++)
		fprintf(file, "%s%s%s%s", i ? after : "",
			units_format_time(duration,
					  trace->steps[i].duration_ns),
			between, units_format_rate(rate, trace->steps[i].rate));
	fclose(file);
	return text;
}

static void check_again(const struct link_trace *trace)
{
	struct link_trace file = {}, line = {};
	struct link_error error;
	char *text;

	text = written(trace, " ", "\n");
	must(!link_trace_read(&file, as_file(text, strlen(text)), &error));
	must(same(trace, &file));
	free(text);
	text = written(trace, ":", ",");
	must(!link_trace_parse(&line, text, &error));
	must(same(trace, &line));
	free(text);
	free(file.steps);
	free(line.steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct link_error error = { .kind = 0 };
	struct link_trace trace = {};

	if (link_trace_read(&trace, as_file(data, size), &error)) {
		must(error.kind == LINK_ERROR_FILE && *error.text);
	} else {
		must(trace.n_steps && trace.n_steps <= WALE_TRACE_FD_STEPS_MAX);
		check_again(&trace);
	}
	free(trace.steps);
	return 0;
}
