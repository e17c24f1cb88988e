/* The least that a server can do: for each receive the same answer, with no look at what was asked. What it costs is
   the kernel's part of a server's time, printed beside the servers.

     floor STATUS SIZE THREADS     prints its port

   An answer of up to 64 KiB is one sendmsg; a larger one is its head and a sendfile. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, LARGEST_SENT = 64 << 10, DESCRIPTORS = 1 << 16 };

static char head[256], *body;
static size_t head_length, size;
static int file;
static struct sockaddr_in address = {.sin_family = AF_INET};
/* What each descriptor has still to send, of head and body. */
static size_t left[DESCRIPTORS];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Sends what is left as far as the socket takes it. */
static void answer(int socket) {
  while (left[socket]) {
    size_t done = head_length + size - left[socket];
    ssize_t sent;
    if (size <= LARGEST_SENT || done < head_length) {
      struct iovec parts[2];
      int count = 0;
      if (done < head_length) parts[count++] = (struct iovec){head + done, head_length - done};
      size_t start = done > head_length ? done - head_length : 0;
      if (size && size <= LARGEST_SENT) parts[count++] = (struct iovec){body + start, size - start};
      struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
      sent = sendmsg(socket, &message, MSG_NOSIGNAL | (size > LARGEST_SENT ? MSG_MORE : 0));
    } else {
      off_t start = (off_t)(done - head_length);
      sent = sendfile(socket, file, &start, left[socket]);
    }
    if (sent < 0) return;
    left[socket] -= (size_t)sent;
  }
}

static int listener(void) {
  int it = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  socklen_t length = sizeof address;
  setsockopt(it, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (it < 0 || bind(it, (struct sockaddr *)&address, length) || listen(it, 1024)) fail("listen");
  getsockname(it, (struct sockaddr *)&address, &length);
  return it;
}

static void *loop(void *argument) {
  int listening = (int)(intptr_t)argument, poller = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listening}, events[EVENTS];
  epoll_ctl(poller, EPOLL_CTL_ADD, listening, &event);
  char request[4096];
  for (;;) {
    int ready = epoll_wait(poller, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      int it = events[i].data.fd;
      if (it == listening) {
        int on = 1, fresh = accept4(listening, NULL, NULL, SOCK_NONBLOCK);
        if (fresh < 0) continue;
        if (fresh >= DESCRIPTORS) fail("descriptors");
        setsockopt(fresh, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        left[fresh] = 0;
        event = (struct epoll_event){.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fresh};
        epoll_ctl(poller, EPOLL_CTL_ADD, fresh, &event);
        continue;
      }
      answer(it);
      if (!(events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) continue;
      ssize_t count = recv(it, request, sizeof request, 0);
      if (count == 0 || (count < 0 && errno != EAGAIN)) close(it);
      if (count <= 0) continue;
      left[it] = head_length + size;
      answer(it);
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count < 4) {
    fprintf(stderr, "usage: floor STATUS SIZE THREADS\n");
    return 2;
  }
  size = (size_t)atoll(arguments[2]);
  head_length = (size_t)snprintf(
    head, sizeof head, "HTTP/1.1 %s X\r\nServer: floor\r\nContent-Type: audio/wav\r\nContent-Length: %zu\r\n\r\n",
    arguments[1], size);
  signal(SIGPIPE, SIG_IGN); /* sendfile has no MSG_NOSIGNAL */
  file = memfd_create("body", 0);
  if (file < 0 || ftruncate(file, (off_t)(size + 1))) fail("body");
  body = mmap(NULL, size + 1, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  if (body == MAP_FAILED) fail("body");
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  pthread_t thread;
  for (int i = 0; i < atoi(arguments[3]); i++) {
    int listening = listener();
    if (pthread_create(&thread, NULL, loop, (void *)(intptr_t)listening)) fail("thread");
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  pthread_join(thread, NULL);
}
