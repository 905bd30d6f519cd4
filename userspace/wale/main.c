// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - wale: finds the subcommand and runs it
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "transfer/transfer.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *description;
} commands[] = {
	{ "serve", cmd_serve, "Offer the files of a folder to wale get" },
	{ "get", cmd_get, "Fetch a file, and measure the transfer" },
	{ "send", cmd_send, "Send UDP packets at a constant rate" },
	{ "receive", cmd_receive, "Count the packets of wale send" },
	{ "link", cmd_link, "Make a link of both directions of an interface" },
	{ "rate", cmd_rate, "Tell senders how fast they may send" },
	{ "scone", cmd_scone, "Take rate advice from QUIC packets" },
	{ "watch", cmd_watch, "Record links and TCP flows over time" },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	size_t i;

	fprintf(to, "Usage: wale COMMAND [ARGUMENTS]\n"
		    "\n"
		    "Wide-area links, and transfers across them.\n"
		    "\n"
		    "Commands:\n");
	for (i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  %-8s%s\n", commands[i].name,
			commands[i].description);
	fprintf(to,
		"\n"
		"See 'wale COMMAND --help', with examples, and 'man wale'.\n"
		"'wale --version' prints the version.\n"
		"\n"
		"Exit status: 0 success, 1 failure, 2 wrong usage.\n");
}

static int is_one_of(const char *word, const char *a, const char *b,
		     const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

static int run(const char *name, int argc, char **argv)
{
	size_t i;

	for (i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc, argv);

	fprintf(stderr, "wale: no command '%s'; see 'wale help'\n", name);
	return WALE_EXIT_USAGE;
}

/*
 * A standard stream that is closed would be the next file that is opened.  So it becomes
 * one that cannot be read, or written, which fails as it did.
 */
static void open_standard_streams(void)
{
	/* those below are open: it becomes the lowest that is not */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	static char help_option[] = "--help";
	int status;

	open_standard_streams();

	if (argc < 2) {
		usage(stderr);
		return WALE_EXIT_USAGE;
	}

	if (is_one_of(argv[1], "help", "--help", "-h")) {
		char *help_argv[] = { argv[2], help_option, NULL };

		if (argc > 2)
			return run(argv[2], 2, help_argv);
		usage(stdout);
		status = WALE_EXIT_OK;
	} else if (is_one_of(argv[1], "version", "--version", "-V")) {
		printf("wale " WALE_VERSION "\n");
		status = WALE_EXIT_OK;
	} else {
		status = run(argv[1], argc - 1, argv + 1);
	}

	/* What was printed must have arrived, or it was not done. */
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && status == WALE_EXIT_OK) {
		/* what failed earlier has its reason no more */
		if (!errno)
			fputs("wale: stdout: not all could be written\n",
			      stderr);
		else if (errno != EPIPE)
			perror("wale: stdout");
		status = WALE_EXIT_FAILED;
	}
	return status;
}
