/* Memory: as much as can be had, by every way to it; and what stays when the plugin is gone. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
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
    {"shared-memory", shared}, {"memfd", memory_file}, {"memfd-secret", secret},
    {"four-at-once", family}, {"private-file", private_file}, {"shmget", shared_segment},
    {"semget", semaphores}, {"msgget", messages}, {"mq-open", posix_queue},
    {"look", look}, {"clean-up", clean_up}, {NULL, NULL},
};
