// SPDX-License-Identifier: GPL-2.0
/*
 * test_serve_output.c - records of "wale serve" for which there is no room: each is
 * lost and counted, or comes whole to who reads at last
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "transfer/serve_output.h"

/* More than fits in memory. */
#define LONG_RECORDS 600
#define LONG_RECORD 4096
/* Behind them, so many of one byte that they meet the end exactly. */
#define SHORT_RECORDS (2 * LONG_RECORD)

static int reader, saved_out, saved_err;
static FILE *messages;

/* Standard output becomes a pipe that is full, standard error a file. */
static bool begin_capture(void)
{
	int pipes[2];

	fflush(stdout);
	saved_out = dup(STDOUT_FILENO);
	saved_err = dup(STDERR_FILENO);
	messages = tmpfile();
	if (saved_out < 0 || saved_err < 0 || !messages ||
	    pipe2(pipes, O_NONBLOCK) < 0)
		return false;
	while (write(pipes[1], "x", 1) == 1)
		;
	fcntl(pipes[1], F_SETFL, 0);
	reader = pipes[0];
	if (dup2(pipes[1], STDOUT_FILENO) < 0 ||
	    dup2(fileno(messages), STDERR_FILENO) < 0)
		return false;
	close(pipes[1]);
	return true;
}

static void end_capture(void)
{
	fflush(stderr);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	close(saved_out);
	close(saved_err);
	close(reader);
}

static void write_record(int length)
{
	FILE *record = serve_output_begin();

	if (!record)
		return;
	fprintf(record, "%*s\n", length - 1, "");
	serve_output_end(record);
}

/* What was written: @records by their ends, and @others, bytes that nobody wrote. */
static void read_records(unsigned int *records, unsigned int *others)
{
	char text[1 << 16];
	ssize_t n;

	do {
		serve_output_write();
		while ((n = read(reader, text, sizeof(text))) > 0) {
			for (ssize_t i = 0; i < n; i++) {
				*records += text[i] == '\n';
				*others += !memchr("x \n", text[i], 3);
			}
		}
	} while (serve_output_waits());
}

/* How many were lost since the start. */
static unsigned int read_lost(void)
{
	unsigned int lost = 0;

	rewind(messages);
	if (fscanf(messages, "wale serve: %u records", &lost) != 1)
		lost = 0;
	fclose(messages);
	return lost;
}

/* The @first record is so long, so that the others end elsewhere. */
static void test_no_room(int first)
{
	unsigned int records = 0, others = 0, lost;
	static unsigned int lost_before;
	bool all;

	if (!begin_capture()) {
		perror("test_serve_output");
		exit(1);
	}
	write_record(first);
	for (int i = 1; i < LONG_RECORDS; i++)
		write_record(LONG_RECORD);
	for (int i = 0; i < SHORT_RECORDS; i++)
		write_record(1);
	read_records(&records, &others);
	all = serve_output_finish();
	end_capture();
	lost = read_lost() - lost_before;
	lost_before += lost;

	ok(!all && lost, "first record of %d bytes: %u records are lost", first,
	   lost);
	ok(records + lost == LONG_RECORDS + SHORT_RECORDS,
	   "the other %u are there, each with its end", records);
	ok(!others, "and nothing else (%u other bytes)", others);
}

int main(void)
{
	test_no_room(1);
	test_no_room(2);
	test_no_room(LONG_RECORD - 1);
	test_no_room(LONG_RECORD);
	return tap_done();
}
