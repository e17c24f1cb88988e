#define _GNU_SOURCE
#include "bubblewrap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "credentials.h"
#include "landlock.h"

const char bubblewrap_program[] = "/usr/bin/bwrap";

enum { most_arguments = 320 };
static char *arguments[most_arguments + 1];
static int count;  /* more than `most_arguments` when they do not fit */

static void add(const char *word) {
  if (count <= most_arguments) arguments[count++] = (char *)word;
}

static void bind(const char *how, const char *path) {
  add(how);
  add(path);
  add(path);
}

/* Adds a word of a launch_spec, such as `read=PATH`. */
static void add_pair(const char *key, const char *value) {
  char *word;
  if (asprintf(&word, "%s=%s", key, value) > 0) add(word);
  else count = most_arguments + 1;
}

char **bubblewrap_arguments(const struct launch_spec *spec) {
  static char self[PATH_MAX];
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return NULL;
  const char *const always[] = {"bwrap", "--unshare-all", "--die-with-parent", "--proc", "/proc",
                                "--dev", "/dev", "--tmpfs", "/tmp"};
  count = 0;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) add(always[i]);
  if (spec->network) add("--share-net");
  for (int i = 0; readable_paths[i]; i++)
    if (strcmp(readable_paths[i], "/proc") != 0) bind("--ro-bind-try", readable_paths[i]);
  for (int i = 0; i < spec->read_count; i++) bind("--ro-bind-try", spec->read[i]);
  for (int i = 0; i < spec->write_count; i++) bind("--bind", spec->write[i]);
  bind("--ro-bind", spec->program);
  bind("--ro-bind", self);
  if (spec->folder) add("--chdir"), add(spec->folder);
  add("--");
  add(self);
  add("inside");
  add_pair("program", spec->program);
  add_pair("sandbox", "strict");
  if (spec->network) add_pair("network", "1");
  if (spec->uid > 0) add_pair("uid", "1");  // Any one: the process has that user already.
  for (int i = 0; i < spec->read_count; i++) add_pair("read", spec->read[i]);
  for (int i = 0; i < spec->write_count; i++) add_pair("write", spec->write[i]);
  if (count > most_arguments) return errno = E2BIG, NULL;
  arguments[count] = NULL;
  return arguments;
}

bool bubblewrap_works(long uid) {
  pid_t child = fork();
  if (child == 0) {
    if (!become_plugin_user(uid)) _exit(127);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++) dup2(null, i);
    execl(bubblewrap_program, "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/",
          "--proc", "/proc", "--dev", "/dev", "--", "/bin/true", NULL);
    _exit(127);
  }
  return child_succeeds(child);
}
