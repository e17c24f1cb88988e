#define _GNU_SOURCE
#include "clinux.h"

#include <pthread.h>
#include <sched.h>

struct new_folder {
  int parent;
  const char *name;
  mode_t mode;
  int error;
};

static void *make(void *context) {
  struct new_folder *folder = context;
  /* Only this thread has the other umask, and it ends. */
  if (unshare(CLONE_FS) == 0) {
    umask(0);
    if (mkdirat(folder->parent, folder->name, folder->mode) == 0) return NULL;
  }
  folder->error = errno;
  return NULL;
}

int clinux_make_folder(int parent, const char *name, mode_t mode) {
  struct new_folder folder = {parent, name, mode, 0};
  pthread_t thread;
  int error = pthread_create(&thread, NULL, make, &folder);
  if (error == 0) {
    pthread_join(thread, NULL);
    error = folder.error;
  }
  errno = error;
  return error == 0 ? 0 : -1;
}
