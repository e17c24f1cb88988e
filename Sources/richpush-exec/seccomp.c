#define _GNU_SOURCE
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "landlock.h"

#if defined(__x86_64__)
enum { native_architecture = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { native_architecture = (int)AUDIT_ARCH_AARCH64 };
#else
#error "The system call filter knows x86-64 and AArch64."
#endif

/* The program of the filter (seccomp(2)). Between two rules the accumulator has the number of the call. */
static struct sock_filter program[1024];
static unsigned short program_length;
/* Whether an instruction, or a rule's length, did not fit: the filter would let through what it should deny. */
static bool has_overflowed;

static void add(struct sock_filter instruction) {
  if (program_length < sizeof program / sizeof *program) program[program_length++] = instruction;
  else has_overflowed = true;
}

static void load(size_t offset) {
  add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void result(unsigned action) { add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action)); }

static void jump_if_equal(unsigned value, unsigned char equal, unsigned char other) {
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, equal, other));
}

static void begin_filter(void) {
  program_length = 0;
  has_overflowed = false;
  load(offsetof(struct seccomp_data, arch));
  jump_if_equal((unsigned)native_architecture, 1, 0);
  result(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
  // The x32 calls are a second set of numbers for the same calls.
  enum { x32_calls = 0x40000000 };
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32_calls, 0, 1));
  result(SECCOMP_RET_ERRNO | ENOSYS);
#endif
}

/* Makes a call fail with `error`, whatever its arguments; with error 0 it succeeds without effect. */
static void deny(int call, int error) {
  jump_if_equal((unsigned)call, 0, 1);
  result(SECCOMP_RET_ERRNO | (unsigned)error);
}

/* Begins a rule for one call, which ends with end_rule; in between the accumulator has an argument. A call
 * that the rule does not deny is checked by the rules that follow. */
static unsigned short begin_rule(int call) {
  jump_if_equal((unsigned)call, 0, 0);
  return program_length - 1;
}

static void end_rule(unsigned short rule) {
  load(offsetof(struct seccomp_data, nr));
  int length = program_length - rule - 1;
  if (length > UCHAR_MAX) has_overflowed = true;
  program[rule].jf = (unsigned char)length;
}

/* Loads the lower half of an argument, masked. */
static void load_argument(int argument, unsigned mask) {
  load(offsetof(struct seccomp_data, args) + 8 * (size_t)argument);  // little-endian
  if (mask != ~0u) add((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
}

static void deny_unless_any(const unsigned *values, unsigned char count, int error) {
  for (unsigned char i = 0; i < count; i++) jump_if_equal(values[i], (unsigned char)(count - i), 0);
  result(SECCOMP_RET_ERRNO | (unsigned)error);
}

/* Denies a call unless the masked bits of an argument are `value`. */
static void deny_unless(int call, int argument, unsigned mask, unsigned value, int error) {
  unsigned short rule = begin_rule(call);
  load_argument(argument, mask);
  deny_unless_any(&value, 1, error);
  end_rule(rule);
}

/* Denies a call if an argument is one of `values`. */
static void deny_if(int call, int argument, const unsigned *values, size_t count, int error) {
  unsigned short rule = begin_rule(call);
  load_argument(argument, ~0u);
  for (size_t i = 0; i < count; i++) deny((int)values[i], error);
  end_rule(rule);
}

/* Numbers that the headers of older systems lack. */
enum {
  sys_pidfd_getfd = 438, sys_clone3 = 435, sys_openat2 = 437, sys_memfd_secret = 447,
  sys_close_range = 436, sys_fchmodat2 = 452, sys_setxattrat = 463, sys_removexattrat = 466,
  sys_file_setattr = 469,
};
enum { set_encryption = 0x800c6613 /* FS_IOC_SET_ENCRYPTION_POLICY */ };
enum { io_priority_of_user = 3 /* IOPRIO_WHO_USER */, special_bits = S_ISUID | S_ISGID };

/* Calls that no plugin needs and that have exposed bugs in kernels. A list of allowed calls would break
 * programs with each new C library. io_uring is here because it bypasses filters, and System V and POSIX
 * IPC because their objects outlive the process that made them. */
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
    SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget, SYS_msgsnd,
    SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs,
#endif
};

/* Calls with arguments behind a pointer, which a filter cannot read, memory that no limit counts (pages that are
 * in pipes only, and the kernel's own, for rules of Landlock and asynchronous I/O), and inotify, which reports
 * names in folders that cannot be read. Libraries have a fallback for ENOSYS. */
static const int missing[] = {
    sys_clone3, sys_openat2, SYS_memfd_create, sys_memfd_secret, SYS_inotify_init1,
    444 /* landlock_create_ruleset */, SYS_io_setup, SYS_vmsplice,
#ifdef SYS_inotify_init
    SYS_inotify_init,
#endif
};

/* Changes of a file's owner, mode, times or attributes, which Landlock does not cover. They succeed without
 * effect, because programs such as cp and tar fail when they are denied. */
static const int attributes[] = {
    SYS_fchmod, SYS_fchmodat, sys_fchmodat2, SYS_fchown, SYS_fchownat, SYS_setxattr,
    SYS_lsetxattr, SYS_fsetxattr, sys_setxattrat, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, sys_removexattrat, SYS_utimensat,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
};

struct argument {
  int call, index;
};

/* The arguments that are the ID of a process or thread. */
static const struct argument foreign_ids[] = {
    {SYS_prlimit64, 0}, {SYS_sched_setparam, 0}, {SYS_sched_setscheduler, 0},
    {SYS_sched_setaffinity, 0}, {SYS_sched_setattr, 0}, {SYS_setpriority, 1}, {SYS_ioprio_set, 1},
};

/* The arguments that are the mode of a new file, and of an existing one. */
static const struct argument new_modes[] = {
    {SYS_mkdirat, 2}, {SYS_mknodat, 2},
#ifdef __x86_64__
    {SYS_creat, 1}, {SYS_mkdir, 1}, {SYS_mknod, 1},
#endif
};
static const struct argument changed_modes[] = {
    {SYS_fchmod, 1}, {SYS_fchmodat, 2}, {sys_fchmodat2, 2},
#ifdef __x86_64__
    {SYS_chmod, 1},
#endif
};

/* The arguments that are flags of a file to open; the mode is the next one. */
static const struct argument open_flags[] = {
    {SYS_openat, 2},
#ifdef __x86_64__
    {SYS_open, 1},
#endif
};

/* Input for the terminal of the server's operator, and a change of a file that is declared as reading. */
static const unsigned requests[] = {TIOCSTI, TIOCLINUX, set_encryption};

/* The types of the requests of file systems (_IOC_TYPE): some change a file without the right to write it.
 * The last three are those of Btrfs, Bcachefs and F2FS. */
static const unsigned char file_system_requests[] = {'f', 'v', 'X', 0x94, 0xbc, 0xf5};

#define each(item, list) \
  for (size_t item = 0; item < sizeof(list) / sizeof *(list); item++)

/* Denies threads with open files of their own: files and sockets are counted by process (descendants.h). */
static void filter_threads(void) {
  unsigned short rule = begin_rule(SYS_clone);
  load_argument(0, CLONE_THREAD | CLONE_FILES);
  deny(CLONE_THREAD, EPERM);
  end_rule(rule);
  // A caller that finds the call missing closes the descriptors one by one.
  enum { unshares_files = 2 /* CLOSE_RANGE_UNSHARE */ };
  rule = begin_rule(sys_close_range);
  load_argument(2, unshares_files);
  deny(unshares_files, ENOSYS);
  end_rule(rule);
}

/* Denies new namespaces; threads and processes are allowed. */
static void deny_namespaces(void) {
  static const unsigned namespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                        CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
  unsigned short rule = begin_rule(SYS_clone);
  each(i, namespaces) {
    load_argument(0, namespaces[i]);
    deny((int)namespaces[i], EPERM);
  }
  end_rule(rule);
}

/* Denies changing the limits and priorities of other processes, such as the server's. */
static void deny_foreign_ids(void) {
  each(i, foreign_ids) {
    int call = foreign_ids[i].call;
    unsigned short rule = begin_rule(call);
    load_argument(foreign_ids[i].index, ~0u);
    deny_unless_any((unsigned[]){0}, 1, EPERM);
    if (call == SYS_setpriority || call == SYS_ioprio_set) {
      load_argument(0, ~0u);
      deny(call == SYS_setpriority ? PRIO_USER : io_priority_of_user, EPERM);
    }
    end_rule(rule);
  }
}

static void deny_special_bits(struct argument mode) {
  deny_unless(mode.call, mode.index, special_bits, 0, EPERM);
}

/* Denies files with the set-user-ID or set-group-ID bit; the mode matters only where a file is created. */
static void filter_open_calls(bool denies_truncation) {
  static const unsigned makes_file[] = {O_CREAT, O_TMPFILE & ~O_DIRECTORY};
  each(i, open_flags) each(j, makes_file) {
    unsigned short rule = begin_rule(open_flags[i].call);
    load_argument(open_flags[i].index, makes_file[j]);
    // Here the accumulator has the flags.
    deny_unless((int)makes_file[j], open_flags[i].index + 1, special_bits, 0, EPERM);
    end_rule(rule);
  }
  if (!denies_truncation) return;
  // Before version 3, Landlock checks only whether a file is opened for writing. Access mode 3 opens it for
  // neither reading nor writing, and still truncates.
  deny(SYS_truncate, EACCES);
  static const unsigned not_writing[] = {O_RDONLY | O_TRUNC, O_ACCMODE | O_TRUNC};
  each(i, open_flags) {
    unsigned short rule = begin_rule(open_flags[i].call);
    load_argument(open_flags[i].index, O_ACCMODE | O_TRUNC);
    each(j, not_writing) deny((int)not_writing[j], EACCES);
    end_rule(rule);
  }
}

/* Denies the requests of file systems that take an argument (_IOC_WRITE). */
static void filter_requests(void) {
  deny_if(SYS_ioctl, 1, requests, sizeof requests / sizeof *requests, EPERM);
  enum { type_mask = 0xff << _IOC_TYPESHIFT };
  const unsigned takes_argument = (unsigned)_IOC_WRITE << _IOC_DIRSHIFT;
  unsigned short rule = begin_rule(SYS_ioctl);
  load_argument(1, type_mask | takes_argument);
  each(i, file_system_requests)
      deny((int)(takes_argument | (unsigned)file_system_requests[i] << _IOC_TYPESHIFT), EOPNOTSUPP);
  end_rule(rule);
}

/* Denies shared memory without a file: its pages stay when they are no longer mapped, and are in no process's
 * statistics then. Children may share files of their scratch folder, which count as disk space. */
static void filter_mappings(void) {
  unsigned short rule = begin_rule(SYS_mmap);
  load_argument(3, MAP_TYPE | MAP_ANONYMOUS);
  deny(MAP_SHARED | MAP_ANONYMOUS, ENOMEM);
  deny(3 /* MAP_SHARED_VALIDATE */ | MAP_ANONYMOUS, ENOMEM);
  end_rule(rule);
}

/* Denies Unix sockets, because local services often trust every local process. A pair of stream sockets
 * reaches nobody else; a pair of datagram sockets could still send to any path. */
static void filter_sockets(bool network) {
  if (network) {
    static const unsigned families[] = {AF_INET, AF_INET6, AF_NETLINK};
    unsigned short rule = begin_rule(SYS_socket);
    load_argument(0, ~0u);
    deny_unless_any(families, sizeof families / sizeof *families, EACCES);
    // Here the accumulator has the family, not a call: Netlink is only for looking up addresses.
    deny_unless(AF_NETLINK, 2, ~0u, NETLINK_ROUTE, EACCES);
    end_rule(rule);
  } else {
    deny(SYS_socket, EACCES);
    deny(SYS_connect, EACCES);
  }
  enum { type_mask = 15 };
  deny_unless(SYS_socketpair, 0, ~0u, AF_UNIX, EACCES);
  deny_unless(SYS_socketpair, 1, type_mask, SOCK_STREAM, EACCES);
}

bool seccomp_is_missing(void) {
  // Without a filter it fails with EFAULT where there is seccomp.
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0 && errno == EINVAL;
}

bool seccomp_enter(const struct launch_spec *spec) {
  if (seccomp_is_missing()) return !spec->strict;
  begin_filter();
  each(i, forbidden) deny(forbidden[i], EPERM);
  each(i, missing) deny(missing[i], ENOSYS);
  // It could fill the disk before the next check; posix_fallocate(3) writes instead.
  deny(SYS_fallocate, EOPNOTSUPP);
  // A plugin with a user ID of its own owns its scratch files and nothing else.
  if (spec->uid > 0) each(i, changed_modes) deny_special_bits(changed_modes[i]);
  else each(i, attributes) deny(attributes[i], 0);
  each(i, new_modes) deny_special_bits(new_modes[i]);
  filter_open_calls(landlock_version() < 3);
  // Not dumpable, a process would hide its memory and open files, which are limited, from /proc.
  deny_if(SYS_prctl, 0, (unsigned[]){PR_SET_DUMPABLE}, 1, 0);
  deny_foreign_ids();
  deny_namespaces();
  filter_threads();
  filter_requests();
  filter_mappings();
  // A lease on a plugin's asset would keep the server from opening it.
  deny_if(SYS_fcntl, 1, (unsigned[]){F_SETLEASE}, 1, EPERM);
  filter_sockets(spec->network);
  result(SECCOMP_RET_ALLOW);
  if (has_overflowed) return errno = E2BIG, false;
  struct sock_fprog filter = {program_length, program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
