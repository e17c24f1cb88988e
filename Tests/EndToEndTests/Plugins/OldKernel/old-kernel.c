/* Stands before `richpush-exec` under its name, and makes the kernel below it an older one for Landlock.
 *
 * Compiled with LAUNCHER, the path of the real launcher, and ABI, 0 or 2. For 0 Landlock's calls are
 * unknown, as where it is not built in. For 2 the question for the version is answered with 2, and what a
 * kernel of that version does not know is refused as it would refuse it. seccomp can invent errors only; so
 * for a positive answer a process is asked that ends with the last one which the filter is for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { create_ruleset = 444, add_rule = 445, restrict_self = 446 };
enum { ask_version = 1, size_of_version_2 = 8, rule_path_beneath = 1 };

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define ANSWER(verdict) BPF_STMT(BPF_RET | BPF_K, (verdict))

static struct sock_filter version_0[] = {
    LOAD(nr), IS(create_ruleset, 2, 0), IS(add_rule, 1, 0), IS(restrict_self, 0, 1),
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS), ANSWER(SECCOMP_RET_ALLOW),
};

static struct sock_filter version_2[] = {
    LOAD(nr), IS(create_ruleset, 3, 0), IS(add_rule, 8, 0), IS(restrict_self, 9, 0),
    ANSWER(SECCOMP_RET_ALLOW),
    // landlock_create_ruleset(attributes, size, flags)
    LOAD(args[2]), IS(ask_version, 11, 0), IS(0, 0, 8),
    LOAD(args[1]), IS(size_of_version_2, 9, 0), ANSWER(SECCOMP_RET_ERRNO | E2BIG),
    // landlock_add_rule(ruleset, type, rule, flags)
    LOAD(args[1]), IS(rule_path_beneath, 6, 3),
    // landlock_restrict_self(ruleset, flags)
    LOAD(args[1]), IS(0, 4, 1), ANSWER(SECCOMP_RET_ALLOW),
    ANSWER(SECCOMP_RET_ERRNO | EINVAL), ANSWER(SECCOMP_RET_ALLOW), ANSWER(SECCOMP_RET_USER_NOTIF),
    ANSWER(SECCOMP_RET_ALLOW),
};

static _Noreturn void give_up(const char *step) {
  perror(step);
  _exit(70);
}

/* Answers each question for the version, until nobody is left who could ask. */
static void answer(int listener) {
  for (;;) {
    struct pollfd wish = {listener, POLLIN, 0};
    if (poll(&wish, 1, -1) < 0 && errno != EINTR) return;
    if (wish.revents & POLLIN) {
      struct seccomp_notif question = {0};
      if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) continue;
      struct seccomp_notif_resp reply = {.id = question.id, .val = ABI};
      ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
    } else if (wish.revents) {
      return;
    }
  }
}

static void send_descriptor(int socket, int descriptor) {
  char byte = 0, room[CMSG_SPACE(sizeof descriptor)];
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET, control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof descriptor);
  memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  if (sendmsg(socket, &message, 0) != 1) give_up("sendmsg");
}

static int receive_descriptor(int socket) {
  int descriptor = -1;
  char byte, room[CMSG_SPACE(sizeof descriptor)];
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message)) _exit(0);
  memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

/* The one who answers is nobody's child, and holds nothing open of the launcher's. */
static int start_to_answer(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) give_up("socketpair");
  pid_t child = fork();
  if (child != 0) {
    close(pair[1]);
    waitpid(child, NULL, 0);
    return pair[0];
  }
  if (fork()) _exit(0);
  setsid();
  int nothing = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++) dup2(nothing, i);
  int socket = dup2(pair[1], 3);
  syscall(SYS_close_range, 4u, ~0u, 0u);
  int listener = receive_descriptor(socket);
  close(socket);
  answer(listener);
  _exit(0);
}

int main(int count, char **words) {
  (void)count;
  struct sock_fprog program = ABI == 0
      ? (struct sock_fprog){sizeof version_0 / sizeof *version_0, version_0}
      : (struct sock_fprog){sizeof version_2 / sizeof *version_2, version_2};
  unsigned flags = ABI == 0 ? 0 : SECCOMP_FILTER_FLAG_NEW_LISTENER;
  int socket = ABI == 0 ? -1 : start_to_answer();
  // Only where it must be: what holds with no_new_privs has to hold without, too.
  long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (listener < 0 && errno == EACCES) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  }
  if (listener < 0) give_up("seccomp");
  if (socket >= 0) send_descriptor(socket, (int)listener), close(socket), close((int)listener);
  execv(LAUNCHER, words);
  give_up(LAUNCHER);
}
