// SPDX-License-Identifier: GPL-2.0
/*
 * link_trace.c - traces: the rate of a link, step by step, as text
 *
 * Inline, a trace is DURATION:RATE,DURATION:RATE,...; in a file, each line is
 * DURATION RATE, and what follows a # is a comment.  In a file, a duration has a
 * unit: a scenario, which may read the same file, would take seconds without one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link_config.h"
#include "units.h"

static int trace_append(struct link_trace *trace, uint64_t duration_ns,
			uint64_t rate)
{
	struct wale_trace_step *steps = trace->steps;

	/* Room is doubled whenever the number of steps is a power of two. */
	if (!(trace->n_steps & (trace->n_steps - 1))) {
		size_t room = trace->n_steps ? 2 * trace->n_steps : 1;

		steps = realloc(steps, room * sizeof(*steps));
		if (!steps)
			return -ENOMEM;
		trace->steps = steps;
	}
	steps[trace->n_steps].duration_ns = duration_ns;
	steps[trace->n_steps].rate = rate;
	trace->n_steps++;
	return 0;
}

/* Where a step is. */
struct place {
	char name[40];
	const char *word; /* of the command line: the steps, or their file */
	bool file;
};

static int step_failed(const struct place *at, const char *text,
		       const char *why, struct link_error *error)
{
	return link_error_set(error, LINK_ERROR_INVALID, at->word,
			      "%s: \"%.40s\": %s", at->name, text, why);
}

static int trace_step(struct link_trace *trace, const char *duration,
		      const char *rate, const struct place *at,
		      struct link_error *error)
{
	char wrong[UNITS_WRONG_MAX];
	uint64_t ns, bytes_per_s;
	int err;

	if (trace->n_steps == WALE_TRACE_FD_STEPS_MAX)
		return link_error_set(error, LINK_ERROR_INVALID, at->word,
				      "%s: more than %u steps", at->name,
				      WALE_TRACE_FD_STEPS_MAX);
	if (at->file && units_parse_time_unit(duration, &ns))
		return step_failed(at, duration,
				   "expected a time with a unit, such as 10ms",
				   error);
	if (!at->file && units_parse_time(duration, &ns))
		return step_failed(at, duration, "expected a time such as 10ms",
				   error);
	err = units_parse_rate(rate, &bytes_per_s);
	if (!err && bytes_per_s == WALE_RATE_UNLIMITED)
		err = -EINVAL;
	if (err)
		return step_failed(at, rate,
				   units_rate_wrong(wrong, err, bytes_per_s,
						    "a rate such as 10mbit"),
				   error);
	if (trace_append(trace, ns, bytes_per_s))
		return link_error_set(error, LINK_ERROR_INVALID, at->word,
				      "no memory for the trace");
	return 0;
}

int link_trace_parse(struct link_trace *trace, const char *text,
		     struct link_error *error)
{
	char *copy = strdup(text), *step, *rest = copy;
	struct place at = { .word = text };
	int err = 0;

	if (!copy)
		return link_error_set(error, LINK_ERROR_INVALID, text,
				      "no memory for the trace");
	while (!err && (step = strsep(&rest, ","))) {
		char *rate = strchr(step, ':');

		snprintf(at.name, sizeof(at.name), "step %u of the trace",
			 trace->n_steps + 1);
		if (!rate) {
			err = link_error_set(
				error, LINK_ERROR_INVALID, text,
				"%s is not DURATION:RATE (trace file PATH reads a file)",
				at.name);
			break;
		}
		*rate++ = '\0';
		err = trace_step(trace, step, rate, &at, error);
	}
	free(copy);
	return err;
}

static int trace_line(struct link_trace *trace, char *line, unsigned int number,
		      const char *path, struct link_error *error)
{
	static const char blanks[] = " \t\r\n\f\v";
	struct place at = { .word = path, .file = true };
	char *duration, *rate, *more, *rest;

	line[strcspn(line, "#")] = '\0';
	duration = strtok_r(line, blanks, &rest);
	if (!duration)
		return 0;
	rate = strtok_r(NULL, blanks, &rest);
	more = strtok_r(NULL, blanks, &rest);

	snprintf(at.name, sizeof(at.name), "line %u", number);
	if (!rate || more)
		return link_error_set(error, LINK_ERROR_INVALID, path,
				      "%s is not DURATION RATE", at.name);
	return trace_step(trace, duration, rate, &at, error);
}

int link_trace_read(struct link_trace *trace, const char *path,
		    struct link_error *error)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	int err = 0;
	FILE *file;

	file = fopen(path, "re");
	if (!file)
		return link_error_set(error, LINK_ERROR_INVALID, path,
				      "cannot open the trace: %s",
				      strerror(errno));
	errno = 0;
	while (!err && getline(&line, &room, file) >= 0)
		err = trace_line(trace, line, ++number, path, error);
	if (!err && ferror(file))
		err = link_error_set(error, LINK_ERROR_INVALID, path,
				     "cannot read the trace: %s",
				     strerror(errno));
	if (!err && !trace->n_steps)
		err = link_error_set(error, LINK_ERROR_INVALID, path,
				     "the trace has no steps");
	free(line);
	fclose(file);
	return err;
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t done = write(fd, data, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		data += done;
		length -= done;
	}
	return 0;
}

int link_trace_fd(const struct link_trace *trace)
{
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd >= 0 && write_all(fd, (const char *)trace->steps,
				 trace->n_steps * sizeof(*trace->steps))) {
		close(fd);
		fd = -1;
	}
	return fd < 0 ? -ENOMEM : fd;
}
