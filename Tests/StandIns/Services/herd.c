/* herd PORT SERVER CONNECTIONS ROUNDS: phones that all ask at the same moment.

   Standard input has a line for each request, "USER:PASSWORD TARGET" or "TOKEN TARGET". They are spread over so many connections, and of
   those on one connection each is sent when the one before is answered. While the first of each are
   sent, the server's process is held (SIGSTOP): all of them lie before it when it goes on, and from that moment every
   phone's time runs, until its last byte. A phone that gets 503 comes back after Retry-After.

   Prints for each round, in milliseconds: the median, the 99th percentile, the longest; then how many came back. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct phone {
  int socket;
  size_t request; /* what it asks for now */
  size_t filled;  /* bytes of the answer's head */
  long left;      /* bytes of the body to come; -1 while the head comes */
  double again;   /* when it asks again after a 503; 0 if it has not to */
  int status, pause, arrived;
  char head[2048];
};

static char **requests;
static size_t count, connections, done, returned;
static struct phone *phones;
static double *times, start;
static struct sockaddr_in address;
static int poll;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static char *request(char *line) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *user = strtok(line, " "), *target = strtok(NULL, "\n"), pair[256] = "", key[512], *out = key, *text;
  if (!target || strlen(user) > 250) fail("a line of the input");
  if (!strchr(user, ':')) {
    if (asprintf(&text, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", target, user) < 0) fail("memory");
    return text;
  }
  strcpy(pair, user);
  for (int i = 0, size = (int)strlen(pair); i < size; i += 3) {
    unsigned word = (unsigned)(unsigned char)pair[i] << 16 | (unsigned)(unsigned char)pair[i + 1] << 8
                    | (unsigned)(unsigned char)pair[i + 2];
    for (int shift = 18, n = 0; n < 4; shift -= 6, n++) *out++ = i + n > size ? '=' : letters[word >> shift & 63];
  }
  *out = 0;
  if (asprintf(&text, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n", target, key) < 0) fail("memory");
  return text;
}

static void arrive(struct phone *phone);

static void say(struct phone *phone, const char *text) {
  phone->filled = 0;
  phone->left = -1;
  phone->again = 0;
  if (send(phone->socket, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text)) fail("send");
}

static void ask(struct phone *phone) {
  if (phone->socket < 0) arrive(phone);
  say(phone, requests[phone->request]);
}

static void end(struct phone *phone) {
  if (phone->status == 503) {
    returned++;
    phone->again = now() + phone->pause * 1e3;
    return;
  }
  times[phone->request] = now() - start;
  done++;
  phone->request += connections;
  if (phone->request < count) ask(phone);
}

static void readhead(struct phone *phone) {
  ssize_t size = recv(phone->socket, phone->head + phone->filled, sizeof phone->head - 1 - phone->filled, MSG_PEEK);
  if (size <= 0 && phone->filled == 0 && phone->arrived) { /* it was closed while it rested, just before it asked */
    close(phone->socket);
    arrive(phone);
    ask(phone);
    return;
  }
  if (size <= 0) fail("the server closed");
  phone->head[phone->filled + (size_t)size] = 0;
  char *stop = strstr(phone->head, "\r\n\r\n");
  size_t taken = stop ? (size_t)(stop + 4 - phone->head) - phone->filled : (size_t)size;
  if (recv(phone->socket, phone->head + phone->filled, taken, 0) != (ssize_t)taken) fail("recv");
  phone->filled += taken;
  if (!stop) return;
  char *length = strcasestr(phone->head, "\r\nContent-Length:"), *pause = strcasestr(phone->head, "\r\nRetry-After:");
  phone->status = atoi(phone->head + 9);
  phone->pause = pause ? atoi(pause + 14) : 0;
  if (!length || (phone->status != 200 && phone->status != 503)) {
    fprintf(stderr, "%s%s", requests[phone->request], phone->head);
    exit(1);
  }
  phone->left = atol(length + 17);
}

static void take(struct phone *phone) {
  static char waste[1 << 18];
  if (phone->left == 0) { /* the server closes who has rested for long */
    close(phone->socket);
    phone->socket = -1;
    return;
  }
  if (phone->left < 0) readhead(phone);
  while (phone->left > 0) {
    ssize_t size = recv(phone->socket, waste, phone->left < (long)sizeof waste ? (size_t)phone->left : sizeof waste, MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) fail("the server closed");
    phone->left -= size;
  }
  if (phone->left == 0) end(phone);
}

/* Connects; known to the server by an answer, a connection may rest. */
static void arrive(struct phone *phone) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = phone};
  phone->arrived = 0;
  phone->socket = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(phone->socket, (struct sockaddr *)&address, sizeof address)) fail("connect");
  epoll_ctl(poll, EPOLL_CTL_ADD, phone->socket, &event);
  say(phone, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (phone->left < 0) readhead(phone);
  if (recv(phone->socket, phone->head, (size_t)phone->left, MSG_WAITALL) != phone->left) fail("recv");
  phone->left = 0;
  phone->arrived = 1;
}

static int compare(const void *a, const void *b) {
  double first = *(const double *)a, second = *(const double *)b;
  return (first > second) - (first < second);
}

static void round_of(pid_t server) {
  struct epoll_event events[512];
  done = returned = 0;
  for (size_t i = 0; i < connections; i++)
    if (phones[i].socket < 0) arrive(&phones[i]);
  kill(server, SIGSTOP);
  for (size_t i = 0; i < connections; i++) {
    phones[i].request = i;
    ask(&phones[i]);
  }
  start = now();
  kill(server, SIGCONT);
  while (done < count) {
    int ready = epoll_wait(poll, events, 512, returned ? 5 : 60000);
    if (ready < 0 || (ready == 0 && !returned)) fail("epoll_wait");
    for (int i = 0; i < ready; i++) take(events[i].data.ptr);
    double moment = now();
    for (size_t i = 0; returned && i < connections; i++)
      if (phones[i].again && phones[i].again <= moment) ask(&phones[i]);
  }
  qsort(times, count, sizeof *times, compare);
  printf("%.3f %.3f %.3f %zu\n", times[count / 2], times[count * 99 / 100], times[count - 1], returned);
  fflush(stdout);
}

int main(int words, char **word) {
  char line[4096];
  struct rlimit limit;
  if (words != 5) return 64;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  connections = strtoul(word[3], NULL, 10);
  requests = calloc(1 << 20, sizeof *requests);
  while (fgets(line, sizeof line, stdin)) requests[count++] = request(line);
  if (connections > count) connections = count;
  phones = calloc(connections, sizeof *phones);
  times = calloc(count, sizeof *times);
  poll = epoll_create1(0);
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)atoi(word[1]));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (size_t i = 0; i < connections; i++) arrive(&phones[i]);
  fprintf(stderr, "%zu connections\n", connections);
  for (int i = 0; i < atoi(word[4]); i++) round_of(atoi(word[2]));
  return 0;
}
