#pragma once
#include <stdbool.h>

/* What to run, isolated how and within which limits. On the wire it is a list of `key=value` words, then
 * `--`, then the environment as `NAME=value` words:
 *
 *   program=PATH         what to execute; required, absolute, its only argument is its own path
 *   folder=PATH          the working directory
 *   deadline=MS          kill it after this time (0: never)
 *   grace=MS             time between SIGTERM and SIGKILL when it is stopped (0: SIGKILL at once)
 *   data=BYTES cpu=SECONDS files=N file-size=BYTES
 *                        resource limits (RLIMIT_DATA, CPU, NOFILE, FSIZE); absent: inherited
 *   processes=N space=BYTES
 *                        kill it when its descendants are more, or its writable folders hold more
 *   memory=BYTES         kill it when its descendants together use more anonymous and shared memory
 *                        (usage_limits.h has the tolerance)
 *   idle-cpu=MS          kill it when its descendants use more processor time while it is idle
 *   uid=ID               run it as this user and group, which owns only what the plugin writes; its
 *                        writable folders are created for it (0: run it as this process's user)
 *   sandbox=off|standard|strict
 *                        none (the default); as much as the kernel has; that and bubblewrap, or do not run it
 *   read=PATH write=PATH what it may read and write, besides the system's programs and libraries;
 *                        can be repeated
 *   assets=PATH          a folder of this process's user that, of all others, only the user of `uid` may enter
 *   network=1            allow sockets of the Internet families
 *   open=PATH            run nothing, but open that file in the folder of `write` (scratch_open)
 *   empty=1              run nothing, but empty the folder of `write` (scratch_empty)
 *   root-file=N          run nothing, but open the file that is the Nth at the launcher's start (root_file_send)
 *   calls=1              run the program once for each call on the channel (supervise_calls)
 */
enum { most_paths = 32 };

/* How many descendants are visited where the spec sets no limit. */
enum { most_descendants = 4096 };

struct launch_spec {
  const char *program, *folder, *open, *assets;
  long deadline, grace;
  /* Limits: -1 where there is none. */
  long data, cpu, files, file_size, processes, space, idle_cpu, memory;
  long uid, network, empty, per_call, root_file;
  bool sandboxed, strict;
  bool own_namespace;  /* whether to make a user namespace (credentials.h); set by the launcher */
  const char *read[most_paths], *write[most_paths];
  int read_count, write_count;
  char **environment;
};

/* Reads the words up to the NULL that ends them. False when one is not understood, or the program is
 * missing. The spec points into the words. */
bool launch_spec_read(struct launch_spec *spec, char **words);
