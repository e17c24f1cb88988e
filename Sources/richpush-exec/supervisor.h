#pragma once
#include "launch_spec.h"

/* The bytes that the server sends while a plugin runs. A plugin that has not been called yet is idle. */
enum control_message { message_kill = 1, message_idle, message_busy };

/* Runs the plugin as a child, waits for its end, and ends all its descendants.
 *
 * `channel` is a socket to the server, or -1. When its other end is shut, the plugin is asked to stop; a
 * byte on it is a control_message. When the plugin has ended, one line is written to it:
 *
 *   exited CODE | killed SIGNAL | timed-out 0 | stopped 0 | exceeded LIMIT | failed ERRNO,
 *   then CPU-MICROSECONDS PEAK-KIB,
 *   then, after `failed`, the step that failed.
 *
 * LIMIT is an exceeded_limit (usage_limits.h). Returns the exit status to pass on: the plugin's,
 * 128 + signal, 124 if it timed out, was stopped or exceeded a limit, 126 if it failed to start. */
int supervise(const struct launch_spec *spec, int channel, const int streams[3]);

/* Runs the plugin once for each call, as Apache's mod_cgid does, without a new supervisor for each.
 *
 * `channel` is of type SOCK_SEQPACKET. A packet of more than one byte is a call: the words of its
 * environment, each terminated by NUL, with a descriptor for its standard input if it has one (else
 * `streams[0]`). Each call is answered with the line that `supervise` writes; all of the plugin's output is
 * in its pipes by then. Returns 0 when the other end is closed. */
int supervise_calls(struct launch_spec *spec, int channel, const int streams[3]);
