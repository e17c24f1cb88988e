/* What another process has in memory. The first word is its number, the second where its environment
 * lies in its memory, the third how long that is. */
#define _GNU_SOURCE
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *bytes, ssize_t count) {
  if (count > 0 && write(1, bytes, (size_t)count) < 0) _exit(3);
}

static int open_of(char **words, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "/proc/%s/%s", words[0], name);
  int file = open(path, O_RDONLY);
  say(path, file);
  return file;
}

static void environment(char **words) {
  char bytes[65536];
  show(bytes, read(open_of(words, "environ"), bytes, sizeof bytes));
}

/* The same of a thread, and of the plugin's own ancestors. */
static void environment_of_task(char **words) {
  char name[64], bytes[65536];
  snprintf(name, sizeof name, "task/%s/environ", words[0]);
  show(bytes, read(open_of(words, name), bytes, sizeof bytes));
}

static void memory_file(char **words) {
  char bytes[65536];
  size_t length = (size_t)atol(words[2]);
  show(bytes, pread(open_of(words, "mem"), bytes, length < sizeof bytes ? length : sizeof bytes,
                    (off_t)strtoull(words[1], NULL, 10)));
}

static void memory_call(char **words) {
  char bytes[65536];
  size_t length = (size_t)atol(words[2]);
  struct iovec local = {bytes, length < sizeof bytes ? length : sizeof bytes};
  struct iovec remote = {(void *)strtoull(words[1], NULL, 10), local.iov_len};
  ssize_t count = process_vm_readv(atoi(words[0]), &local, 1, &remote, 1, 0);
  say("process_vm_readv", count);
  show(bytes, count);
}

static void traced(char **words) {
  pid_t pid = atoi(words[0]);
  say("PTRACE_SEIZE", ptrace(PTRACE_SEIZE, pid, NULL, NULL));
  say("PTRACE_INTERRUPT", ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
  if (waitpid(pid, NULL, __WALL) != pid) return;
  unsigned long long place = strtoull(words[1], NULL, 10);
  for (long i = 0; i < atol(words[2]); i += (long)sizeof(long)) {
    long word = ptrace(PTRACE_PEEKDATA, pid, (void *)(place + (unsigned long long)i), NULL);
    show((char *)&word, sizeof word);
  }
}

/* What the process has open: its files, by their magic links. */
static void open_files(char **words) {
  char path[128], bytes[65536];
  snprintf(path, sizeof path, "/proc/%s/fd", words[0]);
  DIR *folder = opendir(path);
  say(path, folder ? 0 : -1);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/%s/fd/%.16s", words[0], entry->d_name);
    int file = open(path, O_RDONLY | O_NONBLOCK);
    if (file >= 0) show(bytes, pread(file, bytes, sizeof bytes, 0));
    if (file >= 0) close(file);
  }
}

static void taken_files(char **words) {
  char bytes[65536];
  int process = (int)syscall(434 /* pidfd_open */, atoi(words[0]), 0);
  for (int number = 0; number < 64; number++) {
    int file = (int)syscall(438 /* pidfd_getfd */, process, number, 0);
    if (number == 3) say("pidfd_getfd", file);
    if (file < 0) continue;
    show(bytes, pread(file, bytes, sizeof bytes, 0));
    close(file);
  }
}

/* The names of the files that are made in the second word's folder, or moved there. */
static void watched(char **words) {
  int queue = inotify_init1(IN_NONBLOCK);
  say("inotify_init1", queue);
  say("inotify_add_watch", inotify_add_watch(queue, words[1], IN_CREATE | IN_MOVED_TO));
  wait_for_the_test(words[0]);
  char events[4096];
  ssize_t count = read(queue, events, sizeof events);
  if (count > 0 && write(1, events, (size_t)count) < 0) _exit(3);
}

const struct attack_entry attacks_on_secrets[] = {
    {"environ", environment}, {"environ-task", environment_of_task}, {"mem", memory_file},
    {"vm-readv", memory_call}, {"ptrace", traced}, {"open-files", open_files},
    {"take-files", taken_files}, {"watch", watched}, {NULL, NULL},
};
