#define _GNU_SOURCE
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bubblewrap.h"
#include "owner.h"
#include "sandbox.h"

const int plugin_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0};

/* The most processes of a plugin that a server keeps (`PluginConfiguration.concurrency`), or a little more. */
enum { calls_at_once = 6 };

static void note(struct failure *failure, const char *step) {
  failure->error = errno;
  strncpy(failure->step, step, sizeof failure->step - 1);
}

static _Noreturn void give_up(struct failure *failure, const char *step) {
  note(failure, step);
  _exit(127);
}

/* Ignored signals stay ignored through execve, and handlers run until then. */
static void forget_signals(void) {
  struct sigaction plain = {.sa_handler = SIG_DFL};
  for (int i = 0; plugin_signals[i]; i++) sigaction(plugin_signals[i], &plain, NULL);
  sigaction(SIGPIPE, &plain, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A limit is never raised: what the server itself may not use, its plugin may not either. */
static void limit(int resource, long value) {
  struct rlimit now;
  if (value < 0 || getrlimit((__rlimit_resource_t)resource, &now) != 0) return;
  rlim_t wanted = (rlim_t)value < now.rlim_max ? (rlim_t)value : now.rlim_max;
  setrlimit((__rlimit_resource_t)resource, &(struct rlimit){wanted, wanted});
}

/* The kernel, short of memory, shall take a plugin before it takes the server. */
static void volunteer_for_the_oom_killer(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "500", 3) < 0) errno = 0;
  close(file);
}

/* A server that runs as root shares its files with its plugins, but none of its powers; with
 * no_new_privs set, execve does not give them back. */
static bool drop_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  return syscall(SYS_capset, &header, none) == 0;
}

struct walls walls_for(const struct order *order, struct failure *failure) {
  struct walls walls = {.ruleset = -1};
  volunteer_for_the_oom_killer();
  if (!owner_make_folders(order)) return note(failure, "mkdir"), walls;
  if (order->strict) {
    walls.arguments = bubblewrap_arguments(order);
    if (!walls.arguments) errno = E2BIG, note(failure, "bubblewrap");
    return walls;
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return note(failure, "no_new_privs"), walls;
  if (!order->sandboxed) return walls;
  if (!sandbox_ruleset(order, &walls.ruleset)) note(failure, "landlock");
  else if (!sandbox_calls(order)) note(failure, "seccomp");
  return walls;
}

_Noreturn void become_plugin(const struct order *order, const struct walls *walls,
                             const int streams[3], pid_t supervisor, struct failure *failure) {
  setsid();
  forget_signals();
  for (int i = 0; i < 3; i++)
    if (dup2(streams[i], i) < 0) give_up(failure, "dup2");
  if (order->folder && chdir(order->folder) != 0) give_up(failure, "chdir");
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_DATA, order->data);
  limit(RLIMIT_CPU, order->cpu);
  limit(RLIMIT_NOFILE, order->files);
  limit(RLIMIT_FSIZE, order->file_size);
  // The kernel counts all of a user's processes: those of the plugin's other calls, too.
  if (order->uid > 0 && order->processes >= 0) limit(RLIMIT_NPROC, calls_at_once * order->processes);
  if (!owner_turn_into(order)) give_up(failure, "setuid");
  // Not before: a change of users takes it away.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(127);
  if ((order->sandboxed && !order->strict) || order->uid > 0)
    if (!drop_capabilities()) give_up(failure, "capset");
  if (order->sandboxed && !order->strict) {
    if (!sandbox_enter(walls->ruleset)) give_up(failure, "landlock");
  }
  if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) give_up(failure, "close_range");
  char *plain[] = {(char *)order->program, NULL};
  char **arguments = walls->arguments ? walls->arguments : plain;
  execve(walls->arguments ? bubblewrap_program : order->program, arguments, order->environment);
  give_up(failure, "execve");
}

static _Noreturn void complain(const char *step) {
  fprintf(stderr, "richpush-exec: %s: %s\n", step, strerror(errno));
  _exit(126);
}

_Noreturn void become_plugin_inside(const struct order *order) {
  int ruleset = -1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) complain("no_new_privs");
  if (!drop_capabilities()) complain("capset");
  if (!sandbox_ruleset(order, &ruleset) || !sandbox_enter(ruleset)) complain("landlock");
  if (!sandbox_calls(order)) complain("seccomp");
  if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) complain("close_range");
  execve(order->program, (char *[]){(char *)order->program, NULL}, environ);
  complain("execve");
}
