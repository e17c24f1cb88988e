/* A closed loop of HTTP/1.1 GETs on one processor: each connection asks for the next line of a file when it has
   its answer.

     load PORT REQUESTS CONNECTIONS SECONDS PROCESSOR STATUS [close]

   REQUESTS has a line for each request: path, credentials (Basic, or a token of 43 characters) and validator, or "-"
   for none. If SECONDS is "once", each is sent once. Prints one line of
   JSON: what was answered, the rate, percentiles in microseconds, answers with another status than STATUS, and
   connections that broke. Bodies are discarded in the kernel (MSG_TRUNC, tcp(7)), so that the generator costs less
   than the server it measures. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 4096, EVENTS = 256, STEPS = 64, BUCKETS = 40 * STEPS };

typedef struct {
  int socket, head_length;
  int64_t body_left; /* -1 while the head is incomplete */
  uint64_t sent_at;
  char head[HEAD];
} connection;

static struct sockaddr_in address = {.sin_family = AF_INET};
static char **requests;
static size_t request_count, first_request, next_request;
static int closes, once, status_wanted, poller;
static uint64_t answered, other, broken, slowest, buckets[BUCKETS];

static uint64_t now(void) { /* nanoseconds */
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Buckets of a 64th of a power of two each, of nanoseconds. */
static int bucket(uint64_t time) {
  int power = time < STEPS ? 0 : 63 - __builtin_clzll(time) - 5;
  int index = power * STEPS + (int)(time >> power);
  return index < BUCKETS ? index : BUCKETS - 1;
}

static double percentile(double part) { /* microseconds */
  uint64_t wanted = (uint64_t)(part * (double)answered), seen = 0;
  for (int power = 0, index = 0; index < BUCKETS; index++) {
    seen += buckets[index];
    power = index / STEPS;
    if (seen > wanted) return (double)((uint64_t)(index - power * STEPS) << power) / 1000;
  }
  return (double)slowest / 1000;
}

static void read_requests(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char line[4096], target[2048], key[1024], tag[256];
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%2047s %1023s %255s", target, key, tag) != 3) continue;
    requests = realloc(requests, (request_count + 1) * sizeof *requests);
    const char *authorized = strcmp(key, "-") ? key : "", *tagged = strcmp(tag, "-") ? tag : "";
    if (!requests || asprintf(
          &requests[request_count++], "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%s%s%s%s%s%s\r\n", target,
          !*authorized ? "" : strlen(authorized) == 43 ? "Authorization: Bearer " : "Authorization: Basic ", authorized, *authorized ? "\r\n" : "",
          *tagged ? "If-None-Match: " : "", tagged, *tagged ? "\r\n" : "",
          closes ? "Connection: close\r\n" : "") < 0)
      fail("memory");
  }
  fclose(file);
  if (!request_count) exit(1);
}

static void ask(connection *it) {
  const char *request = requests[next_request++ % request_count];
  size_t length = strlen(request);
  it->head_length = 0;
  it->body_left = -1;
  it->sent_at = now();
  /* A request fits the empty send buffer. */
  if (send(it->socket, request, length, MSG_NOSIGNAL) != (ssize_t)length && errno != EPIPE && errno != ECONNRESET)
    fail("send");
}

static void open_connection(connection *it) {
  it->socket = socket(AF_INET, SOCK_STREAM, 0);
  int on = 1;
  setsockopt(it->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (it->socket < 0 || connect(it->socket, (struct sockaddr *)&address, sizeof address)) fail("connect");
  fcntl(it->socket, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = it};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, it->socket, &event)) fail("epoll_ctl");
  ask(it);
}

static void reopen(connection *it) {
  close(it->socket);
  open_connection(it);
}

static void complete(connection *it) {
  uint64_t time = now() - it->sent_at;
  answered++;
  buckets[bucket(time)]++;
  if (time > slowest) slowest = time;
  if (atoi(it->head + 9) != status_wanted) other++;
  if (once && next_request - first_request >= request_count) close(it->socket);
  else if (closes) reopen(it);
  else ask(it);
}

/* Reads the part of the response that has arrived. */
static void receive(connection *it) {
  for (;;) {
    ssize_t count =
      it->body_left > 0
        ? recv(it->socket, NULL, (size_t)it->body_left, MSG_TRUNC)
        : recv(it->socket, it->head + it->head_length, (size_t)(HEAD - 1 - it->head_length), 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      broken++;
      return reopen(it);
    }
    if (it->body_left > 0) it->body_left -= count;
    else {
      it->head_length += (int)count;
      it->head[it->head_length] = 0;
      char *end = strstr(it->head, "\r\n\r\n"), *length = strcasestr(it->head, "\r\nContent-Length:");
      if (!end) {
        if (it->head_length == HEAD - 1) fail("head");
        continue;
      }
      int is_empty = !strncmp(it->head + 9, "304", 3) || !length || length > end;
      it->body_left = (is_empty ? 0 : atoll(length + 17)) - (it->head + it->head_length - end - 4);
    }
    if (it->body_left == 0) return complete(it);
  }
}

int main(int count, char **arguments) {
  if (count < 7) {
    fprintf(stderr, "usage: load PORT REQUESTS CONNECTIONS SECONDS PROCESSOR STATUS [close]\n");
    return 2;
  }
  address.sin_port = htons((uint16_t)atoi(arguments[1]));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int connections = atoi(arguments[3]);
  status_wanted = atoi(arguments[6]);
  closes = count > 7;
  read_requests(arguments[2]);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(arguments[5]), &set);
  if (sched_setaffinity(0, sizeof set, &set)) fail("sched_setaffinity");
  poller = epoll_create1(0);
  connection *all = calloc((size_t)connections, sizeof *all);
  if (poller < 0 || !all) fail("memory");
  srand48((long)getpid());
  first_request = next_request = (size_t)lrand48() % request_count;
  once = !strcmp(arguments[4], "once");
  uint64_t start = now(), end = once ? UINT64_MAX : start + (uint64_t)(atof(arguments[4]) * 1e9);
  for (int i = 0; i < connections; i++) open_connection(all + i);
  struct epoll_event events[EVENTS];
  while (now() < end && !(once && answered >= request_count)) {
    int ready = epoll_wait(poller, events, EVENTS, 100);
    for (int i = 0; i < ready; i++) receive(events[i].data.ptr);
  }
  double seconds = (double)(now() - start) / 1e9;
  printf(
    "{\"answered\": %ju, \"rate\": %.1f, \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"max\": %.1f, \"other\": %ju, "
    "\"broken\": %ju}\n",
    (uintmax_t)answered, (double)answered / seconds, percentile(0.5), percentile(0.9), percentile(0.99),
    (double)slowest / 1000, (uintmax_t)other, (uintmax_t)broken);
  return 0;
}
