/* Other processes: their limits, priorities and signals. The first word is a process's number. */
#define _GNU_SOURCE
#include "attack.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t victim(char **words) { return words[0] ? atoi(words[0]) : 0; }

static void limited(char **words) {
  pid_t pid = victim(words);
  struct rlimit files = {8, 8}, core = {0, 0};
  say("prlimit NOFILE", prlimit(pid, RLIMIT_NOFILE, &files, NULL));
  say("prlimit CORE", prlimit(pid, RLIMIT_CORE, &core, NULL));
}

static void nice_process(char **words) {
  say("setpriority", setpriority(PRIO_PROCESS, (id_t)victim(words), 19));
}

static void nice_user(char **words) {
  char path[64];
  struct stat status;
  snprintf(path, sizeof path, "/proc/%d", victim(words));
  if (stat(path, &status) != 0) status.st_uid = geteuid();
  say("setpriority of the user", setpriority(PRIO_USER, status.st_uid, 17));
  say("ioprio_set of the user", syscall(SYS_ioprio_set, 3, status.st_uid, (2 << 13) | 6));
}

/* A process of the usual policy can have only the parameter that it has: nothing of this is to be seen. */
static void parametrized(char **words) {
  struct sched_param none = {0};
  say("sched_setparam", sched_setparam(victim(words), &none));
}

static void nice_group(char **words) {
  say("setpriority of the group", setpriority(PRIO_PGRP, (id_t)getpgid(victim(words)), 18));
}

static void pinned(char **words) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  say("sched_setaffinity", sched_setaffinity(victim(words), sizeof one, &one));
}

static void scheduled(char **words) {
  struct sched_param none = {0};
  say("sched_setscheduler", sched_setscheduler(victim(words), SCHED_BATCH, &none));
}

static void scheduled_by_attributes(char **words) {
  struct {
    unsigned size, policy;
    unsigned long long flags;
    int nice;
    unsigned priority;
    unsigned long long runtime, deadline, period;
  } wanted = {48, SCHED_IDLE, 0, 0, 0, 0, 0, 0};
  say("sched_setattr", syscall(SYS_sched_setattr, victim(words), &wanted, 0));
}

static void slow_disk(char **words) {
  say("ioprio_set", syscall(SYS_ioprio_set, 1, victim(words), (3 << 13) | 7));
}

static void slow_disk_of_group(char **words) {
  say("ioprio_set of the group", syscall(SYS_ioprio_set, 2, getpgid(victim(words)), (2 << 13) | 7));
}

/* The files below /proc/PID that may be written. */
static void written(char **words) {
  static const char *const files[][2] = {
      {"oom_score_adj", "900"}, {"coredump_filter", "0x7f"}, {"timerslack_ns", "4000000"},
      {"comm", "attacked"}, {"autogroup", "10"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", victim(words), files[i][0]);
    int file = open(path, O_WRONLY);
    say(path, file < 0 ? file : write(file, files[i][1], strlen(files[i][1])));
  }
}

static void killed(char **words) { say("kill", kill(victim(words), SIGSTOP)); }

static void killed_thread(char **words) {
  say("tgkill", syscall(SYS_tgkill, victim(words), victim(words), SIGSTOP));
}

static void killed_old(char **words) { say("tkill", syscall(SYS_tkill, victim(words), SIGSTOP)); }

static void killed_group(char **words) { say("killpg", killpg(getpgid(victim(words)), SIGSTOP)); }

static void queued(char **words) {
  siginfo_t information = {.si_signo = SIGSTOP, .si_code = SI_QUEUE};
  say("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, victim(words), SIGSTOP, &information));
}

static void killed_by_descriptor(char **words) {
  int process = (int)syscall(434 /* pidfd_open */, victim(words), 0);
  say("pidfd_open", process);
  say("pidfd_send_signal", syscall(424, process, SIGSTOP, NULL, 0));
}

/* The signal that tells of input, sent to somebody else. */
static void told_of_input(char **words) {
  int ends[2];
  if (pipe(ends) != 0) return;
  say("F_SETOWN", fcntl(ends[0], F_SETOWN, victim(words)));
  say("F_SETSIG", fcntl(ends[0], F_SETSIG, SIGSTOP));
  fcntl(ends[0], F_SETFL, O_ASYNC);
  say("write", write(ends[1], "x", 1));
}

static void sleep_as(const char *token) {
  char *words[] = {"sleep", (char *)token, NULL};
  execv("/usr/bin/sleep", words);
  _exit(1);
}

/* Descendants that try to be nobody's: in sessions of their own, with parents that are gone. */
static void outlive(char **words) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      setsid();
      prctl(PR_SET_PDEATHSIG, 0);
      for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
      if (fork() == 0) sleep_as(words[0]);
      _exit(0);
    }
    _exit(0);
  }
  if (fork() == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setpgid(0, 0);
    if (fork() == 0) sleep_as(words[0]);
    pause();
  }
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

/* A process that is another one at every moment: who is told its number kills one that is gone. */
static void hop(char **words) {
  if (fork() == 0) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
      setsid();
      if (fork()) _exit(0);
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < 3);
    sleep_as(words[0]);
  }
}

static void bomb(char **words) {
  (void)words;
  for (int i = 0; i < 100000; i++) fork();
  sleep(20);
}

const struct attack_entry attacks_on_processes[] = {
    {"prlimit", limited}, {"setpriority", nice_process}, {"setpriority-group", nice_group},
    {"setpriority-user", nice_user}, {"setparam", parametrized},
    {"setaffinity", pinned}, {"setscheduler", scheduled}, {"setattr", scheduled_by_attributes},
    {"ioprio", slow_disk}, {"ioprio-group", slow_disk_of_group}, {"proc-write", written},
    {"kill", killed}, {"tgkill", killed_thread}, {"tkill", killed_old}, {"killpg", killed_group},
    {"sigqueue", queued}, {"pidfd-signal", killed_by_descriptor}, {"sigio", told_of_input},
    {"outlive", outlive}, {"hop", hop}, {"bomb", bomb}, {NULL, NULL},
};
