#pragma once
#include <stddef.h>

/* The words that follow the attack's name in the request; the last is NULL. A `%` in them has become the
 * attack's name, so that attacks which are asked for together have victims of their own. */
typedef void attack(char **words);

struct attack_entry {
  const char *name;
  attack *run;
};

/* Each ends with an entry without a name. */
extern const struct attack_entry attacks_on_files[], attacks_on_content[], attacks_on_processes[],
    attacks_on_secrets[], attacks_on_sockets[], attacks_on_memory[], attacks_on_the_kernel[], attacks_by_hiding[];

/* Says what a call gave. It is only read by people: a test decides by what it sees itself. */
void say(const char *call, long result);

/* Creates `$TMPDIR/ready-TOKEN` and waits until `over` lies beside it, or for five seconds. */
void wait_for_the_test(const char *token);

/* A path in the folder the plugin may write to. */
const char *scratch(const char *name);
