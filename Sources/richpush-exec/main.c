/* richpush-exec: starts plugins, isolates them, enforces their limits and ends all their processes.
 *
 *   richpush-exec serve [OPTION…]  launches plugins for the server (launcher.h)
 *   richpush-exec sandbox          prints which sandbox mechanisms this machine has
 *   richpush-exec foreground|background PROGRAM [ARGUMENT…]
 *                                  becomes a program that a command starts: in the process group of that
 *                                  command, which has the terminal, or in one of its own
 *   richpush-exec inside KEY=VALUE…
 *                                  is started by bubblewrap, and becomes the plugin (bubblewrap.h)
 *   richpush-exec KEY=VALUE… [-- NAME=VALUE…]
 *                                  runs one plugin (launch_spec.h) on its own standard streams
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "credentials.h"
#include "landlock.h"
#include "launcher.h"
#include "plugin.h"
#include "supervisor.h"

/* Undoes what the process that started this one blocks or ignores: Foundation's Process passes it on. */
static void reset_signals(void) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &standard, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static int become_program(char **words) {
  execv(words[0], words);
  fprintf(stderr, "richpush-exec: %s: %s\n", words[0], strerror(errno));
  return 127;
}

int main(int count, char **words) {
  reset_signals();
  if (count >= 2 && strcmp(words[1], "serve") == 0) return launcher_run(0, words + 2);
  if (count == 2 && strcmp(words[1], "sandbox") == 0) {
    char line[longest_description];
    sandbox_describe(line, sizeof line, true, namespace_works(), 0, 0);
    return puts(line) < 0;
  }
  if (count > 2 && strcmp(words[1], "background") == 0) return become_program(words + 2);
  if (count > 2 && strcmp(words[1], "foreground") == 0) {
    // Foundation's Process puts each program into a group of its own, which may not use the terminal.
    setpgid(0, getpgid(getppid()));
    return become_program(words + 2);
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
