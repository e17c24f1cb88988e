#pragma once
#include <stdbool.h>

/* What to run and within what bounds. An order is a list of words, `key=value`, then `--`, then the
 * environment as `NAME=value` words:
 *
 *   program=PATH         what to execute; required, absolute, its only argument is its own path
 *   folder=PATH          the working directory
 *   deadline=MS          killed after so many milliseconds (0: never)
 *   grace=MS             time between SIGTERM and SIGKILL when it is told to stop (0: SIGKILL at once)
 *   data=BYTES cpu=SECONDS files=N file-size=BYTES processes=N
 *                        resource limits (RLIMIT_DATA, CPU, NOFILE, FSIZE, NPROC); absent: inherited
 */
struct order {
  const char *program, *folder;
  long deadline, grace;
  long data, cpu, files, file_size, processes;
  char **environment;
};

/* Reads the words up to the NULL that ends them. False when a word is not understood. */
bool order_read(struct order *order, char **words);
