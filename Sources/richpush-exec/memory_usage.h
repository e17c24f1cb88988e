#pragma once
#include "launch_spec.h"

/* What the descendants of this process hold: anonymous and shared memory and the kernel's for their page
 * tables, and sockets. */
struct memory_usage {
  long bytes, sockets;
  /* False if some of it could not be counted. */
  bool is_complete;
};

/* Measures it. A page that several processes share counts once if the result is to be exact, which takes
 * longer, and else once for each. */
struct memory_usage measure_memory(const struct launch_spec *spec, bool is_exact);

/* Whether any descendant has run since the last measurement; if not, it still holds. */
bool has_any_run(void);
