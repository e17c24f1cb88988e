#define _GNU_SOURCE
#include "usage_limits.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "credentials.h"
#include "descendants.h"
#include "memory_usage.h"
#include "space_usage.h"

/* What to add up over the descendants, and the sums. */
struct totals {
  bool is_timed;
  long processes_left, ticks;
};

/* The processor time of a process and of its children that have ended (proc_pid_stat(5), fields 14 to 17). */
static long ticks_of(const char *pid) {
  char text[1024];
  if (read_proc(folder_of_process(pid), "stat", text, sizeof text) <= 0) return 0;
  char *name_end = strrchr(text, ')');
  unsigned long own[2] = {0};
  long reaped[2] = {0};
  if (!name_end || sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
                          &own[0], &own[1], &reaped[0], &reaped[1]) != 4)
    return 0;
  return (long)(own[0] + own[1]) + reaped[0] + reaped[1];
}

static bool add_process(const char *pid, void *context) {
  struct totals *totals = context;
  if (totals->processes_left-- == 0) return false;
  if (totals->is_timed) totals->ticks += ticks_of(pid);
  return true;
}

static long milliseconds(long ticks) { return ticks * 1000 / sysconf(_SC_CLK_TCK); }

long cpu_time_of_descendants(void) {
  struct totals totals = {.is_timed = true, .processes_left = most_descendants};
  each_descendant(add_process, &totals);
  return milliseconds(totals.ticks);
}

/* Whether something could not be counted the last time. */
static struct {
  bool of_processes, of_memory, of_space;
} was_uncounted;

void begin_checks(void) { memset(&was_uncounted, 0, sizeof was_uncounted); }

/* Things change while they are counted; but what cannot be counted twice running is being hidden. */
static enum exceeded_limit judge(bool is_complete, bool *was_uncounted) {
  bool is_hidden = !is_complete && *was_uncounted;
  *was_uncounted = !is_complete;
  return is_hidden ? limit_uncounted : limit_none;
}

// Enough for a client with many connections. The queue of each holds up to 416 KiB (net.core.wmem_max).
enum { most_sockets = 128 };

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
  struct memory_usage used = measure_memory(spec, false);
  if (used.bytes > limit) used = measure_memory(spec, true);
  if (used.bytes > limit || used.sockets > most_sockets) return limit_memory;
  *interval = used.is_complete ? memory_check_interval(spec, used.bytes) : shortest_interval;
  return judge(used.is_complete, &was_uncounted.of_memory);
}

static enum exceeded_limit check_space(const struct launch_spec *spec) {
  enum space_usage used = measure_space(spec);
  if (used == space_exceeded) return limit_space;
  return judge(used == space_left, &was_uncounted.of_space);
}

/* Counts the processes and, if they have a limit, their processor time. */
static enum exceeded_limit check_processes(const struct launch_spec *spec, long cpu_limit) {
  bool has_process_limit = spec->processes >= 0;
  struct totals totals = {.is_timed = cpu_limit >= 0,
                          .processes_left = has_process_limit ? spec->processes : most_descendants};
  if (!has_process_limit && !totals.is_timed) return limit_none;
  assume_file_owner(spec);
  bool is_complete = each_descendant(add_process, &totals);
  restore_file_owner(spec);
  if (has_process_limit && totals.processes_left < 0) return limit_processes;
  if (totals.is_timed && milliseconds(totals.ticks) > cpu_limit) return limit_time;
  return judge(is_complete, &was_uncounted.of_processes);
}

enum exceeded_limit check_limits(const struct launch_spec *spec, long cpu_limit) {
  enum exceeded_limit exceeded = check_processes(spec, cpu_limit);
  return exceeded || spec->space < 0 ? exceeded : check_space(spec);
}
