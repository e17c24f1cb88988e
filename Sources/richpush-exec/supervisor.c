#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "descendants.h"
#include "message.h"
#include "plugin.h"
#include "usage_limits.h"

static volatile sig_atomic_t stop_requested = 0;
static sigset_t unblocked;

static void on_signal(int signal) {
  if (signal != SIGCHLD) stop_requested = 1;
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

enum command { command_none, command_stop, command_kill, command_idle, command_busy };

/* Waits for a signal, a message from the server, or the time `until` (0: no limit). */
static enum command wait_for_command(int channel, long until) {
  long left = until ? until - now() : 0;
  if (left < 0) left = 0;
  struct timespec timeout = {left / 1000, left % 1000 * 1000000};
  struct pollfd socket = {.fd = channel, .events = POLLIN | POLLRDHUP};
  int count = ppoll(&socket, 1, until ? &timeout : NULL, &unblocked);
  char message;
  if (count > 0 && recv(channel, &message, 1, MSG_DONTWAIT) == 1)
    return message == message_idle   ? command_idle
           : message == message_busy ? command_busy
                                     : command_kill;
  return stop_requested || count > 0 ? command_stop : command_none;
}

/* How a plugin ended, in the words of the line that is reported. */
struct outcome {
  const char *kind;
  int value, wait_status;
  struct rusage usage;
};

static bool has_ended(pid_t plugin, int options, struct outcome *outcome) {
  if (wait4(plugin, &outcome->wait_status, options, &outcome->usage) != plugin) return false;
  bool exited = WIFEXITED(outcome->wait_status);
  outcome->kind = exited ? "exited" : "killed";
  outcome->value = exited ? WEXITSTATUS(outcome->wait_status) : WTERMSIG(outcome->wait_status);
  return true;
}

/* Waits until the plugin ends; ends it at the deadline, on request, or when it exceeds a limit. */
static struct outcome monitor(const struct launch_spec *spec, pid_t plugin, int channel) {
  /* Milliseconds. A plugin that crashes closes its descriptors first, and the server may send
   * `message_kill` before the kernel reports the death: for `exit_allowance` that still counts as its own
   * exit. */
  enum { exit_allowance = 100, busy_interval = 100, idle_interval = 1000 };
  struct outcome outcome = {0};
  const char *cause = NULL;
  bool is_forced = false;
  begin_checks();
  enum exceeded_limit exceeded = limit_none;
  long until = spec->deadline ? now() + spec->deadline : 0, next_check = 0;
  long memory_interval = memory_check_interval(spec, 0);
  long next_memory_check = now() + memory_interval;
  // The processor time that it may have used in total while it is idle; -1 while it is busy.
  long cpu_limit = spec->idle_cpu;
  while (!has_ended(plugin, WNOHANG, &outcome)) {
    if (now() >= next_check)
      next_check = now() + (cpu_limit < 0 ? busy_interval : idle_interval);
    if (spec->memory >= 0 && !cause && now() >= next_memory_check) {
      exceeded = check_memory(spec, &memory_interval);
      next_memory_check = now() + memory_interval;
    }
    long next = until && until < next_check ? until : next_check;
    if (spec->memory >= 0 && !cause && next_memory_check < next) next = next_memory_check;
    enum command command = exceeded ? command_none : wait_for_command(channel, next);
    bool is_due = until && now() >= until;
    if (spec->idle_cpu >= 0 && command == command_idle)
      cpu_limit = cpu_time_of_descendants() + spec->idle_cpu;
    if (command == command_busy) cpu_limit = -1;
    if (!cause && !exceeded && now() >= next_check) exceeded = check_limits(spec, cpu_limit);
    if (exceeded) cause = "exceeded", is_due = true;
    if (command != command_stop && command != command_kill && !is_due) continue;
    if (cause) {
      kill_group(plugin);
      is_forced = has_ended(plugin, 0, &outcome);
      break;
    }
    cause = is_due ? "timed-out" : "stopped";
    if (!is_due && command == command_stop && spec->grace) kill(-plugin, SIGTERM);
    until = now() + (is_due ? 0 : command == command_stop ? spec->grace : exit_allowance);
    channel = -1;
    stop_requested = 0;
  }
  // Any other signal is the plugin's own, of which the kernel reports late when the machine is busy.
  if (is_forced && WIFSIGNALED(outcome.wait_status) && WTERMSIG(outcome.wait_status) == SIGKILL)
    outcome.kind = cause, outcome.value = exceeded;
  // bubblewrap, the plugin's parent, reports a signal as a shell does.
  if (spec->strict && strcmp(outcome.kind, "exited") == 0 && outcome.value > 128)
    outcome.kind = "killed", outcome.value -= 128;
  return outcome;
}

static int exit_status(const struct outcome *outcome) {
  if (strcmp(outcome->kind, "exited") == 0) return outcome->value;
  if (strcmp(outcome->kind, "killed") == 0) return 128 + outcome->value;
  return strcmp(outcome->kind, "failed") == 0 ? 126 : 124;
}

static void report(int channel, const struct outcome *outcome, const struct failure *failure) {
  const struct rusage *usage = &outcome->usage;
  long microseconds = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
                      usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
  char line[128];
  int length = snprintf(line, sizeof line, "%s %d %ld %ld %s\n", outcome->kind, outcome->value,
                        microseconds, usage->ru_maxrss, failure->step);
  if (write(channel, line, (size_t)length) < 0) return;  // The server has exited.
}

/* Handles signals, and makes this process the parent of orphaned descendants. */
static struct failure prepare_process(void) {
  struct sigaction handled = {.sa_handler = on_signal};
  sigset_t watched;
  sigemptyset(&watched);
  sigemptyset(&unblocked);
  for (int i = 0; supervisor_signals[i]; i++) {
    sigaddset(&watched, supervisor_signals[i]);
    sigaction(supervisor_signals[i], &handled, NULL);
  }
  sigprocmask(SIG_SETMASK, &watched, NULL);
  signal(SIGPIPE, SIG_IGN);
  umask(077);
  struct failure failure = {0};
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) failure_record(&failure, "subreaper");
  else if (!descendants_are_listed()) failure_record(&failure, "/proc/PID/task/TID/children");
  return failure;
}

/* Runs the plugin, and ends all its descendants after it. */
static struct outcome run(const struct launch_spec *spec, const struct isolation *isolation, int channel,
                          const int streams[3], struct failure *failure) {
  struct outcome outcome = {.kind = "failed", .value = failure->error};
  if (failure->error) return outcome;
  // vfork: the child shares this process's memory until execve, and so can record its failure there; a
  // fork would copy the page tables for nothing.
  pid_t supervisor = getpid(), plugin = vfork();
  if (plugin == 0) exec_plugin(spec, isolation, streams, supervisor, failure);
  if (plugin < 0) {
    *failure = (struct failure){errno, "fork"};
    outcome.value = errno;
    return outcome;
  }
  outcome = monitor(spec, plugin, channel);
  end_descendants(plugin);
  if (failure->error) outcome.kind = "failed", outcome.value = failure->error;
  return outcome;
}

int supervise(const struct launch_spec *spec, int channel, const int streams[3]) {
  struct failure failure = prepare_process();
  struct isolation isolation = isolation_prepare(spec, &failure);
  struct outcome outcome = run(spec, &isolation, channel, streams, &failure);
  if (channel >= 0) report(channel, &outcome, &failure);
  return exit_status(&outcome);
}

int supervise_calls(struct launch_spec *spec, int channel, const int streams[3]) {
  static char packet[largest_packet];  // Not the launcher's: the spec points into that one.
  struct failure preparation = prepare_process();
  struct isolation isolation = isolation_prepare(spec, &preparation);
  for (;;) {
    char *words[most_words + 1];
    int input;
    ssize_t length = packet_receive(channel, packet, &input, 1);
    if (length <= 0) return length == 0 ? 0 : 70;
    if (length == 1) continue;  // message_kill for a plugin that had ended by then
    if (!packet_split(packet, (size_t)length, words)) return 70;
    spec->environment = words;
    // The previous call may have made the pipes non-blocking.
    for (int i = 1; i < 3; i++) fcntl(streams[i], F_SETFL, O_WRONLY);
    struct failure failure = preparation;
    const int call_streams[3] = {input < 0 ? streams[0] : input, streams[1], streams[2]};
    struct outcome outcome = run(spec, &isolation, channel, call_streams, &failure);
    if (input >= 0) close(input);
    report(channel, &outcome, &failure);
  }
}
