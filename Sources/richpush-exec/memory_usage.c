#define _GNU_SOURCE
#include "memory_usage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "credentials.h"
#include "descendants.h"

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

/* The memory of a thread's process that no file backs, and its page tables, in KiB; -1 if the thread has none
 * any more, or it cannot be read. A process can prevent the exact measurement, also by large page tables; what
 * it shares counts in full then. */
static long memory_of(struct proc_folder thread, bool is_exact) {
  static const char *const resident[] = {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:", "\nHugetlbPages:", NULL};
  static const char *const proportional[] = {"\nPss_Anon:", "\nPss_Shmem:", "\nSwapPss:",
                                             "\nPrivate_Hugetlb:", "\nShared_Hugetlb:", NULL};
  static const char *const tables[] = {"\nVmPTE:", NULL};
  static char text[64 << 10];  // The line of its groups is as long as its user has groups.
  if (read_proc(thread, "status", text, sizeof text) < 0) return -1;
  long of_tables = sum_of(text, tables), sum = -1, of_all = sum_of(text, resident);
  if (of_tables < 0) return -1;
  if (is_exact && of_tables <= most_tables && read_proc(thread, "smaps_rollup", text, sizeof text) > 0)
    sum = sum_of(text, proportional);
  return of_tables + (sum >= 0 ? sum : of_all);
}

/* The sockets that a thread's process has open; -1 if they cannot be read. None if it hides its files, for
 * which check_limits ends it. */
static long sockets_of(struct proc_folder thread) {
  char path[64];
  snprintf(path, sizeof path, "%s/fd", thread.path);
  DIR *files = opendir(path);
  if (!files) return errno == EACCES ? 0 : -1;
  long count = 0;
  struct stat status;
  for (struct dirent *file; (file = readdir(files));)
    count += fstatat(dirfd(files), file->d_name, &status, 0) == 0 && S_ISSOCK(status.st_mode);
  closedir(files);
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

bool has_any_run(void) {
  if (clock_count == 0 || clock_count > most_clocks) return true;
  struct timespec now;
  for (size_t i = 0; i < clock_count; i++)
    if (clock_gettime(clocks[i].clock, &now) != 0 || now.tv_sec != clocks[i].time.tv_sec ||
        now.tv_nsec != clocks[i].time.tv_nsec)
      return true;
  return false;
}

/* What is measured, and how. */
struct measurement {
  struct memory_usage usage;
  long processes_left;
  bool is_exact;
};

static bool add_process(const char *pid, void *context) {
  struct measurement *measurement = context;
  if (measurement->processes_left-- == 0) return false;
  record_clock(pid);
  struct proc_folder thread = folder_of_process(pid);
  // A thread may exit meanwhile; a process of which none is left has neither memory nor files.
  for (int attempt = 0; attempt < 2; attempt++) {
    long memory = memory_of(thread, measurement->is_exact);
    long sockets = memory < 0 ? -1 : sockets_of(thread);
    if (sockets >= 0) {
      measurement->usage.bytes += memory * 1024;
      measurement->usage.sockets += sockets;
      return true;
    }
    if (!find_living_thread(pid, &thread)) return true;
  }
  measurement->usage.is_complete = false;
  return true;
}

struct memory_usage measure_memory(const struct launch_spec *spec, bool is_exact) {
  struct measurement measurement = {
      .usage.is_complete = true, .processes_left = most_descendants, .is_exact = is_exact};
  clock_count = 0;
  assume_file_owner(spec);
  measurement.usage.is_complete &= each_descendant(add_process, &measurement);
  restore_file_owner(spec);
  if (!measurement.usage.is_complete) clock_count = 0;
  return measurement.usage;
}
