// SPDX-License-Identifier: GPL-2.0
/*
 * serve_output.c - the records of "wale serve" on their way to standard output
 *
 * Standard output may be shared with other processes, so it stays as blocking as it is:
 * nothing is written for which there is no room (stdout_room()).
 */
#include "serve_output.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/command.h"

/* Bytes that wait: some 10,000 records, or 1,500 of them in JSON. */
#define WAITING_MAX (1 << 20)
/* How long a reader may pause, and at the end of the server. */
static const struct timespec no_wait, last_wait = { .tv_sec = 1 };

/* fmemopen() ends what it holds with a null byte, over the last one of a full buffer. */
static char waiting[WAITING_MAX + 1];
static size_t n_waiting;
static unsigned long long lost;
static int error; /* why nothing can be written any more */

FILE *serve_output_begin(void)
{
	FILE *record = NULL;

	if (!error && n_waiting < WAITING_MAX)
		record = fmemopen(waiting + n_waiting,
				  sizeof(waiting) - n_waiting, "w");
	if (!record)
		lost++;
	return record;
}

void serve_output_end(FILE *record)
{
	bool whole = !fflush(record) && !ferror(record);
	long len = ftell(record);

	fclose(record);
	if (whole && len > 0 && n_waiting + (size_t)len <= WAITING_MAX)
		n_waiting += (size_t)len;
	else
		lost++;
	serve_output_write();
}

/* How many of the @most bytes behind @text to write at once: whole records if possible. */
static size_t whole_records(const char *text, size_t len, size_t most)
{
	const char *end;

	if (len <= most)
		return len;
	end = memrchr(text, '\n', most);
	return end ? (size_t)(end - text) + 1 : most;
}

static unsigned long long count_records(const char *text, size_t len)
{
	unsigned long long records = 0;

	for (size_t i = 0; i < len; i++)
		records += text[i] == '\n';
	return records;
}

/* Write what waits, as long as standard output takes some within @wait. */
static void write_waiting(const struct timespec *wait)
{
	size_t done = 0, most;

	while (!error && done < n_waiting && (most = stdout_room(wait, NULL))) {
		size_t left = n_waiting - done;
		ssize_t n = write(STDOUT_FILENO, waiting + done,
				  whole_records(waiting + done, left, most));

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			error = errno;
	}
	n_waiting -= done;
	if (done)
		memmove(waiting, waiting + done, n_waiting);
	if (error) {
		lost += count_records(waiting, n_waiting);
		n_waiting = 0;
	}
}

void serve_output_write(void)
{
	write_waiting(&no_wait);
}

bool serve_output_waits(void)
{
	return n_waiting;
}

bool serve_output_finish(void)
{
	write_waiting(&last_wait);
	lost += count_records(waiting, n_waiting);
	n_waiting = 0;
	if (lost)
		fprintf(stderr,
			"wale serve: %llu records were not written to standard output: %s\n",
			lost, error ? strerror(error) : "nobody read them");
	return !lost;
}
