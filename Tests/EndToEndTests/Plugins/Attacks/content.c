/* Content that is not the plugin's: read, truncated, overwritten, removed. The first word is the path. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct open_how {
  unsigned long long flags, mode, resolve;
};

static void show(int file) {
  char bytes[65536];
  ssize_t count = read(file, bytes, sizeof bytes);
  if (count > 0 && write(1, bytes, (size_t)count) < 0) _exit(3);
}

static void read_file(char **words) {
  int file = open(words[0], O_RDONLY);
  say("open", file);
  show(file);
}

static void read_openat2(char **words) {
  struct open_how how = {O_RDONLY, 0, 0};
  int file = (int)syscall(437, AT_FDCWD, words[0], &how, sizeof how);
  say("openat2", file);
  show(file);
}

/* A name of one's own for another's file. */
static void read_link(char **words) {
  say("link", link(words[0], scratch("linked")));
  show(open(scratch("linked"), O_RDONLY));
}

static void read_symlink(char **words) {
  say("symlink", symlink(words[0], scratch("symbolic")));
  show(open(scratch("symbolic"), O_RDONLY));
}

/* Through the folder that the server's process stands in, or has open: `words[1]` is its number. */
static void read_through_server(char **words) {
  char path[8192];
  if (!words[1]) return;
  snprintf(path, sizeof path, "/proc/%s/root/%s", words[1], words[0]);
  int file = open(path, O_RDONLY);
  say("open through /proc/PID/root", file);
  show(file);
}

static void truncated(char **words) { say("truncate", truncate(words[0], 0)); }

static void opened_to_read(char **words) { say("open", open(words[0], O_RDONLY | O_TRUNC)); }

/* Access mode 3 asks for neither reading nor writing (open(2)). */
static void opened_for_nothing(char **words) { say("open", open(words[0], 3 | O_TRUNC)); }

static void opened_by_openat2(char **words) {
  struct open_how how = {O_RDONLY | O_TRUNC, 0, 0};
  say("openat2", syscall(437, AT_FDCWD, words[0], &how, sizeof how));
}

static void opened_to_write(char **words) { say("open", open(words[0], O_WRONLY | O_TRUNC)); }

static void created(char **words) { say("creat", creat(words[0], 0600)); }

static void overwritten(char **words) {
  int file = open(words[0], O_RDWR);
  say("open", file);
  say("write", write(file, "attack", 6));
}

static void appended(char **words) {
  int file = open(words[0], O_WRONLY | O_APPEND);
  say("write", write(file, "attack", 6));
}

static void removed(char **words) { say("unlink", unlink(words[0])); }

static void renamed(char **words) {
  char other[4096];
  snprintf(other, sizeof other, "%s-renamed", words[0]);
  say("rename", rename(words[0], other));
}

static void replaced(char **words) {
  close(open(scratch("mine"), O_CREAT | O_WRONLY, 0600));
  say("rename over", rename(scratch("mine"), words[0]));
}

static void linked_and_written(char **words) {
  say("link", link(words[0], scratch("taken")));
  int file = open(scratch("taken"), O_WRONLY);
  say("write", write(file, "attack", 6));
}

/* Takes the first word for a folder, and leaves something in it. */
static void left_there(char **words) {
  char path[4096];
  const char *token = words[1] ? words[1] : "left";
  snprintf(path, sizeof path, "%s/%s-file", words[0], token);
  say("open", open(path, O_CREAT | O_WRONLY, 0644));
  snprintf(path, sizeof path, "%s/%s-folder", words[0], token);
  say("mkdir", mkdir(path, 0755));
  snprintf(path, sizeof path, "%s/%s-link", words[0], token);
  say("symlink", symlink("/etc/passwd", path));
  snprintf(path, sizeof path, "%s/%s-pipe", words[0], token);
  say("mkfifo", mkfifo(path, 0644));
}

/* Writes 1.2 GiB in files of 19 MiB, which is below the limit of one file, from four processes. */
static void fill_disk(int has_names) {
  static char block[1 << 20];
  for (int process = 0; process < 4; process++) {
    if (fork()) continue;
    for (int i = 0; i < 16; i++) {
      char name[64];
      snprintf(name, sizeof name, "flood-%d-%d", process, i);
      int file = open(scratch(name), O_CREAT | O_RDWR, 0600);
      if (!has_names) unlink(scratch(name));
      for (int written = 0; written < 19; written++)
        if (write(file, block, sizeof block) < 0) break;
      nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    sleep(1);
    _exit(0);
  }
  while (wait(NULL) > 0) {}
}

static void flood_of_bytes(char **words) { (void)words, fill_disk(1); }

/* Files without a name are in no folder that could be weighed. */
static void nameless(char **words) { (void)words, fill_disk(0); }

static void hidden(char **words) {
  (void)words;
  prctl(PR_SET_DUMPABLE, 0);
  fill_disk(0);
}

/* 1.6 GiB at once, beyond the ends of files, where the limit of a file's size does not count. */
static void allocated(char **words) {
  (void)words;
  for (int i = 0; i < 16; i++) {
    char name[64];
    snprintf(name, sizeof name, "allocated-%d", i);
    fallocate(open(scratch(name), O_CREAT | O_RDWR, 0600), FALLOC_FL_KEEP_SIZE, 0, 100 << 20);
  }
  usleep(100000);
}

/* Keeps the second word in a file of its own, for others to read. */
static void held(char **words) {
  int file = open(scratch("note"), O_CREAT | O_WRONLY, 0600);
  if (write(file, words[1], strlen(words[1])) > 0) close(file);
  wait_for_the_test(words[0]);
}

static void flood_of_names(char **words) {
  (void)words;
  for (int i = 0; i < 1000000; i++) {
    char name[64];
    snprintf(name, sizeof name, "name-%d", i);
    int file = open(scratch(name), O_CREAT | O_WRONLY, 0600);
    if (file < 0) break;
    close(file);
  }
}

static void flood_of_output(char **words) {
  static char block[65536];
  int where = words[0] && strcmp(words[0], "errors") == 0 ? 2 : 1;
  memset(block, 'x', sizeof block);
  for (long i = 0; i < 16384; i++)
    if (write(where, block, sizeof block) < 0) break;
}

const struct attack_entry attacks_on_content[] = {
    {"read", read_file}, {"read-openat2", read_openat2}, {"read-link", read_link},
    {"read-symlink", read_symlink}, {"read-through-server", read_through_server},
    {"truncate", truncated}, {"open-trunc", opened_to_read}, {"open-3-trunc", opened_for_nothing},
    {"openat2-trunc", opened_by_openat2}, {"open-write-trunc", opened_to_write}, {"creat", created},
    {"overwrite", overwritten}, {"append", appended}, {"unlink", removed}, {"rename", renamed},
    {"replace", replaced}, {"link-write", linked_and_written}, {"leave", left_there},
    {"nameless", nameless}, {"hidden", hidden}, {"allocated", allocated}, {"hold", held},
    {"flood-disk", flood_of_bytes}, {"flood-names", flood_of_names},
    {"flood-output", flood_of_output}, {NULL, NULL},
};
