#pragma once
#include <stdbool.h>

/* Serves orders from a Unix socket of type SOCK_SEQPACKET until its other end is closed.
 *
 * Its first packet tells the server what sandbox this machine has (sandbox_describe). A packet from the
 * server holds the words of one order, each ended by NUL, and carries four descriptors: the channel to
 * the supervisor and the plugin's standard input, output and error. A fork of this small,
 * single-threaded process costs a fraction of one of the server. */
int serve_orders(int socket, bool strict);
