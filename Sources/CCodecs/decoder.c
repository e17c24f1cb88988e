/* img-decode as a child: the picture's file is its standard input, and a pipe its standard output. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ccodecs.h"

static int spawn(const char *program, int file, int output, pid_t *process) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  int status = posix_spawn(process, program, &actions, NULL, (char *[]){"img-decode", NULL}, (char *[]){NULL});
  posix_spawn_file_actions_destroy(&actions);
  return status == 0 ? 0 : -1;
}

int codec_decoder_start(int file, int *output) {
  enum { PIPE_BYTES = 1 << 20 }; /* megabytes of rows pass through it: fewer changes between the processes */
  char program[4096];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof "img-decode");
  program[length > 0 ? length : 0] = 0;
  char *end = strrchr(program, '/');
  int ends[2];
  pid_t process = -1;
  if (!end || pipe2(ends, O_CLOEXEC) != 0) return -1;
  strcpy(end + 1, "img-decode");
  fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
  int status = spawn(program, file, ends[1], &process);
  close(ends[1]);
  if (status < 0) {
    close(ends[0]);
    return -1;
  }
  *output = ends[0];
  return process;
}

void codec_decoder_end(int process) {
  kill(process, SIGKILL);
  while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
}
