// SPDX-License-Identifier: GPL-2.0
/*
 * link_trace.c - traces: the rate of a link, step by step, as text
 *
 * Inline, a trace is DURATION:RATE,DURATION:RATE,...; in a file, each line is
 * DURATION RATE, and what follows a # is a comment.
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

/* One step; @where names it in an error. */
static int trace_step(struct link_trace *trace, const char *duration,
		      const char *rate, const char *where, const char *word,
		      struct link_error *error)
{
	char wrong[UNITS_WRONG_MAX];
	uint64_t ns, bytes_per_s;
	int err;

	if (trace->n_steps == WALE_TRACE_FD_STEPS_MAX)
		return link_error_set(error, LINK_ERROR_INVALID, word,
				      "%s: more than %u steps", where,
				      WALE_TRACE_FD_STEPS_MAX);
	if (units_parse_time(duration, &ns))
		return link_error_set(
			error, LINK_ERROR_INVALID, word,
			"%s: \"%.40s\": expected a time such as 10ms", where,
			duration);
	err = units_parse_rate(rate, &bytes_per_s);
	if (!err && bytes_per_s == WALE_RATE_UNLIMITED)
		err = -EINVAL;
	if (err)
		return link_error_set(
			error, LINK_ERROR_INVALID, word, "%s: \"%.40s\": %s",
			where, rate,
			units_rate_wrong(wrong, err, bytes_per_s,
					 "a rate such as 10mbit"));
	if (trace_append(trace, ns, bytes_per_s))
		return link_error_set(error, LINK_ERROR_INVALID, word,
				      "no memory for the trace");
	return 0;
}

int link_trace_parse(struct link_trace *trace, const char *text,
		     struct link_error *error)
{
	char *copy = strdup(text), *step, *rest = copy;
	char where[40];
	int err = 0;

	if (!copy)
		return link_error_set(error, LINK_ERROR_INVALID, text,
				      "no memory for the trace");
	while (!err && (step = strsep(&rest, ","))) {
		char *rate = strchr(step, ':');

		snprintf(where, sizeof(where), "step %u of the trace",
			 trace->n_steps + 1);
		if (!rate) {
			err = link_error_set(
				error, LINK_ERROR_INVALID, text,
				"%s is not DURATION:RATE (trace file PATH reads a file)",
				where);
			break;
		}
		*rate++ = '\0';
		err = trace_step(trace, step, rate, where, text, error);
	}
	free(copy);
	return err;
}

static int trace_line(struct link_trace *trace, char *line, unsigned int number,
		      const char *path, struct link_error *error)
{
	static const char blanks[] = " \t\r\n\f\v";
	char *duration, *rate, *more, *rest, where[32];

	line[strcspn(line, "#")] = '\0';
	duration = strtok_r(line, blanks, &rest);
	if (!duration)
		return 0;
	rate = strtok_r(NULL, blanks, &rest);
	more = strtok_r(NULL, blanks, &rest);

	snprintf(where, sizeof(where), "line %u", number);
	if (!rate || more)
		return link_error_set(error, LINK_ERROR_INVALID, path,
				      "%s is not DURATION RATE", where);
	return trace_step(trace, duration, rate, where, path, error);
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
