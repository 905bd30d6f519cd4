/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wale_action.h - the action "scone" of tc
 */
#ifndef _WALE_ACTION_H
#define _WALE_ACTION_H

int wale_action_register(void);
void wale_action_unregister(void);

#endif /* _WALE_ACTION_H */
