#pragma once
/* Serves orders from a Unix socket of type SOCK_SEQPACKET until its other end is closed. `words` end with
 * NULL:
 *
 *   strict               find out whether bubblewrap works
 *   uids=FIRST-LAST      the user IDs that plugins may get; an order with another one is refused
 *   user=UID:GID         change to this user first, keeping the capabilities that uids need
 *
 * Its first packet tells the server what sandbox this machine has (sandbox_describe). A packet from the
 * server holds the words of one order, each ended by NUL, and carries four descriptors: the channel to
 * the supervisor and the plugin's standard input, output and error. A fork of this small,
 * single-threaded process costs a fraction of one of the server. */
int serve_orders(int socket, char **words);
