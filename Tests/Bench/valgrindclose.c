/* Preloaded by processes.py. Foundation's Process has a child close all that /proc/self/fd lists: under valgrind also what
   valgrind has open itself, beyond the limit that it shows to the program, for which posix_spawn fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <sys/resource.h>

int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int descriptor) {
  int (*add)(posix_spawn_file_actions_t *, int) = dlsym(RTLD_NEXT, "posix_spawn_file_actions_addclose");
  struct rlimit limit;
  if (!getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)descriptor >= limit.rlim_cur) return 0;
  return add(actions, descriptor);
}
