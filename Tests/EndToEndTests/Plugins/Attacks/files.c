/* What a file is but for its content: mode, owner, attributes, times, flags, leases. The first word is the
 * victim's path. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

enum { open_to_all = 0777 };

static void mode(char **words) { say("chmod", chmod(words[0], open_to_all)); }

static void mode_at(char **words) {
  say("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, words[0], open_to_all));
}

static void mode_at2(char **words) {
  say("fchmodat2", syscall(452, AT_FDCWD, words[0], open_to_all, 0));
}

static void mode_of_open(char **words) {
  int file = open(words[0], O_RDONLY);
  say("open", file);
  say("fchmod", fchmod(file, open_to_all));
}

/* By an O_PATH descriptor, for which Landlock asks nothing. */
static void mode_of_place(char **words) {
  char path[64];
  int place = open(words[0], O_PATH);
  snprintf(path, sizeof path, "/proc/self/fd/%d", place);
  say("chmod by /proc/self/fd", chmod(path, open_to_all));
  say("fchmodat2 of a place", syscall(452, place, "", open_to_all, AT_EMPTY_PATH));
}

/* The 32-bit calls of x86, whose numbers are others. The path has to lie below 4 GiB. */
static void mode_32bit(char **words) {
#ifdef __x86_64__
  char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  strncpy(path, words[0], 4095);
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(15L), "b"(path), "c"((long)open_to_all) : "memory");
  say("chmod of 32 bits", result);
#else
  (void)words;
#endif
}

static void access_list(char **words) {
  // Version 2; user, group, mask, others: read and write for each (xattr of posix_acl_xattr.h).
  static const unsigned char list[] = {2, 0, 0, 0, 1,    0, 7, 0, 255, 255, 255, 255, 2, 0, 7, 0, 1, 0, 0, 0,
                                       4, 0, 7, 0, 255, 255, 255, 255, 16, 0, 7, 0, 255, 255, 255, 255,
                                       32, 0, 7, 0, 255, 255, 255, 255};
  say("setxattr of an ACL", setxattr(words[0], "system.posix_acl_access", list, sizeof list, 0));
}

static gid_t group(void) { return getegid(); }

static void owner(char **words) { say("chown", chown(words[0], (uid_t)-1, group())); }

static void owner_of_link(char **words) { say("lchown", lchown(words[0], (uid_t)-1, group())); }

static void owner_at(char **words) {
  say("fchownat", fchownat(AT_FDCWD, words[0], (uid_t)-1, group(), 0));
}

static void owner_of_open(char **words) {
  say("fchown", fchown(open(words[0], O_RDONLY), (uid_t)-1, group()));
}

static const char attribute[] = "user.richpush-attack";

static void attribute_set(char **words) {
  say("setxattr", setxattr(words[0], attribute, "x", 1, 0));
}

static void attribute_of_link(char **words) {
  say("lsetxattr", lsetxattr(words[0], attribute, "x", 1, 0));
}

static void attribute_of_open(char **words) {
  say("fsetxattr", fsetxattr(open(words[0], O_RDONLY), attribute, "x", 1, 0));
}

static void attribute_at(char **words) {
  struct {
    unsigned long value;
    unsigned size, flags;
  } arguments = {(unsigned long)"x", 1, 0};
  say("setxattrat", syscall(463, AT_FDCWD, words[0], 0, attribute, &arguments, sizeof arguments));
}

static void attribute_removed(char **words) {
  say("removexattr", removexattr(words[0], attribute));
}

static void attribute_removed_of_link(char **words) {
  say("lremovexattr", lremovexattr(words[0], attribute));
}

static void attribute_removed_of_open(char **words) {
  say("fremovexattr", fremovexattr(open(words[0], O_RDONLY), attribute));
}

static void attribute_removed_at(char **words) {
  say("removexattrat", syscall(466, AT_FDCWD, words[0], 0, attribute));
}

static const struct timespec long_ago[2] = {{1, 0}, {1, 0}};

static void times_at(char **words) { say("utimensat", utimensat(AT_FDCWD, words[0], long_ago, 0)); }

static void times_of_open(char **words) {
  say("futimens", futimens(open(words[0], O_RDONLY), long_ago));
}

static void times_old(char **words) { say("utime", utime(words[0], &(struct utimbuf){1, 1})); }

static void times_micro(char **words) {
  say("utimes", utimes(words[0], (struct timeval[2]){{1, 0}, {1, 0}}));
}

static void times_at_old(char **words) {
#ifdef SYS_futimesat
  say("futimesat", syscall(SYS_futimesat, AT_FDCWD, words[0], (struct timeval[2]){{1, 0}, {1, 0}}));
#else
  (void)words;
#endif
}

static void flags_at(char **words) {
  struct {
    unsigned long long flags;
    unsigned extent, extents, project, copied;
  } wanted = {FS_XFLAG_NODUMP, 0, 0, 0, 0};
  say("file_setattr", syscall(469, AT_FDCWD, words[0], &wanted, sizeof wanted, 0));
}

static void generation(char **words) {
  int file = open(words[0], O_RDONLY);
  long wanted = 7;
  say("FS_IOC_SETVERSION", ioctl(file, FS_IOC_SETVERSION, &wanted));
  say("EXT4_IOC_SETVERSION", ioctl(file, _IOW('f', 4, long), &wanted));
}

static void flags(char **words) {
  int file = open(words[0], O_RDONLY), wanted = FS_NODUMP_FL;
  say("open", file);
  say("FS_IOC_SETFLAGS", ioctl(file, FS_IOC_SETFLAGS, &wanted));
}

static void flags_extended(char **words) {
  struct fsxattr wanted = {.fsx_xflags = FS_XFLAG_NODUMP};
  say("FS_IOC_FSSETXATTR", ioctl(open(words[0], O_RDONLY), FS_IOC_FSSETXATTR, &wanted));
}

/* Whoever opens the file waits until the lease is given back, or for 45 seconds. */
static void lease(char **words) {
  const char *lent = getenv("RICH_ASSET_PATH");
  int file = open(lent ? lent : "", O_RDONLY);
  say("open", file);
  long result = -1;  // it fails while the server itself has the file open
  for (int i = 0; i < 100 && result != 0; i++) {
    result = fcntl(file, F_SETLEASE, F_WRLCK);
    if (result != 0) usleep(2000);
  }
  say("F_SETLEASE", result);
  wait_for_the_test(words[0]);
}

static void chmod_lent(char **words) {
  (void)words;
  const char *lent = getenv("RICH_ASSET_PATH");
  say("chmod of the asset", chmod(lent ? lent : "", open_to_all));
  int file = open(lent ? lent : "", O_RDONLY), wanted = FS_NODUMP_FL;
  say("fchmod of the asset", fchmod(file, open_to_all));
  say("fsetxattr of the asset", fsetxattr(file, attribute, "x", 1, 0));
  say("futimens of the asset", futimens(file, long_ago));
  say("FS_IOC_SETFLAGS of the asset", ioctl(file, FS_IOC_SETFLAGS, &wanted));
}

/* Files and folders that give whoever runs them, or puts files there, another's rights. */
static void setuid_files(char **words) {
  struct open_how {
    unsigned long long flags, mode, resolve;
  } how = {O_CREAT | O_WRONLY, 04755, 0};
  say("open", open(scratch("made-open"), O_CREAT | O_WRONLY, 04755));
  say("openat", openat(AT_FDCWD, scratch("made-openat"), O_CREAT | O_WRONLY, 02755));
  say("openat2", syscall(437, AT_FDCWD, scratch("made-openat2"), &how, sizeof how));
  say("creat", creat(scratch("made-creat"), 04755));
  say("mknod", mknod(scratch("made-mknod"), S_IFREG | 04755, 0));
  say("mkdir", mkdir(scratch("made-mkdir"), 02777));
  int file = open(scratch("made-chmod"), O_CREAT | O_WRONLY, 0700);
  say("chmod", chmod(scratch("made-chmod"), 04755));
  file = open(scratch("made-fchmod"), O_CREAT | O_WRONLY, 0700);
  say("fchmod", fchmod(file, 04755));
  file = open(scratch("."), O_TMPFILE | O_WRONLY, 04755);
  say("O_TMPFILE", file);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  say("linkat", linkat(AT_FDCWD, path, AT_FDCWD, scratch("made-tmpfile"), AT_SYMLINK_FOLLOW));
  wait_for_the_test(words[0]);
}

/* Not an attack: how a test, outside, sees what was done to a file. */
static void look_at(char **words) {
  char names[1024];
  int wanted = 0;
  ssize_t count = listxattr(words[0], names, sizeof names);
  say("attributes", count);
  ioctl(open(words[0], O_RDONLY), FS_IOC_GETFLAGS, &wanted);
  say("flags", wanted);
}

const struct attack_entry attacks_on_files[] = {
    {"chmod", mode}, {"fchmodat", mode_at}, {"fchmodat2", mode_at2}, {"fchmod", mode_of_open},
    {"chmod-place", mode_of_place}, {"chmod-32bit", mode_32bit}, {"acl", access_list},
    {"chown", owner}, {"lchown", owner_of_link}, {"fchownat", owner_at}, {"fchown", owner_of_open},
    {"setxattr", attribute_set}, {"lsetxattr", attribute_of_link}, {"fsetxattr", attribute_of_open},
    {"setxattrat", attribute_at}, {"removexattr", attribute_removed},
    {"lremovexattr", attribute_removed_of_link}, {"fremovexattr", attribute_removed_of_open},
    {"removexattrat", attribute_removed_at}, {"futimesat", times_at_old}, {"file-setattr", flags_at},
    {"setversion", generation},
    {"utimensat", times_at}, {"futimens", times_of_open}, {"utime", times_old}, {"utimes", times_micro},
    {"setflags", flags}, {"fssetxattr", flags_extended}, {"lease", lease},
    {"chmod-lent", chmod_lent}, {"setuid-files", setuid_files},
    {"look-at", look_at}, {NULL, NULL},
};
