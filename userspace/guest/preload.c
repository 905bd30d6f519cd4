// SPDX-License-Identifier: GPL-2.0
/*
 * preload.c - of the dynamic loader, what guests notice of it, for a wale that has none
 *
 * The loader looks for this file, and a guest's clock goes on meanwhile (three steps of
 * 256 ns): so a run has the same result with either program.
 */
#include <errno.h>
#include <unistd.h>

__attribute__((constructor)) static void look_for_preload(void)
{
	if (access("/etc/ld.so.preload", R_OK))
		errno = 0;
}
