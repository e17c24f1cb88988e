#pragma once
#include <sys/types.h>

#include "order.h"

/* Why a plugin did not come to run. */
struct failure {
  int error;
  char step[32];
};

/* What is made ready once for all plugins that a supervisor starts. */
struct walls {
  int ruleset;       /* Landlock's, or -1 */
  char **arguments;  /* bubblewrap's command line, or NULL */
};

/* The signals a supervisor handles, ended by 0; a plugin gets them as they usually are. */
extern const int plugin_signals[];

/* Readies the sandbox, and enters that part of it which does a supervisor no harm: the filter of
 * system calls, which is costly to set up and which children inherit. */
struct walls walls_for(const struct order *order, struct failure *failure);

/* Turns this freshly vforked process into the plugin. Returns only by _exit, with `failure` filled. */
_Noreturn void become_plugin(const struct order *order, const struct walls *walls,
                             const int streams[3], pid_t supervisor, struct failure *failure);

/* Turns this process, which bubblewrap started, into the plugin. Returns only by _exit, and says why. */
_Noreturn void become_plugin_inside(const struct order *order);
