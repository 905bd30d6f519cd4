/* SPDX-License-Identifier: GPL-2.0 */
/*
 * scone.h - the parts of "wale scone"
 *
 *	cmd_scone.c	the words after "wale scone"
 *	scone_listen.c	listen: advice that arrives, for TCP
 *	scone_socket.c	listen: the packets
 *	scone_device.c	dev, show, del: advice of a device
 *	scone_filter.c	dev, show, del: requests to the kernel
 */
#ifndef WALE_SCONE_H
#define WALE_SCONE_H

#include <stdint.h>
#include <sys/types.h>

#include "cmd.h"

/* What these return is for the subcommand to return. */
#define scone_wrong(...) cmd_wrong("scone", __VA_ARGS__)
#define scone_cannot(what, why) cmd_cannot("scone", what, why)

/* argv[0] is the first word behind the verb. */
int scone_listen(int argc, char **argv);
/* The verb is show or del; or dev, which is the first word, too. */
int scone_device(const char *verb, int argc, char **argv);

/*
 * scone_socket.c: a socket with what arrives at the interface (0: all) and has the version of
 * SCONE packets, or -1 with errno.
 */
int scone_socket_open(unsigned int ifindex);
/* From the IP header on, as much as there is room for; 0 if nothing is there; -1 with errno. */
ssize_t scone_socket_read(int fd, uint8_t *data, size_t room);

#endif /* WALE_SCONE_H */
