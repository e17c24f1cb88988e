#define _GNU_SOURCE
#include "credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

void assume_file_owner(const struct launch_spec *spec) {
  if (spec->uid <= 0) return;
  setfsgid((gid_t)spec->uid);
  setfsuid((uid_t)spec->uid);
}

void restore_file_owner(const struct launch_spec *spec) {
  if (spec->uid <= 0) return;
  setfsuid(geteuid());
  setfsgid(getegid());
}

/* Lets another user enter a folder; all users if the file system has no access lists (acl(5)). */
static bool admit(const char *folder, long uid) {
  enum { owner = 1, user = 2, group = 4, mask = 16, others = 32 };  // linux/posix_acl.h
  const struct {
    uint32_t version;
    struct {
      uint16_t tag, permissions;
      uint32_t id;
    } entries[5];
  } list = {2, {{owner, 7, 0}, {user, 1, (uint32_t)uid}, {group, 0, 0}, {mask, 1, 0}, {others, 0, 0}}};
  return setxattr(folder, "system.posix_acl_access", &list, sizeof list, 0) == 0 || chmod(folder, 0711) == 0;
}

bool make_plugin_folders(const struct launch_spec *spec) {
  if (spec->uid <= 0) return true;
  if (spec->assets && !admit(spec->assets, spec->uid)) return false;
  bool is_made = true;
  // The group stays this process's own, because only that one may write to the parent folder.
  setfsuid((uid_t)spec->uid);
  for (int i = 0; i < spec->write_count; i++)
    is_made = is_made && mkdir(spec->write[i], 0700) == 0;
  int error = errno;
  restore_file_owner(spec);
  errno = error;
  return is_made;
}

// Direct system calls: the C library's functions signal all threads, which a child of vfork must not do.
bool become_plugin_user(long uid) {
  if (uid <= 0) return true;
  return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, uid, uid, uid) == 0 &&
         syscall(SYS_setresuid, uid, uid, uid) == 0;
}

static struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
static const uint32_t needed = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_KILL;

static bool set_capabilities(uint32_t capabilities) {
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{capabilities, capabilities, 0}};
  return syscall(SYS_capset, &header, data) == 0;
}

bool drop_capabilities(void) { return set_capabilities(0); }

bool leave_root(long user, long group) {
  return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && syscall(SYS_setgroups, 0, NULL) == 0 &&
         syscall(SYS_setresgid, group, group, group) == 0 &&
         syscall(SYS_setresuid, user, user, user) == 0 && set_capabilities(needed) &&
         prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

bool child_succeeds(pid_t child) {
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// In a container's user namespace an ID may not exist; only trying shows it.
static bool can_become(long uid) {
  pid_t child = fork();
  if (child == 0) _exit(!become_plugin_user(uid));
  return child_succeeds(child);
}

bool can_become_users(long first, long last) {
  struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {0};
  return first > 0 && last >= first && syscall(SYS_capget, &header, held) == 0 &&
         (held[0].effective & needed) == needed && can_become(first) && can_become(last);
}

static bool write_text(const char *path, const char *text, int length) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool is_written = write(file, text, (size_t)length) == length;
  close(file);
  return is_written;
}

static bool map_id(const char *path, long id) {
  char line[64];
  return write_text(path, line, snprintf(line, sizeof line, "%ld %ld 1", id, id));
}

bool namespace_enter(void) {
  long user = geteuid(), group = getegid();
  return unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny", 4) &&
         map_id("/proc/self/uid_map", user) && map_id("/proc/self/gid_map", group) &&
         drop_capabilities();
}

static bool can_fork_within(rlim_t processes) {
  if (setrlimit(RLIMIT_NPROC, &(struct rlimit){processes, 2}) != 0) return false;
  pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0 && waitpid(child, NULL, 0) == child;
}

bool namespace_works(void) {
  if (geteuid() == 0) return false;
  pid_t child = fork();
  if (child == 0) _exit(!(namespace_enter() && can_fork_within(2) && !can_fork_within(1)));
  return child_succeeds(child);
}
