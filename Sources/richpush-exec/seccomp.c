#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "filter.h"
#include "sandbox.h"

/* Calls and requests that the headers of older systems lack. */
enum {
  sys_pidfd_getfd = 438, sys_clone3 = 435, sys_openat2 = 437, sys_memfd_secret = 447,
  sys_fchmodat2 = 452, sys_setxattrat = 463, sys_removexattrat = 466, sys_file_setattr = 469,
};
enum {
  set_flags = 0x40086602, set_flags_32 = 0x40046602, set_version = 0x40087602,
  set_attributes = 0x401c5820, enable_verity = 0x40806685, set_encryption = 0x800c6613,
};
enum { priority_of_user = PRIO_USER, io_priority_of_user = 3, special_bits = S_ISUID | S_ISGID };

/* What no plugin needs and what has hurt kernels. A list of what is forbidden, not of what is allowed:
 * such lists break programs with each new C library. io_uring is on it, for it goes around filters, and
 * so is System V and POSIX IPC, which outlives the process that made it. */
static const int forbidden[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, sys_pidfd_getfd,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428 /* open_tree */, 429 /* move_mount */,
    430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, 467 /* open_tree_attr */, SYS_unshare, SYS_setns, SYS_keyctl,
    SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */,
    SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_quotactl, 443 /* quotactl_fd */, SYS_acct,
    SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname,
    SYS_setdomainname, SYS_syslog, SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_vhangup,
    SYS_personality, SYS_fanotify_init, SYS_migrate_pages, SYS_move_pages,
    440 /* process_madvise */, 448 /* process_mrelease */, sys_file_setattr, SYS_shmget,
    SYS_semget, SYS_msgget, SYS_mq_open, SYS_mq_unlink,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs,
#endif
};

/* Calls whose arguments lie behind a pointer, where a filter cannot look, memory that no limit counts,
 * and watches, which tell the names in folders that cannot be read. Libraries do without them. */
static const int missing[] = {
    sys_clone3, sys_openat2, SYS_memfd_create, sys_memfd_secret, SYS_inotify_init1,
#ifdef SYS_inotify_init
    SYS_inotify_init,
#endif
};

/* What changes a file's owner, mode, times or attributes, which Landlock does not cover. They succeed
 * without effect, for programs such as cp and tar take a refusal for a failure. */
static const int attributes[] = {
    SYS_fchmod, SYS_fchmodat, sys_fchmodat2, SYS_fchown, SYS_fchownat, SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, sys_setxattrat, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, sys_removexattrat, SYS_utimensat,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

struct place {
  int call, argument;
};

/* Where calls have a process's or thread's id. */
static const struct place foreign_ids[] = {
    {SYS_prlimit64, 0}, {SYS_sched_setparam, 0}, {SYS_sched_setscheduler, 0},
    {SYS_sched_setaffinity, 0}, {SYS_sched_setattr, 0}, {SYS_setpriority, 1}, {SYS_ioprio_set, 1},
};

/* Where calls have the mode of a new file, and of one of the plugin's own. */
static const struct place new_modes[] = {
    {SYS_mkdirat, 2}, {SYS_mknodat, 2},
#ifdef __x86_64__
    {SYS_creat, 1}, {SYS_mkdir, 1}, {SYS_mknod, 1},
#endif
};
static const struct place changed_modes[] = {
    {SYS_fchmod, 1}, {SYS_fchmodat, 2}, {sys_fchmodat2, 2},
#ifdef __x86_64__
    {SYS_chmod, 1},
#endif
};

/* Where calls that open a file have its flags, before the mode. */
static const struct place openings[] = {
    {SYS_openat, 2},
#ifdef __x86_64__
    {SYS_open, 1},
#endif
};

#define each(item, list) \
  for (size_t item = 0; item < sizeof(list) / sizeof *(list); item++)

/* New namespaces may not be had; threads and processes may. */
static void refuse_namespaces(struct filter *filter) {
  static const unsigned namespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                        CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
  unsigned short rule = filter_rule(filter, SYS_clone);
  each(i, namespaces) {
    filter_load(filter, 0, namespaces[i]);
    filter_error_if(filter, namespaces[i], EPERM);
  }
  filter_end(filter, rule);
}

/* Input for the terminal of the server's operator, and attributes of files that were only opened to be
 * read. */
static void refuse_requests(struct filter *filter) {
  static const unsigned requests[] = {TIOCSTI,     TIOCLINUX,      set_flags,     set_flags_32,
                                      set_version, set_attributes, enable_verity, set_encryption};
  unsigned short rule = filter_rule(filter, SYS_ioctl);
  filter_load(filter, 1, ~0u);
  each(i, requests) filter_error_if(filter, requests[i], EPERM);
  filter_end(filter, rule);
}

/* A lease on a lent asset would keep the server from opening it. */
static void refuse_leases(struct filter *filter) {
  unsigned short rule = filter_rule(filter, SYS_fcntl);
  filter_load(filter, 1, ~0u);
  filter_error_if(filter, F_SETLEASE, EPERM);
  filter_end(filter, rule);
}

/* Limits and priorities of other processes, which may be the server's. */
static void refuse_foreign_ids(struct filter *filter) {
  each(i, foreign_ids) {
    unsigned short rule = filter_rule(filter, foreign_ids[i].call);
    filter_load(filter, foreign_ids[i].argument, ~0u);
    filter_error_unless(filter, 0, EPERM);
    if (foreign_ids[i].call == SYS_setpriority || foreign_ids[i].call == SYS_ioprio_set) {
      filter_load(filter, 0, ~0u);
      filter_error_if(filter,
                      foreign_ids[i].call == SYS_setpriority ? priority_of_user : io_priority_of_user,
                      EPERM);
    }
    filter_end(filter, rule);
  }
}

static void refuse_special_bits(struct filter *filter, struct place mode) {
  unsigned short rule = filter_rule(filter, mode.call);
  filter_load(filter, mode.argument, special_bits);
  filter_error_unless(filter, 0, EPERM);
  filter_end(filter, rule);
}

/* Files with the set-user-ID or set-group-ID bit. The mode counts only where a file is made. */
static void guard_openings(struct filter *filter, bool guards_truncation) {
  static const unsigned makes_file[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
  each(i, openings) each(j, makes_file) {
    unsigned short rule = filter_rule(filter, openings[i].call);
    filter_load(filter, openings[i].argument, makes_file[j]);
    unsigned short made = filter_rule(filter, (int)makes_file[j]);
    filter_load(filter, openings[i].argument + 1, special_bits);
    filter_error_unless(filter, 0, EPERM);
    filter_end(filter, made);
    filter_end(filter, rule);
  }
  if (!guards_truncation) return;
  /* Below version 3, Landlock asks only whether a file is opened for writing. Access mode 3 opens it for
   * neither, and truncates all the same. */
  filter_refuse(filter, SYS_truncate, EACCES);
  static const unsigned not_writing[] = {O_RDONLY | O_TRUNC, O_ACCMODE | O_TRUNC};
  each(i, openings) {
    unsigned short rule = filter_rule(filter, openings[i].call);
    filter_load(filter, openings[i].argument, O_ACCMODE | O_TRUNC);
    each(j, not_writing) filter_error_if(filter, not_writing[j], EACCES);
    filter_end(filter, rule);
  }
}

/* Unix sockets reach local services, which often trust every local process. A pair of streams reaches
 * nothing; a pair of datagram sockets can still send to any path. */
static void guard_sockets(struct filter *filter, bool network) {
  if (network) {
    static const unsigned families[] = {AF_INET, AF_INET6, AF_NETLINK};
    unsigned short rule = filter_rule(filter, SYS_socket);
    filter_load(filter, 0, ~0u);
    filter_error_unless_any(filter, families, sizeof families / sizeof *families, EACCES);
    unsigned short netlink = filter_rule(filter, AF_NETLINK);  // to look up addresses, no more
    filter_load(filter, 2, ~0u);
    filter_error_unless(filter, NETLINK_ROUTE, EACCES);
    filter_end(filter, netlink);
    filter_end(filter, rule);
  } else {
    filter_refuse(filter, SYS_socket, EACCES);
    filter_refuse(filter, SYS_connect, EACCES);
  }
  enum { kind_of_socket = 15 };
  unsigned short rule = filter_rule(filter, SYS_socketpair);
  filter_load(filter, 1, kind_of_socket);
  filter_error_unless(filter, SOCK_STREAM, EACCES);
  filter_end(filter, rule);
}

bool sandbox_calls(const struct order *order) {
  static struct filter filter;
  filter_begin(&filter);
  each(i, forbidden) filter_refuse(&filter, forbidden[i], EPERM);
  each(i, missing) filter_refuse(&filter, missing[i], ENOSYS);
  /* A plugin with a uid of its own owns its scratch files and nothing else. */
  if (order->uid > 0) each(i, changed_modes) refuse_special_bits(&filter, changed_modes[i]);
  else each(i, attributes) filter_refuse(&filter, attributes[i], 0);
  each(i, new_modes) refuse_special_bits(&filter, new_modes[i]);
  guard_openings(&filter, sandbox_landlock_version() < 3);
  refuse_foreign_ids(&filter);
  refuse_namespaces(&filter);
  refuse_requests(&filter);
  refuse_leases(&filter);
  guard_sockets(&filter, order->network);
  if (filter_install(&filter)) return true;
  return errno == EINVAL && !order->strict;
}
