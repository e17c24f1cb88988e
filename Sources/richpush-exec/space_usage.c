#define _GNU_SOURCE
#include "space_usage.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "credentials.h"
#include "descendants.h"

/* What is still to be counted. */
struct count {
  const struct launch_spec *spec;
  long long bytes_left;
  long mappings_left;
  bool is_complete;
};

// Each file counts at least this much, since it takes an inode: ext4 makes one for each 16 KiB of its disk
// (mke2fs(8), inode_ratio).
enum { bytes_per_inode = 16 << 10 };

/* False when the limit is exceeded. */
static bool add_bytes(long long bytes, struct count *count) {
  count->bytes_left -= bytes > bytes_per_inode ? bytes : bytes_per_inode;
  return count->bytes_left >= 0;
}

static bool add_file(const struct stat *status, struct count *count) {
  return add_bytes((long long)status->st_blocks * 512, count);
}

/* The count of the files that nftw visits, to which it passes nothing. */
static struct count *visited;

static bool exists(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 || !is_gone();
}

static int add_named_file(const char *path, const struct stat *status, int kind, struct FTW *position) {
  if (kind == FTW_DNR || kind == FTW_NS) visited->is_complete &= !exists(path);
  return kind != FTW_NS && position->level > 0 && !add_file(status, visited);
}

/* Adds the files below a folder. False when the limit is exceeded. */
static bool add_folder(const char *path, struct count *count) {
  enum { most_open = 16 };
  visited = count;
  int result = nftw(path, add_named_file, most_open, FTW_PHYS);
  // It ends at a folder that was removed meanwhile, or to which the path is too long.
  if (result < 0 && exists(path)) count->is_complete = false;
  return result <= 0;
}

/* The files without a name that were counted; a process and its children often have the same ones open. */
static struct {
  dev_t device;
  ino_t inode;
} counted[1024];
static size_t counted_count;

static bool is_counted(dev_t device, ino_t inode) {
  for (size_t i = 0; i < counted_count; i++)
    if (counted[i].inode == inode && counted[i].device == device) return true;
  if (counted_count < sizeof counted / sizeof *counted) {
    counted[counted_count].device = device;
    counted[counted_count++].inode = inode;
  }
  return false;
}

/* Whether descriptors have been sent to a socket and not been received: they are in no list of open files. */
static bool has_descriptors(struct proc_folder thread, const char *socket) {
  char name[48], text[1024];
  snprintf(name, sizeof name, "fdinfo/%.16s", socket);
  if (read_proc(thread, name, text, sizeof text) < 0) return false;  // It is closed.
  const char *line = strstr(text, "\nscm_fds:");
  return line && strtol(line + strlen("\nscm_fds:"), NULL, 10) > 0;
}

static bool add_open_files(DIR *files, struct proc_folder thread, struct count *count) {
  struct stat status;
  for (struct dirent *file; (file = readdir(files));) {
    if (fstatat(dirfd(files), file->d_name, &status, 0) != 0) continue;
    if (S_ISSOCK(status.st_mode) && has_descriptors(thread, file->d_name)) count->is_complete = false;
    if (S_ISREG(status.st_mode) && status.st_nlink == 0 && !is_counted(status.st_dev, status.st_ino) &&
        !add_file(&status, count))
      return false;
  }
  return true;
}

static bool is_below(const char *folder, const char *path) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Within bubblewrap the folder has the path of the spec, even if this leads through a link outside. */
static bool is_in_writable_folder(const char *path, const struct launch_spec *spec) {
  bool is_found = false;
  for (int i = 0; i < spec->write_count && !is_found; i++) {
    char *folder = realpath(spec->write[i], NULL);
    is_found = is_below(spec->write[i], path) || (folder && is_below(folder, path));
    free(folder);
  }
  return is_found;
}

/* Adds a file without a name that is mapped, perhaps without being open any more: its size is unknown, and counts
 * as the largest that it can have. `line` is of proc_pid_maps(5). */
static bool add_mapping(const char *line, struct count *count) {
  unsigned major, minor;
  unsigned long inode;
  int path = 0;
  const char *mark = strstr(line, " (deleted)\n");
  if (!mark || sscanf(line, "%*s %*s %*s %x:%x %lu %n", &major, &minor, &inode, &path) != 3 ||
      !is_in_writable_folder(line + path, count->spec) || is_counted(makedev(major, minor), inode))
    return true;
  return add_bytes(count->spec->file_size, count);
}

// For all descendants together: some dozen programs with many libraries each. Reading one takes a microsecond.
enum { most_mappings = 16 << 10 };

static bool add_mappings(FILE *mappings, struct count *count) {
  char *line = NULL;
  size_t size = 0;
  bool goes_on = true;
  while (goes_on && getline(&line, &size, mappings) > 0) {
    if (count->mappings_left-- <= 0) {
      count->is_complete = false;
      break;
    }
    goes_on = add_mapping(line, count);
  }
  free(line);
  return goes_on;
}

static bool add_nameless_files(const char *pid, void *context) {
  struct count *count = context;
  struct proc_folder thread;
  // A thread may exit meanwhile; a process of which none is left has no files.
  for (int attempt = 0; find_living_thread(pid, &thread); attempt++) {
    char path[64];
    snprintf(path, sizeof path, "%s/fd", thread.path);
    DIR *files = opendir(path);
    snprintf(path, sizeof path, "%s/maps", thread.path);
    FILE *mappings = files ? fopen(path, "re") : NULL;
    bool is_open = mappings;
    bool goes_on = is_open && add_open_files(files, thread, count) && add_mappings(mappings, count);
    if (files) closedir(files);
    if (mappings) fclose(mappings);
    if (is_open) return goes_on;
    if (attempt == 1) return count->is_complete = false, true;
  }
  return true;
}

enum space_usage measure_space(const struct launch_spec *spec) {
  struct count count = {
      .spec = spec, .bytes_left = spec->space, .mappings_left = most_mappings, .is_complete = true};
  bool goes_on = true;
  counted_count = 0;
  assume_file_owner(spec);
  for (int i = 0; i < spec->write_count && goes_on; i++)
    goes_on = add_folder(spec->write[i], &count);
  if (goes_on) count.is_complete &= each_descendant(add_nameless_files, &count);
  restore_file_owner(spec);
  if (count.bytes_left < 0) return space_exceeded;
  return count.is_complete ? space_left : space_uncounted;
}
