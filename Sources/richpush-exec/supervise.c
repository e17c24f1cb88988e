#define _GNU_SOURCE
#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "family.h"
#include "greed.h"
#include "plugin.h"

static volatile sig_atomic_t told_to_stop = 0;

static void on_signal(int signal) {
  if (signal != SIGCHLD) told_to_stop = 1;
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

enum wish { go_on, stop, stop_now };

/* Sleeps until a signal, a word from the server or `until`. */
static enum wish wait_for_wish(int status, long until, const sigset_t *unblocked) {
  long left = until ? until - now() : 0;
  if (left < 0) left = 0;
  struct timespec timeout = {left / 1000, left % 1000 * 1000000};
  struct pollfd channel = {.fd = status, .events = POLLIN | POLLRDHUP};
  int count = ppoll(&channel, 1, until ? &timeout : NULL, unblocked);
  char word;
  if (count > 0 && recv(status, &word, 1, MSG_DONTWAIT) == 1) return stop_now;
  return told_to_stop || count > 0 ? stop : go_on;
}

struct ending {
  const char *how;
  int value, wait_status;
  struct rusage usage;
};

static bool ended(pid_t plugin, int options, struct ending *ending) {
  if (wait4(plugin, &ending->wait_status, options, &ending->usage) != plugin) return false;
  bool exited = WIFEXITED(ending->wait_status);
  ending->how = exited ? "exited" : "killed";
  ending->value = exited ? WEXITSTATUS(ending->wait_status) : WTERMSIG(ending->wait_status);
  return true;
}

/* Waits for the plugin's own end, and brings it about at the deadline or when told to stop.
 *
 * A plugin that is dying of itself shuts its descriptors first, and the server may be quicker to say
 * `stop_now` than the kernel is to report the death: hence a moment in which that still counts. */
static struct ending follow(const struct order *order, pid_t plugin, int status,
                            const sigset_t *unblocked) {
  enum { moment = 20, glance = 100, long_glance = 1000 };
  struct ending ending = {0};
  const char *cause = NULL;
  bool is_forced = false;
  enum greed greed = modest;
  long until = order->deadline ? now() + order->deadline : 0;
  while (!ended(plugin, WNOHANG, &ending)) {
    long look = now() + (order->deadline ? glance : long_glance);
    enum wish wish = wait_for_wish(status, until && until < look ? until : look, unblocked);
    bool due = until && now() >= until;
    if (!cause && now() >= look) greed = greed_of(order);
    if (greed) cause = "greedy", due = true;
    if (wish == go_on && !due) continue;
    if (cause) {
      family_kill(plugin);
      is_forced = ended(plugin, 0, &ending);
      break;
    }
    cause = due ? "late" : "stopped";
    if (!due && wish == stop && order->grace) kill(-plugin, SIGTERM);
    until = now() + (due ? 0 : wish == stop ? order->grace : moment);
    status = -1;
    told_to_stop = 0;
  }
  if (is_forced && WIFSIGNALED(ending.wait_status)) ending.how = cause, ending.value = greed;
  return ending;
}

static int exit_status(const struct ending *ending) {
  if (strcmp(ending->how, "exited") == 0) return ending->value;
  if (strcmp(ending->how, "killed") == 0) return 128 + ending->value;
  return strcmp(ending->how, "failed") == 0 ? 126 : 124;
}

static void report(int status, const struct ending *ending, const struct failure *failure) {
  const struct rusage *usage = &ending->usage;
  long microseconds = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
                      usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
  char line[128];
  int length = snprintf(line, sizeof line, "%s %d %ld %ld %s\n", ending->how, ending->value,
                        microseconds, usage->ru_maxrss, failure->step);
  if (write(status, line, (size_t)length) < 0) return;  // the server is gone: nobody to tell
}

int supervise(const struct order *order, int status, const int streams[3]) {
  struct sigaction action = {.sa_handler = on_signal};
  sigset_t watched, unblocked;
  sigemptyset(&watched);
  const int signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
  for (int i = 0; i < 4; i++) sigaddset(&watched, signals[i]), sigaction(signals[i], &action, NULL);
  sigprocmask(SIG_BLOCK, &watched, &unblocked);
  for (int i = 0; i < 4; i++) sigdelset(&unblocked, signals[i]);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  struct failure *failure = mmap(NULL, sizeof *failure, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct failure unmapped = {0};
  struct ending ending = {.how = "failed"};
  pid_t supervisor = getpid(), plugin = failure == MAP_FAILED ? -1 : fork();
  if (plugin == 0) become_plugin(order, streams, supervisor, failure);
  if (plugin < 0) {
    unmapped = (struct failure){errno, "fork"};
    failure = &unmapped;
    ending.value = errno;
  } else {
    for (int i = 0; i < 3; i++) close(streams[i]);
    ending = follow(order, plugin, status, &unblocked);
    family_end(plugin);
    if (failure->error) ending.how = "failed", ending.value = failure->error;
  }
  if (status >= 0) report(status, &ending, failure);
  return exit_status(&ending);
}
