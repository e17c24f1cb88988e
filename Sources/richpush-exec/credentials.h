#pragma once
#include <sys/types.h>

#include "launch_spec.h"

/* Between these two, files are opened, created and measured as the plugin's user. Only the file system
 * user changes (setfsuid), so that the plugin can neither signal nor trace this process. Both do nothing
 * when the plugin has no uid of its own. */
void assume_file_owner(const struct launch_spec *spec);
void restore_file_owner(const struct launch_spec *spec);

/* Creates the folders that the plugin may write, owned by it, and lets it enter that of its assets. */
bool make_plugin_folders(const struct launch_spec *spec);

/* Changes this process's user and groups to the plugin's, irrevocably. */
bool become_plugin_user(long uid);

/* Gives up all capabilities: plugins of a server that runs as root share its files, but none of its
 * privileges; with no_new_privs set, execve does not give them back. */
bool drop_capabilities(void);

/* Changes this process from root to another user, keeping only the capabilities that user IDs for plugins
 * need. */
bool leave_root(long user, long group);

/* Whether this process may become each user from `first` to `last`. */
bool can_become_users(long first, long last);

/* Whether `child`, the result of fork, exits with status 0. */
bool child_succeeds(pid_t child);

/* Moves this process, which must have one thread, into a user namespace of its own, as the same user and
 * without capabilities.
 *
 * RLIMIT_NPROC counts the processes of a user in one user namespace (since Linux 5.14): there it counts
 * only this process and its descendants. */
bool namespace_enter(void);

/* Whether that works here, and RLIMIT_NPROC counts so. Always false for root, whom that limit does not bind. */
bool namespace_works(void);
