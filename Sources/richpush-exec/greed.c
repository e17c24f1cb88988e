#define _GNU_SOURCE
#include "greed.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many more descendants of `pid` there may be; below 0 when there are too many. */
static long left_after(const char *pid, long left);

static long left_after_children(const char *path, long left) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return left;
  char list[4096];
  ssize_t count = read(file, list, sizeof list - 1);
  close(file);
  if (count <= 0) return left;
  list[count] = 0;
  char *rest = list, pid[24];
  for (long child; left >= 0 && (child = strtol(rest, &rest, 10)) > 0;) {
    snprintf(pid, sizeof pid, "%ld", child);
    left = left_after(pid, left - 1);
  }
  return left;
}

static long left_after(const char *pid, long left) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *threads = opendir(path);
  if (!threads) return left;
  for (struct dirent *thread; left >= 0 && (thread = readdir(threads));) {
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%s/task/%.16s/children", pid, thread->d_name);
    left = left_after_children(path, left);
  }
  closedir(threads);
  return left;
}

static long bytes_left;

static int weigh(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)path, (void)kind, (void)where;
  bytes_left -= status->st_blocks * 512;
  return bytes_left < 0;
}

enum greed greed_of(const struct order *order) {
  if (order->processes >= 0 && left_after("self", order->processes) < 0) return too_many_processes;
  if (order->space < 0) return modest;
  bytes_left = order->space;
  for (int i = 0; i < order->write_count; i++)
    if (nftw(order->write[i], weigh, 16, FTW_PHYS) == 1) return too_much_space;
  return modest;
}
