#define _GNU_SOURCE
#include "descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Rounds of a millisecond. What is left then hangs in the kernel, and dies when its system call returns.
enum { most_rounds = 5000 };

void kill_group(pid_t plugin) { kill(-plugin, SIGKILL); }

bool is_gone(void) { return errno == ENOENT || errno == ESRCH; }

struct proc_folder folder_of_process(const char *pid) {
  struct proc_folder folder;
  snprintf(folder.path, sizeof folder.path, "/proc/%.20s", pid);
  return folder;
}

static struct proc_folder folder_of_thread(const char *pid, const char *thread) {
  struct proc_folder folder;
  snprintf(folder.path, sizeof folder.path, "/proc/%.16s/task/%.16s", pid, thread);
  return folder;
}

ssize_t read_proc(struct proc_folder folder, const char *name, char *text, size_t size) {
  char path[96];
  snprintf(path, sizeof path, "%s/%s", folder.path, name);
  text[0] = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t count = read(file, text, size - 1);
  int error = errno;
  close(file);
  text[count > 0 ? count : 0] = 0;
  errno = error;
  return count;
}

static DIR *open_threads(const char *pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.20s/task", pid);
  return opendir(path);
}

/* The next thread; NULL at the end. */
static const char *next_thread(DIR *threads) {
  struct dirent *thread;
  do thread = readdir(threads);
  while (thread && thread->d_name[0] == '.');
  return thread ? thread->d_name : NULL;
}

/* Whether a thread has not begun to exit (PF_EXITING of linux/sched.h in field 9 of proc_pid_stat(5)). One
 * whose state cannot be read counts as living. */
static bool is_living(struct proc_folder folder) {
  enum { is_exiting = 4 };
  char text[1024];
  if (read_proc(folder, "stat", text, sizeof text) < 0) return !is_gone();
  const char *name_end = strrchr(text, ')');
  unsigned flags;
  return !name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || !(flags & is_exiting);
}

bool find_living_thread(const char *pid, struct proc_folder *folder) {
  *folder = folder_of_process(pid);
  if (is_living(*folder)) return true;
  DIR *threads = open_threads(pid);
  if (!threads) return !is_gone();
  bool is_found = false;
  for (const char *thread; !is_found && (thread = next_thread(threads));) {
    *folder = folder_of_thread(pid, thread);
    is_found = is_living(*folder);
  }
  closedir(threads);
  return is_found;
}

static FILE *open_children(struct proc_folder thread) {
  char path[96];
  snprintf(path, sizeof path, "%s/children", thread.path);
  return fopen(path, "re");
}

/* What is still to do with the descendants. */
struct visit {
  bool (*visit)(const char *pid, void *context);
  void *context;
  bool is_complete;
};

static bool each_below(const char *pid, struct visit *visit);

static bool each_child(struct proc_folder thread, struct visit *visit) {
  FILE *children = open_children(thread);
  if (!children) return visit->is_complete &= is_gone(), true;
  bool goes_on = true;
  char child[24];
  while (goes_on && fscanf(children, "%20s", child) == 1)
    goes_on = visit->visit(child, visit->context) && each_below(child, visit);
  fclose(children);
  return goes_on;
}

/* Children have the thread that made them as their parent. */
static bool each_below(const char *pid, struct visit *visit) {
  DIR *threads = open_threads(pid);
  if (!threads) return visit->is_complete &= is_gone(), true;
  bool goes_on = true;
  for (const char *thread; goes_on && (thread = next_thread(threads));)
    goes_on = each_child(folder_of_thread(pid, thread), visit);
  closedir(threads);
  return goes_on;
}

bool each_descendant(bool (*visit)(const char *pid, void *context), void *context) {
  struct visit whole = {visit, context, true};
  each_below("self", &whole);
  return whole.is_complete;
}

bool descendants_are_listed(void) {
  FILE *children = open_children(folder_of_process("thread-self"));
  if (children) fclose(children);
  return children;
}

static void kill_children(void) {
  FILE *children = open_children(folder_of_process("thread-self"));
  if (!children) return;
  for (int pid; fscanf(children, "%d", &pid) == 1;) kill(pid, SIGKILL);
  fclose(children);
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
