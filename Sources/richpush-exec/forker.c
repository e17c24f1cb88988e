#define _GNU_SOURCE
#include "forker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "owner.h"
#include "packet.h"
#include "sandbox.h"
#include "scratch.h"
#include "supervise.h"

enum { descriptors = 4 };

struct service {
  int is_strict;
  long first_uid, last_uid;
  long user, group;
};

static char packet[largest_packet];

static _Noreturn void carry_out(size_t length, const int files[descriptors],
                                const struct service *service) {
  signal(SIGCHLD, SIG_DFL);
  // What the server's own `Process` watches must end with the forker, not with a plugin.
  if (dup2(files[0], 0) < 0) _exit(126);
  int streams[3];
  for (int i = 0; i < 3; i++) streams[i] = fcntl(files[i + 1], F_DUPFD, 6);
  for (int i = 0; i < 3; i++)
    if (dup2(streams[i], i + 3) < 0) _exit(126);
  for (int i = 0; i < 3; i++) streams[i] = i + 3;
  syscall(SYS_close_range, 6u, ~0u, 0u);
  struct order order;
  char *words[most_words + 1];
  bool is_understood = packet_split(packet, length, words) && order_read(&order, words);
  if (!is_understood ||
      (order.uid && (order.uid < service->first_uid || order.uid > service->last_uid))) {
    static const char line[] = "failed 22 0 0 order\n";
    _exit(write(0, line, sizeof line - 1) < 0 ? 126 : 126);
  }
  if (order.open) scratch_open(&order, 0), _exit(0);
  if (order.empty) scratch_empty(&order, 0), _exit(0);
  _exit(order.calls ? serve_calls(&order, 0, streams) : supervise(&order, 0, streams));
}

static bool service_read(struct service *service, char **words) {
  for (; *words; words++) {
    if (strcmp(*words, "strict") == 0) service->is_strict = 1;
    else if (sscanf(*words, "uids=%ld-%ld", &service->first_uid, &service->last_uid) != 2 &&
             sscanf(*words, "user=%ld:%ld", &service->user, &service->group) != 2)
      return false;
  }
  return true;
}

int serve_orders(int socket, char **words) {
  prctl(PR_SET_NAME, "richpush-exec");
  struct service service = {0};
  if (!service_read(&service, words)) return 64;
  if (service.user > 0 && !owner_leave_root(service.user, service.group)) return 77;
  char line[2048];
  int count = sandbox_describe(line, sizeof line, service.is_strict, service.first_uid, service.last_uid);
  if (send(socket, line, (size_t)count, MSG_NOSIGNAL) != count) return 70;
  signal(SIGCHLD, SIG_IGN);  // not before: bubblewrap, tried above, would inherit it and wait for ever
  for (;;) {
    int files[descriptors];
    ssize_t length = packet_receive(socket, packet, files, descriptors);
    if (length <= 0 || files[descriptors - 1] < 0) return length == 0 ? 0 : 70;
    if (fork() == 0) carry_out((size_t)length, files, &service);
    for (int i = 0; i < descriptors; i++) close(files[i]);
  }
}
