#define _GNU_SOURCE
#include "usage_limits.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "credentials.h"
#include "descendants.h"

/* What to add up over the descendants, and the sums. */
struct totals {
  enum { count_processes, sum_cpu_time, sum_memory } measure;
  long processes_left, ticks, kibibytes, sockets;
  bool is_exact;
};

/* The processor time of a process and of its children that have ended (proc_pid_stat(5), fields 14 to 17). */
static long ticks_of(const char *pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  if (read_proc(path, text, sizeof text) <= 0) return 0;
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

// In KiB: tables for 8 GiB. The exact measurement reads them all, and more could grow faster than that.
enum { most_tables = 16 << 10 };

/* The memory of a process that no file backs, and its page tables, in KiB. What it shares with its parent
 * counts in full, or in proportion when the result must be exact, which takes longer. A process can prevent
 * the exact measurement, also by large page tables; what it shares counts in full then. */
static long memory_of(const char *pid, bool is_exact) {
  static const char *const resident[] = {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:", "\nHugetlbPages:", NULL};
  static const char *const proportional[] = {"\nPss_Anon:", "\nPss_Shmem:", "\nSwapPss:",
                                             "\nPrivate_Hugetlb:", "\nShared_Hugetlb:", NULL};
  static const char *const tables[] = {"\nVmPTE:", NULL};
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%s/status", pid);
  if (read_proc(path, text, sizeof text) <= 0) return 0;
  long of_tables = sum_of(text, tables), sum = -1, of_all = sum_of(text, resident);
  if (of_tables < 0) return 0;  // It is exiting, and has no memory any more.
  if (is_exact && of_tables <= most_tables) {
    snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
    if (read_proc(path, text, sizeof text) > 0) sum = sum_of(text, proportional);
  }
  return of_tables + (sum >= 0 ? sum : of_all);
}

/* The sockets that a process has open; none if it hides its files, for which check_limits ends it. */
static long sockets_of(const char *pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/fd", pid);
  DIR *files = opendir(path);
  long count = 0;
  struct stat status;
  for (struct dirent *file; files && (file = readdir(files));)
    count += fstatat(dirfd(files), file->d_name, &status, 0) == 0 && S_ISSOCK(status.st_mode);
  if (files) closedir(files);
  return count;
}

/* The processor time of each descendant when memory was last measured. While none of them has run since,
 * their memory and number are the same; comparing costs a hundredth of measuring. */
static struct {
  clockid_t clock;
  struct timespec time;
} clocks[16];
static size_t clock_count;
enum { most_clocks = sizeof clocks / sizeof *clocks };

// Called before memory is measured, so that a later allocation shows as processor time.
static void record_clock(const char *pid) {
  size_t i = clock_count++;
  if (i < most_clocks && (clock_getcpuclockid(atoi(pid), &clocks[i].clock) != 0 ||
                          clock_gettime(clocks[i].clock, &clocks[i].time) != 0))
    clock_count = most_clocks + 1;
}

static bool has_any_run(void) {
  if (clock_count == 0 || clock_count > most_clocks) return true;
  struct timespec now;
  for (size_t i = 0; i < clock_count; i++)
    if (clock_gettime(clocks[i].clock, &now) != 0 || now.tv_sec != clocks[i].time.tv_sec ||
        now.tv_nsec != clocks[i].time.tv_nsec)
      return true;
  return false;
}

static bool add_process(const char *pid, void *context) {
  struct totals *totals = context;
  if (totals->processes_left-- == 0) return false;
  if (totals->measure == sum_cpu_time) totals->ticks += ticks_of(pid);
  if (totals->measure == sum_memory) {
    record_clock(pid);
    totals->kibibytes += memory_of(pid, totals->is_exact);
    totals->sockets += sockets_of(pid);
  }
  return true;
}

/* How many are visited where the spec sets no limit. */
enum { most_descendants = 4096 };

static long milliseconds(long ticks) { return ticks * 1000 / sysconf(_SC_CLK_TCK); }

long cpu_time_of_descendants(void) {
  struct totals totals = {.measure = sum_cpu_time, .processes_left = most_descendants};
  each_descendant(add_process, &totals);
  return milliseconds(totals.ticks);
}

// Enough for a client with many connections. The queue of each holds up to 416 KiB (net.core.wmem_max).
enum { most_sockets = 128 };

/* In bytes; LONG_MAX for too many sockets. */
static long memory_of_descendants(const struct launch_spec *spec, bool is_exact) {
  struct totals totals = {.measure = sum_memory, .processes_left = most_descendants, .is_exact = is_exact};
  clock_count = 0;
  assume_file_owner(spec);
  each_descendant(add_process, &totals);
  restore_file_owner(spec);
  return totals.sockets > most_sockets ? LONG_MAX : totals.kibibytes * 1024;
}

// Memory bandwidth limits how fast memory can be filled; two processors of today reach half of this.
enum { most_bytes_per_millisecond = 12 << 20 };
enum { shortest_interval = 2, longest_interval = 100 };

static long memory_limit(const struct launch_spec *spec) {
  return spec->memory + spec->memory / 16 + (16 << 20);
}

long memory_check_interval(const struct launch_spec *spec, long used) {
  long interval = (memory_limit(spec) - used) / most_bytes_per_millisecond;
  if (interval < shortest_interval) return shortest_interval;
  return interval < longest_interval ? interval : longest_interval;
}

enum exceeded_limit check_memory(const struct launch_spec *spec, long *interval) {
  if (!has_any_run()) return limit_none;
  long limit = memory_limit(spec);
  long used = memory_of_descendants(spec, false);
  if (used > limit) used = memory_of_descendants(spec, true);
  if (used > limit) return limit_memory;
  *interval = memory_check_interval(spec, used);
  return limit_none;
}

// Each file counts at least this much, since it takes an inode: ext4 makes one for each 16 KiB of its disk
// (mke2fs(8), inode_ratio).
enum { bytes_per_inode = 16 << 10 };

static long long space_left;

static bool add_file(const struct stat *status) {
  long long bytes = (long long)status->st_blocks * 512;
  space_left -= bytes > bytes_per_inode ? bytes : bytes_per_inode;
  return space_left >= 0;
}

static int add_named_file(const char *path, const struct stat *status, int kind, struct FTW *position) {
  (void)path, (void)kind;
  return position->level > 0 && !add_file(status);
}

/* The files without a name that were counted; a process and its children often have the same ones open. */
static struct {
  dev_t device;
  ino_t inode;
} counted[1024];
static size_t counted_count;

static bool is_counted(const struct stat *status) {
  for (size_t i = 0; i < counted_count; i++)
    if (counted[i].inode == status->st_ino && counted[i].device == status->st_dev) return true;
  if (counted_count < sizeof counted / sizeof *counted) {
    counted[counted_count].device = status->st_dev;
    counted[counted_count++].inode = status->st_ino;
  }
  return false;
}

/* Whether the process still has memory. One that is exiting shows its files only to root, as does one that
 * hides them. */
static bool has_memory(const char *pid) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%s/status", pid);
  return read_proc(path, text, sizeof text) > 0 && strstr(text, "\nVmRSS:");
}

/* A process that hides its open files could hide any number of bytes in them, and counts as too much. */
static bool add_nameless_files(const char *pid, void *context) {
  (void)context;
  char path[64];
  snprintf(path, sizeof path, "/proc/%s/fd", pid);
  DIR *files = opendir(path);
  if (!files) return errno != EACCES || !has_memory(pid) || (space_left = -1) == 0;
  struct stat status;
  for (struct dirent *file; space_left >= 0 && (file = readdir(files));)
    if (fstatat(dirfd(files), file->d_name, &status, 0) == 0 && S_ISREG(status.st_mode) &&
        status.st_nlink == 0 && !is_counted(&status))
      add_file(&status);
  closedir(files);
  return space_left >= 0;
}

static bool exceeds_space(const struct launch_spec *spec) {
  space_left = spec->space;
  counted_count = 0;
  assume_file_owner(spec);
  for (int i = 0; i < spec->write_count && space_left >= 0; i++)
    nftw(spec->write[i], add_named_file, 16, FTW_PHYS);
  if (space_left >= 0) each_descendant(add_nameless_files, NULL);
  restore_file_owner(spec);
  return space_left < 0;
}

enum exceeded_limit check_limits(const struct launch_spec *spec, long cpu_limit) {
  bool has_process_limit = spec->processes >= 0, is_timed = cpu_limit >= 0;
  struct totals totals = {.measure = is_timed ? sum_cpu_time : count_processes,
                          .processes_left = has_process_limit ? spec->processes : most_descendants};
  if (has_process_limit || is_timed) each_descendant(add_process, &totals);
  if (has_process_limit && totals.processes_left < 0) return limit_processes;
  if (is_timed && milliseconds(totals.ticks) > cpu_limit) return limit_time;
  return spec->space >= 0 && exceeds_space(spec) ? limit_space : limit_none;
}
