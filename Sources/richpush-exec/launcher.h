#pragma once

/* Launches plugins for the server, until the other end of `socket` (SOCK_SEQPACKET) is closed. `options`
 * end with NULL:
 *
 *   strict               find out whether bubblewrap works
 *   uids=FIRST-LAST      the user IDs for plugins; a launch with another one is refused
 *   user=UID:GID         change to this user first, keeping the capabilities that `uids` needs
 *   file=PATH            a file that the server may have opened as root does (root_file.h), and no other; can be
 *                        repeated
 *
 * The first packet that it sends says which sandbox mechanisms this machine has (sandbox_describe). Each
 * packet from the server holds the words of one launch_spec, each terminated by NUL, and carries four
 * descriptors: the channel to the supervisor and the plugin's standard input, output and error.
 *
 * There are two processes: the first starts the second and starts it again when it ends; the second does the
 * work, and takes the place of the first when that ends. So the server starts them once, at its start: later it
 * has many descriptors, with which Foundation's Process crashes at certain numbers and takes long at all.
 *
 * They are separate from the server because they are small and have one thread: forking them costs a fraction
 * of forking the server. */
int launcher_run(int socket, char **options);
