#pragma once
#include <stddef.h>

#include "launch_spec.h"

/* The system's programs and libraries, which every plugin may read; terminated by NULL. */
extern const char *const readable_paths[];

/* The version of the kernel's Landlock interface; 0 where there is none. */
int landlock_version(void);

/* Creates the Landlock rules for files, signals and TCP, as far as the kernel has them; -1 where there is no
 * Landlock. False when that fails, and with `strict` when there is no Landlock: the parts that a later
 * version added are done by bubblewrap's namespaces and by the filter of system calls there. */
bool landlock_prepare(const struct launch_spec *spec, int *ruleset);

/* Applies the rules to this process and its descendants, irrevocably. Needs no_new_privs. */
bool landlock_enter(int ruleset);

/* The longest line of sandbox_describe. */
enum { longest_description = 2048 };

/* Prints which sandbox mechanisms this machine has, and returns the length:
 *
 *   landlock VERSION seccomp 0|1 bubblewrap 0|1 namespaces 0|1 uids 0|1 readable PATH:PATH:…
 *
 * bubblewrap is tried only if `strict`; `namespaces` is the result of namespace_works; `uids` is whether
 * plugins can have the user IDs from `first_uid` to `last_uid`; `readable` is readable_paths. */
int sandbox_describe(char *line, size_t size, bool strict, bool namespaces, long first_uid,
                     long last_uid);
