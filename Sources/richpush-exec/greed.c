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

#include "owner.h"

enum question { how_many, how_long, how_much };

struct census {
  enum question question;
  long room, ticks, kibibytes;
  bool is_exact;
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

/* The sum of the values of `names` in a list of lines such as `RssAnon:  123 kB`; -1 when none is there. */
static long sum_of(const char *text, const char *const names[]) {
  long sum = -1;
  for (int i = 0; names[i]; i++) {
    const char *line = strstr(text, names[i]);
    if (line) sum = (sum < 0 ? 0 : sum) + strtol(line + strlen(names[i]), NULL, 10);
  }
  return sum;
}

/* The memory of a process that cannot be read from a file again, in KiB. What it shares with its parent
 * counts in full, or in proportion when the answer shall be exact, which takes longer. A process may forbid
 * the exact look; what it shares counts in full then. */
static long memory_of(const char *pid, bool is_exact) {
  static const char *const resident[] = {"\nRssAnon:", "\nRssShmem:", "\nHugetlbPages:", NULL};
  static const char *const proportional[] = {"\nPss_Anon:", "\nPss_Shmem:", "\nPrivate_Hugetlb:",
                                             "\nShared_Hugetlb:", NULL};
  char path[64], text[4096];
  long sum = -1;
  if (is_exact) {
    snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
    if (read_text(path, text, sizeof text) > 0) sum = sum_of(text, proportional);
  }
  if (sum >= 0) return sum;
  snprintf(path, sizeof path, "/proc/%s/status", pid);
  return read_text(path, text, sizeof text) > 0 ? sum_of(text, resident) : 0;
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
      if (census->question == how_long) census->ticks += ticks_of(child);
      if (census->question == how_much) census->kibibytes += memory_of(child, census->is_exact);
      count_descendants(child, census);
    }
  }
  closedir(threads);
}

/* More are not looked at where the order does not say how many there may be. */
enum { most_descendants = 4096 };

static long milliseconds(long ticks) { return ticks * 1000 / sysconf(_SC_CLK_TCK); }

long time_of_descendants(void) {
  struct census census = {.question = how_long, .room = most_descendants};
  count_descendants("self", &census);
  return milliseconds(census.ticks);
}

static long bytes_left;

static int weigh(const char *path, const struct stat *status, int kind, struct FTW *where) {
  (void)path, (void)kind, (void)where;
  // An empty file takes no block, but an inode.
  bytes_left -= status->st_blocks ? status->st_blocks * 512 : 4096;
  return bytes_left < 0;
}

enum greed greed_of(const struct order *order, long most_time) {
  bool is_counted = order->processes >= 0, is_timed = most_time >= 0;
  struct census census = {.question = is_timed ? how_long : how_many,
                          .room = is_counted ? order->processes : most_descendants};
  if (is_counted || is_timed) count_descendants("self", &census);
  if (is_counted && census.room < 0) return too_many_processes;
  if (is_timed && milliseconds(census.ticks) > most_time) return too_much_time;
  if (order->space < 0) return modest;
  bytes_left = order->space;
  bool is_too_much = false;
  owner_become(order);
  for (int i = 0; i < order->write_count; i++)
    is_too_much = is_too_much || nftw(order->write[i], weigh, 16, FTW_PHYS) == 1;
  owner_leave(order);
  return is_too_much ? too_much_space : modest;
}

static long memory_of_descendants(const struct order *order, bool is_exact) {
  struct census census = {.question = how_much, .room = most_descendants, .is_exact = is_exact};
  if (is_exact) owner_become(order);
  count_descendants("self", &census);
  if (is_exact) owner_leave(order);
  return census.kibibytes * 1024;
}

/* Memory bandwidth bounds how fast memory can be filled; two processors of today reach half of this. */
enum { fastest_bytes_in_a_millisecond = 12 << 20 };
enum { shortest_pause = 2, longest_pause = 100 };

enum greed greed_for_memory(const struct order *order, long *pause) {
  long most = order->memory + order->memory / 16 + (16 << 20);
  long held = memory_of_descendants(order, false);
  if (held > most) held = memory_of_descendants(order, true);
  if (held > most) return too_much_memory;
  *pause = (most - held) / fastest_bytes_in_a_millisecond;
  if (*pause < shortest_pause) *pause = shortest_pause;
  if (*pause > longest_pause) *pause = longest_pause;
  return modest;
}
