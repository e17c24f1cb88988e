#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Kills the plugin's process group; the kernel does so in one step, during which no member can fork. */
void kill_group(pid_t plugin);

/* Kills and reaps every descendant that outlived the plugin, also those outside its group: when their
 * parents die they become children of this process, which is a subreaper. */
void end_descendants(pid_t plugin);

/* Calls `visit` for each descendant of this process, until it returns false. */
void each_descendant(bool (*visit)(const char *pid, void *context), void *context);

/* Reads the beginning of a file of /proc, terminated by NUL; the number of bytes, or 0 or less. */
ssize_t read_proc(const char *path, char *text, size_t size);
