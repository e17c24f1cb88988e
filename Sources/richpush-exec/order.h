#pragma once
#include <stdbool.h>

/* What to run and within what bounds. An order is a list of words, `key=value`, then `--`, then the
 * environment as `NAME=value` words:
 *
 *   program=PATH         what to execute; required, absolute, its only argument is its own path
 *   folder=PATH          the working directory
 *   deadline=MS          killed after so many milliseconds (0: never)
 *   grace=MS             time between SIGTERM and SIGKILL when it is told to stop (0: SIGKILL at once)
 *   data=BYTES cpu=SECONDS files=N file-size=BYTES
 *                        resource limits (RLIMIT_DATA, CPU, NOFILE, FSIZE); absent: inherited
 *   processes=N space=BYTES
 *                        killed when its descendants are more, or the folders it may write hold more
 *   memory=BYTES         killed when its descendants together hold more memory of their own, shared
 *                        memory included (greed.h has how much more)
 *   rest=MS              killed when its descendants use more processor time than this while the server
 *                        says that it rests
 *   uid=ID               a user and group ID of the plugin's own, which owns nothing but what it writes; the
 *                        folders it may write are made for it (0: that of this process)
 *   sandbox=off|standard|strict
 *                        none (the default); as much as the kernel has; all of it or no run
 *   read=PATH write=PATH what it may read, and write, beside the system's programs and libraries;
 *                        repeated
 *   network=1            sockets of the Internet families are allowed
 *   open=PATH            run nothing, but open that file below the folder of `write` (scratch_open)
 *   empty=1              run nothing, but empty the folder of `write` (scratch_empty)
 *   calls=1              run for each call that comes over the channel (serve_calls)
 */
enum { most_paths = 32 };

struct order {
  const char *program, *folder, *open;
  long deadline, grace;
  long data, cpu, files, file_size, processes, space, rest, memory, uid, network, empty, calls;
  bool sandboxed, strict;
  const char *read[most_paths], *write[most_paths];
  int read_count, write_count;
  char **environment;
};

/* Reads the words up to the NULL that ends them. False when a word is not understood. */
bool order_read(struct order *order, char **words);
