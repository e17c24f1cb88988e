/* img-decode: decodes the HEIF, AVIF or WebP picture on standard input to standard output (picture.h).
 *
 * The libraries that do so are large and read hostile files. They run in a process of their own, with less memory and
 * time than img has, inside img's sandbox. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "picture.h"

enum { MEMORY_MIB = 320, SECONDS = 10, DESCRIPTORS = 16 };

static int has_sent_head, has_sent_status;

static void send(const void *from, size_t size) {
  const uint8_t *bytes = from;
  while (size > 0) {
    ssize_t sent = write(STDOUT_FILENO, bytes, size);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(1);
    bytes += sent;
    size -= (size_t)sent;
  }
}

static void send_status(enum status status, const char *text) {
  uint32_t numbers[2] = {status, (uint32_t)strnlen(text, 200)};
  send(numbers, sizeof numbers);
  send(text, numbers[1]);
}

void send_head(const struct head *head, const uint8_t *profile) {
  has_sent_head = 1;
  send("img1", 4);
  send(head, sizeof *head);
  send(profile, head->profile_size);
}

void send_rows(const struct head *head, const uint8_t *rows, size_t stride) {
  has_sent_status = 1;
  send_status(STATUS_OK, "");
  size_t row = (size_t)head->width * head->channels * (head->depth / 8);
  if (stride == row) return send(rows, row * head->height);
  for (uint32_t y = 0; y < head->height; y++) send(rows + y * stride, row);
}

void refuse(enum status status, const char *text) {
  if (!has_sent_head) send_head(&(struct head){.depth = 8}, NULL);
  if (!has_sent_status) send_status(status, text);
  _exit(0);
}

static void limit(int resource, rlim_t value) {
  struct rlimit now;
  if (getrlimit((__rlimit_resource_t)resource, &now) != 0) return;
  if (value < now.rlim_max) setrlimit((__rlimit_resource_t)resource, &(struct rlimit){value, value});
}

static void end_for_memory(void) { refuse(STATUS_TOO_LARGE, "more memory than the limit"); }

static void end_for_time(int signal) {
  (void)signal;
  refuse(STATUS_TOO_LARGE, "more processor time than the limit");
}

/* Limits what the libraries take, and says when they take more. */
static void limit_libraries(void) {
  limit(RLIMIT_DATA, (rlim_t)MEMORY_MIB << 20);
  /* The signal comes a second before the end. */
  limit(RLIMIT_CPU, SECONDS + 1);
  struct rlimit now;
  sigset_t none; /* a thread that blocks signals may have started this program */
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGXCPU, end_for_time);
  if (getrlimit(RLIMIT_CPU, &now) == 0 && now.rlim_max > 1)
    setrlimit(RLIMIT_CPU, &(struct rlimit){now.rlim_max - 1, now.rlim_max});
  /* std::set_new_handler: without it, libheif, which is in C++, is aborted by an exception. */
  void (*(*set_new_handler)(void (*)(void)))(void);
  *(void **)&set_new_handler = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
  if (set_new_handler) set_new_handler(end_for_memory);
}

int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_DFL);
  limit_libraries();
  limit(RLIMIT_NOFILE, DESCRIPTORS);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  struct stat status;
  if (fstat(STDIN_FILENO, &status) != 0 || status.st_size < 16) refuse(STATUS_INCOMPLETE, "no file");
  struct source source = {.size = (size_t)status.st_size};
  source.bytes = mmap(NULL, source.size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
  if (source.bytes == MAP_FAILED) refuse(STATUS_TOO_LARGE, strerror(errno));
  if (memcmp(source.bytes, "RIFF", 4) == 0) decode_webp(source);
  else decode_heif(source);
  _exit(0); /* the system frees memory faster */
}
