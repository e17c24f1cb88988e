/* What limits count, kept where it is not easily found: with threads whose process looks dead, in open files of a
 * thread's own, on the way between two sockets, in mappings, in folders that cannot be read. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { mebibyte = 1 << 20, files = 40, mebibytes_of_file = 18 };

/* Says that all of it was held for a while: whoever is ended before does not come to it. */
static void hold(const char *what) {
  sleep(2);
  say(what, 0);
}

/* A file of 18 MiB, which is below the limit of one file, and without a name. */
static int nameless_file(int number) {
  static char block[mebibyte];
  char name[64];
  snprintf(name, sizeof name, "hidden-%d-%d", getpid(), number);
  int file = open(scratch(name), O_CREAT | O_RDWR, 0600);
  unlink(scratch(name));
  for (int i = 0; file >= 0 && i < mebibytes_of_file; i++)
    if (write(file, block, sizeof block) < 0) break;
  return file;
}

static void *hold_memory(void *unused) {
  (void)unused;
  // Pieces below RLIMIT_DATA, which binds each process alone.
  volatile char *bytes = malloc(400 * mebibyte);
  for (int i = 0; bytes && i < 400 * mebibyte; i += 4096) bytes[i] = 1;
  return hold("held memory"), NULL;
}

static void *hold_files(void *unused) {
  (void)unused;
  for (int i = 0; i < files; i++) nameless_file(i);
  return hold("held files"), NULL;
}

static void *hold_sockets(void *unused) {
  (void)unused;
  int ends[2];
  for (int i = 0; i < 60; i++)
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return NULL;
  return hold("held sockets"), NULL;
}

/* Works in a second thread, and ends the first: the process has the state of a zombie then. */
static _Noreturn void work_without_leader(void *work(void *)) {
  pthread_t worker;
  if (pthread_create(&worker, NULL, work, NULL) != 0) _exit(3);
  syscall(SYS_exit, 0);
  __builtin_unreachable();
}

static void in_processes(int count, void *work(void *)) {
  for (int i = 0; i < count; i++)
    if (fork() == 0) work_without_leader(work);
  while (wait(NULL) > 0) {}
}

static void memory_without_leader(char **words) { (void)words, in_processes(5, hold_memory); }

static void files_without_leader(char **words) { (void)words, in_processes(1, hold_files); }

static void sockets_without_leader(char **words) { (void)words, in_processes(3, hold_sockets); }

/* A thread that exits every moment and leaves its work to the next one. */
static void *relay(void *unused) {
  enum { piece = 16 * mebibyte, most_pieces = 24 };
  static int pieces;
  static time_t end;
  (void)unused;
  if (pieces < most_pieces) {
    char *bytes = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) _exit(3);
    memset(bytes, 1, piece);
    if (++pieces == most_pieces) end = time(NULL) + 3;
  } else if (time(NULL) >= end) {
    return say("held memory", 0), NULL;
  }
  pthread_t next;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  if (pthread_create(&next, &detached, relay, NULL) != 0) _exit(3);
  return NULL;
}

static void memory_in_turns(char **words) { (void)words, in_processes(3, relay); }

/* A thread with open files of its own, while the first one has none. */
static int hold_own_files(void *how) {
  if (how && syscall(436 /* close_range */, 900u, 900u, 2u /* CLOSE_RANGE_UNSHARE */) != 0)
    say("close_range", -1), _exit(0);
  hold_files(NULL);
  _exit(0);
}

static void own_files(int flags, void *how) {
  char *stack = mmap(NULL, mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  flags |= CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  if (clone(hold_own_files, stack + mebibyte, flags, how) < 0) say("clone", -1);
  else sleep(8);
}

static void thread_with_own_files(char **words) { (void)words, own_files(0, NULL); }

static void unsharing_thread(char **words) { (void)words, own_files(CLONE_FILES, (void *)1); }

static int send_file(int socket, int file) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.header = {
                   .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
  memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  struct iovec byte = {"x", 1};
  struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control,
                           .msg_controllen = sizeof control};
  return (int)sendmsg(socket, &message, 0);
}

/* Files that are sent to a socket and never received: nobody has them open. */
static void files_in_flight(char **words) {
  (void)words;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return say("socketpair", -1);
  for (int i = 0; i < files; i++) {
    int file = nameless_file(i);
    if (send_file(ends[0], file) != 1) return say("sendmsg", -1);
    close(file);
  }
  hold("held files");
}

/* Files that are mapped and no longer open. */
static void files_in_mappings(char **words) {
  (void)words;
  for (int i = 0; i < files; i++) {
    int file = nameless_file(i);
    if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) return say("mmap", -1);
    close(file);
  }
  hold("held files");
}

static void fill_folder(const char *path) {
  static char block[mebibyte];
  if (chdir(path) != 0) return say("chdir", -1);
  for (int i = 0; i < files; i++) {
    char name[32];
    snprintf(name, sizeof name, "file-%d", i);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file < 0) return say("open", file);
    for (int written = 0; written < mebibytes_of_file; written++)
      if (write(file, block, sizeof block) < 0) break;
    close(file);
  }
  hold("held files");
}

/* A folder that its owner may enter and change, but not list. */
static void unlisted_folder(char **words) {
  (void)words;
  say("mkdir", mkdir(scratch("unlisted"), 0300));
  fill_folder(scratch("unlisted"));
}

/* Folders so deep that no path leads there. */
static void deep_folder(char **words) {
  (void)words;
  char name[200];
  memset(name, 'x', sizeof name);
  name[sizeof name - 1] = 0;
  if (chdir(scratch(".")) != 0) return say("chdir", -1);
  for (int i = 0; i < 100; i++)
    if (mkdir(name, 0700) != 0 || chdir(name) != 0) return say("mkdir", -1);
  fill_folder(".");
}

/* Pages that are in pipes, and no longer in memory. */
static void pages_in_pipes(char **words) {
  (void)words;
  enum { huge = 2 * mebibyte };
  long held = 0;
  for (int i = 0; i < 100; i++) {
    int ends[2];
    if (pipe(ends) != 0) break;
    for (int page = 0; page < 16; page++) {
      char *bytes = aligned_alloc(huge, huge);
      if (!bytes) break;
      madvise(bytes, huge, MADV_HUGEPAGE);
      memset(bytes, 1, huge);
      struct iovec first = {bytes, 4096};
      if (vmsplice(ends[1], &first, 1, SPLICE_F_NONBLOCK) < 0) return say("vmsplice", -1);
      free(bytes);
      held += huge;
    }
  }
  hold(held > 1024L * mebibyte ? "held pages" : "few pages");
}

const struct attack_entry attacks_by_hiding[] = {
    {"memory-without-leader", memory_without_leader}, {"files-without-leader", files_without_leader},
    {"sockets-without-leader", sockets_without_leader}, {"memory-in-turns", memory_in_turns},
    {"thread-with-own-files", thread_with_own_files}, {"unsharing-thread", unsharing_thread},
    {"files-in-flight", files_in_flight}, {"files-in-mappings", files_in_mappings},
    {"unlisted-folder", unlisted_folder}, {"deep-folder", deep_folder},
    {"pages-in-pipes", pages_in_pipes}, {NULL, NULL},
};
