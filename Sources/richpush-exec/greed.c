#define _GNU_SOURCE
#include "greed.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct census {
  long room, ticks;
  bool is_timed;
};

static ssize_t read_text(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, size - 1);
  close(file);
  text[count > 0 ? count : 0] = 0;
  return count;
}

/* Of a process and of its children that have ended (proc_pid_stat(5), fields 14 to 17). */
static long ticks_of(const char *pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  if (read_text(path, text, sizeof text) <= 0) return 0;
  char *name_end = strrchr(text, ')');
  unsigned long own[2] = {0};
  long reaped[2] = {0};
  if (!name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
                          &own[0], &own[1], &reaped[0], &reaped[1]) != 4)
    return 0;
  return (long)(own[0] + own[1]) + reaped[0] + reaped[1];
}

/* Goes through the descendants of `pid` while there is room for more. */
static void count_descendants(const char *pid, struct census *census) {
  char path[64], list[4096];
  snprintf(path, sizeof path, "/proc/%s/task", pid);
  DIR *threads = opendir(path);
  if (!threads) return;
  for (struct dirent *thread; census->room >= 0 && (thread = readdir(threads));) {
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%s/task/%.16s/children", pid, thread->d_name);
    if (read_text(path, list, sizeof list) <= 0) continue;
    char *rest = list, child[24];
    for (long number; census->room >= 0 && (number = strtol(rest, &rest, 10)) > 0;) {
      snprintf(child, sizeof child, "%ld", number);
      census->room--;
      if (census->is_timed) census->ticks += ticks_of(child);
      count_descendants(child, census);
    }
  }
  closedir(threads);
}

/* More are not looked at where the order does not say how many there may be. */
enum { most_descendants = 4096 };

static long milliseconds(long ticks) { return ticks * 1000 / sysconf(_SC_CLK_TCK); }

long time_of_descendants(void) {
  struct census census = {.room = most_descendants, .is_timed = true};
  count_descendants("self", &census);
  return milliseconds(census.ticks);
}

static long bytes_left;

static int weigh(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)path, (void)kind, (void)where;
  bytes_left -= status->st_blocks * 512;
  return bytes_left < 0;
}

enum greed greed_of(const struct order *order, long most_time) {
  bool is_counted = order->processes >= 0, is_timed = most_time >= 0;
  struct census census = {.room = is_counted ? order->processes : most_descendants, .is_timed = is_timed};
  if (is_counted || is_timed) count_descendants("self", &census);
  if (is_counted && census.room < 0) return too_many_processes;
  if (is_timed && milliseconds(census.ticks) > most_time) return too_much_time;
  if (order->space < 0) return modest;
  bytes_left = order->space;
  for (int i = 0; i < order->write_count; i++)
    if (nftw(order->write[i], weigh, 16, FTW_PHYS) == 1) return too_much_space;
  return modest;
}
