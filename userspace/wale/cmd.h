/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cmd.h - the subcommands of wale, and what they return
 */
#ifndef WALE_CMD_H
#define WALE_CMD_H

/* What a subcommand returns is the exit status of wale. */
enum wale_exit {
	WALE_EXIT_OK = 0,
	WALE_EXIT_FAILED = 1, /* understood, but could not be done */
	WALE_EXIT_USAGE = 2, /* the command line is wrong */
};

/*
 * A subcommand gets its own name as argv[0], so that getopt_long() can be
 * used as it is, and answers --help itself, on stdout, with WALE_EXIT_OK.
 */
int cmd_serve(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_receive(int argc, char **argv);
int cmd_link(int argc, char **argv);
int cmd_rate(int argc, char **argv);
int cmd_watch(int argc, char **argv);

#endif /* WALE_CMD_H */
