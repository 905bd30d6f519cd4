/* SPDX-License-Identifier: GPL-2.0 */
/*
 * string.h - memset() and the like
 */
#include <string.h>
