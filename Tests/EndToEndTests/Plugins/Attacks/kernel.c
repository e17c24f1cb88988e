/* Ways to more rights: namespaces, mounts, setuid programs, terminals, io_uring. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first word is the name of the marker that tells the test to look. */
static void unshared(char **words) {
  say("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET));
  say("unshare user", unshare(CLONE_NEWUSER));
  wait_for_the_test(words[0]);
}

static void cloned(char **words) {
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) wait_for_the_test(words[0]), _exit(0);
  say("clone", child);
  if (child < 0) wait_for_the_test(words[0]);
  else waitpid((pid_t)child, NULL, 0);
}

static void cloned3(char **words) {
  unsigned long long arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  long child = syscall(435, arguments, sizeof arguments);
  if (child == 0) wait_for_the_test(words[0]), _exit(0);
  say("clone3", child);
  if (child < 0) wait_for_the_test(words[0]);
  else waitpid((pid_t)child, NULL, 0);
}

static void mounted(char **words) {
  say("mount", mount("none", scratch("."), "tmpfs", 0, NULL));
  say("chroot", chroot(scratch(".")));
  wait_for_the_test(words[0]);
}

/* Turns into the program of the second word, which is setuid and waits. */
static void privileged(char **words) {
  char name[256];
  snprintf(name, sizeof name, "ready-%s", words[0]);
  close(open(scratch(name), O_CREAT | O_WRONLY, 0600));
  execv(words[1], (char *[]){words[1], "wait", NULL});
  say("execv", -1);
}

/* The first word is a terminal. */
static void typed(char **words) {
  int terminal = open(words[0], O_RDWR);
  say("open", terminal);
  setsid();
  say("TIOCSCTTY", ioctl(terminal, TIOCSCTTY, 0));
  say("TIOCSTI", ioctl(terminal, TIOCSTI, "!"));
  say("TIOCSTI, with a high half", syscall(SYS_ioctl, terminal, (1UL << 32) | TIOCSTI, "!"));
  say("TIOCLINUX", ioctl(terminal, TIOCLINUX, "\2"));
  say("TIOCSTI by /dev/tty", ioctl(open("/dev/tty", O_RDWR), TIOCSTI, "!"));
}

/* io_uring does what it is told without a system call that a filter could see: here openat with O_TRUNC. */
static void ring(char **words) {
  unsigned parameters[30] = {0};  // struct io_uring_params: 120 bytes
  long file = syscall(425, 2, parameters);
  say("io_uring_setup", file);
  if (file < 0) return;
  char *rings = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, (int)file, 0);
  unsigned char *entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, (int)file, 0x10000000);
  unsigned long path = (unsigned long)words[0];
  int there = AT_FDCWD, flags = O_RDONLY | O_TRUNC;
  entry[0] = 18;  // IORING_OP_OPENAT
  memcpy(entry + 4, &there, 4);
  memcpy(entry + 16, &path, 8);
  memcpy(entry + 28, &flags, 4);
  unsigned tail = parameters[11], array = parameters[16];  // sq_off.tail, sq_off.array
  *(unsigned *)(rings + array) = 0;
  __atomic_add_fetch((unsigned *)(rings + tail), 1, __ATOMIC_RELEASE);
  say("io_uring_enter", syscall(426, (int)file, 1, 1, 1, NULL, 0));
}

const struct attack_entry attacks_on_the_kernel[] = {
    {"unshare", unshared}, {"clone", cloned}, {"clone3", cloned3}, {"mount", mounted},
    {"setuid-program", privileged}, {"type", typed}, {"io-uring", ring}, {NULL, NULL},
};
