#define _GNU_SOURCE
#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bubblewrap.h"
#include "credentials.h"
#include "landlock.h"
#include "seccomp.h"

const int supervisor_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0};

// RLIMIT_NPROC counts threads, and for a user ID those of all calls of its plugin: this many are allowed
// for each process that one call may have.
enum { threads_per_process = 12 };

void failure_record(struct failure *failure, const char *step) {
  failure->error = errno;
  strncpy(failure->step, step, sizeof failure->step - 1);
}

static _Noreturn void fail(struct failure *failure, const char *step) {
  failure_record(failure, step);
  _exit(127);
}

// execve keeps ignored signals ignored, and handlers would run until then.
static void reset_signals(void) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  for (int i = 0; supervisor_signals[i]; i++) sigaction(supervisor_signals[i], &standard, NULL);
  sigaction(SIGPIPE, &standard, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// A limit is never raised: a plugin gets no more than the server has.
static bool limit(int resource, long value) {
  struct rlimit now;
  if (value < 0) return true;
  if (getrlimit((__rlimit_resource_t)resource, &now) != 0) return false;
  rlim_t wanted = (rlim_t)value < now.rlim_max ? (rlim_t)value : now.rlim_max;
  return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){wanted, wanted}) == 0;
}

static bool set_limits(const struct launch_spec *spec) {
  bool is_counted_by_user = (spec->uid > 0 || spec->own_namespace) && spec->processes >= 0;
  // Not 0, with which the kernel still gives a core dump to a program that core_pattern names (core(5)).
  return limit(RLIMIT_CORE, 1) && limit(RLIMIT_DATA, spec->data) && limit(RLIMIT_CPU, spec->cpu) &&
         limit(RLIMIT_NOFILE, spec->files) && limit(RLIMIT_FSIZE, spec->file_size) &&
         limit(RLIMIT_NPROC, is_counted_by_user ? threads_per_process * spec->processes : -1);
}

// When memory runs out, the kernel kills a plugin before it kills the server.
static void raise_oom_score(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "500", 3) < 0) errno = 0;
  close(file);
}

struct isolation isolation_prepare(const struct launch_spec *spec, struct failure *failure) {
  struct isolation isolation = {.ruleset = -1};
  const char *step = NULL;
  if (failure->error) return isolation;
  raise_oom_score();
  if (!make_plugin_folders(spec)) step = "mkdir";
  else if (spec->own_namespace && !namespace_enter()) step = "user namespace";
  else if (spec->strict) {
    isolation.arguments = bubblewrap_arguments(spec);
    if (!isolation.arguments) step = "bubblewrap";
  } else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) step = "no_new_privs";
  else if (spec->sandboxed && !landlock_prepare(spec, &isolation.ruleset)) step = "landlock";
  else if (spec->sandboxed && !seccomp_enter(spec)) step = "seccomp";
  if (step) failure_record(failure, step);
  return isolation;
}

_Noreturn void exec_plugin(const struct launch_spec *spec, const struct isolation *isolation,
                           const int streams[3], pid_t supervisor, struct failure *failure) {
  if (setsid() < 0) fail(failure, "setsid");
  reset_signals();
  for (int i = 0; i < 3; i++)
    if (dup2(streams[i], i) < 0) fail(failure, "dup2");
  if (spec->folder && chdir(spec->folder) != 0) fail(failure, "chdir");
  if (!set_limits(spec)) fail(failure, "setrlimit");
  if (!become_plugin_user(spec->uid)) fail(failure, "setuid");
  // Not earlier: a change of the user clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(failure, "pdeathsig");
  if (getppid() != supervisor) _exit(127);
  bool is_standard = spec->sandboxed && !spec->strict;
  if ((is_standard || spec->uid > 0) && !drop_capabilities()) fail(failure, "capset");
  if (is_standard && !landlock_enter(isolation->ruleset)) fail(failure, "landlock");
  if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) fail(failure, "close_range");
  char *program_only[] = {(char *)spec->program, NULL};
  char **arguments = isolation->arguments ? isolation->arguments : program_only;
  execve(isolation->arguments ? bubblewrap_program : spec->program, arguments, spec->environment);
  fail(failure, "execve");
}

static _Noreturn void print_failure(const char *step) {
  fprintf(stderr, "richpush-exec: %s: %s\n", step, strerror(errno));
  _exit(126);
}

_Noreturn void exec_plugin_in_bubblewrap(const struct launch_spec *spec) {
  int ruleset = -1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) print_failure("no_new_privs");
  if (!drop_capabilities()) print_failure("capset");
  if (!landlock_prepare(spec, &ruleset) || !landlock_enter(ruleset)) print_failure("landlock");
  if (!seccomp_enter(spec)) print_failure("seccomp");
  if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) print_failure("close_range");
  execve(spec->program, (char *[]){(char *)spec->program, NULL}, environ);
  print_failure("execve");
}
