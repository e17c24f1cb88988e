#pragma once
#include "launch_spec.h"

extern const char bubblewrap_program[];

/* Whether bubblewrap is installed and can create namespaces here; found by running it, as the user `uid`
 * unless that is 0. */
bool bubblewrap_works(long uid);

/* The command line that runs the spec's program in namespaces of its own (processes, mounts, network, IPC,
 * host name) and a file system of only what it may access. It starts this very program
 * (`richpush-exec inside …`), which adds Landlock and the filter of system calls, because bubblewrap itself
 * could not run under them. NULL when it is too long. It is static, and valid as long as the spec. */
char **bubblewrap_arguments(const struct launch_spec *spec);
