/* SPDX-License-Identifier: GPL-2.0 */
/*
 * serve_output.h - the records of "wale serve" on their way to standard output
 *
 * Whoever reads them may be slow, or not read at all: no transfer waits for that.
 * Records wait in memory, so many that they fit in it; those for which there is no
 * room, or nobody to read them any more, are counted as lost.
 */
#ifndef WALE_SERVE_OUTPUT_H
#define WALE_SERVE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Begin a record.  NULL if there is no room for one: it is lost. */
FILE *serve_output_begin(void);

/* @record, from serve_output_begin(), is complete: write what can be written now. */
void serve_output_end(FILE *record);

/* Standard output may take more: write what can be written now. */
void serve_output_write(void);

/* Are there records that wait for standard output? */
bool serve_output_waits(void);

/*
 * Nothing more comes: write what waits while somebody reads it.  False with a message
 * if records were lost.
 */
bool serve_output_finish(void);

#endif
