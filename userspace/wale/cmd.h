/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cmd.h - the subcommands of wale that are here
 */
#ifndef WALE_CMD_H
#define WALE_CMD_H

#include "lib/command.h"

/*
 * A subcommand gets its own name as argv[0], so that getopt_long() can be
 * used as it is, and answers --help itself, on stdout, with WALE_EXIT_OK.
 */
int cmd_link(int argc, char **argv);
int cmd_rate(int argc, char **argv);
int cmd_scone(int argc, char **argv);
int cmd_watch(int argc, char **argv);

/* cmd_error.c: both print; what they return is the exit status. */
int cmd_wrong(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int cmd_cannot(const char *command, const char *what, const char *why);

#endif /* WALE_CMD_H */
