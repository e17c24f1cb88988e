/* The attacks as a plugin. `?do=NAME,NAME WORD WORD` runs each of the attacks in a process of its own, so
 * that one which is killed does not end the others; asked anything else, it answers like any plugin. */
#define _GNU_SOURCE
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct attack_entry *const groups[] = {
    attacks_on_files,   attacks_on_content, attacks_on_processes,  attacks_on_secrets,
    attacks_on_sockets, attacks_on_memory,  attacks_on_the_kernel, attacks_by_hiding,
};

void say(const char *call, long result) {
  char line[256];
  int length = snprintf(line, sizeof line, "%s: %ld %s\n", call, result,
                        result < 0 ? strerror(errno) : "");
  if (write(1, line, (size_t)length) < 0) _exit(3);
}

const char *scratch(const char *name) {
  static char path[4096];
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : "/nowhere", name);
  return path;
}

static void wait_until_over(void) {
  for (int i = 0; i < 1000 && access(scratch("over"), F_OK) != 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

void wait_for_the_test(const char *token) {
  char name[256];
  snprintf(name, sizeof name, "ready-%s", token);
  int file = open(scratch(name), O_CREAT | O_WRONLY, 0600);
  if (file < 0) return;
  close(file);
  wait_until_over();
}

static void decode(const char *from, char *to) {
  for (; *from && *from != '&'; from++) {
    unsigned byte;
    if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1) *to++ = (char)byte, from += 2;
    else *to++ = *from == '+' ? ' ' : *from;
  }
  *to = 0;
}

static char *fill_in(const char *word, const char *name) {
  const char *place = strchr(word, '%');
  char *filled = NULL;
  if (!place) return strdup(word);
  if (asprintf(&filled, "%.*s%s%s", (int)(place - word), word, name, place + 1) < 0) _exit(2);
  return filled;
}

static _Noreturn void run(const char *name, char **words) {
  char *filled[32] = {0};
  for (int i = 0; i < 31 && words[i]; i++) filled[i] = fill_in(words[i], name);
  for (size_t group = 0; group < sizeof groups / sizeof *groups; group++)
    for (const struct attack_entry *entry = groups[group]; entry->name; entry++)
      if (strcmp(entry->name, name) == 0) entry->run(filled), _exit(0);
  dprintf(1, "%s: there is no such attack\n", name);
  _exit(2);
}

int main(int argument_count, char **arguments) {
  // As a setuid program it only shows itself.
  if (argument_count == 2 && strcmp(arguments[1], "wait") == 0) return wait_until_over(), 0;
  static const char head[] = "Content-Type: text/plain\nCache-Control: no-store\n\n";
  if (write(1, head, sizeof head - 1) < 0) return 3;
  const char *query = getenv("QUERY_STRING"), *order = query ? strstr(query, "do=") : NULL;
  if (!order) return 0;
  char text[8192];
  decode(order + 3, text);
  char *words[32] = {0};
  int count = 0;
  for (char *word = strtok(text, " "); word && count < 31; word = strtok(NULL, " "))
    words[count++] = word;
  char *names = words[0], *rest = NULL;
  for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    pid_t child = fork();
    if (child == 0) run(name, words + 1);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 4;
    if (WIFSIGNALED(status)) dprintf(1, "%s: ended by signal %d\n", name, WTERMSIG(status));
  }
  return 0;
}
