/* SPDX-License-Identifier: GPL-2.0 */
/*
 * transfer.h - the subcommands of wale that send and receive; see wale/cmd.h
 */
#ifndef WALE_TRANSFER_H
#define WALE_TRANSFER_H

#include "lib/command.h"

int cmd_serve(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_receive(int argc, char **argv);

#endif /* WALE_TRANSFER_H */
