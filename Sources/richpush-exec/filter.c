#include "filter.h"

#include <linux/audit.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
enum { our_architecture = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { our_architecture = (int)AUDIT_ARCH_AARCH64 };
#else
#error "The system call filter knows x86-64 and AArch64."
#endif

enum { x32_calls = 0x40000000, no_such_call = 38 /* ENOSYS */ };

static void add(struct filter *filter, struct sock_filter step) {
  if (filter->count < sizeof filter->steps / sizeof *filter->steps)
    filter->steps[filter->count++] = step;
}

static void load(struct filter *filter, size_t offset) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void answer(struct filter *filter, unsigned verdict) {
  add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

static void jump_if_equal(struct filter *filter, unsigned value, unsigned char equal,
                          unsigned char other) {
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, equal, other));
}

void filter_begin(struct filter *filter) {
  filter->count = 0;
  load(filter, offsetof(struct seccomp_data, arch));
  jump_if_equal(filter, (unsigned)our_architecture, 1, 0);
  answer(filter, SECCOMP_RET_KILL_PROCESS);
  load(filter, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
  /* The x32 calls are a second set of numbers for the same calls. */
  add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32_calls, 0, 1));
  answer(filter, SECCOMP_RET_ERRNO | no_such_call);
#endif
}

void filter_refuse(struct filter *filter, int call, int error) {
  jump_if_equal(filter, (unsigned)call, 0, 1);
  answer(filter, SECCOMP_RET_ERRNO | (unsigned)error);
}

unsigned short filter_rule(struct filter *filter, int call) {
  unsigned short rule = filter->count;
  jump_if_equal(filter, (unsigned)call, 0, 0);
  return rule;
}

void filter_end(struct filter *filter, unsigned short rule) {
  load(filter, offsetof(struct seccomp_data, nr));
  filter->steps[rule].jf = (unsigned char)(filter->count - rule - 1);
}

void filter_load(struct filter *filter, int argument, unsigned mask) {
  load(filter, offsetof(struct seccomp_data, args) + 8 * (size_t)argument);  // little-endian
  if (mask != ~0u)
    add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
}

void filter_error_if(struct filter *filter, unsigned value, int error) {
  jump_if_equal(filter, value, 0, 1);
  answer(filter, SECCOMP_RET_ERRNO | (unsigned)error);
}

void filter_error_unless(struct filter *filter, unsigned value, int error) {
  filter_error_unless_any(filter, &value, 1, error);
}

void filter_error_unless_any(struct filter *filter, const unsigned *values, unsigned char count,
                             int error) {
  for (unsigned char i = 0; i < count; i++)
    jump_if_equal(filter, values[i], (unsigned char)(count - i), 0);
  answer(filter, SECCOMP_RET_ERRNO | (unsigned)error);
}

bool filter_install(struct filter *filter) {
  answer(filter, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {filter->count, filter->steps};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
