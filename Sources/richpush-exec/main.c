/* richpush-exec: starts plugins, isolates them, enforces their limits and ends all their processes.
 *
 *   richpush-exec serve [OPTION…]  launches plugins for the server (launcher.h)
 *   richpush-exec sandbox          prints which sandbox mechanisms this machine has
 *   richpush-exec inside KEY=VALUE…
 *                                  is started by bubblewrap, and becomes the plugin (bubblewrap.h)
 *   richpush-exec KEY=VALUE… [-- NAME=VALUE…]
 *                                  runs one plugin (launch_spec.h) on its own standard streams
 */
#include <stdio.h>
#include <string.h>

#include "credentials.h"
#include "landlock.h"
#include "launcher.h"
#include "plugin.h"
#include "supervisor.h"

int main(int count, char **words) {
  if (count >= 2 && strcmp(words[1], "serve") == 0) return launcher_run(0, words + 2);
  if (count == 2 && strcmp(words[1], "sandbox") == 0) {
    char line[longest_description];
    sandbox_describe(line, sizeof line, true, namespace_works(), 0, 0);
    return puts(line) < 0;
  }
  struct launch_spec spec;
  bool is_inside = count > 2 && strcmp(words[1], "inside") == 0;
  if (!launch_spec_read(&spec, words + 1 + is_inside)) {
    fputs("usage: richpush-exec program=/PATH [key=value …] [-- NAME=value …]\n", stderr);
    return 64;
  }
  if (is_inside) exec_plugin_in_bubblewrap(&spec);
  return supervise(&spec, -1, (int[]){0, 1, 2});
}
