#pragma once
#include "launch_spec.h"

/* Whether this kernel was built without filters of system calls. */
bool seccomp_is_missing(void);

/* Filters the system calls of this process and its descendants, irrevocably. False when that fails; without
 * `strict` a kernel that has no such filters is accepted. Needs no_new_privs. */
bool seccomp_enter(const struct launch_spec *spec);
