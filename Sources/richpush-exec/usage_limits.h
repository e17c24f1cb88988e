#pragma once
#include "launch_spec.h"

/* The limit that a plugin exceeded; the numbers are part of the line that is reported to the server.
 * `limit_uncounted`: what it uses could not be counted in two checks, one after the other. */
enum exceeded_limit {
  limit_none, limit_processes, limit_space, limit_time, limit_memory, limit_uncounted
};

/* Forgets what was found about another plugin; to be called before the checks of one begin. */
void begin_checks(void);

/* Whether the descendants of this process are more than the spec allows, use more disk space (space_usage.h),
 * or have used more than `cpu_limit` milliseconds of processor time (-1: any). The kernel's own limits count
 * per user, per file or per process. */
enum exceeded_limit check_limits(const struct launch_spec *spec, long cpu_limit);

/* Whether the descendants use more memory than the spec allows (memory_usage.h), with a tolerance of a
 * sixteenth and 16 MiB, or have more sockets open than a plugin needs, whose queues no statistics have. Sets
 * `interval` to the milliseconds in which they cannot exceed it, however fast they fill memory. */
enum exceeded_limit check_memory(const struct launch_spec *spec, long *interval);

/* The milliseconds in which descendants that use `used` bytes cannot exceed the limit. */
long memory_check_interval(const struct launch_spec *spec, long used);

/* The processor time in milliseconds that the descendants of this process, and their children, have used. */
long cpu_time_of_descendants(void);
