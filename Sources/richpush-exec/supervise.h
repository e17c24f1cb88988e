#pragma once
#include "order.h"

/* What the server may say while the plugin runs. One that has not been asked anything yet rests. */
enum word { word_kill = 1, word_rest, word_work };

/* Runs the plugin as a child, waits for its end, and leaves no descendant of it alive.
 *
 * `channel` is a socket to the server, or -1. When its other end is shut, the plugin is asked to stop; a
 * byte from it is a word. When the plugin has ended, one line is written to it:
 *
 *   exited CODE | killed SIGNAL | late 0 | stopped 0 | greedy 1 (processes), 2 (space), 3 (time) or 4 (memory) | failed ERRNO,
 *   then CPU-MICROSECONDS PEAK-KIB,
 *   and after `failed` the step that did.
 *
 * Returns the exit status to pass on: the plugin's, 128 + signal, 124 when late, 126 when it failed. */
int supervise(const struct order *order, int channel, const int streams[3]);

/* Stays, and runs the plugin for one call after the other, as Apache's mod_cgid does.
 *
 * `channel` is of type SOCK_SEQPACKET. A packet of more than one byte is a call: the words of its
 * environment, each ended by NUL, with a descriptor for its standard input when there is one (else
 * `streams[0]`). Each call is answered with the line that `supervise` writes; what the plugin said is then
 * in the pipes, whole. Returns 0 when the other end is closed. */
int serve_calls(struct order *order, int channel, const int streams[3]);
