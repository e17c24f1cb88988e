#define _GNU_SOURCE
#include "bubblewrap.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "owner.h"
#include "sandbox.h"

const char bubblewrap_program[] = "/usr/bin/bwrap";

enum { most_arguments = 320 };
static char *arguments[most_arguments + 1];
static int count;

static void add(const char *word) {
  if (count <= most_arguments) arguments[count++] = (char *)word;
}

static void bind(const char *how, const char *path) {
  add(how);
  add(path);
  add(path);
}

/* `read=PATH` and its like, as order_read takes them. */
static void say(const char *key, const char *value) {
  char *word;
  if (asprintf(&word, "%s=%s", key, value) > 0) add(word);
  else count = most_arguments + 1;
}

char **bubblewrap_arguments(const struct order *order) {
  static char self[PATH_MAX];
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return NULL;
  const char *const always[] = {"bwrap", "--unshare-all", "--die-with-parent", "--proc", "/proc",
                                "--dev", "/dev", "--tmpfs", "/tmp"};
  count = 0;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) add(always[i]);
  if (order->network) add("--share-net");
  for (int i = 0; sandbox_readable[i]; i++)
    if (strcmp(sandbox_readable[i], "/proc") != 0) bind("--ro-bind-try", sandbox_readable[i]);
  for (int i = 0; i < order->read_count; i++) bind("--ro-bind-try", order->read[i]);
  for (int i = 0; i < order->write_count; i++) bind("--bind", order->write[i]);
  bind("--ro-bind", order->program);
  bind("--ro-bind", self);
  if (order->folder) add("--chdir"), add(order->folder);
  add("--");
  add(self);
  add("inside");
  say("program", order->program);
  say("sandbox", "strict");
  if (order->network) say("network", "1");
  if (order->uid > 0) say("uid", "1");  // any: it is that user by then
  for (int i = 0; i < order->read_count; i++) say("read", order->read[i]);
  for (int i = 0; i < order->write_count; i++) say("write", order->write[i]);
  if (count > most_arguments) return NULL;
  arguments[count] = NULL;
  return arguments;
}

bool bubblewrap_works(long uid) {
  pid_t child = fork();
  if (child == 0) {
    if (!owner_turn_into(&(struct order){.uid = uid})) _exit(127);
    int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++) dup2(nowhere, i);
    execl(bubblewrap_program, "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/",
          "--proc", "/proc", "--dev", "/dev", "--", "/bin/true", NULL);
    _exit(127);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}
