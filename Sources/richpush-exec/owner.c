#define _GNU_SOURCE
#include "owner.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void owner_become(const struct order *order) {
  if (order->uid <= 0) return;
  setfsgid((gid_t)order->uid);
  setfsuid((uid_t)order->uid);
}

void owner_leave(const struct order *order) {
  if (order->uid <= 0) return;
  setfsuid(geteuid());
  setfsgid(getegid());
}

bool owner_make_folders(const struct order *order) {
  if (order->uid <= 0) return true;
  bool is_made = true;
  /* The group stays this process's own, which may write to the folder around it. */
  setfsuid((uid_t)order->uid);
  for (int i = 0; i < order->write_count; i++)
    is_made = is_made && mkdir(order->write[i], 0700) == 0;
  int error = errno;
  owner_leave(order);
  errno = error;
  return is_made;
}

/* The bare system calls: those of the C library tell all threads, of which a child of vfork has none. */
bool owner_turn_into(const struct order *order) {
  if (order->uid <= 0) return true;
  return syscall(SYS_setgroups, 0, NULL) == 0 &&
         syscall(SYS_setresgid, order->uid, order->uid, order->uid) == 0 &&
         syscall(SYS_setresuid, order->uid, order->uid, order->uid) == 0;
}

static const uint32_t needed = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_KILL;

bool owner_leave_root(long user, long group) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {{needed, needed, 0}};
  return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && syscall(SYS_setgroups, 0, NULL) == 0 &&
         syscall(SYS_setresgid, group, group, group) == 0 &&
         syscall(SYS_setresuid, user, user, user) == 0 && syscall(SYS_capset, &header, kept) == 0 &&
         prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

static bool holds_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {0};
  return syscall(SYS_capget, &header, held) == 0 && (held[0].effective & needed) == needed;
}

/* A user namespace may not have the ID at all: only trying tells. */
static bool can_try(long uid) {
  pid_t child = fork();
  if (child == 0) _exit(!owner_turn_into(&(struct order){.uid = uid}));
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

bool owner_may_become(long first, long last) {
  return first > 0 && last >= first && holds_capabilities() && can_try(first) && can_try(last);
}
