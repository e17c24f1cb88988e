#pragma once
#include "order.h"

/* Runs the plugin as a child, waits for its end, and leaves no descendant of it alive.
 *
 * `status` is the server's end of the matter, or -1: when it is shut, the plugin is stopped; when the
 * plugin has ended, one line is written to it:
 *
 *   exited CODE | killed SIGNAL | late 0 | stopped 0 | failed ERRNO,   then CPU-MICROSECONDS PEAK-KIB,
 *   and after `failed` the step that did.
 *
 * Returns the exit status to pass on: the plugin's, 128 + signal, 124 when late, 126 when it failed. */
int supervise(const struct order *order, int status, const int streams[3]);
