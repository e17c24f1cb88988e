#pragma once
#include <sys/inotify.h>

/* inotify_init1(IN_CLOEXEC | IN_NONBLOCK). */
static inline int cinotify_open(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }

/* Whatever happens to a folder and what is in it, its content included. */
static inline int cinotify_watch_content(int watcher, const char *path) {
  return inotify_add_watch(watcher, path,
      IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB |
      IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
}

/* The events that end or begin a name's life in a folder, or mean that its bytes are complete. */
static inline int cinotify_watch(int watcher, const char *path) {
  return inotify_add_watch(watcher, path,
      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ATTRIB |
      IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW);
}
