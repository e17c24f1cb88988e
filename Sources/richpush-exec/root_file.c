#define _GNU_SOURCE
#include "root_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

enum { most_links = 40 };

/* A path that is followed: the folder reached so far, and what is left of the path. */
struct way {
  int folder, links;
  char rest[PATH_MAX];
};

static bool enter(struct way *way, int folder) {
  way->folder = folder;
  struct stat status;
  // In a folder such as /tmp, others cannot replace what is root's.
  return folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == 0 &&
         (!(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX);
}

static bool enter_top(struct way *way) { return enter(way, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

/* Takes the next name off the path; false at its end. */
static bool take(struct way *way, char name[NAME_MAX + 1]) {
  const char *start = way->rest + strspn(way->rest, "/");
  size_t length = strcspn(start, "/");
  if (length == 0 || length > NAME_MAX) return false;
  memcpy(name, start, length);
  name[length] = 0;
  memmove(way->rest, start + length, strlen(start + length) + 1);
  return true;
}

/* Puts the target of a link before the rest of the path. */
static bool follow(struct way *way, int link) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(link, "", target, sizeof target);
  size_t left = strlen(way->rest) + 1;
  if (length <= 0 || (size_t)length + left > sizeof way->rest || ++way->links > most_links) return false;
  memmove(way->rest + length, way->rest, left);
  memcpy(way->rest, target, (size_t)length);
  return target[0] != '/' || enter_top(way);
}

/* The file of that name in the folder that was reached; -1 if it is not a regular one of root's. */
static int open_here(const struct way *way, const char *name) {
  int file = openat(way->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  struct stat status;
  if (file >= 0 && fstat(file, &status) == 0 && status.st_uid == 0 && S_ISREG(status.st_mode)) return file;
  return -1;
}

/* This process ends afterwards, which closes what is open. */
static int open_from(struct way *way) {
  char name[NAME_MAX + 1];
  bool is_good = enter_top(way);
  while (is_good && take(way, name)) {
    int next = openat(way->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (next < 0 || fstat(next, &status) != 0 || status.st_uid != 0) break;
    if (S_ISDIR(status.st_mode)) is_good = enter(way, next);
    else if (S_ISLNK(status.st_mode)) is_good = follow(way, next);
    else return way->rest[0] ? -1 : open_here(way, name);
  }
  return -1;
}

void root_file_send(const char *path, int channel) {
  struct way way = {.folder = -1};
  int file = -1;
  setfsuid(0);
  if (path[0] == '/' && strlen(path) < sizeof way.rest) {
    strcpy(way.rest, path);
    file = open_from(&way);
  }
  setfsuid(geteuid());
  packet_send(channel, file < 0 ? "failed" : "done", file);
}
