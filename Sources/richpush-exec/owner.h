#pragma once
#include <stdbool.h>

#include "order.h"

/* Files are opened, made and weighed in the name of the plugin's user from `owner_become` to
 * `owner_leave`: only that of the file system, so that the plugin can neither signal nor trace this
 * process. Both do nothing when the plugin has no uid of its own. */
void owner_become(const struct order *order);
void owner_leave(const struct order *order);

/* Makes the folders that the plugin may write, as its own. */
bool owner_make_folders(const struct order *order);

/* Gives up this process's user and groups for the plugin's, for good. */
bool owner_turn_into(const struct order *order);

/* Changes this process from root to another user, keeping just the capabilities that make uids of plugins
 * possible. */
bool owner_leave_root(long user, long group);

/* Whether this process may become each user from `first` to `last`. */
bool owner_may_become(long first, long last);
