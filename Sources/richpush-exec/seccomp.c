#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "sandbox.h"

#if defined(__x86_64__)
enum { our_architecture = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { our_architecture = (int)AUDIT_ARCH_AARCH64 };
#else
#error "The system call filter knows x86-64 and AArch64."
#endif

enum {
  all_new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                       CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
};

/* What no plugin needs and what has hurt kernels. A list of what is forbidden, not of what is allowed:
 * such lists break programs with each new C library. io_uring is on it, for it goes around filters. */
static const int forbidden[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, 438 /* pidfd_getfd */,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, 428 /* open_tree */, 429 /* move_mount */,
    430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, SYS_unshare, SYS_setns, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, 425 /* io_uring_setup */,
    426 /* io_uring_enter */, 427 /* io_uring_register */, SYS_kexec_load, SYS_kexec_file_load,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff,
    SYS_quotactl, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
    SYS_sethostname, SYS_setdomainname, SYS_syslog, SYS_open_by_handle_at, SYS_name_to_handle_at,
    SYS_vhangup, SYS_personality, SYS_fanotify_init,
#ifdef __x86_64__
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs,
#endif
};

struct filter {
  struct sock_filter steps[256];
  unsigned short count;
};

static void add(struct filter *filter, struct sock_filter step) {
  filter->steps[filter->count++] = step;
}

static void load(struct filter *filter, size_t offset) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void answer(struct filter *filter, unsigned verdict) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* Skips the next `steps` unless the loaded value is `value`. */
static void unless(struct filter *filter, unsigned value, unsigned char steps) {
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps));
}

static void refuse(struct filter *filter, int call, int error) {
  unless(filter, (unsigned)call, 1);
  answer(filter, SECCOMP_RET_ERRNO | (unsigned)error);
}

static size_t argument(int index) {
  return offsetof(struct seccomp_data, args) + 8 * (size_t)index;  // its lower half, little-endian
}

/* New namespaces may not be had; threads and processes may. */
static void refuse_namespaces(struct filter *filter) {
  unless(filter, SYS_clone, 5);
  load(filter, argument(0));
  add(filter,
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, all_new_namespaces, 0, 1));
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
  answer(filter, SECCOMP_RET_ALLOW);
  answer(filter, SECCOMP_RET_ALLOW);
}

/* Typing into the terminal of whoever started the server. */
static void refuse_terminal_input(struct filter *filter) {
  unless(filter, SYS_ioctl, 5);
  load(filter, argument(1));
  unless(filter, TIOCSTI, 1);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
  answer(filter, SECCOMP_RET_ALLOW);
  answer(filter, SECCOMP_RET_ALLOW);
}

static void allow_sockets(struct filter *filter, const int *families, unsigned char count) {
  unless(filter, SYS_socket, (unsigned char)(2 * count + 2));
  load(filter, argument(0));
  for (int i = 0; i < count; i++) {
    unless(filter, (unsigned)families[i], 1);
    answer(filter, SECCOMP_RET_ALLOW);
  }
  answer(filter, SECCOMP_RET_ERRNO | EACCES);
}

bool sandbox_calls(const struct order *order) {
  struct filter filter = {.count = 0};
  load(&filter, offsetof(struct seccomp_data, arch));
  unless(&filter, (unsigned)our_architecture, 1);
  add(&filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
  answer(&filter, SECCOMP_RET_KILL_PROCESS);
  load(&filter, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
  add(&filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
  answer(&filter, SECCOMP_RET_ERRNO | ENOSYS);  // the x32 calls, a second way to the same doors
#endif
  for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
    refuse(&filter, forbidden[i], EPERM);
  refuse(&filter, 435 /* clone3 */, ENOSYS);  // its flags are behind a pointer; libraries fall back
  if (!order->network) refuse(&filter, SYS_connect, EACCES);
  refuse_namespaces(&filter);
  refuse_terminal_input(&filter);
  static const int local[] = {AF_UNIX}, everywhere[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
  allow_sockets(&filter, order->network ? everywhere : local, order->network ? 4 : 1);
  answer(&filter, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {filter.count, filter.steps};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) return true;
  return errno == EINVAL && !order->strict;
}
