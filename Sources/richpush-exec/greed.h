#pragma once
#include "order.h"

enum greed { modest, too_many_processes, too_much_space, too_much_time, too_much_memory };

/* Whether the descendants of this process are more, or the folders it may write hold more, than the
 * order allows, or have used more than `most_time` milliseconds of processor time (-1: any). The kernel's own
 * limits count per user, per file or per process, which is not enough. */
enum greed greed_of(const struct order *order, long most_time);

/* Whether the descendants hold more memory than the order allows: anonymous and shared memory, each page
 * once, a sixteenth and 16 MiB beyond what was asked for. `pause` is set to the milliseconds in which they
 * cannot get there if they do not now, however fast they fill it. */
enum greed greed_for_memory(const struct order *order, long *pause);

/* The processor time in milliseconds that the descendants of this process, and their children, have used. */
long time_of_descendants(void);
