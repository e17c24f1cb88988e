#define _GNU_SOURCE
#include "descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Rounds of a millisecond. What is left then hangs in the kernel, and dies when its system call returns.
enum { most_rounds = 5000 };

void kill_group(pid_t plugin) { kill(-plugin, SIGKILL); }

ssize_t read_proc(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, size - 1);
  close(file);
  text[count > 0 ? count : 0] = 0;
  return count;
}

static bool each_below(const char *pid, bool (*visit)(const char *pid, void *context), void *context) {
  char path[64], list[4096];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *threads = opendir(path);
  bool goes_on = true;
  for (struct dirent *thread; threads && goes_on && (thread = readdir(threads));) {
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%s/task/%.16s/children", pid, thread->d_name);
    if (read_proc(path, list, sizeof list) <= 0) continue;
    char *rest = list, child[24];
    for (long number; goes_on && (number = strtol(rest, &rest, 10)) > 0;) {
      snprintf(child, sizeof child, "%ld", number);
      goes_on = visit(child, context) && each_below(child, visit, context);
    }
  }
  if (threads) closedir(threads);
  return goes_on;
}

void each_descendant(bool (*visit)(const char *pid, void *context), void *context) {
  each_below("self", visit, context);
}

static void kill_children(void) {
  char path[64], list[4096];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  if (read_proc(path, list, sizeof list) <= 0) return;
  char *rest = list;
  for (long pid; (pid = strtol(rest, &rest, 10)) > 0;) kill((pid_t)pid, SIGKILL);
}

/* False when no child is left. */
static bool reap(void) {
  pid_t pid;
  do pid = waitpid(-1, NULL, WNOHANG | __WALL);
  while (pid > 0 || (pid < 0 && errno == EINTR));
  return pid == 0;
}

void end_descendants(pid_t plugin) {
  kill_group(plugin);
  for (int round = 0; reap() && round < most_rounds; round++) {
    kill_children();
    if (round) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}
