#pragma once
#include <stdbool.h>

#include "order.h"

extern const char bubblewrap_program[];

/* Whether bubblewrap is there and can make namespaces here: it is tried, by the user `uid` unless that is 0. */
bool bubblewrap_works(long uid);

/* The command line that runs the order's program in namespaces of its own (processes, mounts, network,
 * IPC, host name), in a file system of only what it may reach; there this very program
 * (`richpush-exec inside …`) adds Landlock and the filter of system calls, which bubblewrap itself could
 * not work under. NULL when it does not fit. It is made once and stays. */
char **bubblewrap_arguments(const struct order *order);
