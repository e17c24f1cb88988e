#pragma once
#include "launch_spec.h"

/* Filters the system calls of this process and its descendants, irrevocably. False when that fails; without
 * `strict` a kernel that has no such filters is accepted. Needs no_new_privs. */
bool seccomp_enter(const struct launch_spec *spec);
