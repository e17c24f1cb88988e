#pragma once
#include <sys/types.h>

#include "order.h"

/* Why a plugin did not come to run: written by the child, read by its supervisor (shared memory). */
struct failure {
  int error;
  char step[32];
};

/* Turns this freshly forked process into the plugin. Returns only by _exit, with `failure` filled. */
_Noreturn void become_plugin(const struct order *order, const int streams[3], pid_t supervisor,
                             struct failure *failure);
