#pragma once

/* Serves orders from a Unix socket of type SOCK_SEQPACKET until its other end is closed.
 *
 * Its first packet tells the server what sandbox this kernel has (sandbox_describe). A packet from the
 * server holds the words of one order, each ended by NUL, and carries four descriptors: the status
 * channel and the plugin's standard input, output and error. A fork of this small, single-threaded
 * process costs a fraction of one of the server. */
int serve_orders(int socket);
