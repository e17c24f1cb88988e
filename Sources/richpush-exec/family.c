#define _GNU_SOURCE
#include "family.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* After so many rounds of a millisecond what is left hangs in the kernel and dies when that lets go. */
enum { rounds = 5000 };

void family_kill(pid_t plugin) { kill(-plugin, SIGKILL); }

static void kill_children(void) {
  char path[64], list[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t count = read(file, list, sizeof list - 1);
  close(file);
  if (count <= 0) return;
  list[count] = 0;
  char *rest = list;
  for (long pid; (pid = strtol(rest, &rest, 10)) > 0;) kill((pid_t)pid, SIGKILL);
}

/* False when no child is left. */
static int reap(void) {
  pid_t pid;
  do pid = waitpid(-1, NULL, WNOHANG | __WALL);
  while (pid > 0 || (pid < 0 && errno == EINTR));
  return pid == 0;
}

void family_end(pid_t plugin) {
  family_kill(plugin);
  for (int round = 0; reap() && round < rounds; round++) {
    kill_children();
    if (round) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}
