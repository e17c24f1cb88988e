#define _GNU_SOURCE
#include "scratch_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "credentials.h"
#include "message.h"

static int open_folder(int parent, const char *name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void scratch_open(const struct launch_spec *spec, int channel) {
  assume_file_owner(spec);
  int folder = open_folder(AT_FDCWD, spec->write[0]);
  // The plugin may have put a pipe, a device or a link there.
  struct open_how how = {
      .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int file = folder < 0 ? -1 : (int)syscall(SYS_openat2, folder, spec->open, &how, sizeof how);
  struct stat status;
  bool is_regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  restore_file_owner(spec);
  packet_send(channel, is_regular ? "done" : "failed", is_regular ? file : -1);
}

static bool removed(int folder, const char *name) {
  return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* The next entry that is neither `.` nor `..`. */
static struct dirent *next_entry(DIR *entries) {
  struct dirent *entry;
  do entry = readdir(entries);
  while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
  return entry;
}

/* Removes a folder in `top`, moving the folders in it up to `top`, so that depth costs no descriptors. */
static bool remove_folder(int top, const char *name, unsigned long *moved) {
  fchmodat(top, name, 0700, 0);
  int inner = open_folder(top, name);
  DIR *entries = inner < 0 ? NULL : fdopendir(inner);
  bool has_changed = false;
  for (struct dirent *entry; entries && (entry = next_entry(entries));) {
    if (removed(inner, entry->d_name)) {
      has_changed = true;
      continue;
    }
    char target[32];
    snprintf(target, sizeof target, "removed-%lu", ++*moved);
    fchmodat(inner, entry->d_name, 0700, 0);  // Moving a folder changes its `..`.
    has_changed |= renameat(inner, entry->d_name, top, target) == 0;
  }
  if (entries) closedir(entries);
  return has_changed | removed(top, name);
}

void scratch_empty(const struct launch_spec *spec, int channel) {
  assume_file_owner(spec);
  fchmodat(AT_FDCWD, spec->write[0], 0700, 0);
  unsigned long moved = 0;
  bool is_empty = false, has_changed = true;
  while (!is_empty && has_changed) {
    int top = open_folder(AT_FDCWD, spec->write[0]);
    DIR *entries = top < 0 ? NULL : fdopendir(top);
    if (!entries) break;
    is_empty = true, has_changed = false;
    for (struct dirent *entry; (entry = next_entry(entries));) {
      is_empty = false;
      has_changed |= removed(top, entry->d_name) || remove_folder(top, entry->d_name, &moved);
    }
    closedir(entries);
  }
  restore_file_owner(spec);
  packet_send(channel, is_empty ? "done" : "failed", -1);
}
