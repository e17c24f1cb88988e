#define _GNU_SOURCE
#include "launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "credentials.h"
#include "landlock.h"
#include "message.h"
#include "scratch_folder.h"
#include "supervisor.h"

struct launcher {
  bool is_strict, has_namespaces;
  long first_uid, last_uid, user, group;
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
      (spec.uid && (spec.uid < launcher->first_uid || spec.uid > launcher->last_uid))) {
    static const char line[] = "failed 22 0 0 order\n";
    _exit(write(0, line, sizeof line - 1) < 0 ? 126 : 126);
  }
  spec.own_namespace = launcher->has_namespaces && spec.sandboxed && spec.uid == 0;
  if (spec.open) scratch_open(&spec, 0), _exit(0);
  if (spec.empty) scratch_empty(&spec, 0), _exit(0);
  _exit(spec.per_call ? supervise_calls(&spec, 0, streams) : supervise(&spec, 0, streams));
}

static bool read_options(struct launcher *launcher, char **options) {
  for (; *options; options++) {
    if (strcmp(*options, "strict") == 0) launcher->is_strict = true;
    else if (sscanf(*options, "uids=%ld-%ld", &launcher->first_uid, &launcher->last_uid) != 2 &&
             sscanf(*options, "user=%ld:%ld", &launcher->user, &launcher->group) != 2)
      return false;
  }
  return true;
}

int launcher_run(int socket, char **options) {
  prctl(PR_SET_NAME, "richpush-exec");
  syscall(SYS_close_range, 3u, ~0u, 0u);  // what the server's libraries may have left open
  struct launcher launcher = {0};
  if (!read_options(&launcher, options)) return 64;
  // A launcher that replaces one which has died finds the server changed already; plugins then have no user
  // IDs of their own.
  if (launcher.user > 0 && geteuid() == 0 && !leave_root(launcher.user, launcher.group)) return 77;
  launcher.has_namespaces = namespace_works();
  char line[longest_description];
  int count = sandbox_describe(line, sizeof line, launcher.is_strict, launcher.has_namespaces,
                               launcher.first_uid, launcher.last_uid);
  if (count >= longest_description || send(socket, line, (size_t)count, MSG_NOSIGNAL) != count) return 70;
  // Not earlier: bubblewrap, tried above, would inherit it and wait for its child forever.
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    int files[most_descriptors];
    ssize_t length = packet_receive(socket, packet, files, most_descriptors);
    if (length <= 0 || files[most_descriptors - 1] < 0) return length == 0 ? 0 : 70;
    if (fork() == 0) launch((size_t)length, files, &launcher);
    for (int i = 0; i < most_descriptors; i++) close(files[i]);
  }
}
