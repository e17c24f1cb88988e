#pragma once
#include <sys/types.h>

/* Kills the plugin's process group; the kernel does so in one step, against which no fork can run. */
void family_kill(pid_t plugin);

/* Kills and reaps every descendant that outlived the plugin, also those that left its group: their
 * parents die before them and make them children of this process, which is a subreaper. */
void family_end(pid_t plugin);
