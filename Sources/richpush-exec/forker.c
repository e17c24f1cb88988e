#define _GNU_SOURCE
#include "forker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"
#include "supervise.h"

enum { largest = 256 * 1024, most_words = 1024, descriptors = 4 };

static char packet[largest];

/* The length of the next order; 0 at the end of all orders. */
static ssize_t receive(int socket, int files[descriptors]) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int) * descriptors)];
  } control;
  struct iovec piece = {packet, sizeof packet};
  struct msghdr message = {.msg_iov = &piece,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  ssize_t length;
  do length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return length;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_len != CMSG_LEN(sizeof(int) * descriptors)) return -1;
  memcpy(files, CMSG_DATA(header), sizeof(int) * descriptors);
  return length;
}

static bool split(size_t length, char *words[most_words + 1]) {
  size_t count = 0;
  if (packet[length - 1] != 0) return false;
  for (char *word = packet; word < packet + length; word += strlen(word) + 1) {
    if (count == most_words) return false;
    words[count++] = word;
  }
  words[count] = NULL;
  return true;
}

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
  if (!split(length, words) || !order_read(&order, words)) {
    static const char line[] = "failed 22 0 0 order\n";
    _exit(write(0, line, sizeof line - 1) < 0 ? 126 : 126);
  }
  _exit(supervise(&order, 0, streams));
}

int serve_orders(int socket) {
  signal(SIGCHLD, SIG_IGN);
  prctl(PR_SET_NAME, "richpush-exec");
  char line[64];
  int count = sandbox_describe(line, sizeof line);
  if (send(socket, line, (size_t)count, MSG_NOSIGNAL) != count) return 70;
  for (;;) {
    int files[descriptors];
    ssize_t length = receive(socket, files);
    if (length <= 0) return length == 0 ? 0 : 70;
    if (fork() == 0) carry_out((size_t)length, files);
    for (int i = 0; i < descriptors; i++) close(files[i]);
  }
}
