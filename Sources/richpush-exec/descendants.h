#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Kills the plugin's process group; the kernel does so in one step, during which no member can fork. */
void kill_group(pid_t plugin);

/* Kills and reaps every descendant that outlived the plugin, also those outside its group: when their
 * parents die they become children of this process, which is a subreaper. */
void end_descendants(pid_t plugin);

/* Calls `visit` for each descendant of this process, until it returns false. False if the list of some
 * process's children could not be read. */
bool each_descendant(bool (*visit)(const char *pid, void *context), void *context);

/* Whether this system's /proc lists the children of a process. */
bool descendants_are_listed(void);

/* The folder of a process or thread in /proc, such as `/proc/123/task/124`. */
struct proc_folder {
  char path[48];
};

struct proc_folder folder_of_process(const char *pid);

/* Finds a thread of the process that has not begun to exit, the first one if possible. False if there is none.
 *
 * All threads of a process have the same memory and (seccomp.c, filter_threads) the same open files. The first
 * one, whose folder is the process's, has neither any more when it has exited, although others still run. */
bool find_living_thread(const char *pid, struct proc_folder *folder);

/* Reads the beginning of a file of such a folder, terminated by NUL. The number of bytes; -1 with errno. */
ssize_t read_proc(struct proc_folder folder, const char *name, char *text, size_t size);

/* Whether errno says that a process or thread is gone, or what it had: not that reading failed. */
bool is_gone(void);
