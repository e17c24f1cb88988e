#pragma once
#include <stdbool.h>

#include "order.h"

/* How much of the sandbox this kernel has. */
struct sandbox {
  int landlock; /* the version of its interface; 0: none */
  bool seccomp;
};

struct sandbox sandbox_probe(void);

/* Prints it as `landlock VERSION seccomp 0|1` and returns the length. */
int sandbox_describe(char *line, unsigned long size);

/* Shuts this process and its descendants in, for good: Landlock for files, signals and TCP, as far as
 * the kernel goes, then seccomp. With `strict`, false when the kernel lacks a part of it; false also
 * when a part that the kernel has fails. Needs no_new_privs. */
bool sandbox_files(const struct order *order);
bool sandbox_calls(const struct order *order);
