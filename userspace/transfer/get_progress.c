// SPDX-License-Identifier: GPL-2.0
/*
 * get_progress.c - the line with a bar that "wale get" shows on a terminal
 */
#include "get_progress.h"

#include <stdio.h>

#include "lib/command.h"

#define BAR_WIDTH 24
#define ETA_MAX_S 360000 /* what is longer is not shown */

void progress_clear(struct get_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

static void show_bar(double share)
{
	int done = (int)(share * BAR_WIDTH);

	fputs(" [", stderr);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < done ? '=' : i == done ? '>' : ' ', stderr);
	fprintf(stderr, "] %3.0f %%", share * 100);
}

static void show_eta(double eta_s)
{
	int s = (int)eta_s;

	fprintf(stderr, " ETA %02d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
}

void progress_show(struct get_progress *progress, const char *what,
		   uint64_t received, uint64_t length, double interval_s)
{
	double now = (double)(received - progress->shown_bytes) / interval_s;
	char bytes[HUMAN_MAX], rate[HUMAN_MAX];

	progress->rate =
		progress->rate > 0 ? progress->rate * 0.7 + now * 0.3 : now;
	progress->shown_bytes = received;

	progress_clear(progress);
	progress->shown = true;
	fputs(what, stderr);
	if (length)
		show_bar(received < length ? (double)received / (double)length
					   : 1);
	fprintf(stderr, " %s %s", human_bytes((double)received, bytes),
		human_rate(progress->rate, rate));
	if (length > received && progress->rate > 0 &&
	    (double)(length - received) / progress->rate < ETA_MAX_S)
		show_eta((double)(length - received) / progress->rate);
	fflush(stderr);
}
