#define _GNU_SOURCE
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "family.h"
#include "greed.h"
#include "packet.h"
#include "plugin.h"

static volatile sig_atomic_t told_to_stop = 0;
static sigset_t unblocked;

static void on_signal(int signal) {
  if (signal != SIGCHLD) told_to_stop = 1;
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

enum wish { go_on, stop, stop_now, rest, work };

/* Sleeps until a signal, a word from the server or `until`. */
static enum wish wait_for_wish(int channel, long until) {
  long left = until ? until - now() : 0;
  if (left < 0) left = 0;
  struct timespec timeout = {left / 1000, left % 1000 * 1000000};
  struct pollfd socket = {.fd = channel, .events = POLLIN | POLLRDHUP};
  int count = ppoll(&socket, 1, until ? &timeout : NULL, &unblocked);
  char word;
  if (count > 0 && recv(channel, &word, 1, MSG_DONTWAIT) == 1)
    return word == word_rest ? rest : word == word_work ? work : stop_now;
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
static struct ending follow(const struct order *order, pid_t plugin, int channel) {
  enum { moment = 100, glance = 100, long_glance = 1000 };
  struct ending ending = {0};
  const char *cause = NULL;
  bool is_forced = false;
  enum greed greed = modest;
  long until = order->deadline ? now() + order->deadline : 0, look = 0;
  long memory_pause = 0, memory_look = 0;
  // How much time it may have used at the end of its rest.
  long most_time = order->rest;
  while (!ended(plugin, WNOHANG, &ending)) {
    if (now() >= look) look = now() + (order->deadline ? glance : long_glance);
    if (order->memory >= 0 && !cause && now() >= memory_look) {
      greed = greed_for_memory(order, &memory_pause);
      memory_look = now() + memory_pause;
    }
    long next = until && until < look ? until : look;
    if (order->memory >= 0 && !cause && memory_look < next) next = memory_look;
    enum wish wish = greed ? go_on : wait_for_wish(channel, next);
    bool due = until && now() >= until;
    if (order->rest >= 0 && wish == rest) most_time = time_of_descendants() + order->rest;
    if (wish == work) most_time = -1;
    if (!cause && !greed && now() >= look) greed = greed_of(order, most_time);
    if (greed) cause = "greedy", due = true;
    if (wish != stop && wish != stop_now && !due) continue;
    if (cause) {
      family_kill(plugin);
      is_forced = ended(plugin, 0, &ending);
      break;
    }
    cause = due ? "late" : "stopped";
    if (!due && wish == stop && order->grace) kill(-plugin, SIGTERM);
    until = now() + (due ? 0 : wish == stop ? order->grace : moment);
    channel = -1;
    told_to_stop = 0;
  }
  if (is_forced && WIFSIGNALED(ending.wait_status)) ending.how = cause, ending.value = greed;
  // bubblewrap, which stands between, reports a signal as a shell does.
  if (order->strict && strcmp(ending.how, "exited") == 0 && ending.value > 128)
    ending.how = "killed", ending.value -= 128;
  return ending;
}

static int exit_status(const struct ending *ending) {
  if (strcmp(ending->how, "exited") == 0) return ending->value;
  if (strcmp(ending->how, "killed") == 0) return 128 + ending->value;
  return strcmp(ending->how, "failed") == 0 ? 126 : 124;
}

static void report(int channel, const struct ending *ending, const struct failure *failure) {
  const struct rusage *usage = &ending->usage;
  long microseconds = (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
                      usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
  char line[128];
  int length = snprintf(line, sizeof line, "%s %d %ld %ld %s\n", ending->how, ending->value,
                        microseconds, usage->ru_maxrss, failure->step);
  if (write(channel, line, (size_t)length) < 0) return;  // the server is gone: nobody to tell
}

/* What holds for every plugin this process starts: handlers and masks that the server set for itself
 * are no business of theirs, and orphans among their descendants come back to this process. */
static void settle_in(void) {
  struct sigaction plain = {.sa_handler = SIG_DFL}, handled = {.sa_handler = on_signal};
  for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &plain, NULL);
  sigset_t watched;
  sigemptyset(&watched);
  sigemptyset(&unblocked);
  for (int i = 0; plugin_signals[i]; i++) {
    sigaddset(&watched, plugin_signals[i]);
    sigaction(plugin_signals[i], &handled, NULL);
  }
  sigprocmask(SIG_SETMASK, &watched, NULL);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  umask(077);
}

/* One run of the plugin from its start to the end of all it started.
 *
 * vfork: the child borrows this process's memory until it executes the plugin, and so can leave its
 * failure there; a fork would copy the page tables for nothing. */
static struct ending run(const struct order *order, const struct walls *walls, int channel,
                         const int streams[3], struct failure *failure) {
  struct ending ending = {.how = "failed", .value = failure->error};
  if (failure->error) return ending;
  pid_t supervisor = getpid(), plugin = vfork();
  if (plugin == 0) become_plugin(order, walls, streams, supervisor, failure);
  if (plugin < 0) {
    *failure = (struct failure){errno, "fork"};
    ending.value = errno;
    return ending;
  }
  ending = follow(order, plugin, channel);
  family_end(plugin);
  if (failure->error) ending.how = "failed", ending.value = failure->error;
  return ending;
}

int supervise(const struct order *order, int channel, const int streams[3]) {
  settle_in();
  struct failure failure = {0};
  struct walls walls = walls_for(order, &failure);
  struct ending ending = run(order, &walls, channel, streams, &failure);
  if (channel >= 0) report(channel, &ending, &failure);
  return exit_status(&ending);
}

int serve_calls(struct order *order, int channel, const int streams[3]) {
  static char packet[largest_packet];  // the order's own words stay where they are
  settle_in();
  struct failure broken = {0};
  struct walls walls = walls_for(order, &broken);
  for (;;) {
    char *words[most_words + 1];
    int input;
    ssize_t length = packet_receive(channel, packet, &input, 1);
    if (length <= 0) return length == 0 ? 0 : 70;
    if (length == 1) continue;  // the wish to kill a plugin that had ended by then
    if (!packet_split(packet, (size_t)length, words)) return 70;
    order->environment = words;
    // A plugin may have made the pipes non-blocking; the next one starts as if they were new.
    for (int i = 1; i < 3; i++) fcntl(streams[i], F_SETFL, O_WRONLY);
    struct failure failure = broken;
    struct ending ending = run(
        order, &walls, channel, (int[]){input < 0 ? streams[0] : input, streams[1], streams[2]},
        &failure);
    if (input >= 0) close(input);
    report(channel, &ending, &failure);
  }
}
