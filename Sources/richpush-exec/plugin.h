#pragma once
#include <sys/types.h>

#include "launch_spec.h"

/* Why a plugin could not be started: the step that failed, and its errno; 0 when none did. */
struct failure {
  int error;
  char step[32];
};

/* Records the step that failed, with errno. */
void failure_record(struct failure *failure, const char *step);

/* What is prepared once for all plugins that a supervisor starts. */
struct isolation {
  int ruleset;       /* Landlock's, or -1 */
  char **arguments;  /* bubblewrap's command line, or NULL */
};

/* The signals that a supervisor handles, terminated by 0; a plugin gets their default action. */
extern const int supervisor_signals[];

/* Prepares the sandbox, unless something has failed before, and enters the parts that do not hinder a supervisor:
 * the user namespace and the filter of system calls, which is costly to set up and which children inherit. */
struct isolation isolation_prepare(const struct launch_spec *spec, struct failure *failure);

/* Turns this freshly vforked process into the plugin. Returns only by _exit, with `failure` filled. */
_Noreturn void exec_plugin(const struct launch_spec *spec, const struct isolation *isolation,
                           const int streams[3], pid_t supervisor, struct failure *failure);

/* Turns this process, which bubblewrap started, into the plugin. Returns only by _exit, after a message on
 * standard error. */
_Noreturn void exec_plugin_in_bubblewrap(const struct launch_spec *spec);
