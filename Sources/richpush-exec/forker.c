#define _GNU_SOURCE
#include "forker.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packet.h"
#include "sandbox.h"
#include "supervise.h"

enum { descriptors = 4 };

static char packet[largest_packet];

static _Noreturn void carry_out(size_t length, const int files[descriptors]) {
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
  if (!packet_split(packet, length, words) || !order_read(&order, words)) {
    static const char line[] = "failed 22 0 0 order\n";
    _exit(write(0, line, sizeof line - 1) < 0 ? 126 : 126);
  }
  _exit(order.calls ? serve_calls(&order, 0, streams) : supervise(&order, 0, streams));
}

int serve_orders(int socket, bool strict) {
  prctl(PR_SET_NAME, "richpush-exec");
  char line[64];
  int count = sandbox_describe(line, sizeof line, strict);
  if (send(socket, line, (size_t)count, MSG_NOSIGNAL) != count) return 70;
  signal(SIGCHLD, SIG_IGN);  // not before: bubblewrap, tried above, would inherit it and wait for ever
  for (;;) {
    int files[descriptors];
    ssize_t length = packet_receive(socket, packet, files, descriptors);
    if (length <= 0 || files[descriptors - 1] < 0) return length == 0 ? 0 : 70;
    if (fork() == 0) carry_out((size_t)length, files);
    for (int i = 0; i < descriptors; i++) close(files[i]);
  }
}
