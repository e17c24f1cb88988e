#define _GNU_SOURCE
#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "owner.h"

static void reply(int channel, const char *word, int file) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec piece = {(void *)word, strlen(word)};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  if (file >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    control.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  }
  sendmsg(channel, &message, MSG_NOSIGNAL);
}

static int open_folder(int parent, const char *name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void scratch_open(const struct order *order, int channel) {
  owner_become(order);
  int folder = open_folder(AT_FDCWD, order->write[0]);
  struct open_how how = {
      .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int file = folder < 0 ? -1 : (int)syscall(SYS_openat2, folder, order->open, &how, sizeof how);
  struct stat status;
  bool is_regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  owner_leave(order);
  reply(channel, is_regular ? "done" : "failed", is_regular ? file : -1);
}

static bool removed(int folder, const char *name) {
  return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

static bool is_itself(const char *name) {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Empties a folder of `top`, moving the folders in it up there: so depth costs no descriptors. */
static bool empty_inner(int top, const char *name, unsigned long *moved) {
  fchmodat(top, name, 0700, 0);
  int inner = open_folder(top, name);
  DIR *entries = inner < 0 ? NULL : fdopendir(inner);
  bool has_changed = false;
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    if (is_itself(entry->d_name)) continue;
    if (removed(inner, entry->d_name)) {
      has_changed = true;
      continue;
    }
    char place[32];
    snprintf(place, sizeof place, "removed-%lu", ++*moved);
    fchmodat(inner, entry->d_name, 0700, 0);  // to change its `..`
    has_changed |= renameat(inner, entry->d_name, top, place) == 0;
  }
  if (entries) closedir(entries);
  return has_changed | removed(top, name);
}

void scratch_empty(const struct order *order, int channel) {
  owner_become(order);
  fchmodat(AT_FDCWD, order->write[0], 0700, 0);
  unsigned long moved = 0;
  bool is_empty = false, has_changed = true;
  while (!is_empty && has_changed) {
    int top = open_folder(AT_FDCWD, order->write[0]);
    DIR *entries = top < 0 ? NULL : fdopendir(top);
    if (!entries) break;
    is_empty = true, has_changed = false;
    for (struct dirent *entry; (entry = readdir(entries));) {
      if (is_itself(entry->d_name)) continue;
      is_empty = false;
      has_changed |= removed(top, entry->d_name) || empty_inner(top, entry->d_name, &moved);
    }
    closedir(entries);
  }
  owner_leave(order);
  reply(channel, is_empty ? "done" : "failed", -1);
}
