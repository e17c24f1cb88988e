#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "credentials.h"
#include "landlock.h"
#include "message.h"
#include "root_file.h"
#include "scratch_folder.h"
#include "supervisor.h"

enum { most_files = 32 };

struct launcher {
  bool is_strict, has_namespaces;
  long first_uid, last_uid, user, group, file_count;
  const char *files[most_files];
};

static char packet[largest_packet];

static _Noreturn void launch(size_t length, const int files[most_descriptors],
                             const struct launcher *launcher) {
  signal(SIGCHLD, SIG_DFL);
  // The server watches the launcher's own streams for its exit, so no plugin may keep them open.
  if (dup2(files[0], 0) < 0) _exit(126);
  int streams[3];
  for (int i = 0; i < 3; i++) streams[i] = fcntl(files[i + 1], F_DUPFD, 6);
  for (int i = 0; i < 3; i++)
    if (dup2(streams[i], i + 3) < 0) _exit(126);
  for (int i = 0; i < 3; i++) streams[i] = i + 3;
  syscall(SYS_close_range, 6u, ~0u, 0u);
  struct launch_spec spec;
  char *words[most_words + 1];
  if (!packet_split(packet, length, words) || !launch_spec_read(&spec, words) ||
      (spec.uid && (spec.uid < launcher->first_uid || spec.uid > launcher->last_uid)) ||
      spec.root_file > launcher->file_count) {
    static const char line[] = "failed 22 0 0 order\n";
    _exit(write(0, line, sizeof line - 1) < 0 ? 126 : 126);
  }
  spec.own_namespace = launcher->has_namespaces && spec.sandboxed && spec.uid == 0;
  if (spec.root_file) root_file_send(launcher->files[spec.root_file - 1], 0), _exit(0);
  if (spec.open) scratch_open(&spec, 0), _exit(0);
  if (spec.empty) scratch_empty(&spec, 0), _exit(0);
  _exit(spec.per_call ? supervise_calls(&spec, 0, streams) : supervise(&spec, 0, streams));
}

static bool read_options(struct launcher *launcher, char **options) {
  for (; *options; options++) {
    if (strcmp(*options, "strict") == 0) launcher->is_strict = true;
    else if (strncmp(*options, "file=", 5) == 0 && launcher->file_count < most_files)
      launcher->files[launcher->file_count++] = *options + 5;
    else if (sscanf(*options, "uids=%ld-%ld", &launcher->first_uid, &launcher->last_uid) != 2 &&
             sscanf(*options, "user=%ld:%ld", &launcher->user, &launcher->group) != 2)
      return false;
  }
  return true;
}

/* Launches what the server asks for, until the server closes its end of `socket` (true), or the first
 * process has ended and so closed its end of the pipe `first` (false). */
static bool serve(int socket, int first, const struct launcher *launcher) {
  for (;;) {
    struct pollfd sources[] = {{.fd = socket, .events = POLLIN}, {.fd = first, .events = POLLIN}};
    if (poll(sources, 2, -1) < 0) continue;
    if (sources[1].revents) return false;
    int files[most_descriptors];
    ssize_t length = packet_receive(socket, packet, files, most_descriptors);
    if (length == 0) return true;
    if (length < 0 || files[most_descriptors - 1] < 0) _exit(70);
    if (fork() == 0) launch((size_t)length, files, launcher);
    for (int i = 0; i < most_descriptors; i++) close(files[i]);
  }
}

/* Waits for the end of the second process; whether it ended because the server closed its socket. */
static bool is_finished(pid_t second) {
  int status;
  pid_t ended;
  // Others are supervisors from the time when this process was the second one.
  do ended = wait(&status);
  while (ended != second && (ended > 0 || errno == EINTR));
  return ended == second && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The first process: starts a second one that serves, and starts it again when it has ended. When the first
 * one has ended, the second takes its place. Requests wait in the socket meanwhile. */
static void keep_serving(int socket, const struct launcher *launcher) {
  enum { restart_pause = 20000 };  // microseconds
  for (;;) {
    int ends[2] = {-1, -1};
    pid_t second = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (second == 0) {
      signal(SIGCHLD, SIG_IGN);
      // Not in the first process: Foundation's Process takes the end of a descriptor there for its end.
      dup2(ends[0], 3);
      syscall(SYS_close_range, 4u, ~0u, 0u);
      if (serve(socket, 3, launcher)) _exit(0);
      signal(SIGCHLD, SIG_DFL);
      close(3);
      continue;
    }
    close(ends[0]);
    if (second > 0 && is_finished(second)) return;
    close(ends[1]);
    usleep(restart_pause);
  }
}

int launcher_run(int socket, char **options) {
  prctl(PR_SET_NAME, "richpush-exec");
  // Both processes end with the server and not before, because it can start no others.
  for (const int *each = (const int[]){SIGHUP, SIGINT, SIGTERM, 0}; *each; each++) signal(*each, SIG_IGN);
  struct launcher launcher = {0};
  if (!read_options(&launcher, options)) return 64;
  if (launcher.user > 0 && geteuid() == 0 && !leave_root(launcher.user, launcher.group)) return 77;
  launcher.has_namespaces = namespace_works();
  char line[longest_description];
  int count = sandbox_describe(line, sizeof line, launcher.is_strict, launcher.has_namespaces,
                               launcher.first_uid, launcher.last_uid);
  if (count >= longest_description || send(socket, line, (size_t)count, MSG_NOSIGNAL) != count) return 70;
  keep_serving(socket, &launcher);
  return 0;
}
