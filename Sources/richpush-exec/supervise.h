#pragma once
#include "order.h"

/* Runs the plugin as a child, waits for its end, and leaves no descendant of it alive.
 *
 * `status` is a socket to the server, or -1. When its other end is shut, the plugin is asked to stop; a
 * byte from it kills the plugin at once. When the plugin has ended, one line is written to it:
 *
 *   exited CODE | killed SIGNAL | late 0 | stopped 0 | greedy 1 (processes) or 2 (space) | failed ERRNO,
 *   then CPU-MICROSECONDS PEAK-KIB,
 *   and after `failed` the step that did.
 *
 * Returns the exit status to pass on: the plugin's, 128 + signal, 124 when late, 126 when it failed. */
int supervise(const struct order *order, int status, const int streams[3]);
