#pragma once
#include <stdbool.h>

#include "order.h"

/* The system's programs and libraries, which every plugin may read; ended by NULL. */
extern const char *const sandbox_readable[];

/* The version of the kernel's Landlock interface; 0 where there is none. */
int sandbox_landlock_version(void);

/* Prints how much of the sandbox this machine has, and returns the length:
 *
 *   landlock VERSION seccomp 0|1 bubblewrap 0|1 uids 0|1 readable PATH:PATH:…
 *
 * bubblewrap is only tried when `strict`. `uids` is whether plugins can have those from `first_uid` to
 * `last_uid`; `readable` is `sandbox_readable`. */
int sandbox_describe(char *line, unsigned long size, bool strict, long first_uid, long last_uid);

/* Makes the rules for Landlock: files, signals and TCP, as far as the kernel goes; -1 where there is no
 * Landlock. With `strict`, false when the kernel lacks a part of it; false also when making them fails. */
bool sandbox_ruleset(const struct order *order, int *ruleset);

/* Shuts this process and its descendants in by the rules, for good. Needs no_new_privs. */
bool sandbox_enter(int ruleset);

/* Filters the system calls of this process and its descendants (seccomp), for good; with `strict`, false
 * when the kernel cannot. Needs no_new_privs. */
bool sandbox_calls(const struct order *order);
