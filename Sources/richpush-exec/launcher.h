#pragma once

/* Launches plugins for the server, until the other end of `socket` (SOCK_SEQPACKET) is closed. `options`
 * end with NULL:
 *
 *   strict               find out whether bubblewrap works
 *   uids=FIRST-LAST      the user IDs for plugins; a launch with another one is refused
 *   user=UID:GID         change to this user first, keeping the capabilities that `uids` needs
 *
 * The first packet that it sends says which sandbox mechanisms this machine has (sandbox_describe). Each
 * packet from the server holds the words of one launch_spec, each terminated by NUL, and carries four
 * descriptors: the channel to the supervisor and the plugin's standard input, output and error.
 *
 * This process is separate because it is small and has one thread: forking it costs a fraction of forking
 * the server. */
int launcher_run(int socket, char **options);
