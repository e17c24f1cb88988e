/* Memory: as much as can be had, by every way to it; and what stays when the plugin is gone. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t mebibyte = 1 << 20;

static void touch(char *bytes, size_t count) {
  if (bytes == MAP_FAILED) return;
  for (size_t i = 0; i < count; i += 4096) bytes[i] = 1;
}

static void shared(char **words) {
  (void)words;
  size_t count = 2048 * mebibyte;
  char *bytes = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  say("mmap", bytes == MAP_FAILED ? -1 : 0);
  touch(bytes, count);
}

static void memory_file(char **words) {
  (void)words;
  char *block = calloc(1, mebibyte);
  int file = memfd_create("attack", 0);
  say("memfd_create", file);
  // 19 MiB a file stay below the limit of a file's size.
  for (int files = 0; file >= 0 && files < 80; files++, file = memfd_create("attack", 0))
    for (int i = 0; i < 19; i++)
      if (write(file, block, mebibyte) < 0) break;
  say("memfd_create, the last", file);
}

/* Shared memory that stays although it is no longer mapped, and so is in no statistics of a process. */
static void leave_unmapped(char *bytes, size_t count, int is_unmapped) {
  const size_t piece = 16 * mebibyte;
  say("mmap", bytes == MAP_FAILED ? -1 : 0);
  // The first piece stays, so that the memory does, too.
  for (size_t at = piece; bytes != MAP_FAILED && at < count; at += piece) {
    touch(bytes + at, piece);
    if (is_unmapped) munmap(bytes + at, piece);
    else madvise(bytes + at, piece, MADV_DONTNEED);
  }
  usleep(300000);
}

static char *map_shared(int flags, int file) {
  return mmap(NULL, 2048 * mebibyte, PROT_READ | PROT_WRITE, flags, file, 0);
}

static void shared_dontneed(char **words) {
  (void)words;
  leave_unmapped(map_shared(MAP_SHARED | MAP_ANONYMOUS, -1), 2048 * mebibyte, 0);
}

static void shared_unmapped(char **words) {
  (void)words;
  leave_unmapped(map_shared(MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1), 2048 * mebibyte, 1);
}

static void zero_device(char **words) {
  (void)words;
  leave_unmapped(map_shared(MAP_SHARED, open("/dev/zero", O_RDWR)), 2048 * mebibyte, 0);
}

/* 2 GiB of page tables, for a page of zeros that is mapped again and again. */
static void page_tables(char **words) {
  (void)words;
  const size_t per_table = 2 * mebibyte, count = 512 * 1024 * per_table;
  volatile char *bytes = mmap(NULL, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  say("mmap", bytes == MAP_FAILED ? -1 : 0);
  madvise((void *)bytes, count, MADV_NOHUGEPAGE);
  for (size_t at = 0; bytes != MAP_FAILED && at < count; at += per_table) (void)bytes[at];
}

/* Sockets whose queues are full, each of which the kernel keeps for them. */
static void socket_queues(char **words) {
  (void)words;
  static char block[65536];
  for (int process = 0; process < 8; process++) {
    if (fork()) continue;
    int ends[2];
    while (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0)
      for (int i = 0; i < 2; i++)
        while (write(ends[i], block, sizeof block) > 0) {}
    sleep(2);
    _exit(0);
  }
  while (wait(NULL) > 0) {}
}

/* Fills the folder of the first word with files whose names begin with the second. */
static void elsewhere(char **words) {
  char *block = calloc(1, mebibyte), path[4096];
  for (int i = 0; i < 40; i++) {
    snprintf(path, sizeof path, "%s/%s-%d", words[0], words[1], i);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    for (int written = 0; file >= 0 && written < 19; written++)
      if (write(file, block, mebibyte) < 0) break;
    if (file >= 0) close(file);
  }
}

static void secret(char **words) {
  (void)words;
  long file = syscall(447 /* memfd_secret */, 0);
  say("memfd_secret", file);
}

/* Four at once, each below its own limit, as fast as the kernel gives pages. */
static void family(char **words) {
  (void)words;
  for (int process = 0; process < 4; process++) {
    if (fork()) continue;
    for (int piece = 0; piece < 15; piece++) {
      char *bytes = mmap(NULL, 32 * mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (bytes == MAP_FAILED) break;
      madvise(bytes, 32 * mebibyte, MADV_HUGEPAGE);
      touch(bytes, 32 * mebibyte);
    }
    sleep(2);
    _exit(0);
  }
  while (wait(NULL) > 0) {}
}

/* Mappings that RLIMIT_DATA does not count: private ones of a file, made one's own by writing. */
static void private_file(char **words) {
  (void)words;
  int file = open(scratch("mapped"), O_CREAT | O_RDWR, 0600);
  say("ftruncate", ftruncate(file, (off_t)(16 * mebibyte)));
  for (int i = 0; i < 96; i++) {
    char *bytes = mmap(NULL, 16 * mebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) break;
    touch(bytes, 16 * mebibyte);
  }
}

static key_t key(char **words) { return (key_t)atol(words[0]); }

static void shared_segment(char **words) {
  int segment = shmget(key(words), 16 * mebibyte, IPC_CREAT | 0600);
  say("shmget", segment);
  char *bytes = shmat(segment, NULL, 0);
  touch(bytes == (char *)-1 ? MAP_FAILED : bytes, 16 * mebibyte);
}

static void semaphores(char **words) { say("semget", semget(key(words), 1, IPC_CREAT | 0600)); }

static void messages(char **words) { say("msgget", msgget(key(words), IPC_CREAT | 0600)); }

static void posix_queue(char **words) {
  say("mq_open", mq_open(words[1], O_CREAT | O_RDWR, 0600, NULL));
}

struct note {
  long type;
  char text;
};

/* What others use: a segment, a semaphore and a queue of messages, by their numbers. */
static void foreign(char **words) {
  char *bytes = shmat(atoi(words[0]), NULL, 0);
  say("shmat", bytes == (char *)-1 ? -1 : 0);
  if (bytes != (char *)-1) bytes[0] = '!';
  say("semop", semop(atoi(words[1]), &(struct sembuf){0, 1, IPC_NOWAIT}, 1));
  say("semctl", semctl(atoi(words[1]), 0, SETVAL, 1));
  say("msgsnd", msgsnd(atoi(words[2]), &(struct note){1, '!'}, 1, IPC_NOWAIT));
  say("shmctl", shmctl(atoi(words[0]), IPC_RMID, NULL));
}

/* Not attacks: makes these three for everybody, says their numbers; and looks at them, and removes them. */
static void make_foreign(char **words) {
  (void)words;
  const int mode = IPC_CREAT | 0666;
  printf("%d %d %d", shmget(IPC_PRIVATE, 4096, mode), semget(IPC_PRIVATE, 1, mode),
         msgget(IPC_PRIVATE, mode));
  fflush(stdout);
}

static void look_at_foreign(char **words) {
  int segment = atoi(words[0]), semaphore = atoi(words[1]), queue = atoi(words[2]);
  char *bytes = shmat(segment, NULL, 0);
  struct note note;
  if (bytes == (char *)-1 || bytes[0]) say("the segment was changed", 0);
  if (semctl(semaphore, 0, GETVAL) != 0) say("the semaphore was changed", 0);
  if (msgrcv(queue, &note, 1, 0, IPC_NOWAIT) >= 0) say("there is a message", 0);
  shmctl(segment, IPC_RMID, NULL), semctl(semaphore, 0, IPC_RMID), msgctl(queue, IPC_RMID, NULL);
}

/* Not attacks: how a test, outside, sees what is left of them, and removes it. */
static void look(char **words) {
  if (shmget(key(words), 0, 0) >= 0) say("shmget", 0);
  if (semget(key(words), 0, 0) >= 0) say("semget", 0);
  if (msgget(key(words), 0) >= 0) say("msgget", 0);
  if (mq_open(words[1], O_RDONLY) >= 0) say("mq_open", 0);
}

static void clean_up(char **words) {
  shmctl(shmget(key(words), 0, 0), IPC_RMID, NULL);
  semctl(semget(key(words), 0, 0), 0, IPC_RMID);
  msgctl(msgget(key(words), 0), IPC_RMID, NULL);
  mq_unlink(words[1]);
}

const struct attack_entry attacks_on_memory[] = {
    {"shared-dontneed", shared_dontneed}, {"shared-unmapped", shared_unmapped},
    {"zero-device", zero_device}, {"page-tables", page_tables}, {"socket-queues", socket_queues},
    {"elsewhere", elsewhere}, {"shared-memory", shared}, {"memfd", memory_file}, {"memfd-secret", secret},
    {"four-at-once", family}, {"private-file", private_file}, {"shmget", shared_segment},
    {"semget", semaphores}, {"msgget", messages}, {"mq-open", posix_queue},
    {"foreign-ipc", foreign},
    {"make-foreign", make_foreign}, {"look-at-foreign", look_at_foreign}, {"look", look}, {"clean-up", clean_up}, {NULL, NULL},
};
