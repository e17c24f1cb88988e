/* Phones that make one TLS connection for one GET each, and close it as they should, by close_notify.

     phones PORT REQUESTS TOGETHER PROCESSOR VERSION MODE [nagle]

   REQUESTS has a line for each phone, as for Bench/load.c: path, token or "-", and a third word; each is sent once, TOGETHER
   at a time, from one PROCESSOR. VERSION is 1.2 or 1.3. MODE is "full", a new handshake for each; "resumed", each with the
   ticket that the one before it got, but for the first TOGETHER; "open", all on TOGETHER connections; or "handshake", which
   leaves without a request. With "nagle" the phones leave TCP_NODELAY off, as many programs do.

   Prints one line of JSON: how many were answered, how many connections were resumed, what failed, and microseconds from the
   start of a connection, or from a request on an open one, to the first byte of the answer. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, HEAD = 4096 };

/* One place, which one phone after the other takes. */
struct phone {
  SSL *connection; /* NULL while it is not connected */
  SSL_SESSION *ticket;
  int socket, is_open; /* open: its handshake is over */
  int has_asked, filled;
  size_t request;
  int64_t left; /* bytes of the body to come; -1 while the head comes */
  uint64_t start;
  char head[HEAD];
};

static struct sockaddr_in address = {.sin_family = AF_INET};
static SSL_CTX *context;
static char **requests;
static uint64_t *waits; /* nanoseconds to the first byte of each */
static size_t count, next_request, answered, resumed, failed;
static int resumes, keeps, only_shakes, has_nagle, poller;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void read_requests(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char line[4096], target[2048], key[1024];
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%2047s %1023s", target, key) != 2) continue;
    const char *token = strcmp(key, "-") ? key : "";
    requests = realloc(requests, (count + 1) * sizeof *requests);
    if (!requests || asprintf(
          &requests[count++], "GET %s HTTP/1.1\r\nHost: localhost\r\n%s%s%s\r\n", target,
          *token ? "Authorization: Bearer " : "", token, *token ? "\r\n" : "") < 0)
      fail("memory");
  }
  fclose(file);
}

static int keep_ticket(SSL *connection, SSL_SESSION *session) {
  struct phone *phone = SSL_get_app_data(connection);
  SSL_SESSION_free(phone->ticket);
  phone->ticket = session;
  return 1; /* it is ours now */
}

static void leave(struct phone *phone) {
  SSL_shutdown(phone->connection);
  SSL_free(phone->connection);
  close(phone->socket);
  phone->connection = NULL;
}

static void arrive(struct phone *phone) {
  int on = !has_nagle;
  phone->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (phone->socket < 0) fail("socket");
  setsockopt(phone->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(phone->socket, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) fail("connect");
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = phone};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, phone->socket, &event)) fail("epoll_ctl");
  phone->connection = SSL_new(context);
  if (!phone->connection) fail("memory");
  SSL_set_fd(phone->connection, phone->socket);
  SSL_set_app_data(phone->connection, phone);
  SSL_set_tlsext_host_name(phone->connection, "localhost");
  if (resumes && phone->ticket) SSL_set_session(phone->connection, phone->ticket);
  SSL_set_connect_state(phone->connection);
  phone->is_open = 0;
}

/* Takes the next request; 0 if there is none. */
static int begin(struct phone *phone) {
  if (next_request == count) {
    if (phone->connection) leave(phone);
    return 0;
  }
  phone->request = next_request++;
  phone->has_asked = phone->filled = 0;
  phone->left = -1;
  phone->start = now();
  if (!phone->connection) arrive(phone);
  return 1;
}

/* Whether a call that returned this only has to wait. */
static int must_wait(struct phone *phone, int result) {
  int error = SSL_get_error(phone->connection, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* Takes a piece of the answer; 0 if it is none that is wanted. */
static int take(struct phone *phone, const char *piece, int size) {
  if (phone->left >= 0) {
    phone->left -= size;
    return phone->left >= 0;
  }
  if (!phone->filled) waits[phone->request] = now() - phone->start;
  int space = HEAD - 1 - phone->filled, part = size < space ? size : space;
  memcpy(phone->head + phone->filled, piece, (size_t)part);
  phone->head[phone->filled += part] = 0;
  char *end = strstr(phone->head, "\r\n\r\n"), *length = end ? strcasestr(phone->head, "\r\nContent-Length:") : NULL;
  if (!end) return part == size;
  if (!length || length > end || strncmp(phone->head, "HTTP/1.1 200 ", 13)) return 0;
  /* What of the piece did not fit is body. */
  phone->left = atoll(length + 17) - (phone->filled - (end + 4 - phone->head)) - (size - part);
  return phone->left >= 0;
}

/* Goes on as far as it can: 1 once the answer is there, 0 if it has to wait, -1 if it failed. */
static int step(struct phone *phone) {
  static char piece[1 << 16];
  int result;
  if (!phone->is_open) {
    int broken = 0;
    socklen_t size = sizeof broken;
    getsockopt(phone->socket, SOL_SOCKET, SO_ERROR, &broken, &size);
    if (broken) return -1;
    if ((result = SSL_do_handshake(phone->connection)) != 1) return must_wait(phone, result) ? 0 : -1;
    phone->is_open = 1;
    resumed += (size_t)SSL_session_reused(phone->connection);
    if (only_shakes) return 1;
  }
  if (!phone->has_asked) {
    result = SSL_write(phone->connection, requests[phone->request], (int)strlen(requests[phone->request]));
    if (result <= 0) return must_wait(phone, result) ? 0 : -1;
    phone->has_asked = 1;
  }
  while (phone->left) {
    if ((result = SSL_read(phone->connection, piece, sizeof piece)) <= 0) return must_wait(phone, result) ? 0 : -1;
    if (!take(phone, piece, result)) return -1;
  }
  return 1;
}

static void go_on(struct phone *phone) {
  for (int result; phone->connection && (result = step(phone)) != 0;) {
    answered += result > 0;
    if (result < 0 && !failed++) fprintf(stderr, "failed: %.200s\n", phone->head);
    if (result < 0 || !keeps) leave(phone);
    if (!begin(phone)) return;
  }
}

static int earlier(const void *one, const void *other) {
  uint64_t left = *(const uint64_t *)one, right = *(const uint64_t *)other;
  return (left > right) - (left < right);
}

int main(int words, char **word) {
  if (words < 7) {
    fprintf(stderr, "usage: phones PORT REQUESTS TOGETHER PROCESSOR VERSION MODE [nagle]\n");
    return 2;
  }
  address.sin_port = htons((uint16_t)atoi(word[1]));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  read_requests(word[2]);
  size_t together = strtoul(word[3], NULL, 10);
  int version = strcmp(word[5], "1.2") ? TLS1_3_VERSION : TLS1_2_VERSION;
  resumes = !strcmp(word[6], "resumed");
  keeps = !strcmp(word[6], "open");
  only_shakes = !strcmp(word[6], "handshake");
  has_nagle = words > 7;
  signal(SIGPIPE, SIG_IGN);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(word[4]), &set);
  if (sched_setaffinity(0, sizeof set, &set)) fail("sched_setaffinity");
  context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, keep_ticket);
  waits = calloc(count, sizeof *waits);
  struct phone *phones = calloc(together, sizeof *phones);
  poller = epoll_create1(0);
  if (!waits || !phones || poller < 0) fail("memory");
  for (size_t i = 0; i < together; i++) begin(&phones[i]);
  struct epoll_event events[EVENTS];
  while (answered + failed < count) {
    int ready = epoll_wait(poller, events, EVENTS, 60000);
    if (ready <= 0) fail("a minute of silence");
    for (int i = 0; i < ready; i++) go_on(events[i].data.ptr);
  }
  qsort(waits, count, sizeof *waits, earlier);
  printf(
    "{\"answered\": %zu, \"resumed\": %zu, \"failed\": %zu, \"p50\": %.1f, \"p99\": %.1f}\n", answered, resumed, failed,
    (double)waits[count / 2] / 1000, (double)waits[count * 99 / 100] / 1000);
  return 0;
}
