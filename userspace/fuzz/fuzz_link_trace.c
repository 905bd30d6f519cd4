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
	return a->n_steps == b->n_steps && a->columns == b->columns &&
	       !memcmp(a->values, b->values,
		       a->n_steps * link_trace_step_size(a->columns));
}

/* As tc prints it. */
static char *printed(const struct link_trace *trace)
{
	const struct link_config c = { .trace = *trace,
				       .link.set = LINK_BIT(TCA_WALE_TRACE) };
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	must(file);
	link_config_print(file, &c);
	fclose(file);
	must(!strncmp(text, "trace ", 6) && text[length - 1] == ' ');
	text[length - 1] = '\0';
	memmove(text, text + 6, length - 6);
	return text;
}

/* A list as lines of a file: a step begins with each word that has a colon. */
static void as_lines(char *text)
{
	char *step = text, *comma;

	for (; (comma = strchr(text, ',')); text = comma + 1)
		*comma = ' ';
	for (; (text = strchr(step, ':')); step = text + 1) {
		*text = ' ';
		while (text > step && text[-1] != ' ')
			text--;
		if (text > step)
			text[-1] = '\n';
		text = strchr(text, ' ');
	}
}

static void check_again(const struct link_trace *trace)
{
	struct link_trace file = {}, line = {};
	struct link_error error;
	char *text;

	text = printed(trace);
	must(!link_trace_parse(&line, text, &error));
	must(same(trace, &line));
	as_lines(text);
	/* tc's sizes are in powers of 1024, and a file wants them so said */
	if (!(trace->columns & WALE_TRACE_LIMIT_BYTES)) {
		must(!link_trace_read(&file, as_file(text, strlen(text)),
				      &error));
		must(same(trace, &file));
	}
	free(text);
	link_trace_free(&file);
	link_trace_free(&line);
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
	link_trace_free(&trace);
	return 0;
}
